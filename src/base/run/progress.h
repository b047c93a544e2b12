/* Progress of long work, and requests to stop it.
 *
 * Libraries call cn_progress_report() from time to time; cli/ draws the bar. Other threads
 * of the same work call cn_progress_check().
 * Threads: reported from one thread at a time; checked from any.
 */
#ifndef CN_BASE_RUN_PROGRESS_H
#define CN_BASE_RUN_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/error.h"

struct cn_progress {
    /* `done` of `total` units ("values"); false asks the work to stop. */
    bool (*report)(void *arg, const char *what, uint64_t done, uint64_t total,
                   const char *unit);
    void *arg;
    bool (*is_stopped)(void *arg); /* by the user; NULL: only `report` knows */
};

/* Fails with CN_ERR_INTERRUPTED when the user asked to stop. A NULL progress is fine. */
CN_CHECK static inline bool cn_progress_report(const struct cn_progress *progress,
                                               const char *what, uint64_t done,
                                               uint64_t total, const char *unit,
                                               struct cn_error *err)
{
    if (!progress || progress->report(progress->arg, what, done, total, unit))
        return true;
    return cn_fail(err, CN_ERR_INTERRUPTED, "interrupted while %s", what);
}

/* The same without a report. */
CN_CHECK static inline bool cn_progress_check(const struct cn_progress *progress,
                                              const char *what, struct cn_error *err)
{
    if (!progress || !progress->is_stopped || !progress->is_stopped(progress->arg))
        return true;
    return cn_fail(err, CN_ERR_INTERRUPTED, "interrupted while %s", what);
}

/* Works that run at the same time: the first that has not ended reports, the others only ask
 * whether to stop. */
struct cn_progress_part {
    struct cn_progress progress;
    const struct cn_progress *whole;
    struct cn_progress_part *before; /* NULL: it is the first */
    atomic_bool has_ended;
};

/* The progress to pass to a work; NULL if `whole` is. */
const struct cn_progress *cn_progress_part_begin(struct cn_progress_part *part,
                                                 const struct cn_progress *whole,
                                                 struct cn_progress_part *before);
void cn_progress_part_end(struct cn_progress_part *part);

#endif
