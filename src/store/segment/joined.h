/* Traces of a segment that came in several parts: each part has a row, a search knows the first
 * of them alone.
 *
 * What is found in a later part counts as found in the first; the numbers of the trace are those
 * of all parts that have arrived. A part whose beginning is in no row of the segment is not found.
 * Records are summed: a call that goes on in a later part counts there again.
 * Threads: immutable after open.
 */
#ifndef CN_STORE_SEGMENT_JOINED_H
#define CN_STORE_SEGMENT_JOINED_H

#include "store/index/columns.h"
#include "store/index/rows.h"

/* A row and the row of the first part; CN_NONE: not here. */
struct cn_joined_part {
    uint32_t row, first;
};

/* What the parts of a trace say together. */
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

/* Add the first rows of all later parts that are in the set. */
void cn_joined_fold(const struct cn_joined *joined, struct cn_rows *rows);

/* Remove all later parts from the set. */
void cn_joined_drop(const struct cn_joined *joined, struct cn_rows *rows);

/* A number of a row: that of all parts where it has several, else `value`. */
uint64_t cn_joined_number(const struct cn_joined *joined, enum cn_store_field field,
                          uint32_t row, uint64_t value);

/* The same for all numbers of row `number` at once. */
void cn_joined_complete(const struct cn_joined *joined, uint32_t number,
                        struct cn_store_row *row);

#endif
