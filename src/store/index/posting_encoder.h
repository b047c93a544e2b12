/* Writes the entries of a block of postings, key by key in ascending order.
 *
 *     cn_posting_encoder_init(&encoder, row_count);
 *     cn_posting_encoder_add(&encoder, key, rows, count, &lists) ...
 *
 * Lists go where the caller says, entries and samples stay with the encoder until the end.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTING_ENCODER_H
#define CN_STORE_INDEX_POSTING_ENCODER_H

#include "base/text.h"
#include "store/index/postings.h"

struct cn_posting_encoder {
    uint32_t row_count; /* of the block */
    uint32_t key_count;
    uint64_t lists_len;
    cn_posting_key last;
    struct cn_text entries, samples;
};

void cn_posting_encoder_init(struct cn_posting_encoder *encoder, uint32_t row_count);
void cn_posting_encoder_done(struct cn_posting_encoder *encoder);

/* The rows that have `key`: at least one, ascending, counted from the first of the block. The
 * bytes of their list are appended to `lists`. */
void cn_posting_encoder_add(struct cn_posting_encoder *encoder, cn_posting_key key,
                            const uint32_t *rows, uint32_t count, struct cn_text *lists);

/* A block in one piece: cn_posting_block_begin() leaves room for the header at the end of `out`,
 * lists are appended to it, and cn_posting_block_end() completes what began at `begin`. */
size_t cn_posting_block_begin(struct cn_text *out);
void cn_posting_block_end(const struct cn_posting_encoder *encoder, uint32_t first_row,
                          struct cn_text *out, size_t begin);

#endif
