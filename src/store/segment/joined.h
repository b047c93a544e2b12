/* Traces that arrived in several parts. Each part has a row; a search returns only that of the
 * first part.
 *
 * A match in a later part counts for the first. The numbers of the trace are those of all parts
 * that have arrived. A part whose first part is not in the segment is never found. Records are
 * summed: a call that continues in a later part counts in both.
 * Threads: immutable after open.
 */
#ifndef CN_STORE_SEGMENT_JOINED_H
#define CN_STORE_SEGMENT_JOINED_H

#include "store/index/columns.h"
#include "store/index/rows.h"

/* The row of a later part, and that of the first; CN_NONE if it is missing. */
struct cn_joined_part {
    uint32_t row, first;
};

/* The numbers of all parts of a trace. */
struct cn_joined_trace {
    uint32_t row;
    uint32_t records, errors, flags;
    uint64_t duration_ns, calls;
};

struct cn_joined {
    struct cn_joined_part *parts;
    struct cn_joined_trace *traces; /* by row */
    size_t part_count, trace_count, part_capacity, trace_capacity;
};

CN_CHECK bool cn_joined_open(struct cn_joined *joined, const struct cn_columns *columns,
                             struct cn_error *err);
void cn_joined_close(struct cn_joined *joined); /* safe when never opened */

/* Add the rows of first parts for all later parts in the set. */
void cn_joined_fold(const struct cn_joined *joined, struct cn_rows *rows);

/* Remove the rows of later parts from the set. */
void cn_joined_drop(const struct cn_joined *joined, struct cn_rows *rows);

/* The number of a field for all parts of a trace; `value` if it has only one part. */
uint64_t cn_joined_number(const struct cn_joined *joined, enum cn_store_field field,
                          uint32_t row, uint64_t value);

/* Replace all numbers of row `number` in this way. */
void cn_joined_complete(const struct cn_joined *joined, uint32_t number,
                        struct cn_store_row *row);

#endif
