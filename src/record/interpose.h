/* Functions of the C library that the recorder has to know about: threads that begin and
 * end, forks, jumps, unwinding.
 * Threads: cn_rec_interpose_begin() once, before the program runs.
 */
#ifndef CN_RECORD_INTERPOSE_H
#define CN_RECORD_INTERPOSE_H

#include <stdint.h>

/* Find the true functions and register what is called at forks and thread exits. */
void cn_rec_interpose_begin(void);

/* Called by the stubs of dlopen() and dlmopen(), number 0 and 1, with the stack pointer of
 * the call: libraries will be mapped. Gives the true function. */
uintptr_t cn_rec_dlopen_begin(uintptr_t sp, uint32_t number);

#endif
