/* Interposed functions of the C library: start and end of threads, forks, dlopen(),
 * sandboxes and unwinding.
 * Threads: cn_rec_interpose_begin() once, before the program runs.
 */
#ifndef CN_RECORD_START_INTERPOSE_H
#define CN_RECORD_START_INTERPOSE_H

#include <stdint.h>

/* Find the true functions, and register handlers of forks and thread exits. */
void cn_rec_interpose_begin(void);

/* Called by the stubs of dlopen() (number 0), dlmopen() (1), prctl() (2), syscall() (3) and
 * makecontext() (4) with the stack pointer and the arguments of the call. Returns the true function. */
uintptr_t cn_rec_forward_begin(uintptr_t sp, uint32_t number, const uint64_t *arguments);

#endif
