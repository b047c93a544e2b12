/* The program to sample: started, but waiting until the events are open.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_PROGRAM_H
#define CN_SAMPLER_PROGRAM_H

#include <sys/types.h>

#include "base/error.h"

struct cn_sample_program {
    pid_t pid; /* 0: none, or it has ended and its status is known */
    int end;   /* pidfd: readable when it has ended */
    int go, failed;
};

/* Create the process. */
CN_CHECK bool cn_sample_program_start(struct cn_sample_program *program,
                                      const char *const *words, struct cn_error *err);

/* Run the program in it; with a library that samples it into the memory at `memory`, or
 * NULL. */
CN_CHECK bool cn_sample_program_go(struct cn_sample_program *program, const char *name,
                                   const char *library, const char *memory,
                                   struct cn_error *err);

/* End a process that does not yet run the program, and release everything. */
void cn_sample_program_close(struct cn_sample_program *program);

#endif
