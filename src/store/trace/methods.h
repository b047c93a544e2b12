/* The times of each method of a distributed trace, of all services.
 *
 * Each call counts once. The total of a method has no calls inside others of the same method and
 * service; self time is that of a call without the calls and the spans of other services that it made.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACE_METHODS_H
#define CN_STORE_TRACE_METHODS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cn_trace_branch;
struct cn_trace_set;

struct cn_trace_method {
    uint32_t name; /* in the names of the list */
    uint64_t calls, errors, total_ns, self_ns, min_ns, max_ns;
};

struct cn_trace_methods {
    struct cn_names names;
    struct cn_trace_method *list; /* by self time, the largest first */
    size_t count, capacity;
};

/* Counts calls at most `depth` deep, where the first is 0, that take at least `min_ns`. */
void cn_trace_methods_build(struct cn_trace_methods *out, const struct cn_trace_set *set,
                            uint32_t depth, uint64_t min_ns);
void cn_trace_methods_done(struct cn_trace_methods *methods);

/* The time of a call in which no call that it made runs, in this branch or in others. */
uint64_t cn_trace_set_self_ns(const struct cn_trace_set *set,
                              const struct cn_trace_branch *branch, uint32_t node);

#endif
