/* Where the rows of some traces are: found at once for many, faster than for each by its id.
 *
 * Internal to store/traceql. Threads: immutable after it was made.
 */
#ifndef CN_STORE_TRACEQL_PLACES_H
#define CN_STORE_TRACEQL_PLACES_H

#include "store/search/trace_ids.h"
#include "store/traceql/candidates.h"

/* Neighbouring rows of a trace. */
struct cn_tql_run_place {
    uint32_t segment, first, end;
};

struct cn_tql_places {
    struct cn_trace_ids ids;
    size_t *ends; /* by trace: of its places, which follow those before */
    struct cn_tql_run_place
        *list; /* those of a trace in the order of segments and rows */
};

/* Find the rows of the candidates. False if they cannot be found so. */
bool cn_tql_places_find(struct cn_tql_places *places, struct cn_tql_view *view,
                        const struct cn_tql_candidates *candidates);
void cn_tql_places_done(struct cn_tql_places *places);

/* The places of a trace; none if they are not known. */
size_t cn_tql_places_of(const struct cn_tql_places *places, uint64_t high, uint64_t low,
                        const struct cn_tql_run_place **out);

#endif
