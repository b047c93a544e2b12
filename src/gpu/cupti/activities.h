/* Records of activities that CUPTI delivers in buffers, as records of formats/gpu/format.h.
 *
 * Buffers are reused; there are CN_CUPTI_BUFFERS, and what CUPTI drops without one is counted.
 * Threads: buffers are requested and completed by any thread.
 */
#ifndef CN_GPU_CUPTI_ACTIVITIES_H
#define CN_GPU_CUPTI_ACTIVITIES_H

#include "gpu/cupti/library.h"

/* 64 MB in all. A buffer that is not full may be lost when the program is killed. */
enum { CN_CUPTI_BUFFERS = 128, CN_CUPTI_BUFFER_LEN = 512 << 10 };

/* Begin to take records. False: there is no memory, or CUPTI refuses; `*result` is its answer. */
bool cn_cupti_activities_start(const struct cn_cupti *cupti, int *result);

/* Write the clocks of the GPU and of the program. */
void cn_cupti_write_clocks(void);

/* Say how many records CUPTI dropped since the last time. */
void cn_cupti_write_dropped(void *context, uint32_t stream);

/* Another process has the buffers. */
void cn_cupti_activities_abandon(void);

#endif
