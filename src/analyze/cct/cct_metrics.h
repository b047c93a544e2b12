/* The metrics of a database that is made from calls, and how they are shown.
 *
 * Calls, time, time on a processor and what counters say in the scopes point, function,
 * lex_aware and execution; the shortest and the longest call, and how many calls took
 * how long, at the context itself; of contexts that are no calls the shortest and the
 * longest call below. A function's own cost is the same in the first three scopes:
 * nothing lies lexically inside a function but the lines of its calls, which cost
 * nothing.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_CCT_CCT_METRICS_H
#define CN_ANALYZE_CCT_CCT_METRICS_H

#include "analyze/histogram.h"
#include "model/calls/call_values.h"
#include "model/contexts/database.h"

enum cn_cct_scope {
    CN_CCT_POINT,
    CN_CCT_FUNCTION,
    CN_CCT_LEX_AWARE,
    CN_CCT_EXECUTION,
    CN_CCT_SCOPES
};

/* Numbers of metrics that every recording may have. */
enum cn_cct_metric {
    CN_CCT_TIME,
    CN_CCT_CPU_TIME,
    CN_CCT_CALLS,
    CN_CCT_SCOPED_METRICS,
};

/* Ids of values: those of the metrics above first, those of counters last. */
enum {
    CN_CCT_ID_MIN = CN_CCT_SCOPED_METRICS * CN_CCT_SCOPES,
    CN_CCT_ID_MAX,
    CN_CCT_ID_BUCKET, /* of bucket 0; the others follow */
    CN_CCT_ID_COUNTER = (CN_CCT_ID_BUCKET + CN_BUCKET_COUNT + CN_CCT_SCOPES - 1) /
                        CN_CCT_SCOPES * CN_CCT_SCOPES,
    CN_CCT_ID_COUNT = CN_CCT_ID_COUNTER + CN_COUNTER_COUNT * CN_CCT_SCOPES,
};

/* Whether a value belongs to a metric that has all scopes; then its id modulo
 * CN_CCT_SCOPES is the scope. */
static inline bool cn_cct_id_is_scoped(unsigned prop_id)
{
    return prop_id < CN_CCT_ID_MIN || prop_id >= CN_CCT_ID_COUNTER;
}

static inline uint16_t cn_cct_counter_id(unsigned counter, enum cn_cct_scope scope)
{
    return (uint16_t)(CN_CCT_ID_COUNTER + counter * CN_CCT_SCOPES + (unsigned)scope);
}

static inline uint16_t cn_cct_prop_id(enum cn_cct_metric metric, enum cn_cct_scope scope)
{
    return (uint16_t)((unsigned)metric * CN_CCT_SCOPES + (unsigned)scope);
}

struct cn_cct_metric_choice {
    bool has_cpu_time;
    bool has_all_statistics; /* over threads: else sums, and minima of minima, only */
    const bool *has_bucket;  /* by bucket */
    const bool *has_counter; /* by counter */
};

/* Fill in the metrics and the taxonomy of a database; memory comes from its arena. */
void cn_cct_metrics_build(struct cn_database *db,
                          const struct cn_cct_metric_choice *choice);

/* The statistics over threads of one value id, in the order of their ids; returns
 * how many. */
enum { CN_CCT_STATISTICS_MAX = 5 };
size_t cn_cct_statistics(uint16_t prop_id, bool has_all,
                         struct cn_statistic out[CN_CCT_STATISTICS_MAX]);

#endif
