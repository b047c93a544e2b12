/* What each stream of GPU work runs over time: samples of a timeline, at which the place of the
 * operation that began last, of those that run, is shown, or 0.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_GPU_TIMELINES_H
#define CN_MODEL_GPU_TIMELINES_H

#include "base/error.h"
#include "model/gpu/work.h"

/* Samples of a stream come in the order of time, no two of one time. Operations of place 0 are
 * left out. */
typedef bool (*cn_gpu_sample_fn)(void *arg, uint32_t stream, uint64_t time_ns,
                                 uint32_t place, struct cn_error *err);
CN_CHECK bool cn_gpu_timelines(const struct cn_gpu_work *work, cn_gpu_sample_fn take,
                               void *arg, struct cn_error *err);

#endif
