#include "base/files/spool_block.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { BLOCK_LEN = 8 * CN_SPOOL_PIECE_MAX };

uint64_t cn_spool_block_add(struct cn_spool_block *current, struct cn_spool_block *full,
                            struct cn_spool *spool, const void *piece, size_t len)
{
    uint64_t off = cn_spool_reserve(spool, len);

    assert(len <= CN_SPOOL_PIECE_MAX);
    /* What was reserved past the block ends it, too. */
    if (current->len > 0 &&
        (len > BLOCK_LEN - current->len || current->off + current->len != off)) {
        struct cn_spool_block empty = *full;

        assert(full->len == 0);
        *full = *current;
        *current = empty;
    }
    if (!current->bytes)
        current->bytes = cn_alloc(BLOCK_LEN, 1);
    if (current->len == 0)
        current->off = off;
    if (len > 0)
        memcpy(current->bytes + current->len, piece, len);
    current->len += len;
    return off;
}

bool cn_spool_block_write(struct cn_spool_block *block, const struct cn_spool *spool,
                          struct cn_error *err)
{
    size_t len = block->len;

    block->len = 0;
    return cn_spool_write(spool, block->off, block->bytes, len, err);
}

void cn_spool_block_done(struct cn_spool_block *block)
{
    free(block->bytes);
    *block = (struct cn_spool_block){0};
}
