/* Searches a store for traces: a trace matches if one of its spans does, in whichever segment.
 * A trace has the spans that were stored under one id, those of other services included.
 *
 *     cn_search_traces(search, query, &order, &found, err)
 *     ... found.list[i].root, cn_search_trace_service(&found, &found.list[i], k) ...
 *     cn_search_traces_done(&found)
 *
 * store/search/search.h searches for spans. Answers do not depend on the number of processors,
 * nor on the segments that contain the spans. A failure leaves nothing to release.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_SEARCH_TRACES_H
#define CN_STORE_SEARCH_TRACES_H

#include "base/map.h"
#include "store/search/search.h"
#include "store/search/trace_table.h"

struct cn_search_trace {
    struct cn_search_hit root; /* span without a caller, or the earliest */
    uint64_t trace_high, trace_low;
    struct cn_trace_sum sum;
    size_t first_service, service_count; /* in cn_search_traces.services */
};

struct cn_search_traces {
    struct cn_search_trace *list;
    size_t count;
    struct cn_names names;
    uint32_t *services; /* index in `names` */
    size_t service_count, service_capacity;
};

/* The page of traces that `order` selects: by time, the trace that began last first. */
CN_CHECK bool cn_search_traces(struct cn_search *search, const struct cn_query *query,
                               const struct cn_search_order *order,
                               struct cn_search_traces *out, struct cn_error *err);
void cn_search_traces_done(struct cn_search_traces *traces);

/* The spans of the same traces that were not sent inside of others: those of a trace one after
 * the other, with its index among the traces as `key`; without a caller first, then by time. */
CN_CHECK bool cn_search_trace_spans(struct cn_search *search,
                                    const struct cn_query *query,
                                    const struct cn_search_order *order,
                                    struct cn_search_hits *out, struct cn_error *err);

/* The same for the traces of some rows. */
CN_CHECK bool cn_search_spans_of(struct cn_search *search,
                                 const struct cn_search_hit *hits, size_t count,
                                 struct cn_search_hits *out, struct cn_error *err);

/* A service of a trace: that of the root first, the others by name. */
static inline const char *cn_search_trace_service(const struct cn_search_traces *traces,
                                                  const struct cn_search_trace *trace,
                                                  size_t i)
{
    return traces->names.list[traces->services[trace->first_service + i]];
}

/* The number of matching traces; and the range of their starts, the first above the last if
 * there are none. */
struct cn_search_trace_count {
    uint64_t count, first_ns, last_ns;
};
CN_CHECK bool cn_search_count_traces(struct cn_search *search,
                                     const struct cn_query *query,
                                     struct cn_search_trace_count *out,
                                     struct cn_error *err);

/* Visit each matching trace once, for its time, duration and errors. `sum` is valid during the
 * call. */
typedef void (*cn_search_trace_visit)(void *arg, const struct cn_trace_sum *sum);
CN_CHECK bool cn_search_each_trace(struct cn_search *search, const struct cn_query *query,
                                   cn_search_trace_visit visit, void *arg,
                                   struct cn_error *err);

#endif
