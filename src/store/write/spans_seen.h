/* The spans that a store already has, and its traces with parts to come.
 *
 * Internal to the store. Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_SPANS_SEEN_H
#define CN_STORE_WRITE_SPANS_SEEN_H

#include <stddef.h>

#include "store/index/row.h"

struct cn_columns;

/* A trace in flight. */
struct cn_open_trace {
    uint64_t trace_high, trace_low;
    uint64_t next_off; /* offset of its next part */
    uint32_t next_part;
};

struct cn_spans_seen {
    uint64_t *keys; /* of spans: hashes, by these; 0: free */
    size_t key_count, key_slots;
    struct cn_open_trace *open;
    size_t open_count, open_capacity;
};

/* Add the span of a row; false if it was known. */
bool cn_spans_seen_add(struct cn_spans_seen *seen, const struct cn_store_row *row);
bool cn_spans_seen_has(const struct cn_spans_seen *seen, uint64_t trace_high,
                       uint64_t trace_low, uint64_t span_id, uint32_t part);

/* Add all rows of a segment. */
void cn_spans_seen_add_columns(struct cn_spans_seen *seen,
                               const struct cn_columns *columns);

/* The trace in flight with this id; NULL if there is none. */
const struct cn_open_trace *cn_spans_seen_open(const struct cn_spans_seen *seen,
                                               uint64_t trace_high, uint64_t trace_low);

void cn_spans_seen_done(struct cn_spans_seen *seen);

#endif
