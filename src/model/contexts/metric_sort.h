/* The values of one context, which come by profile, sorted by metric: by counting, in
 * linear time, keeping the order of profiles.
 *
 * One struct serves many contexts; what it holds does not grow with their number.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_CONTEXTS_METRIC_SORT_H
#define CN_MODEL_CONTEXTS_METRIC_SORT_H

#include "model/contexts/database.h"

struct cn_metric_sort {
    struct cn_value *sorted; /* of a context: by metric, then by profile */
    size_t sorted_capacity;
    uint32_t *next;    /* per metric: first its count, then where its next value goes; all
                          zero between contexts */
    uint16_t *metrics; /* that the context has */
    size_t metric_count;
};

void cn_metric_sort_init(struct cn_metric_sort *sort);
void cn_metric_sort_done(struct cn_metric_sort *sort);

/* Sort into sort->sorted, which is valid until the next call. Refuses two values of a
 * profile for the same metric. */
CN_CHECK bool cn_metric_sort_run(struct cn_metric_sort *sort, uint32_t context,
                                 const struct cn_value *values, size_t count,
                                 struct cn_error *err);

#endif
