/* Which rows of a store belong to the same trace, in whichever segments they are.
 *
 * Runs of neighbouring rows with one id are grouped by its hash, a range of hashes after the other, so that
 * memory is bounded: 32 bytes for each of two million runs while the table is made, then 4
 * bytes per row and 56 per trace of several rows. Numbers and order depend on the rows alone.
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

struct cn_store_index;

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

struct cn_trace_table {
    uint32_t *
        *numbers; /* by segment and row: 1 + index of its trace; 0: the only row of it */
    uint64_t **
        doubles; /* by segment: a bit for each row, set if another row has its span; NULL:
                         * there are none */
    uint32_t *row_counts;
    size_t segment_count;
    struct cn_trace_sum *traces; /* of several rows, in the order of their first rows */
    uint32_t count;
};

/* `indexes` has the index of each segment; NULL: its rows are unknown. */
CN_CHECK bool cn_trace_table_make(struct cn_trace_table *out,
                                  const struct cn_store_index *const *indexes,
                                  size_t segment_count, struct cn_error *err);
void cn_trace_table_done(struct cn_trace_table *table);

/* The trace of a row that has others; NULL if the row is the whole trace. */
static inline const struct cn_trace_sum *
cn_trace_table_find(const struct cn_trace_table *table, uint32_t segment, uint32_t row)
{
    uint32_t number = table->numbers[segment] ? table->numbers[segment][row] : 0;

    return number > 0 ? &table->traces[number - 1] : NULL;
}

static inline bool cn_trace_table_is_double(const struct cn_trace_table *table,
                                            uint32_t segment, uint32_t row)
{
    return table->doubles[segment] && table->doubles[segment][row / 64] >> row % 64 & 1;
}

#endif
