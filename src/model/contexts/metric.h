/* Metrics, the scopes of their values in the context tree, and their statistics over
 * threads.
 *
 * Values have two kinds of ids: a `prop_id` in the profile of a thread and in the values of
 * a context, a `stat_id` in a summary profile. The same number may be both.
 * Threads: immutable once filled.
 */
#ifndef CN_MODEL_CONTEXTS_METRIC_H
#define CN_MODEL_CONTEXTS_METRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cn_scope_type {
    CN_SCOPE_CUSTOM,     /* defined by its name: "lex_aware" */
    CN_SCOPE_POINT,      /* as measured, at the context itself */
    CN_SCOPE_EXECUTION,  /* summed over all descendants: the total */
    CN_SCOPE_TRANSITIVE, /* summed over descendants that propagate: "function" */
};

struct cn_scope {
    const char *name;
    uint8_t type;        /* enum cn_scope_type, or a value of a later version */
    uint8_t propagation; /* of a transitive scope: bit in the mask of a context */
};

/* How a statistic combines the values of threads. */
enum cn_combine { CN_COMBINE_SUM, CN_COMBINE_MIN, CN_COMBINE_MAX };

const char *cn_combine_name(unsigned combine); /* "sum", "min", "max", or "unknown" */

/* A metric's values in one scope, in the profile of each thread. */
struct cn_scope_instance {
    uint16_t scope; /* index into the table's scopes */
    uint16_t prop_id;
};

/* A statistic over threads: combine(formula(value of each thread)). */
struct cn_statistic {
    uint16_t scope;
    uint16_t stat_id;
    uint8_t combine;     /* enum cn_combine, or a value of a later version */
    const char *formula; /* canonical: "$$", "1", "($$^2)" */
};

struct cn_metric {
    const char *name; /* "CPUTIME (sec)" */
    const struct cn_scope_instance *instances;
    const struct cn_statistic *statistics;
    size_t instance_count, statistic_count;
};

struct cn_metrics {
    const struct cn_scope *scopes;
    const struct cn_metric *list;
    size_t scope_count, count;
};

enum { CN_NO_ID = -1 };

/* The index of a metric or scope, or CN_NO_ID. */
int cn_metrics_find(const struct cn_metrics *metrics, const char *name);
int cn_metrics_find_scope(const struct cn_metrics *metrics, const char *name);

/* The first scope of a type, or CN_NO_ID. */
int cn_metrics_find_scope_type(const struct cn_metrics *metrics, enum cn_scope_type type);

/* The id of a metric's values in a scope, or CN_NO_ID. */
int cn_metric_prop_id(const struct cn_metric *metric, unsigned scope);

/* The id of a statistic, or CN_NO_ID. */
int cn_metric_stat_id(const struct cn_metric *metric, unsigned scope, const char *formula,
                      enum cn_combine combine);

/* Ids whose zeros are values: those of metrics that are minima or maxima, as of the shortest
 * call. Zeros of what adds up mean nothing, and files leave them out. */
struct cn_zero_ids {
    uint64_t words[(UINT16_MAX + 1) / 64];
};

/* Ids of threads' values, or of statistics. */
void cn_zero_ids_init(struct cn_zero_ids *ids, const struct cn_metrics *metrics,
                      bool of_statistics);

static inline bool cn_zero_ids_has(const struct cn_zero_ids *ids, uint16_t id)
{
    return (ids->words[id / 64] >> id % 64 & 1) != 0;
}

#endif
