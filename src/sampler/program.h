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

/* Libraries that are loaded into the program, and the paths of the memory that they write to; NULL:
 * not. */
struct cn_sample_libraries {
    const char *inside;           /* samples it by signals */
    const char *allocations;      /* samples its allocations */
    const char *inside_memory;    /* of both */
    const char *gpu, *gpu_memory; /* records its ranges, */
    bool has_cuda;                /* and the work of its GPUs */
};

/* Run the program in it. */
CN_CHECK bool cn_sample_program_go(struct cn_sample_program *program, const char *name,
                                   const struct cn_sample_libraries *libraries,
                                   struct cn_error *err);

/* End a process that does not yet run the program, and release everything. */
void cn_sample_program_close(struct cn_sample_program *program);

#endif
