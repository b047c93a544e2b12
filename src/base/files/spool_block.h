/* Blocks of small parts for a spool, written together: a write costs more than copying a
 * few thousand bytes.
 *
 * The thread that may append to the spool copies parts into the current block with
 * cn_spool_block_add(). A full block is returned in `*full`, and any thread may write it
 * with cn_spool_block_write(). A zeroed block is empty.
 * Threads: one thread at a time adds; full blocks are written from any.
 */
#ifndef CN_BASE_FILES_SPOOL_BLOCK_H
#define CN_BASE_FILES_SPOOL_BLOCK_H

#include "base/files/spool.h"

/* The longest part of a block. */
enum { CN_SPOOL_PIECE_MAX = 64 * 1024 };

struct cn_spool_block {
    uint8_t *bytes;
    size_t len;
    uint64_t off; /* in the spool */
};

/* Append a part and return its offset in the spool. `*full` must be empty: it is exchanged
 * with the current block if the part needs a new one, which two parts in a row do not. */
uint64_t cn_spool_block_add(struct cn_spool_block *current, struct cn_spool_block *full,
                            struct cn_spool *spool, const void *piece, size_t len);

/* The block is empty afterwards. */
CN_CHECK bool cn_spool_block_write(struct cn_spool_block *block,
                                   const struct cn_spool *spool, struct cn_error *err);
void cn_spool_block_done(struct cn_spool_block *block);

#endif
