/* Records about what was there before sampling began: the kernel, and running processes
 * with their threads and mappings.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_SYNTHESIS_H
#define CN_SAMPLER_SYNTHESIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* Receives records as the kernel would write them to a ring. */
struct cn_synthesis {
    bool (*take)(void *arg, const uint8_t *record, size_t len, uint64_t time_ns,
                 struct cn_error *err);
    void *arg;
    uint64_t time_ns; /* of all records */
    bool has_memory;  /* mappings without code as well */
};

/* The names of a process and its threads, and its mappings that contain code, or all. None if it has
 * ended. */
CN_CHECK bool cn_synthesize_process(const struct cn_synthesis *to, pid_t pid,
                                    struct cn_error *err);

/* A process that began to run a program, with the text of its /proc/PID/maps, which is
 * changed. */
CN_CHECK bool cn_synthesize_exec(const struct cn_synthesis *to, pid_t pid, char *maps,
                                 struct cn_error *err);

/* A mapping of a process that contains code. */
CN_CHECK bool cn_synthesize_mapping(const struct cn_synthesis *to, pid_t pid,
                                    uint64_t begin, uint64_t len, const char *path,
                                    struct cn_error *err);

/* All processes of the machine. */
CN_CHECK bool cn_synthesize_machine(const struct cn_synthesis *to, struct cn_error *err);

/* The code of the kernel and its modules. None where their addresses are hidden. */
CN_CHECK bool cn_synthesize_kernel(const struct cn_synthesis *to, struct cn_error *err);

/* The build-id of the running kernel; returns its length, 0 if it is unknown. */
size_t cn_kernel_build_id(uint8_t out[static 20]);

/* The threads of a process, at most `most`. Returns their number, 0 if it has ended. */
size_t cn_threads_of(pid_t pid, pid_t *out, size_t most);

#endif
