/* Samples of GPU instructions below a launch, and the structure of the GPU binary: kernels
 * first, second and third call inner, which calls leaf and even; even and odd call each
 * other. First and second were launched.
 * Threads: any thread.
 */
#ifndef CN_TEST_GPU_RUN_H
#define CN_TEST_GPU_RUN_H

#include "support/made_run.h"

/* Its metrics. */
enum {
    CN_GPU_LAUNCHES,
    CN_GPU_SAMPLED,
    CN_GPU_INSTRUCTIONS,
    CN_GPU_SECONDS,
    CN_GPU_METRICS,
};

enum { CN_GPU_NODES = 12, CN_GPU_RANGE_NODES = 24 };

struct cn_made_run cn_gpu_run(void);

/* The same with the work of GPU context 7 in ranges; first has two launch sites. */
struct cn_made_run cn_gpu_range_run(void);

/* Append the .hpcstruct file; "1" and "0x600" make a good call graph. */
void cn_gpu_structure_add(struct cn_text *to, const char *has_calls,
                          const char *even_calls);

#endif
