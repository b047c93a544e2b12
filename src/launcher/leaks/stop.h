/* The threads of another process, stopped for a moment by ptrace, with what their registers contain.
 *
 *     cn_stopped_begin(&stopped, pid, err)
 *     ... read its memory ...
 *     cn_stopped_end(&stopped);
 *
 * Owns its lists. The process continues as it was: system calls are restarted, signals that arrived
 * are delivered. If this process ends in between, the kernel lets the threads run.
 * Threads: the thread that began ends it.
 */
#ifndef CN_LAUNCHER_LEAKS_STOP_H
#define CN_LAUNCHER_LEAKS_STOP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct cn_stopped_thread {
    pid_t tid;
    int signal;     /* that it received when it stopped; 0: none */
    uint64_t stack; /* its stack pointer */
    uint64_t local; /* its thread pointer: variables of the thread are around it */
};

struct cn_stopped {
    pid_t pid;
    struct cn_stopped_thread *threads;
    size_t count, capacity;
    uint64_t *words; /* of all registers */
    size_t word_count, word_capacity;
};

/* False if a thread cannot be stopped: then none is. */
CN_CHECK bool cn_stopped_begin(struct cn_stopped *stopped, pid_t pid,
                               struct cn_error *err);
void cn_stopped_end(struct cn_stopped *stopped);

#endif
