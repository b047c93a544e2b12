/* The loop that an analysis of calls spends its time in: calls that nest as they
 * should, in contexts that are known, with everything shown.
 *
 * Each of them takes the task to another node, so each is a sample of its timeline.
 * Whoever calls these follows the first call that is not of this kind by other means,
 * then comes back.
 * Threads: one thread at a time for each task.
 */
#ifndef CN_ANALYZE_CCT_CCT_RUN_H
#define CN_ANALYZE_CCT_CCT_RUN_H

#include "analyze/cct/cct_task.h"

/* Follow and count calls from the first on; returns how many. */
size_t cn_cct_run_count(struct cn_cct_task *task, struct cn_cct_follow *follow,
                        const struct cn_call *calls, size_t count);

/* The same without counting: `out` receives a sample for each. */
size_t cn_cct_run_sample(struct cn_cct_task *task, struct cn_cct_follow *follow,
                         const struct cn_call *calls, size_t count,
                         struct cn_sample *out);

#endif
