/* What threads did in a range of time: flame graph and functions of exactly that range,
 * summed from the samples by a job. The most recent answers are cached.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_RANGES_H
#define CN_SERVER_SERVED_RANGES_H

#include <pthread.h>

#include "base/cache.h"
#include "base/error.h"
#include "base/text.h"

struct cn_range_question;
struct cn_structure;

struct cn_served_ranges {
    struct cn_structure *structure;
    pthread_mutex_t lock; /* of the cache */
    struct cn_cache cache;
};

void cn_served_ranges_init(struct cn_served_ranges *ranges,
                           struct cn_structure *structure);
void cn_served_ranges_done(struct cn_served_ranges *ranges);

/* Append the answer as JSON; the database is there. Fails with CN_ERR_INTERRUPTED
 * while it is being computed. */
CN_CHECK bool cn_served_range(struct cn_served_ranges *ranges,
                              const struct cn_range_question *question,
                              struct cn_text *out, struct cn_error *err);

#endif
