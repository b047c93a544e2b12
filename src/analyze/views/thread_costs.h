/* The cost of each thread as a whole, in some metrics.
 *
 *     double *values = cn_alloc(db->profile_count * metric_count, sizeof(*values));
 *     if (cn_thread_costs(db, metrics, metric_count, values, err))
 *         ... values[profile * metric_count + metric] ...
 *
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_VIEWS_THREAD_COSTS_H
#define CN_ANALYZE_VIEWS_THREAD_COSTS_H

#include <stddef.h>

#include "base/error.h"

struct cn_database;

enum { CN_THREAD_COST_METRICS = 8 };

/* The id of the total values of a metric in profiles of threads; CN_NO_ID if it has
 * none. */
int cn_thread_cost_id(const struct cn_database *db, const char *metric);

/* Fill in the total of each profile, NAN where it has none; summaries have none. At most
 * CN_THREAD_COST_METRICS metrics. */
CN_CHECK bool cn_thread_costs(struct cn_database *db, const char *const *metrics,
                              size_t metric_count, double *values, struct cn_error *err);

#endif
