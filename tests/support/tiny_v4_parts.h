/* How the bytes of tiny_v4.h are put together; of use to its own files only.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_TINY_V4_PARTS_H
#define CN_TEST_TINY_V4_PARTS_H

#include "support/tiny_v4.h"

/* Metric ids, which are also the numbers of their scopes. */
enum { CN_TINY_FUNCTION = 1, CN_TINY_EXECUTION = 3, CN_TINY_IDS = 2 };
extern const uint16_t cn_tiny_metric_ids[CN_TINY_IDS];

struct cn_tiny_builder {
    struct cn_tiny_v4 *tiny;
    struct cn_tiny_options options;
};

/* Append a record; `grow` bytes follow what its table describes. Returns its
 * offset. */
uint64_t cn_tiny_put(const struct cn_tiny_builder *b, struct cn_text *to,
                     const struct cn_record_layout *layout, const uint8_t *bytes,
                     unsigned grow);

/* Fill in a record for which there is room at `off`. */
void cn_tiny_put_at(const struct cn_tiny_builder *b, struct cn_text *to,
                    const struct cn_record_layout *layout, const uint8_t *bytes,
                    uint64_t off);

void cn_tiny_pad(struct cn_text *to, size_t align);
uint64_t cn_tiny_put_string(struct cn_text *to, const char *string);

/* Room for a header that is filled in when what it points at is known. */
uint64_t cn_tiny_reserve(const struct cn_tiny_builder *b, struct cn_text *to, size_t len);

void cn_tiny_put_head(const struct cn_tiny_builder *b, struct cn_text *to,
                      const char *format, size_t section_count);

/* A section that reaches from `off` to the end of what is there. */
void cn_tiny_end_section(struct cn_text *to, size_t section, uint64_t off);

/* The files. */
void cn_tiny_put_meta(const struct cn_tiny_builder *b);
void cn_tiny_put_profiles(const struct cn_tiny_builder *b);
void cn_tiny_put_cct(const struct cn_tiny_builder *b);
void cn_tiny_put_traces(const struct cn_tiny_builder *b);

#endif
