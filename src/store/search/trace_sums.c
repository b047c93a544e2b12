/* Sums up the rows of traces, run by run. */

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "store/search/trace_making.h"
#include "store/segment/index.h"

static const uint64_t no_root = UINT64_MAX, several_roots = UINT64_MAX - 1;

const enum cn_store_field cn_table_fields[CN_TABLE_FIELDS] = {
    [CN_TABLE_TIME] = CN_STORE_FIELD_time_ns,
    [CN_TABLE_DURATION] = CN_STORE_FIELD_duration_ns,
    [CN_TABLE_FLAGS] = CN_STORE_FIELD_flags,
    [CN_TABLE_CALLS] = CN_STORE_FIELD_calls,
    [CN_TABLE_RECORDS] = CN_STORE_FIELD_records,
    [CN_TABLE_ERRORS] = CN_STORE_FIELD_errors,
    [CN_TABLE_PARENT] = CN_STORE_FIELD_parent_id,
    [CN_TABLE_SPAN] = CN_STORE_FIELD_span_id,
};

static bool read_rows(const struct cn_table_segment *segment,
                      struct cn_table_block *block, struct cn_error *err)
{
    for (uint32_t i = 0; i < block->count; i++) {
        struct cn_store_row row;

        if (!cn_columns_row(segment->columns, block->first + i, &row, err))
            return false;
        block->values[CN_TABLE_TIME][i] = row.time_ns;
        block->values[CN_TABLE_DURATION][i] = row.duration_ns;
        block->values[CN_TABLE_FLAGS][i] = row.flags;
        block->values[CN_TABLE_CALLS][i] = row.calls;
        block->values[CN_TABLE_RECORDS][i] = row.records;
        block->values[CN_TABLE_ERRORS][i] = row.errors;
        block->values[CN_TABLE_PARENT][i] = row.parent_id;
        block->values[CN_TABLE_SPAN][i] = row.span_id;
    }
    return true;
}

static void join_rows(const struct cn_table_segment *segment,
                      struct cn_table_block *block)
{
    for (unsigned field = 0; field < CN_TABLE_PARENT; field++)
        for (uint32_t i = 0; i < block->count; i++)
            block->values[field][i] =
                cn_joined_number(segment->joined, cn_table_fields[field],
                                 block->first + i, block->values[field][i]);
}

bool cn_table_read(const struct cn_table_segment *segment, struct cn_table_block *block,
                   uint32_t first, uint32_t count, struct cn_error *err)
{
    block->first = first;
    block->count = count;
    if (segment->is_by_row && !read_rows(segment, block, err))
        return false;
    for (unsigned field = 0; !segment->is_by_row && field <= CN_TABLE_PARENT; field++)
        if (segment->has_field[field])
            cn_store_column_read(&segment->fields[field], first, count,
                                 block->values[field]);
    if (segment->joined)
        join_rows(segment, block);
    return true;
}

bool cn_table_read_spans(const struct cn_table_segment *segment, uint32_t first,
                         uint32_t count, uint64_t *out, struct cn_error *err)
{
    if (!segment->is_by_row) {
        cn_store_column_read(&segment->fields[CN_TABLE_SPAN], first, count, out);
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct cn_store_row row;

        if (!cn_columns_row(segment->columns, first + i, &row, err))
            return false;
        out[i] = row.span_id;
    }
    return true;
}

/* What the rows of a run add to its trace. */
struct run_sum {
    uint32_t number, records, errors, spans;
    uint64_t time_ns, end_ns, root_ns, calls;
    uint8_t tops;
    bool is_doubled;
};

struct part_sums {
    struct run_sum *list;
    size_t count, capacity;
    uint64_t *ids;
    size_t id_capacity;
    bool ok;
    struct cn_error err;
};

struct table_summing {
    struct cn_table_making *making;
    struct part_sums *of_part; /* until it is taken */
};

static void add_row(struct run_sum *sum, const struct cn_table_block *block, uint32_t i)
{
    uint64_t time_ns = block->values[CN_TABLE_TIME][i];
    uint64_t duration_ns = block->values[CN_TABLE_DURATION][i];
    uint64_t end_ns =
        duration_ns < UINT64_MAX - time_ns ? time_ns + duration_ns : UINT64_MAX;

    sum->time_ns = time_ns < sum->time_ns ? time_ns : sum->time_ns;
    sum->end_ns = end_ns > sum->end_ns ? end_ns : sum->end_ns;
    sum->spans++;
    /* The calls of a span that is inside of another one are counted there. */
    if (block->values[CN_TABLE_FLAGS][i] & CN_ROW_EMBEDDED)
        return;
    sum->tops = (uint8_t)(sum->tops < 2 ? sum->tops + 1 : 2);
    if (block->values[CN_TABLE_PARENT][i] == 0)
        sum->root_ns = sum->root_ns == no_root ? duration_ns : several_roots;
    sum->calls += block->values[CN_TABLE_CALLS][i];
    sum->records += (uint32_t)block->values[CN_TABLE_RECORDS][i];
    sum->errors += (uint32_t)block->values[CN_TABLE_ERRORS][i];
}

/* Read rows from `row` on, those of runs after it as well if they have a trace. */
static bool read_ahead(const struct cn_table_segment *segment,
                       const struct cn_trace_runs *runs, struct cn_table_block *block,
                       uint32_t row, uint32_t end, struct cn_error *err)
{
    while (end - row < CN_TABLE_BLOCK_ROWS && end < runs->row_count &&
           cn_trace_runs_number(runs, end) > 0)
        end = cn_trace_runs_next(runs, end + 1);
    return cn_table_read(
        segment, block, row,
        end - row < CN_TABLE_BLOCK_ROWS ? end - row : CN_TABLE_BLOCK_ROWS, err);
}

static bool has_double(struct part_sums *sums, const struct cn_table_segment *segment,
                       uint32_t first, uint32_t end, bool *out, struct cn_error *err)
{
    CN_RENEW(sums->ids, (size_t)end - first, sums->id_capacity);
    if (!cn_table_read_spans(segment, first, end - first, sums->ids, err))
        return false;
    *out = cn_table_has_twice(sums->ids, (size_t)end - first);
    return true;
}

static bool sum_run(const struct cn_table_making *making, struct part_sums *sums,
                    const struct cn_table_part *part, struct cn_table_block *block,
                    uint32_t first, uint32_t end, struct cn_error *err)
{
    const struct cn_trace_table *table = &making->table;
    const struct cn_table_segment *segment = &making->segments[part->segment];
    struct run_sum sum = {
        .number = cn_trace_table_number(table, part->segment, first),
        .time_ns = UINT64_MAX,
        .root_ns = no_root,
    };

    for (uint32_t row = first; row < end; row++) {
        if (row - block->first >= block->count &&
            !read_ahead(segment, &table->runs[part->segment], block, row, end, err))
            return false;
        if (!cn_trace_table_is_double(table, part->segment, row))
            add_row(&sum, block, row - block->first);
    }
    /* A trace has spans twice only if several of its rows are not inside of another. */
    if (sum.tops > 1 && !making->knows_doubles &&
        !has_double(sums, segment, first, end, &sum.is_doubled, err))
        return false;
    CN_PUSH(sums->list, sums->count, sums->capacity, sum);
    return true;
}

static void sum_part(void *arg, size_t job, unsigned worker)
{
    struct table_summing *summing = arg;
    const struct cn_table_part *part = &summing->making->parts[job];
    const struct cn_trace_runs *runs = &summing->making->table.runs[part->segment];
    struct part_sums *sums = &summing->of_part[job];
    struct cn_table_block block = {.count = 0}; /* and all others 0 */
    uint32_t end;

    (void)worker;
    sums->ok = true;
    for (uint32_t row = cn_trace_runs_next(runs, part->first);
         sums->ok && row < part->end; row = end) {
        end = cn_trace_runs_next(runs, row + 1);
        if (cn_trace_runs_number(runs, row) > 0)
            sums->ok = sum_run(summing->making, sums, part, &block, row, end, &sums->err);
    }
}

static void take_sum(struct cn_table_making *making, const struct run_sum *run)
{
    struct cn_trace_sum *sum = &making->table.traces[run->number - 1];
    uint64_t *root_ns = &making->roots_ns[run->number - 1];
    uint8_t *tops = &making->tops[run->number - 1];

    sum->time_ns = run->time_ns < sum->time_ns ? run->time_ns : sum->time_ns;
    sum->end_ns = run->end_ns > sum->end_ns ? run->end_ns : sum->end_ns;
    sum->spans += run->spans;
    sum->calls += run->calls;
    sum->records += run->records;
    sum->errors += run->errors;
    if (run->root_ns != no_root)
        *root_ns = *root_ns == no_root ? run->root_ns : several_roots;
    *tops = (uint8_t)(*tops + run->tops < 2 ? *tops + run->tops : 2);
    if (making->runs[run->number - 1] < 2)
        making->runs[run->number - 1]++;
    if (run->is_doubled)
        making->is_doubled[run->number - 1] = true;
}

/* In the order of rows. */
static void take_part(void *arg, size_t job, unsigned worker)
{
    struct table_summing *summing = arg;
    struct part_sums *sums = &summing->of_part[job];

    (void)worker;
    for (size_t i = 0; i < sums->count; i++)
        take_sum(summing->making, &sums->list[i]);
    free(sums->list);
    free(sums->ids);
    sums->list = NULL;
}

bool cn_table_sum(struct cn_table_making *making, struct cn_error *err)
{
    struct table_summing summing = {
        making, cn_alloc(making->part_count, sizeof(struct part_sums))};
    struct cn_jobs jobs = {
        .count = making->part_count, .arg = &summing, .run = sum_part, .take = take_part};
    struct cn_trace_table *table = &making->table;
    bool ok = true;

    for (uint32_t i = 0; i < table->count; i++) {
        table->traces[i] = (struct cn_trace_sum){.time_ns = UINT64_MAX,
                                                 .segment = table->traces[i].segment,
                                                 .row = table->traces[i].row};
        making->roots_ns[i] = no_root;
        making->tops[i] = making->runs[i] = 0;
    }
    cn_pool_run(&jobs, making->workers);
    for (size_t i = 0; ok && i < making->part_count; i++) {
        ok = summing.of_part[i].ok;
        if (!ok)
            *err = summing.of_part[i].err;
    }
    free(summing.of_part);
    for (uint32_t i = 0; i < table->count; i++)
        table->traces[i].duration_ns =
            making->roots_ns[i] < several_roots
                ? making->roots_ns[i]
                : table->traces[i].end_ns - table->traces[i].time_ns;
    return ok;
}
