/* When the slow calls of a function happen: in a run, at the beginning, regularly, or at the
 * same time as slow calls of other tasks.
 *
 * Times are recorded times of sampled calls.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_WHY_TIMES_H
#define CN_ANALYZE_WHY_TIMES_H

#include "analyze/why/why.h"

struct cn_why_times {
    /* The densest time that has half of the slow calls, or more; `slow` is 0 if it may be
     * chance. Few typical calls begin then. */
    struct cn_why_cluster {
        uint64_t begin_ns, end_ns; /* of the first and the last slow call in it */
        uint64_t slow;             /* calls that begin in it */
        double typical_share;      /* share of the typical calls that do */
        bool is_first;             /* hardly any call of the function is before it */
    } cluster;
    uint64_t period_ns;   /* from a slow call to the next, if that is regular; else 0 */
    uint64_t overlapping; /* slow calls during which another task had a slow call */
};

void cn_why_times_find(struct cn_why_times *times, const struct cn_why *why);

#endif
