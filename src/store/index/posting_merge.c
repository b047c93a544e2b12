#include "store/index/posting_merge.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/heap.h"

/* A block that is being merged, at its next entry. */
struct posting_source {
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;
};

struct posting_merge {
    struct posting_source *sources;
    uint32_t *heap; /* the source with the lowest key first */
    size_t count;
    struct cn_posting_encoder *encoder;
    struct cn_text *lists;
    uint32_t first_row;
    uint32_t *rows;
    uint32_t row_count;
};

static bool is_before(const void *sources, uint32_t a, uint32_t b)
{
    const struct posting_source *x = (const struct posting_source *)sources + a;
    const struct posting_source *y = (const struct posting_source *)sources + b;

    /* Blocks with the same key go in the order of their rows. */
    return x->entry.key != y->entry.key ? x->entry.key < y->entry.key : a < b;
}

static bool begin(struct posting_merge *merge, const struct cn_posting_block *blocks,
                  size_t block_count, struct cn_error *err)
{
    for (size_t i = 0; i < block_count; i++) {
        struct posting_source *source = &merge->sources[i];

        if (!cn_posting_walk_begin(&source->walk, &blocks[i], 0, err))
            return false;
        enum cn_step step = cn_posting_walk_next(&source->walk, &source->entry, err);
        if (step == CN_FAIL)
            return false;
        if (step == CN_ITEM)
            merge->heap[merge->count++] = (uint32_t)i;
    }
    cn_heap_build(merge->heap, merge->count, is_before, merge->sources);
    return true;
}

static void take_row(void *arg, uint32_t row)
{
    struct posting_merge *merge = arg;

    merge->rows[merge->row_count++] = row - merge->first_row;
}

/* Encode the lowest key with the rows of all blocks that have it. */
static bool merge_key(struct posting_merge *merge, struct cn_error *err)
{
    cn_posting_key key = merge->sources[merge->heap[0]].entry.key;

    merge->row_count = 0;
    while (merge->count > 0 && merge->sources[merge->heap[0]].entry.key == key) {
        struct posting_source *source = &merge->sources[merge->heap[0]];

        if (!cn_posting_rows_walk(source->walk.block, &source->entry, take_row, merge,
                                  err))
            return false;
        enum cn_step step = cn_posting_walk_next(&source->walk, &source->entry, err);
        if (step == CN_FAIL)
            return false;
        if (step == CN_END)
            merge->heap[0] = merge->heap[--merge->count];
        cn_heap_sink(merge->heap, merge->count, 0, is_before, merge->sources);
    }
    cn_posting_encoder_add(merge->encoder, key, merge->rows, merge->row_count,
                           merge->lists);
    return true;
}

bool cn_posting_merge(const struct cn_posting_block *blocks, size_t block_count,
                      uint32_t first_row, struct cn_posting_encoder *encoder,
                      struct cn_text *lists, cn_posting_flush flush, void *arg,
                      struct cn_error *err)
{
    struct posting_merge merge = {
        .sources = cn_alloc(block_count, sizeof(*merge.sources)),
        .heap = cn_alloc(block_count, sizeof(*merge.heap)),
        .encoder = encoder,
        .lists = lists,
        .first_row = first_row,
        .rows = cn_alloc(encoder->row_count, sizeof(*merge.rows)),
    };
    bool ok = begin(&merge, blocks, block_count, err);

    while (ok && merge.count > 0)
        ok = merge_key(&merge, err) && (!flush || flush(arg, lists, err));
    free(merge.sources);
    free(merge.heap);
    free(merge.rows);
    return ok;
}
