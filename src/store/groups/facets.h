/* What goes with one side of a comparison of traces: attributes, services, types, errors and
 * exceptions that traces of one query have more often than those of another. A trace has what any
 * call of its spans has, in whichever records they are stored: a search for the value finds it.
 *
 * At most 2,000 traces of each side are read, evenly over time.
 * Threads: any thread.
 */
#ifndef CN_STORE_GROUPS_FACETS_H
#define CN_STORE_GROUPS_FACETS_H

#include "analyze/compare/comparison.h"
#include "analyze/traits.h"

struct cn_facet_side {
    const char *path;  /* of a store */
    const char *query; /* NULL: all traces */
};

struct cn_trace_facets {
    struct cn_signs signs;   /* their groups are sides; the most surprising first */
    uint64_t read[CN_SIDES]; /* traces */
    bool is_estimated;       /* more matched than were read */
    bool is_damaged;
    struct cn_error damage; /* why traces are missing, if it is damaged */
};

/* On failure nothing is left to release. Fails with CN_ERR_USAGE if a query matches nothing. */
CN_CHECK bool cn_trace_facets_find(struct cn_trace_facets *out,
                                   const struct cn_facet_side sides[CN_SIDES],
                                   const struct cn_progress *progress,
                                   struct cn_error *err);
void cn_trace_facets_done(struct cn_trace_facets *facets);

#endif
