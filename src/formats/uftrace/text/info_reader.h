/* The info file: a header, then facts about the run as lines of text.
 *
 * Strings are allocated in the caller's arena.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_UFTRACE_TEXT_INFO_READER_H
#define CN_FORMATS_UFTRACE_TEXT_INFO_READER_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "formats/uftrace/format.h"
#include "model/calls/recording.h"

CN_CHECK bool cn_uft_info_header_read(struct cn_bytes file,
                                      struct cn_uft_info_header *out,
                                      struct cn_error *err);

/* A group has one line a key. A counted group begins with the number of its lines. */
struct cn_uft_info_group {
    const char *keys[2];
    bool is_counted;
};

extern const struct cn_uft_info_group cn_uft_info_groups[CN_UFT_INFO_COUNT];

struct cn_uft_facts {
    struct cn_fact *list; /* released with free() */
    size_t count, capacity;
};

/* Read the lines after the header. On failure `out` has the facts before the damage. */
CN_CHECK bool cn_uft_facts_read(struct cn_bytes file, uint64_t info_mask,
                                struct cn_arena *arena, struct cn_uft_facts *out,
                                struct cn_error *err);

/* Set the costs of the recorder from its version line, "( call-cost=31.2ns
 * call-inner=14ns ... )". Costs that are missing or implausible stay 0. */
void cn_uft_hook_costs_parse(const char *version, struct cn_recording *rec);

#endif
