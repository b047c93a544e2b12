/* A stable counting sort of the values of one context by metric, in linear time: values of
 * the same metric stay in the order of profiles.
 *
 * One struct sorts many contexts, one after another.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_CONTEXTS_METRIC_SORT_H
#define CN_MODEL_CONTEXTS_METRIC_SORT_H

#include "model/contexts/database.h"

struct cn_metric_sort {
    struct cn_value *sorted; /* of a context: by metric, then by profile */
    size_t sorted_capacity;
    uint32_t *next;    /* per metric: its count, then the index of its next value; all
                          zero between contexts */
    uint16_t *metrics; /* of the context */
    size_t metric_count;
};

void cn_metric_sort_init(struct cn_metric_sort *sort);
void cn_metric_sort_done(struct cn_metric_sort *sort);

/* Sort into sort->sorted, which is valid until the next call. Fails if a profile has two
 * values of a metric. */
CN_CHECK bool cn_metric_sort_run(struct cn_metric_sort *sort, uint32_t context,
                                 const struct cn_value *values, size_t count,
                                 struct cn_error *err);

#endif
