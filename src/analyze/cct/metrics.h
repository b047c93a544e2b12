/* Metrics and taxonomy of a database that is made from calls.
 *
 * Calls, time, its states (analyze/waits.h), counters, GPU work, memory and system calls have the scopes point, function, lex_aware and
 * execution. The self cost of a function is the same in the first three: lexically, a
 * function contains only the lines of its call sites, which cost nothing.
 *
 * The shortest and the longest call, and the number of calls per bucket of durations, are
 * values of the context itself; only the former two are presented. Contexts that are no calls have the extremes of the calls
 * below them.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_CCT_METRICS_H
#define CN_ANALYZE_CCT_METRICS_H

#include "analyze/cct/readings.h"
#include "analyze/durations/histogram.h"
#include "analyze/waits.h"
#include "model/contexts/database.h"

enum cn_cct_scope {
    CN_CCT_POINT,
    CN_CCT_FUNCTION,
    CN_CCT_LEX_AWARE,
    CN_CCT_EXECUTION,
    CN_CCT_SCOPES
};

/* Metrics with scopes that every recording may have. */
enum cn_cct_metric {
    CN_CCT_TIME,
    CN_CCT_CPU_TIME,
    CN_CCT_WAIT, /* one by enum cn_wait */
    CN_CCT_CALLS = CN_CCT_WAIT + CN_WAIT_KINDS,
    CN_CCT_SCOPED_METRICS,
};

/* Ids of values: the metrics with scopes first, buckets last. */
enum {
    CN_CCT_ID_COUNTER = CN_CCT_SCOPED_METRICS * CN_CCT_SCOPES,
    CN_CCT_ID_MIN = CN_CCT_ID_COUNTER + CN_CCT_COUNTERS * CN_CCT_SCOPES,
    CN_CCT_ID_MAX,
    CN_CCT_ID_BUCKET, /* of bucket 0; the others follow */
    CN_CCT_ID_COUNT = CN_CCT_ID_BUCKET + CN_BUCKET_COUNT,
};

/* True for values of metrics with scopes: the scope is the id modulo CN_CCT_SCOPES. */
static inline bool cn_cct_id_is_scoped(unsigned prop_id)
{
    return prop_id < CN_CCT_ID_MIN;
}

/* False for the shortest and the longest call: a zero is a value. */
static inline bool cn_cct_id_adds_up(unsigned prop_id)
{
    return prop_id != CN_CCT_ID_MIN && prop_id != CN_CCT_ID_MAX;
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
    bool has_waits;          /* time by state */
    bool has_all_statistics; /* over threads; else sums and extremes only */
    const bool *has_bucket;  /* by bucket */
    const bool *has_counter; /* by counter */
};

/* Fill in the metrics and the taxonomy of a database, in its arena, and the first stat_id of
 * each value id. Statistics are numbered without gaps, in the order of value ids: hpcviewer
 * numbers its own metrics after them. */
void cn_cct_metrics_build(struct cn_database *db,
                          const struct cn_cct_metric_choice *choice,
                          uint16_t stat_ids[CN_CCT_ID_COUNT]);

/* The statistics over threads of one value id, the first with `stat_id`; returns how many. */
enum { CN_CCT_STATISTICS_MAX = 5 };
size_t cn_cct_statistics(uint16_t prop_id, bool has_all, uint16_t stat_id,
                         struct cn_statistic out[CN_CCT_STATISTICS_MAX]);

#endif
