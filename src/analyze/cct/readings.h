/* Counters that triggers read (`-T FUNC@read=page-fault`), amounts of GPU work, memory and system calls, by
 * node of one task's calling context tree.
 *
 * A reading at the end of a call is the change since its start, including the calls it made:
 * the self value of a node is without the readings inside. Calls without readings are part of
 * the nearest call around them that has some.
 *
 * Zeroed readings are empty. Sums are in two's complement: memory may shrink.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_CCT_READINGS_H
#define CN_ANALYZE_CCT_READINGS_H

#include "analyze/cct/costs.h"
#include "base/map.h"
#include "model/calls/values.h"
#include "model/gpu/metrics.h"
#include "model/io/calls.h"
#include "model/memory/metrics.h"

/* Counters of triggers first, then the metrics of GPU work, those of memory and those of system calls. */
enum {
    CN_CCT_HEAP_COUNTER = CN_COUNTER_COUNT + CN_GPU_METRIC_COUNT,
    CN_CCT_IO_COUNTER = CN_CCT_HEAP_COUNTER + CN_HEAP_METRIC_COUNT,
    CN_CCT_COUNTERS = CN_CCT_IO_COUNTER + CN_IO_METRIC_COUNT,
};

/* A call that read counters at its start, and will do so at its end. */
struct cn_cct_open_reading {
    uint32_t frames;                           /* number of open calls, with this one */
    uint64_t inner[CN_COUNTERS_OF_SOURCE_MAX]; /* the readings inside */
};

struct cn_cct_open_readings {
    struct cn_cct_open_reading *list;
    size_t count, capacity;
};

struct cn_cct_readings {
    struct cn_map numbers; /* by node */
    struct cn_cct_reading {
        uint64_t values[CN_CCT_COUNTERS];
    } * list;
    size_t count, capacity;
    struct cn_cct_open_readings open[CN_COUNTER_SOURCES];
    bool has_counter[CN_CCT_COUNTERS];
};

void cn_cct_readings_done(struct cn_cct_readings *readings);

/* Add a reading of the innermost of `frames` open calls, which is `node`. */
void cn_cct_readings_add(struct cn_cct_readings *readings,
                         const struct cn_counters *counters, uint32_t frames,
                         cn_cct_id node);

/* Add GPU work to a node. */
void cn_cct_readings_add_amount(struct cn_cct_readings *readings,
                                const struct cn_gpu_amount *amount, cn_cct_id node);

/* Add allocated memory to a node. The metric is then there. */
void cn_cct_readings_add_heap(struct cn_cct_readings *readings,
                              enum cn_heap_metric metric, double value, cn_cct_id node);

/* Add a system call. Its metrics are then there. */
void cn_cct_readings_add_io(struct cn_cct_readings *readings,
                            const struct cn_io_call *call, cn_cct_id node);

/* The value of a metric from the sum of a counter: counters of triggers may be negative, and times are
 * counted in nanoseconds. */
double cn_cct_reading_value(unsigned counter, uint64_t sum);

/* The self values of a node by counter; NULL when it has none. */
const uint64_t *cn_cct_readings_find(const struct cn_cct_readings *readings,
                                     cn_cct_id node);

/* The counters that were read, in their order; returns how many. */
unsigned cn_cct_readings_used(const struct cn_cct_readings *readings,
                              unsigned used[CN_CCT_COUNTERS]);

#endif
