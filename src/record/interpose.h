/* Interposed functions of the C library: start and end of threads, forks, dlopen() and
 * unwinding.
 * Threads: cn_rec_interpose_begin() once, before the program runs.
 */
#ifndef CN_RECORD_INTERPOSE_H
#define CN_RECORD_INTERPOSE_H

#include <stdint.h>

/* Find the true functions, and register handlers of forks and thread exits. */
void cn_rec_interpose_begin(void);

/* Called by the stubs of dlopen() (number 0) and dlmopen() (1) with the stack pointer of
 * the call. Returns the true function. */
uintptr_t cn_rec_dlopen_begin(uintptr_t sp, uint32_t number);

#endif
