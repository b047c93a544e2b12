#include "model/contexts/transpose_internal.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

enum { METRIC_COUNT = UINT16_MAX + 1 };

void cn_metric_sort_init(struct cn_metric_sort *sort)
{
    *sort = (struct cn_metric_sort){
        .next = cn_alloc(METRIC_COUNT, sizeof(*sort->next)),
        .metrics = cn_alloc(METRIC_COUNT, sizeof(*sort->metrics)),
    };
}

void cn_metric_sort_done(struct cn_metric_sort *sort)
{
    free(sort->sorted);
    free(sort->next);
    free(sort->metrics);
    *sort = (struct cn_metric_sort){0};
}

bool cn_metric_sort_run(struct cn_metric_sort *sort, uint32_t context,
                        const struct cn_value *values, size_t count, struct cn_error *err)
{
    uint32_t start = 0;

    CN_RENEW(sort->sorted, count, sort->sorted_capacity);
    sort->metric_count = 0;
    for (size_t i = 0; i < count; i++)
        if (sort->next[values[i].metric]++ == 0)
            sort->metrics[sort->metric_count++] = values[i].metric;
    CN_SORT_VALUES(sort->metrics, sort->metric_count);
    /* Replace the counts by starts. */
    for (size_t i = 0; i < sort->metric_count; i++) {
        uint32_t own = sort->next[sort->metrics[i]];

        sort->next[sort->metrics[i]] = start;
        start += own;
    }
    for (size_t i = 0; i < count; i++)
        sort->sorted[sort->next[values[i].metric]++] = values[i];
    for (size_t i = 0; i < sort->metric_count; i++)
        sort->next[sort->metrics[i]] = 0;
    for (size_t i = 1; i < count; i++) {
        const struct cn_value *value = &sort->sorted[i];

        if (value->metric == value[-1].metric && value->key <= value[-1].key)
            return cn_fail(err, CN_ERR_FORMAT,
                           "profile %" PRIu32 ": context %" PRIu32
                           " has two values for metric %u",
                           value->key, context, value->metric);
    }
    return true;
}
