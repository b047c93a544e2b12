#include "store/search/trace_runs.h"

#include <stdlib.h>

#include "base/alloc.h"

static size_t group_count(const struct cn_trace_runs *runs)
{
    return ((size_t)runs->row_count + CN_COLUMN_GROUP_ROWS - 1) / CN_COLUMN_GROUP_ROWS;
}

/* Set the bits of rows whose value is not that of the row before. */
static void add_starts(struct cn_trace_runs *runs, const struct cn_store_column *column)
{
    for (size_t i = 0; column->groups && i < group_count(runs); i++)
        runs->starts[i] |= cn_u64_get(column->groups + i * CN_COLUMN_GROUP_LEN);
    for (uint32_t row = 0; !column->groups && row < runs->row_count; row++)
        if (cn_store_column_is_new(column, row))
            runs->starts[row / 64] |= UINT64_C(1) << row % 64;
}

static bool is_part(const struct cn_store_column *part, uint32_t row)
{
    return cn_store_column_at(part, row) != 0;
}

/* Divide runs at rows of later parts. */
static void divide(struct cn_trace_runs *runs, const struct cn_store_column *part)
{
    for (uint32_t row = 1; row < runs->row_count; row++)
        if (is_part(part, row) != is_part(part, row - 1))
            runs->starts[row / 64] |= UINT64_C(1) << row % 64;
}

static void count_runs(struct cn_trace_runs *runs)
{
    runs->starts[0] |= 1;
    if (runs->row_count % 64 > 0)
        runs->starts[runs->row_count / 64] &= (UINT64_C(1) << runs->row_count % 64) - 1;
    for (size_t i = 0; i < group_count(runs); i++) {
        runs->before[i] = runs->run_count;
        runs->run_count += cn_bits_set(runs->starts[i]);
    }
    runs->numbers = cn_alloc(runs->run_count, sizeof(*runs->numbers));
}

bool cn_trace_runs_find(struct cn_trace_runs *runs, struct cn_trace_run_ids *ids,
                        const struct cn_columns *columns, struct cn_error *err)
{
    struct cn_store_column part;
    uint64_t lowest, highest;

    *runs = (struct cn_trace_runs){.row_count = columns->row_count};
    if (!cn_columns_field(columns, CN_STORE_FIELD_trace_high, &ids->high, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_trace_low, &ids->low, err) ||
        !cn_columns_field(columns, CN_STORE_FIELD_part, &part, err))
        return false;
    if (runs->row_count == 0)
        return true;
    runs->starts = cn_alloc(group_count(runs), sizeof(*runs->starts));
    runs->before = cn_alloc(group_count(runs), sizeof(*runs->before));
    add_starts(runs, &ids->high);
    add_starts(runs, &ids->low);
    cn_columns_range(columns, CN_STORE_FIELD_part, &lowest, &highest);
    if (highest > 0)
        divide(runs, &part);
    count_runs(runs);
    for (uint32_t row = 0; highest > 0 && row < runs->row_count;
         row = cn_trace_runs_next(runs, row + 1))
        if (is_part(&part, row))
            runs->numbers[cn_trace_runs_at(runs, row)] = CN_TRACE_RUN_OF_PARTS;
    return true;
}

static void add_start(struct cn_trace_runs *runs, uint32_t row)
{
    if (row < runs->row_count)
        runs->starts[row / 64] |= UINT64_C(1) << row % 64;
}

void cn_trace_runs_of(struct cn_trace_runs *runs, uint32_t row_count,
                      const struct cn_trace_row *rows, size_t count)
{
    *runs = (struct cn_trace_runs){.row_count = row_count};
    if (row_count == 0)
        return;
    runs->starts = cn_alloc(group_count(runs), sizeof(*runs->starts));
    runs->before = cn_alloc(group_count(runs), sizeof(*runs->before));
    for (size_t i = 0; i < count; i++) {
        bool is_next = i > 0 && rows[i].row == rows[i - 1].row + 1;

        if (!is_next || rows[i].number != rows[i - 1].number)
            add_start(runs, rows[i].row);
        if (i + 1 == count || rows[i + 1].row != rows[i].row + 1)
            add_start(runs, rows[i].row + 1);
    }
    count_runs(runs);
    for (size_t i = 0; i < count; i++)
        runs->numbers[cn_trace_runs_at(runs, rows[i].row)] = rows[i].number;
}

void cn_trace_runs_done(struct cn_trace_runs *runs)
{
    free(runs->starts);
    free(runs->before);
    free(runs->numbers);
    *runs = (struct cn_trace_runs){0};
}
