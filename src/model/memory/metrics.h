/* The metrics of allocated memory: names with units, descriptions.
 *
 * Every source of heap data has its values under these names: samples of allocations, and the
 * profiles of other tools.
 * Threads: any thread.
 */
#ifndef CN_MODEL_MEMORY_METRICS_H
#define CN_MODEL_MEMORY_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/contexts/taxonomy.h"

enum cn_heap_metric {
    CN_HEAP_BYTES,
    CN_HEAP_CALLS,
    CN_HEAP_LIVE_END,
    CN_HEAP_LIVE_END_CALLS,
    CN_HEAP_LIVE_PEAK,
    CN_HEAP_OWN_PEAK,
    CN_HEAP_TEMPORARY,
    CN_HEAP_FREED_ELSEWHERE,
    CN_HEAP_WASTE,
    CN_HEAP_GROWTH,
    CN_HEAP_FREED_FOR_OTHERS, /* of the thread that freed */
    CN_HEAP_FREED,
    CN_HEAP_LIFETIME, /* sum, in seconds */
    CN_HEAP_LIVED, /* the first of the lifetimes; each is up to ten times the one before */
    CN_HEAP_LIVED_LAST = CN_HEAP_LIVED + 8,
    CN_HEAP_LEAKED, /* only where it was looked for */
    CN_HEAP_LEAKED_CALLS,
    CN_HEAP_SAMPLES, /* that the others are estimated from */
    CN_HEAP_METRIC_COUNT
};

const char *cn_heap_metric_name(enum cn_heap_metric metric);

/* The metric of blocks that lived for a time, CN_HEAP_LIVED to CN_HEAP_LIVED_LAST. */
enum cn_heap_metric cn_heap_metric_lived(uint64_t lifetime_ns);

/* CN_HEAP_METRIC_COUNT: it is another one. */
enum cn_heap_metric cn_heap_metric_find(const char *name);

/* True if values are numbers of allocations, not bytes or seconds. */
bool cn_heap_metric_is_count(enum cn_heap_metric metric);

/* The type of the values in heap profiles of pprof; NULL: pprof has none, and the type is the name
 * without its unit. The metric of a type; CN_HEAP_METRIC_COUNT: it is another one. */
const char *cn_heap_metric_pprof(enum cn_heap_metric metric);
enum cn_heap_metric cn_heap_metric_of_pprof(const char *type, const char *unit);

/* Describe the metrics of memory in the taxonomy of a database; others stay as they are. */
void cn_heap_taxonomy(struct cn_taxonomy *taxonomy, struct cn_arena *arena);

#endif
