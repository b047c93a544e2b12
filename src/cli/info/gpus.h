/* What cairn info says of the GPU work of a recording: a line for each device.
 * Threads: any thread.
 */
#ifndef CN_CLI_INFO_GPUS_H
#define CN_CLI_INFO_GPUS_H

#include "model/gpu/work.h"

struct cn_facts;
struct cn_text;

/* What a device did, and for which memory it was asked. */
struct cn_gpu_totals {
    uint64_t counts[CN_GPU_KIND_COUNT]; /* operations by kind */
    uint64_t kernel_ns, copied_bytes;
    uint64_t peak_bytes; /* most memory that was allocated at once */
    uint32_t stream_count;
};

struct cn_gpu_totals cn_gpu_totals_of(const struct cn_gpu_work *work, uint32_t device);

/* "NVIDIA H200: 250 kernels (1.2 ms) and 3 copies (4.0 MiB) on 2 streams, ..." */
void cn_gpu_totals_print(const struct cn_gpu_work *work, uint32_t device,
                         struct cn_text *text);

/* A list of them; nothing of no work, NULL. */
void cn_gpu_totals_list(const struct cn_gpu_work *work, struct cn_facts *facts);

#endif
