/* Blocks of postings become one.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_INDEX_POSTING_MERGE_H
#define CN_STORE_INDEX_POSTING_MERGE_H

#include <stddef.h>

#include "base/error.h"
#include "store/index/posting_block.h"
#include "store/index/posting_encoder.h"

struct cn_text;

/* Called after each key: may take the lists so far and clear them. */
typedef bool (*cn_posting_flush)(void *arg, struct cn_text *lists, struct cn_error *err);

/* Give every key of the blocks, which are in the order of their rows, to the encoder. Rows count
 * from `first_row`, that of the first block. `flush` may be NULL. */
CN_CHECK bool cn_posting_merge(const struct cn_posting_block *blocks, size_t block_count,
                               uint32_t first_row, struct cn_posting_encoder *encoder,
                               struct cn_text *lists, cn_posting_flush flush, void *arg,
                               struct cn_error *err);

#endif
