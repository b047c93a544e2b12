/* For whom the threads of a database wait: found by a job when a request asks first, and the last critical
 * path, which a timeline asks for again and again.
 *
 *     cn_served_waits_ready(&served->waits, err)
 *     ... waits->study ...
 *     path = cn_served_path_borrow(&served->waits, profile, begin_ns, end_ns);
 *     cn_served_path_return(&served->waits);
 *
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_WAITS_H
#define CN_SERVER_SERVED_WAITS_H

#include <pthread.h>
#include <stdint.h>

#include "analyze/wakers/chain.h"
#include "analyze/wakers/study.h"
#include "base/error.h"
#include "base/run/job.h"

struct cn_structure;

struct cn_served_waits {
    struct cn_structure *structure;
    struct cn_job job;
    struct cn_wait_study study; /* once the job is done */

    pthread_mutex_t lock; /* of what follows */
    struct cn_wait_chain path;
    uint32_t profile; /* what the path is of; 0: there is none yet */
    uint64_t begin_ns, end_ns;
};

/* The structure outlives it. */
void cn_served_waits_init(struct cn_served_waits *waits, struct cn_structure *structure);
void cn_served_waits_done(struct cn_served_waits *waits);

/* Wait for the study, as cn_job_wait() does. */
CN_CHECK bool cn_served_waits_ready(struct cn_served_waits *waits, struct cn_error *err);

/* The critical path to the end of a range of a thread. The caller has it until it returns it. */
const struct cn_wait_chain *cn_served_path_borrow(struct cn_served_waits *waits,
                                                  uint32_t profile, uint64_t begin_ns,
                                                  uint64_t end_ns);
void cn_served_path_return(struct cn_served_waits *waits);

#endif
