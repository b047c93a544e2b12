/* The hot loop of an analysis of calls: calls that nest properly, in known contexts, with
 * everything shown.
 *
 * Each of them changes the current node, so each is a sample of the timeline. The caller
 * handles the first call that does not fit, then calls again.
 * Threads: one thread at a time for each task.
 */
#ifndef CN_ANALYZE_CCT_RUN_H
#define CN_ANALYZE_CCT_RUN_H

#include "analyze/cct/task.h"

/* Follow and count calls of a batch, from number `first` on; returns how many fit. */
size_t cn_cct_run_count(struct cn_cct_task *task, struct cn_cct_follow *follow,
                        const struct cn_call_batch *batch, size_t first);

/* The same without counting; `out` receives a sample for each. */
size_t cn_cct_run_sample(struct cn_cct_task *task, struct cn_cct_follow *follow,
                         const struct cn_call *calls, size_t count,
                         struct cn_sample *out);

#endif
