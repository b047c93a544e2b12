/* The runs of a segment: neighbouring rows with one trace id.
 *
 * Rows of later parts of a trace, which count for its first part, are runs of their own.
 * The caller owns what it initialised. Threads: any thread may read; different runs may get numbers by
 * different threads.
 */
#ifndef CN_STORE_SEARCH_TRACE_RUNS_H
#define CN_STORE_SEARCH_TRACE_RUNS_H

#include "base/error.h"
#include "store/index/columns.h"

struct cn_trace_runs {
    uint64_t *starts;  /* a bit for each row, set where a run begins; NULL: no rows */
    uint32_t *before;  /* by 64 rows: the runs that begin before them */
    uint32_t *numbers; /* by run, the caller's */
    uint32_t row_count, run_count;
};

/* Runs with this number are of later parts. */
#define CN_TRACE_RUN_OF_PARTS UINT32_MAX

/* The columns that tell which rows are of which trace. */
struct cn_trace_run_ids {
    struct cn_store_column high, low;
};

/* Find the runs, with numbers 0. */
CN_CHECK bool cn_trace_runs_find(struct cn_trace_runs *runs, struct cn_trace_run_ids *ids,
                                 const struct cn_columns *columns, struct cn_error *err);
void cn_trace_runs_done(struct cn_trace_runs *runs);

/* The runs of some rows, ascending, that were found in another way, each with its number; the others have
 * the number 0. */
struct cn_trace_row {
    uint32_t row, number;
};
void cn_trace_runs_of(struct cn_trace_runs *runs, uint32_t row_count,
                      const struct cn_trace_row *rows, size_t count);

/* The run that a row is in. */
static inline uint32_t cn_trace_runs_at(const struct cn_trace_runs *runs, uint32_t row)
{
    uint64_t before = runs->starts[row / 64] << (63 - row % 64);

    return runs->before[row / 64] + cn_bits_set(before) - 1;
}

/* The first row from `row` on that begins a run; row_count if there is none. */
static inline uint32_t cn_trace_runs_next(const struct cn_trace_runs *runs, uint32_t row)
{
    uint64_t bits;

    if (row >= runs->row_count)
        return runs->row_count;
    bits = runs->starts[row / 64] >> row % 64;
    if (bits)
        return row + (uint32_t)__builtin_ctzll(bits);
    for (size_t i = row / 64 + 1; i < ((size_t)runs->row_count + 63) / 64; i++)
        if (runs->starts[i])
            return (uint32_t)(i * 64) + (uint32_t)__builtin_ctzll(runs->starts[i]);
    return runs->row_count;
}

static inline uint32_t cn_trace_runs_number(const struct cn_trace_runs *runs,
                                            uint32_t row)
{
    return runs->starts ? runs->numbers[cn_trace_runs_at(runs, row)] : 0;
}

/* The ids of the runs that begin in a group of CN_COLUMN_GROUP_ROWS rows; returns how many. */
static inline unsigned cn_trace_runs_ids(const struct cn_trace_runs *runs,
                                         const struct cn_trace_run_ids *ids,
                                         uint32_t group, uint64_t *high, uint64_t *low)
{
    uint64_t bits = runs->starts[group];

    cn_store_column_read_bits(&ids->high, group * CN_COLUMN_GROUP_ROWS, bits, high);
    cn_store_column_read_bits(&ids->low, group * CN_COLUMN_GROUP_ROWS, bits, low);
    return cn_bits_set(bits);
}

#endif
