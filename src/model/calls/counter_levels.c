#include <stdlib.h>

#include "base/alloc.h"
#include "model/calls/values.h"

enum { OPEN_MAX = 1024 }; /* calls at a time that read a source at their begin */

struct cn_counter_levels {
    struct cn_counters open[CN_COUNTER_SOURCES][OPEN_MAX];
    size_t open_count[CN_COUNTER_SOURCES];
};

struct cn_counter_levels *cn_counter_levels_new(void)
{
    return cn_alloc(1, sizeof(struct cn_counter_levels));
}

void cn_counter_levels_free(struct cn_counter_levels *levels)
{
    free(levels);
}

bool cn_counter_levels_take(struct cn_counter_levels *levels,
                            struct cn_counters *counters)
{
    size_t *open = &levels->open_count[counters->source];

    if (!counters->is_difference) {
        if (*open < OPEN_MAX)
            levels->open[counters->source][*open] = *counters;
        (*open)++;
        return true;
    }
    if (*open == 0 || (*open)-- > OPEN_MAX)
        return false;
    for (unsigned i = 0; i < counters->count; i++)
        counters->values[i] += levels->open[counters->source][*open].values[i];
    counters->is_difference = false;
    return true;
}
