/* The file of this process, for whichever caller of the library comes first: the driver or NVTX.
 * Threads: any thread.
 */
#ifndef CN_GPU_START_H
#define CN_GPU_START_H

#include <stdbool.h>

/* Open the file that the environment names, if none is open. False: nothing is recorded. */
bool cn_gpu_open_once(void);

#endif
