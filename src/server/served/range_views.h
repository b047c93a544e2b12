/* The views of time ranges: for each range and selection of threads a database of the time in
 * it (analyze/timeline/range_database.h), made by a job, and its views. The most recently used
 * ranges are cached.
 *
 *     if (!cn_range_views_borrow(ranges, &question, &views, &entry, err)) ...
 *     ... cn_served_view_borrow(views, ...) ... cn_served_view_return() ...
 *     cn_range_views_return(ranges, entry);
 *
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_RANGE_VIEWS_H
#define CN_SERVER_SERVED_RANGE_VIEWS_H

#include <pthread.h>

#include "base/cache.h"
#include "base/error.h"

struct cn_range_question;
struct cn_served_views;
struct cn_structure;

struct cn_range_views {
    struct cn_structure *structure;
    pthread_mutex_t lock; /* of the cache */
    struct cn_cache cache;
};

void cn_range_views_init(struct cn_range_views *ranges, struct cn_structure *structure);
void cn_range_views_done(struct cn_range_views *ranges);

/* The views of a range; the share of the question does not matter. The database is there. Fails
 * with CN_ERR_INTERRUPTED while the time is being added up. */
CN_CHECK bool cn_range_views_borrow(struct cn_range_views *ranges,
                                    const struct cn_range_question *question,
                                    struct cn_served_views **out,
                                    struct cn_cached **entry, struct cn_error *err);
void cn_range_views_return(struct cn_range_views *ranges, struct cn_cached *entry);

#endif
