#include "analyze/samples/sampled_summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"

enum {
    RUN_LEN = 64,          /* consecutive contexts that the same rank sums up */
    BUFFERS_LEN = 8 << 20, /* of all outboxes together */
    BUFFER_LEN_MAX = 1 << 20,
    BUFFER_LEN_MIN = 4 << 10,
};

/* The value of a thread, as in the spool. */
struct cell {
    double of_scope[CN_SAMPLED_SCOPE_COUNT];
    uint32_t context, metric;
};

/* Consecutive cells in the spool. */
struct block {
    uint64_t off, count;
};

/* The cells for one rank. */
struct outbox {
    struct cell *cells; /* not written yet */
    size_t count;
    struct block *blocks;
    size_t block_count, block_capacity;
};

struct cn_sampled_summary {
    struct cn_ranks *ranks;
    struct cn_spool *spool;
    struct outbox *outboxes; /* by rank */
    size_t cell_max;         /* cells of an outbox before they are written */
    bool has_failed;
    struct cn_error err;
};

struct cn_sampled_summary *cn_sampled_summary_new(struct cn_ranks *ranks,
                                                  struct cn_spool *spool)
{
    struct cn_sampled_summary *summary = cn_alloc(1, sizeof(*summary));
    size_t len = BUFFERS_LEN / ranks->size;

    len = len > BUFFER_LEN_MAX ? BUFFER_LEN_MAX : len;
    len = len < BUFFER_LEN_MIN ? BUFFER_LEN_MIN : len;
    *summary = (struct cn_sampled_summary){
        .ranks = ranks,
        .spool = spool,
        .outboxes = cn_alloc(ranks->size, sizeof(*summary->outboxes)),
        .cell_max = len / sizeof(struct cell),
    };
    for (unsigned i = 0; i < ranks->size; i++)
        summary->outboxes[i].cells =
            cn_realloc(NULL, summary->cell_max, sizeof(struct cell));
    return summary;
}

void cn_sampled_summary_free(struct cn_sampled_summary *summary)
{
    if (!summary)
        return;
    for (unsigned i = 0; i < summary->ranks->size; i++) {
        free(summary->outboxes[i].cells);
        free(summary->outboxes[i].blocks);
    }
    free(summary->outboxes);
    free(summary);
}

/* A failure is noted for cn_sampled_summary_collect(). */
static void write_outbox(struct cn_sampled_summary *summary, struct outbox *outbox)
{
    size_t len = outbox->count * sizeof(*outbox->cells);
    struct block block = {cn_spool_reserve(summary->spool, len), outbox->count};

    if (outbox->count == 0)
        return;
    if (!summary->has_failed &&
        !cn_spool_write(summary->spool, block.off, outbox->cells, len, &summary->err))
        summary->has_failed = true;
    outbox->blocks = cn_grow(outbox->blocks, outbox->block_count, &outbox->block_capacity,
                             sizeof(*outbox->blocks));
    outbox->blocks[outbox->block_count++] = block;
    outbox->count = 0;
}

void cn_sampled_summary_add(void *arg, uint32_t context, uint32_t metric,
                            const double of_scope[CN_SAMPLED_SCOPE_COUNT])
{
    struct cn_sampled_summary *summary = arg;
    struct outbox *outbox = &summary->outboxes[context / RUN_LEN % summary->ranks->size];
    struct cell *cell = &outbox->cells[outbox->count++];

    memcpy(cell->of_scope, of_scope, sizeof(cell->of_scope));
    cell->context = context;
    cell->metric = metric;
    if (outbox->count == summary->cell_max)
        write_outbox(summary, outbox);
}

/* For each rank, the blocks that were written for it. */
static void encode_outboxes(const struct cn_sampled_summary *summary,
                            struct cn_text *message)
{
    for (unsigned i = 0; i < summary->ranks->size; i++) {
        const struct outbox *outbox = &summary->outboxes[i];

        cn_wire_u64(message, outbox->block_count);
        for (size_t k = 0; k < outbox->block_count; k++) {
            cn_wire_u64(message, outbox->blocks[k].off);
            cn_wire_u64(message, outbox->blocks[k].count);
        }
    }
}

static bool sum_up_block(struct cn_sampled_summary *summary, struct block block,
                         struct cn_sampled_values *values, struct cn_error *err)
{
    struct cell *list =
        summary->outboxes[summary->ranks->rank].cells; /* all are written */

    if (block.count > summary->cell_max ||
        block.off >> CN_SPOOL_RANK_SHIFT >= summary->ranks->size)
        return cn_fail(err, CN_ERR_FORMAT, "invalid block of values");
    if (!cn_spool_read(summary->spool, block.off, list, block.count * sizeof(*list), err))
        return false;
    for (size_t i = 0; i < block.count; i++) {
        if (list[i].context >= values->contexts->count ||
            list[i].metric >= values->metrics->count)
            return cn_fail(err, CN_ERR_FORMAT, "value of an unknown context or metric");
        cn_sampled_values_summarise(values, list[i].context, list[i].metric,
                                    list[i].of_scope);
    }
    return true;
}

/* Sum up the blocks of one rank that were written for this one. */
static bool sum_up_rank(struct cn_sampled_summary *summary, struct cn_bytes message,
                        struct cn_sampled_values *values, struct cn_error *err)
{
    enum { BLOCK_LEN = 16 };

    for (unsigned i = 0; i < summary->ranks->size; i++) {
        size_t count;

        if (!cn_wire_count_take(&message, BLOCK_LEN, &count))
            return cn_fail(err, CN_ERR_FORMAT, "list of blocks ends early");
        for (size_t k = 0; k < count; k++) {
            struct block block;

            if (!cn_wire_u64_take(&message, &block.off) ||
                !cn_wire_u64_take(&message, &block.count))
                return cn_fail(err, CN_ERR_FORMAT, "list of blocks ends early");
            if (i == summary->ranks->rank && !sum_up_block(summary, block, values, err))
                return false;
        }
    }
    return true;
}

static bool sum_up(struct cn_sampled_summary *summary, struct cn_bytes all,
                   struct cn_sampled_values *values, struct cn_error *err)
{
    struct cn_bytes message;

    cn_sampled_values_begin(values);
    for (unsigned i = 0; i < summary->ranks->size; i++)
        if (!cn_wire_bytes_take(&all, &message) ||
            !sum_up_rank(summary, message, values, err))
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

/* Take the values of one run of contexts. */
static bool take_run(struct cn_bytes *from, uint32_t run, struct cn_value_list *out)
{
    struct cn_bytes ahead = *from;
    struct cn_value value;

    while (ahead.len > 0 && take_value(&ahead, &value)) {
        if (value.key / RUN_LEN != run)
            return true;
        out->context_count +=
            out->count == 0 || out->values[out->count - 1].key != value.key;
        cn_value_list_add(out, value);
        *from = ahead;
    }
    return ahead.len == 0;
}

static bool merge_runs(const struct cn_sampled_summary *summary, struct cn_bytes all,
                       uint32_t context_count, struct cn_value_list *out,
                       struct cn_error *err)
{
    struct cn_bytes *lists = cn_alloc(summary->ranks->size, sizeof(*lists));
    uint32_t run_count = context_count / RUN_LEN + 1;
    bool ok = true;

    for (unsigned i = 0; ok && i < summary->ranks->size; i++)
        ok = cn_wire_bytes_take(&all, &lists[i]);
    for (uint32_t run = 0; ok && run < run_count; run++)
        ok = take_run(&lists[run % summary->ranks->size], run, out);
    for (unsigned i = 0; ok && i < summary->ranks->size; i++)
        ok = lists[i].len == 0;
    free(lists);
    return ok || cn_fail(err, CN_ERR_FORMAT, "damaged summary of another rank");
}

static bool collect(struct cn_sampled_summary *summary, struct cn_sampled_values *values,
                    struct cn_value_list *out, struct cn_error *err)
{
    struct cn_text own = {0}, all = {0};
    struct cn_value_list list = {0};
    bool ok;

    cn_sampled_values_summary(values, &list);
    encode_summary(&list, &own);
    free(list.values);
    ok = cn_ranks_collect(summary->ranks, &own, &all, err);
    if (ok && cn_ranks_is_first(summary->ranks))
        ok = merge_runs(summary, cn_wire_view(&all), (uint32_t)values->contexts->count,
                        out, err);
    cn_text_done(&own);
    cn_text_done(&all);
    return ok;
}

bool cn_sampled_summary_collect(struct cn_sampled_summary *summary,
                                struct cn_sampled_values *values,
                                struct cn_value_list *out, struct cn_error *err)
{
    struct cn_text own = {0}, all = {0};
    bool ok;

    for (unsigned i = 0; i < summary->ranks->size; i++)
        write_outbox(summary, &summary->outboxes[i]);
    if (summary->has_failed)
        *err = summary->err;
    encode_outboxes(summary, &own);
    ok = cn_ranks_agree(summary->ranks, !summary->has_failed, err) &&
         cn_ranks_share(summary->ranks, &own, &all, err) &&
         cn_ranks_agree(summary->ranks, sum_up(summary, cn_wire_view(&all), values, err),
                        err) &&
         cn_ranks_agree(summary->ranks, collect(summary, values, out, err), err);
    cn_text_done(&own);
    cn_text_done(&all);
    return ok;
}
