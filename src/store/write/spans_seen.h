/* Spans that a store has already, and traces of which more parts are to come.
 *
 * Internal to the writer. Threads: one thread at a time.
 */
#ifndef CN_STORE_WRITE_SPANS_SEEN_H
#define CN_STORE_WRITE_SPANS_SEEN_H

#include "base/map.h"
#include "store/index/row.h"

struct cn_columns;

/* A trace in flight. */
struct cn_open_trace {
    uint64_t trace_high, trace_low;
    uint64_t next_off; /* where its next part begins */
    uint32_t next_part;
};

struct cn_spans_seen {
    struct cn_map keys;
    struct cn_open_trace *open;
    size_t open_count, open_capacity;
};

/* Note a row; false when it was there already. */
bool cn_spans_seen_add(struct cn_spans_seen *seen, const struct cn_store_row *row);
bool cn_spans_seen_has(const struct cn_spans_seen *seen, uint64_t trace_high,
                       uint64_t trace_low, uint64_t span_id, uint32_t part);

/* All rows of a segment. */
void cn_spans_seen_add_columns(struct cn_spans_seen *seen,
                               const struct cn_columns *columns);

/* The trace in flight; NULL when there is none with this id. */
const struct cn_open_trace *cn_spans_seen_open(const struct cn_spans_seen *seen,
                                               uint64_t trace_high, uint64_t trace_low);

void cn_spans_seen_done(struct cn_spans_seen *seen);

#endif
