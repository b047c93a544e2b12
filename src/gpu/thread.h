/* What this library knows of a thread of the program that launches operations.
 *
 * It is made at the first call that launches, and released as the thread ends.
 * Threads: each has its own.
 */
#ifndef CN_GPU_THREAD_H
#define CN_GPU_THREAD_H

#include "gpu/file.h"

struct cn_gpu_paths;

enum { CN_GPU_DOMAINS = 64 }; /* of ranges, in a process */

struct cn_gpu_thread {
    struct cn_gpu_writer writer;
    struct cn_gpu_paths *paths; /* NULL: none was taken */
    uint64_t call_ns;           /* of its last call, */
    uint32_t call_correlation, call_stack, call_name;
    uint32_t range_depths[CN_GPU_DOMAINS]; /* ranges that it has begun, by domain */
};

/* Before any other call. */
bool cn_gpu_threads_init(void);

/* After a fork, once the file is abandoned: what the caller's thread knows is the parent's. */
void cn_gpu_thread_forget(void);

/* That of the caller; NULL if there is no memory. */
struct cn_gpu_thread *cn_gpu_thread(void);

#endif
