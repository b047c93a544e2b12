/* The critical path of a trace: at each moment the one call that the end of the trace waited for.
 *
 * From the end of a call backwards, the path goes through the callee that ended last, then from the
 * start of that one through the callee that ended last before it, and so on; the time in between is
 * the call's own. Times of callees outside of their callers (clocks of other machines) are cut off.
 * The steps do not overlap and cover the time from the start of the first call to the end of the
 * last one.
 *
 * The caller releases the path; it borrows nothing. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACE_CRITICAL_PATH_H
#define CN_STORE_TRACE_CRITICAL_PATH_H

#include <stddef.h>
#include <stdint.h>

struct cn_trace_set;

/* A part of the path in one call, without its callees. */
struct cn_critical_step {
    uint32_t branch, node;     /* of the set; CN_NONE: between calls without a caller */
    uint64_t begin_ns, end_ns; /* since the epoch */
};

struct cn_critical_path {
    struct cn_critical_step *steps; /* by time */
    size_t count, capacity;
    uint64_t begin_ns, end_ns;
    uint64_t **self_ns; /* by branch and node: time on the path; UINT64_MAX: not on it */
    size_t branch_count;
};

void cn_critical_path_find(struct cn_critical_path *out, const struct cn_trace_set *set);
void cn_critical_path_done(struct cn_critical_path *path);

#endif
