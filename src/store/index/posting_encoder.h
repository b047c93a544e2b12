/* Encodes a block of postings, key by key in ascending order.
 *
 *     cn_posting_encoder_init(&encoder, row_count);
 *     cn_posting_encoder_add(&encoder, key, rows, count, &lists) ...
 *
 * Lists are appended to a text of the caller, entries and samples to those of the encoder.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTING_ENCODER_H
#define CN_STORE_INDEX_POSTING_ENCODER_H

#include "base/text.h"
#include "store/index/postings.h"

struct cn_posting_encoder {
    uint32_t row_count; /* of the block */
    bool has_steps;     /* lists may be CN_POSTING_STEPS */
    uint32_t key_count;
    uint64_t lists_len;
    cn_posting_key last;
    struct cn_text entries, samples;
};

void cn_posting_encoder_init(struct cn_posting_encoder *encoder, uint32_t row_count);
void cn_posting_encoder_done(struct cn_posting_encoder *encoder);

/* Add a key with its rows: at least one, ascending, counted from the first of the block. */
void cn_posting_encoder_add(struct cn_posting_encoder *encoder, cn_posting_key key,
                            const uint32_t *rows, uint32_t count, struct cn_text *lists);

/* Append a whole block to `out`: cn_posting_block_begin() reserves the header and returns where
 * it is, lists are appended, and cn_posting_block_end() completes the block. */
size_t cn_posting_block_begin(struct cn_text *out);
void cn_posting_block_end(const struct cn_posting_encoder *encoder, uint32_t first_row,
                          struct cn_text *out, size_t begin);

#endif
