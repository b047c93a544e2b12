#include "model/contexts/points.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"

uint32_t cn_points_at(struct cn_points *points, struct cn_point point)
{
    uint64_t key[2] = {point.offset, (uint64_t)point.module << 32 | point.context};
    uint32_t at = *cn_map_at(&points->point_of, XXH3_64bits(key, sizeof(key)),
                             (uint32_t)points->count);

    if (at == points->count) {
        CN_PUSH(points->list, points->count, points->capacity, point);
    }
    return at;
}

void cn_points_add(struct cn_points *points, uint32_t point, uint32_t profile,
                   uint32_t metric, double value)
{
    uint64_t key[2] = {point, (uint64_t)profile << 32 | metric};
    uint32_t at = *cn_map_at(&points->value_of, XXH3_64bits(key, sizeof(key)),
                             (uint32_t)points->value_count);

    if (at == points->value_count) {
        CN_PUSH(points->values, points->value_count, points->value_capacity,
                (struct cn_point_value){0, point, profile, metric});
    }
    points->values[at].value += value;
}

void cn_points_done(struct cn_points *points)
{
    free(points->list);
    free(points->values);
    cn_map_done(&points->point_of);
    cn_map_done(&points->value_of);
    *points = (struct cn_points){0};
}
