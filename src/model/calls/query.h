/* The selection of calls that a view or a writer shows.
 * Threads: immutable while it is in use.
 */
#ifndef CN_MODEL_CALLS_QUERY_H
#define CN_MODEL_CALLS_QUERY_H

#include "base/run/progress.h"
#include "model/calls/recording.h"

struct cn_call_filter; /* analyze/calls/filter.h */

struct cn_call_query {
    const struct cn_recording *rec;
    const struct cn_call_filter *filter;
    struct cn_time_range range;
    const uint32_t *tasks; /* indices into rec->tasks, ascending */
    uint32_t task_count;
    bool is_raw; /* recorded times; else corrected ones, where the cost is known */
    const struct cn_progress *progress; /* of report and graph; NULL: none */
};

#endif
