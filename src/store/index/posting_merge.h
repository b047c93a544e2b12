/* Merges blocks of postings into one.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTING_MERGE_H
#define CN_STORE_INDEX_POSTING_MERGE_H

#include <stddef.h>

#include "base/error.h"
#include "store/index/posting_block.h"
#include "store/index/posting_encoder.h"

/* Called after each key; may write out the lists and clear them. */
typedef bool (*cn_posting_flush)(void *arg, struct cn_text *lists, struct cn_error *err);

/* Encode every key of the blocks, which are in the order of their rows. `first_row` is that of
 * the first block; `flush` may be NULL. */
CN_CHECK bool cn_posting_merge(const struct cn_posting_block *blocks, size_t block_count,
                               uint32_t first_row, struct cn_posting_encoder *encoder,
                               struct cn_text *lists, cn_posting_flush flush, void *arg,
                               struct cn_error *err);

#endif
