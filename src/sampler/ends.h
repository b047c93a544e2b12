/* What ends a sampling: processes that end, and signals.
 * Threads: one thread at a time; signals are those of the process.
 */
#ifndef CN_SAMPLER_ENDS_H
#define CN_SAMPLER_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sampler/sampler.h"

struct pollfd;

struct cn_sample_ends {
    struct pollfd *polled; /* processes whose end matters */
    size_t count;
    size_t alive_count; /* processes that were attached to and have not ended */
    bool has_program;   /* that was started; the first of them, and borrowed */
};

/* `program_end`: the pidfd of the program, if one is started. */
void cn_sample_ends_open(struct cn_sample_ends *ends,
                         const struct cn_sample_options *options, int program_end);

/* Wait for a time, or for the end of a process. */
void cn_sample_ends_wait(struct cn_sample_ends *ends, int timeout_ms);

void cn_sample_ends_close(struct cn_sample_ends *ends);

/* Catch signals that ask to end. */
void cn_sample_ends_catch(void);

/* Send those that ask to terminate on to the program; 0: there is none. */
void cn_sample_ends_forward(pid_t program);

/* True if a signal has asked to end. */
bool cn_sample_ends_is_asked(void);

#endif
