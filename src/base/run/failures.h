/* Failures of parallel jobs: each worker notes its own, all stop soon after, and the one of
 * the earliest job is reported, so that the message does not depend on scheduling.
 *
 * `run` and `finish` of a job call cn_failures_stopped() and do nothing if it is true; on
 * failure they fill cn_failures_error() and call cn_failures_note(). `take`, which the pool
 * serialises, calls cn_failures_share().
 * Threads: each worker with its own number; init, share and result as described.
 */
#ifndef CN_BASE_RUN_FAILURES_H
#define CN_BASE_RUN_FAILURES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct cn_worker_failure {
    bool has_failed, is_stopped;
    size_t job; /* that failed */
    struct cn_error err;
};

struct cn_failures {
    struct cn_worker_failure *workers;
    unsigned count;
    bool is_any; /* touched in `take` only */
};

void cn_failures_init(struct cn_failures *failures, unsigned workers);
void cn_failures_done(struct cn_failures *failures);

bool cn_failures_stopped(const struct cn_failures *failures, unsigned worker);

/* The error of this worker. */
struct cn_error *cn_failures_error(struct cn_failures *failures, unsigned worker);
void cn_failures_note(struct cn_failures *failures, unsigned worker, size_t job);

/* In `take`: exchange failures with the other workers. False if this worker has to stop. */
bool cn_failures_share(struct cn_failures *failures, unsigned worker);

/* After the pool has ended: false, with the failure of the earliest job, if there is one. */
CN_CHECK bool cn_failures_result(const struct cn_failures *failures,
                                 struct cn_error *err);

#endif
