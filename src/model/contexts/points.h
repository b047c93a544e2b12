/* Costs of single instructions in databases of samples: finer than contexts, whose values contain
 * them. A point is an instruction in a context.
 *
 * A zeroed table is empty.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_MODEL_CONTEXTS_POINTS_H
#define CN_MODEL_CONTEXTS_POINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cn_point {
    uint64_t offset; /* in the module */
    uint32_t module, context;
};

struct cn_point_value {
    double value;
    uint32_t point, profile;
    uint32_t metric; /* index in the database */
};

struct cn_points {
    struct cn_point *list;
    struct cn_point_value *values; /* one for each point, profile and metric */
    size_t count, capacity, value_count, value_capacity;
    struct cn_map point_of, value_of;
};

/* The number of a point, added if it is new. */
uint32_t cn_points_at(struct cn_points *points, struct cn_point point);

/* Add to the value of a point. */
void cn_points_add(struct cn_points *points, uint32_t point, uint32_t profile,
                   uint32_t metric, double value);

void cn_points_done(struct cn_points *points);

#endif
