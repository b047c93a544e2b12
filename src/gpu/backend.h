/* What a library of a GPU's maker offers to profilers, behind one interface.
 *
 * A backend is one folder here (cupti), with one struct cn_gpu_backend in the list of start.c. It
 * is loaded by name at run time, never linked. It reports calls that launch operations as they
 * are made (launch.h), and operations after they ended, as records of formats/gpu/format.h.
 * Threads: start() and stop() are called by one thread at a time.
 */
#ifndef CN_GPU_BACKEND_H
#define CN_GPU_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

struct cn_gpu_backend {
    const char *name;
    /* Begin to report. `caller` is an address in the library that loaded this one. False: nothing is
     * reported, and `why` is one line that says why not. */
    bool (*start)(const void *caller, char *why, size_t why_len);
    /* Report what has ended and is not reported yet. */
    void (*flush)(void);
    /* After a fork, in the child: report nothing from now on. */
    void (*abandon)(void);
};

extern const struct cn_gpu_backend cn_gpu_cupti;

#endif
