/* Values that spans are grouped by, each combination with a number: in the order in which they were first
 * asked for.
 *
 * Internal to store/traceql. A zeroed set with an arena and `count` is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_LABELS_H
#define CN_STORE_TRACEQL_LABELS_H

#include "base/map.h"
#include "store/traceql/value.h"

struct cn_tql_labels {
    struct cn_arena *arena; /* has the values */
    size_t count;           /* of the values of a combination */
    struct cn_tql_value **list;
    size_t list_count, list_capacity;
    struct cn_map by_hash;
    uint32_t last; /* 1 + the number of the combination asked for last; 0: none */
    size_t max;
    bool is_full; /* there are more than `max` */
};

void cn_tql_labels_done(struct cn_tql_labels *labels);

/* The number of a combination; CN_NONE if there are too many. */
uint32_t cn_tql_labels_find(struct cn_tql_labels *labels, const struct cn_tql_value *by);

#endif
