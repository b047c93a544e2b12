#include "analyze/samples/sampled_cells.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"

enum {
    CONTEXTS_TOGETHER = 64, /* in a row that the same rank is in charge of */
    BUFFERS_LEN = 8 << 20,  /* of all ranks together */
    BUFFER_LEN_MAX = 1 << 20,
    BUFFER_LEN_MIN = 4 << 10,
};

/* As it lies in the spool. */
struct cell {
    double of_scope[CN_SAMPLED_SCOPE_COUNT];
    uint32_t context, metric;
};

/* Cells in the spool. */
struct block {
    uint64_t off, count;
};

/* What is put aside for one rank. */
struct heap {
    struct cell *cells; /* not yet written */
    size_t count;
    struct block *blocks;
    size_t block_count, block_capacity;
};

struct cn_sampled_cells {
    struct cn_ranks *ranks;
    struct cn_spool *spool;
    struct heap *heaps; /* by rank */
    size_t most;        /* cells in a heap before they are written */
    bool has_failed;
    struct cn_error err;
};

struct cn_sampled_cells *cn_sampled_cells_new(struct cn_ranks *ranks,
                                              struct cn_spool *spool)
{
    struct cn_sampled_cells *cells = cn_alloc(1, sizeof(*cells));
    size_t len = BUFFERS_LEN / ranks->size;

    len = len > BUFFER_LEN_MAX ? BUFFER_LEN_MAX : len;
    len = len < BUFFER_LEN_MIN ? BUFFER_LEN_MIN : len;
    *cells = (struct cn_sampled_cells){
        .ranks = ranks,
        .spool = spool,
        .heaps = cn_alloc(ranks->size, sizeof(*cells->heaps)),
        .most = len / sizeof(struct cell),
    };
    for (unsigned i = 0; i < ranks->size; i++)
        cells->heaps[i].cells = cn_realloc(NULL, cells->most, sizeof(struct cell));
    return cells;
}

void cn_sampled_cells_free(struct cn_sampled_cells *cells)
{
    if (!cells)
        return;
    for (unsigned i = 0; i < cells->ranks->size; i++) {
        free(cells->heaps[i].cells);
        free(cells->heaps[i].blocks);
    }
    free(cells->heaps);
    free(cells);
}

static unsigned rank_of(const struct cn_sampled_cells *cells, uint32_t context)
{
    return context / CONTEXTS_TOGETHER % cells->ranks->size;
}

/* A failure is remembered: whoever adds cells is in the middle of something else. */
static void write_heap(struct cn_sampled_cells *cells, struct heap *heap)
{
    size_t len = heap->count * sizeof(*heap->cells);
    struct block block = {cn_spool_reserve(cells->spool, len), heap->count};

    if (heap->count == 0)
        return;
    if (!cells->has_failed &&
        !cn_spool_write(cells->spool, block.off, heap->cells, len, &cells->err))
        cells->has_failed = true;
    heap->blocks = cn_grow(heap->blocks, heap->block_count, &heap->block_capacity,
                           sizeof(*heap->blocks));
    heap->blocks[heap->block_count++] = block;
    heap->count = 0;
}

void cn_sampled_cells_add(struct cn_sampled_cells *cells, uint32_t context,
                          uint32_t metric, const double of_scope[CN_SAMPLED_SCOPE_COUNT])
{
    struct heap *heap = &cells->heaps[rank_of(cells, context)];
    struct cell *cell = &heap->cells[heap->count++];

    memcpy(cell->of_scope, of_scope, sizeof(cell->of_scope));
    cell->context = context;
    cell->metric = metric;
    if (heap->count == cells->most)
        write_heap(cells, heap);
}

/* Where the heaps of a rank are: for each rank in charge, its blocks. */
static void encode_heaps(const struct cn_sampled_cells *cells, struct cn_text *message)
{
    for (unsigned i = 0; i < cells->ranks->size; i++) {
        const struct heap *heap = &cells->heaps[i];

        cn_wire_u64(message, heap->block_count);
        for (size_t k = 0; k < heap->block_count; k++) {
            cn_wire_u64(message, heap->blocks[k].off);
            cn_wire_u64(message, heap->blocks[k].count);
        }
    }
}

static bool sum_up_block(struct cn_sampled_cells *cells, struct block block,
                         struct cn_sampled_values *values, struct cn_error *err)
{
    struct cell *list = cells->heaps[cells->ranks->rank].cells; /* written by now */

    if (block.count > cells->most ||
        block.off >> CN_SPOOL_RANK_SHIFT >= cells->ranks->size)
        return cn_fail(err, CN_ERR_FORMAT, "a block of values is nowhere");
    if (!cn_spool_read(cells->spool, block.off, list, block.count * sizeof(*list), err))
        return false;
    for (size_t i = 0; i < block.count; i++) {
        if (list[i].context >= values->contexts->count ||
            list[i].metric >= values->metrics->count)
            return cn_fail(err, CN_ERR_FORMAT, "a value of no context");
        cn_sampled_values_summarise(values, list[i].context, list[i].metric,
                                    list[i].of_scope);
    }
    return true;
}

/* Those blocks of one rank that this one is in charge of. */
static bool sum_up_rank(struct cn_sampled_cells *cells, struct cn_bytes message,
                        struct cn_sampled_values *values, struct cn_error *err)
{
    enum { BLOCK_LEN = 16 };

    for (unsigned i = 0; i < cells->ranks->size; i++) {
        size_t count;

        if (!cn_wire_count_take(&message, BLOCK_LEN, &count))
            return cn_fail(err, CN_ERR_FORMAT, "blocks of values end early");
        for (size_t k = 0; k < count; k++) {
            struct block block;

            if (!cn_wire_u64_take(&message, &block.off) ||
                !cn_wire_u64_take(&message, &block.count))
                return cn_fail(err, CN_ERR_FORMAT, "blocks of values end early");
            if (i == cells->ranks->rank && !sum_up_block(cells, block, values, err))
                return false;
        }
    }
    return true;
}

static bool sum_up(struct cn_sampled_cells *cells, struct cn_bytes all,
                   struct cn_sampled_values *values, struct cn_error *err)
{
    struct cn_bytes message;

    cn_sampled_values_begin(values);
    for (unsigned i = 0; i < cells->ranks->size; i++)
        if (!cn_wire_bytes_take(&all, &message) ||
            !sum_up_rank(cells, message, values, err))
            return cn_fail_in(err, "rank %u", i);
    return true;
}

static void encode_summary(const struct cn_value_list *list, struct cn_text *message)
{
    for (size_t i = 0; i < list->count; i++) {
        uint64_t bits;

        memcpy(&bits, &list->values[i].value, sizeof(bits));
        cn_wire_u64(message, bits);
        cn_wire_u32(message, list->values[i].key);
        cn_wire_u32(message, list->values[i].metric);
    }
}

static bool take_value(struct cn_bytes *from, struct cn_value *out)
{
    uint64_t bits;
    uint32_t metric;

    if (!cn_wire_u64_take(from, &bits) || !cn_wire_u32_take(from, &out->key) ||
        !cn_wire_u32_take(from, &metric) || metric > UINT16_MAX)
        return false;
    memcpy(&out->value, &bits, sizeof(bits));
    out->metric = (uint16_t)metric;
    return true;
}

/* The values of some contexts in a row, which one rank has. */
static bool take_row(struct cn_bytes *from, uint32_t row, struct cn_value_list *out)
{
    struct cn_bytes ahead = *from;
    struct cn_value value;

    while (ahead.len > 0 && take_value(&ahead, &value)) {
        if (value.key / CONTEXTS_TOGETHER != row)
            return true;
        out->context_count +=
            out->count == 0 || out->values[out->count - 1].key != value.key;
        cn_value_list_add(out, value);
        *from = ahead;
    }
    return ahead.len == 0;
}

static bool merge_rows(const struct cn_sampled_cells *cells, struct cn_bytes all,
                       uint32_t context_count, struct cn_value_list *out,
                       struct cn_error *err)
{
    struct cn_bytes *lists = cn_alloc(cells->ranks->size, sizeof(*lists));
    uint32_t row_count = context_count / CONTEXTS_TOGETHER + 1;
    bool ok = true;

    for (unsigned i = 0; ok && i < cells->ranks->size; i++)
        ok = cn_wire_bytes_take(&all, &lists[i]);
    for (uint32_t row = 0; ok && row < row_count; row++)
        ok = take_row(&lists[row % cells->ranks->size], row, out);
    for (unsigned i = 0; ok && i < cells->ranks->size; i++)
        ok = lists[i].len == 0;
    free(lists);
    return ok || cn_fail(err, CN_ERR_FORMAT, "the summary of another rank is damaged");
}

static bool collect(struct cn_sampled_cells *cells, struct cn_sampled_values *values,
                    struct cn_value_list *out, struct cn_error *err)
{
    struct cn_text own = {0}, all = {0};
    struct cn_value_list list = {0};
    bool ok;

    cn_sampled_values_summary(values, &list);
    encode_summary(&list, &own);
    free(list.values);
    ok = cn_ranks_collect(cells->ranks, &own, &all, err);
    if (ok && cn_ranks_is_first(cells->ranks))
        ok = merge_rows(cells, cn_wire_view(&all), (uint32_t)values->contexts->count, out,
                        err);
    cn_text_done(&own);
    cn_text_done(&all);
    return ok;
}

bool cn_sampled_cells_summary(struct cn_sampled_cells *cells,
                              struct cn_sampled_values *values, struct cn_value_list *out,
                              struct cn_error *err)
{
    struct cn_text own = {0}, all = {0};
    bool ok;

    for (unsigned i = 0; i < cells->ranks->size; i++)
        write_heap(cells, &cells->heaps[i]);
    if (cells->has_failed)
        *err = cells->err;
    encode_heaps(cells, &own);
    ok = cn_ranks_agree(cells->ranks, !cells->has_failed, err) &&
         cn_ranks_share(cells->ranks, &own, &all, err) &&
         cn_ranks_agree(cells->ranks, sum_up(cells, cn_wire_view(&all), values, err),
                        err) &&
         cn_ranks_agree(cells->ranks, collect(cells, values, out, err), err);
    cn_text_done(&own);
    cn_text_done(&all);
    return ok;
}
