/* The metrics of GPU work, with the names, units and descriptions of HPCToolkit, and the values
 * that an operation has of them.
 *
 * Where HPCToolkit has none, the names are in its style: "GLAUNCH:WAIT (sec)".
 * Threads: any thread.
 */
#ifndef CN_MODEL_GPU_METRICS_H
#define CN_MODEL_GPU_METRICS_H

#include "model/contexts/taxonomy.h"
#include "model/gpu/work.h"

/* Metrics of the same group are in the order of their details. */
enum cn_gpu_metric {
    CN_GPU_OP_TIME, /* of all that follow */
    CN_GPU_KERNEL_TIME,
    CN_GPU_MEMORY_TIME,
    CN_GPU_SET_TIME,
    CN_GPU_COPY_TIME,
    CN_GPU_MIGRATION_TIME,
    CN_GPU_SYNC_TIME,
    CN_GPU_LAUNCH_WAIT,
    CN_GPU_IDLE_CAUSE,
    CN_GPU_CPU_IDLE_CAUSE,
    CN_GPU_MEMORY_BYTES,
    CN_GPU_MEMORY_CALLS = CN_GPU_MEMORY_BYTES + CN_GPU_MEMORY_COUNT,
    CN_GPU_ALLOCATED, /* of devices */
    CN_GPU_ALLOCATIONS,
    CN_GPU_LIVE_END,
    CN_GPU_LIVE_PEAK,
    CN_GPU_SET_BYTES,
    CN_GPU_SET_CALLS = CN_GPU_SET_BYTES + CN_GPU_MEMORY_COUNT,
    CN_GPU_COPY_BYTES,
    CN_GPU_COPY_CALLS = CN_GPU_COPY_BYTES + CN_GPU_COPY_COUNT,
    CN_GPU_MIGRATION_BYTES,
    CN_GPU_SYNC_KIND_TIME,
    CN_GPU_SYNC_CALLS = CN_GPU_SYNC_KIND_TIME + CN_GPU_SYNC_COUNT,
    CN_GPU_SYNC_IDLE,
    CN_GPU_KERNEL_CALLS,
    CN_GPU_FACTS, /* sums over launches, of which views show the mean */
    CN_GPU_STATIC_SHARED = CN_GPU_FACTS,
    CN_GPU_DYNAMIC_SHARED,
    CN_GPU_LOCAL,
    CN_GPU_ACTIVE_WARPS,
    CN_GPU_MAX_WARPS,
    CN_GPU_REGISTERS,
    CN_GPU_BLOCK_THREADS,
    CN_GPU_BLOCK_SHARED,
    CN_GPU_BLOCKS,
    CN_GPU_METRIC_COUNT
};

const char *cn_gpu_metric_name(enum cn_gpu_metric metric);

/* True if amounts are nanoseconds: values are seconds. */
bool cn_gpu_metric_is_time(enum cn_gpu_metric metric);

struct cn_gpu_amount {
    enum cn_gpu_metric metric;
    uint64_t amount; /* not 0 */
};

enum { CN_GPU_AMOUNT_MAX = 16 };

/* What an operation counts for; returns how many. */
size_t cn_gpu_amounts(const struct cn_gpu_work *work, const struct cn_gpu_op *op,
                      struct cn_gpu_amount out[CN_GPU_AMOUNT_MAX]);

/* An amount as the value of a metric. */
double cn_gpu_amount_value(enum cn_gpu_metric metric, uint64_t amount);

/* Present metrics of GPU work in the taxonomy of a database as HPCToolkit does: descriptions, the
 * facts of kernels as means over launches. Other metrics, and a taxonomy without such metrics, stay
 * as they are. */
void cn_gpu_taxonomy(struct cn_taxonomy *taxonomy, struct cn_arena *arena);

#endif
