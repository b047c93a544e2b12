/* Time ranges of a database: for each range and selection of threads its flame graph
 * (range_flame.h), or a database of the time in it (analyze/timeline/range_database.h) and the
 * views of that. A job computes them; those of the most recently used ranges are cached.
 *
 *     if (!cn_served_range_views(ranges, &question, &views, &entry, err)) ...
 *     ... cn_served_view_borrow(views, ...) ... cn_served_view_return() ...
 *     cn_served_range_return(ranges, entry);
 *
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_RANGES_H
#define CN_SERVER_SERVED_RANGES_H

#include <pthread.h>

#include "base/cache.h"
#include "base/error.h"
#include "base/run/job.h"

struct cn_range_flame;
struct cn_range_question;
struct cn_served_views;
struct cn_structure;

/* Of one kind: flame graphs or views. */
struct cn_served_ranges {
    struct cn_structure *structure;
    cn_job_fn work;
    pthread_mutex_t lock; /* of the cache */
    struct cn_cache cache;
};

void cn_served_ranges_init(struct cn_served_ranges *flames,
                           struct cn_served_ranges *views,
                           struct cn_structure *structure);
void cn_served_ranges_done(struct cn_served_ranges *ranges);

/* The flame graph of a range; an estimate while the job computes it, if there is one. Here and
 * below, the database is there, and the functions fail with CN_ERR_BUSY while a job
 * computes. */
CN_CHECK bool cn_served_range_flame(struct cn_served_ranges *ranges,
                                    const struct cn_range_question *question,
                                    const struct cn_range_flame **out,
                                    struct cn_cached **entry, struct cn_error *err);

/* The views of a range; the share of the question is zero. */
CN_CHECK bool cn_served_range_views(struct cn_served_ranges *ranges,
                                    const struct cn_range_question *question,
                                    struct cn_served_views **out,
                                    struct cn_cached **entry, struct cn_error *err);

/* Give back what one of these returned. */
void cn_served_range_return(struct cn_served_ranges *ranges, struct cn_cached *entry);

#endif
