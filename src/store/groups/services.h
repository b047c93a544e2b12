/* Which services call which: the matching spans by their service and that of the span that caused
 * them, wherever it is stored. Calls inside a service are not listed.
 *
 * Spans are joined to their callers two million at a time, so that memory is bounded. The caller releases the result; a failure leaves nothing.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_GROUPS_SERVICES_H
#define CN_STORE_GROUPS_SERVICES_H

#include "base/map.h"
#include "store/search/search.h"

/* Spans of `callee` that `caller` caused. */
struct cn_service_edge {
    uint32_t
        caller; /* index in the names; CN_NONE: a span without a stored caller, or all */
    uint32_t callee;
    uint64_t count, error_count; /* spans; those that failed themselves */
    double estimate;             /* of the count before sampling */
    uint64_t total_ns, p50_ns, p90_ns, p99_ns, max_ns;
};

struct cn_services {
    struct cn_names names;
    uint64_t *
        self_ns; /* by name, if it was asked for: time of its spans in which no span that they
                          called ran; NULL */
    struct cn_service_edge *edges; /* the most spans first, equals by names */
    size_t count;
    struct cn_service_edge *callees; /* of all callers together, in the same order */
    size_t callee_count;
    uint64_t first_ns,
        last_ns; /* starts of the matching spans; rates are over this time */
};

/* `has_self`: with self times, which take about as long again. */
CN_CHECK bool cn_search_services(struct cn_search *search, const struct cn_query *query,
                                 bool has_self, struct cn_services *out,
                                 struct cn_error *err);
void cn_services_done(struct cn_services *services);

#endif
