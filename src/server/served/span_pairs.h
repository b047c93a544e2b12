/* Joins spans to those that called them as they arrive, in whichever order, to count the calls
 * between services.
 *
 * Memory is bounded: of spans, and of those whose caller has not arrived, the last 65,536 to 131,072
 * are known. A pair further apart is not counted.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_SERVED_SPAN_PAIRS_H
#define CN_SERVER_SERVED_SPAN_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cn_paired_span {
    uint64_t trace_high, trace_low, id, parent_id;
    uint64_t time_ns, duration_ns;
    uint32_t service; /* any number */
    bool has_failed;
};

/* The newest spans, or an earlier list of them. */
struct cn_pair_list {
    struct cn_map by_id; /* of a span, or of the caller it waits for: number + 1 */
    struct cn_paired_span *list;
    uint32_t *next; /* waits for the same caller: number + 1; 0: none */
    size_t count, capacity, next_capacity;
};

/* A zeroed one is ready for use. */
struct cn_span_pairs {
    struct cn_pair_list known[2], waiting[2]; /* the newest, and those before */
};

/* Add a span. `visit` is called for each pair that it completes. */
typedef void cn_pair_visit(void *arg, const struct cn_paired_span *caller,
                           const struct cn_paired_span *callee);
void cn_span_pairs_add(struct cn_span_pairs *pairs, const struct cn_paired_span *span,
                       cn_pair_visit *visit, void *arg);
void cn_span_pairs_done(struct cn_span_pairs *pairs);

#endif
