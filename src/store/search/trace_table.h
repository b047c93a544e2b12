/* Which rows of a store belong to the same trace, in whichever segments they are.
 *
 * Runs of neighbouring rows with one id (trace_runs.h) are grouped by its hash, a range of hashes after the
 * other, so that memory is bounded: 32 bytes for each of two million runs while the table is made, then 4
 * bytes per run and 56 per trace. Numbers and order depend on the rows alone. A table of some traces has
 * the numbers of their rows alone, and looks the ids of a few up where segments have tables of them.
 *
 * A span that was stored twice, because its sender repeated a request, counts once: the second row is
 * one of the doubles. Only traces with several rows that are not inside of another are looked
 * through for them.
 *
 * The caller owns the table; it borrows nothing. A failure leaves nothing to release.
 * Threads: immutable after it was made.
 */
#ifndef CN_STORE_SEARCH_TRACE_TABLE_H
#define CN_STORE_SEARCH_TRACE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/search/trace_runs.h"

struct cn_store_index;
struct cn_trace_ids;

/* The numbers of a trace. */
struct cn_trace_sum {
    uint64_t time_ns, end_ns; /* start of the earliest span, end of the latest */
    uint64_t
        duration_ns; /* of the span without a caller; without one, or with several, from
                           * time_ns to end_ns */
    uint64_t calls;
    uint32_t records, errors, spans;
    uint32_t segment, row; /* one of its rows: the first of the first segment */
};

/* What a table has besides the numbers of rows. */
enum cn_trace_table_needs {
    CN_TRACE_TABLE_TIMES,   /* `time_ns`, `segment` and `row` of traces */
    CN_TRACE_TABLE_DOUBLES, /* the doubles */
    CN_TRACE_TABLE_ALL,
};

struct cn_trace_table {
    /* By segment: the numbers of its runs are 1 + index of the trace; 0: its only row or, in a table of some
     * traces, a row of others. */
    struct cn_trace_runs *runs;
    uint64_t **
        doubles; /* by segment: a bit for each row, set if another row has its span; NULL:
                         * there are none */
    size_t segment_count;
    struct cn_trace_sum *traces; /* of several rows, in the order of their first rows */
    uint32_t count;
    enum cn_trace_table_needs has;
    bool is_of_some; /* of all traces asked for, also those of one row, and no others */
};

/* `indexes` has the index of each segment; NULL: its rows are unknown. `only`: the traces that it is of;
 * NULL: all. With several `workers`, indexes may be read by any thread. */
CN_CHECK bool cn_trace_table_make(struct cn_trace_table *out,
                                  const struct cn_store_index *const *indexes,
                                  size_t segment_count, const struct cn_trace_ids *only,
                                  enum cn_trace_table_needs needs, unsigned workers,
                                  struct cn_error *err);
void cn_trace_table_done(struct cn_trace_table *table);

/* The number of the trace of a row; 0 as above. */
static inline uint32_t cn_trace_table_number(const struct cn_trace_table *table,
                                             uint32_t segment, uint32_t row)
{
    return cn_trace_runs_number(&table->runs[segment], row);
}

/* The trace of a row; NULL if it has no number. */
static inline const struct cn_trace_sum *
cn_trace_table_find(const struct cn_trace_table *table, uint32_t segment, uint32_t row)
{
    uint32_t number = cn_trace_table_number(table, segment, row);

    return number > 0 ? &table->traces[number - 1] : NULL;
}

static inline bool cn_trace_table_is_double(const struct cn_trace_table *table,
                                            uint32_t segment, uint32_t row)
{
    return table->doubles[segment] && table->doubles[segment][row / 64] >> row % 64 & 1;
}

#endif
