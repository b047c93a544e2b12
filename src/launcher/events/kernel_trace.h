/* Functions and tracepoints of the kernel, while a program runs: sets up the kernel's
 * tracer in tracefs and copies its pages to kernel-cpuN.dat, as uftrace does.
 *
 * An instance of the tracer of its own is used where the kernel allows it; else the global
 * one, unless another tool uses it. Everything is removed or restored at the end.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_EVENTS_KERNEL_TRACE_H
#define CN_LAUNCHER_EVENTS_KERNEL_TRACE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/text.h"

struct cn_kernel_choice {
    uint32_t depth;          /* of functions; 0: no functions */
    uint64_t buffer_len;     /* of each processor; 0: as it is */
    const char *const *only; /* patterns of functions to record with callees */
    size_t only_count;
    const char *const * not ; /* and to leave out with callees */
    size_t not_count;
    const char *const *tracepoints; /* "sched:sched_switch" */
    size_t tracepoint_count;
    bool is_glob; /* patterns are globs */
};

struct cn_kernel_trace {
    char *tracefs;          /* NULL: closed */
    char *folder;           /* of the instance, or `tracefs` */
    const char *dir;        /* of the recording */
    struct cn_text restore; /* "file\nold content\n" of what was changed in `tracefs` */
    struct cn_kernel_cpu *cpus;
    size_t cpu_count, page_len;
    bool has_functions, has_tracepoints;
    uint8_t *page;
};

/* Check that the kernel can do it. The message says what is missing and which command
 * helps. `root`: where tracefs is; NULL: where it is mounted. */
CN_CHECK bool cn_kernel_trace_check(const struct cn_kernel_choice *choice,
                                    const char *root, struct cn_error *err);

/* Set it up, not yet running. */
CN_CHECK bool cn_kernel_trace_open(struct cn_kernel_trace *trace, const char *dir,
                                   const struct cn_kernel_choice *choice,
                                   const char *root, struct cn_error *err);

/* Trace this process and its children from now on. */
CN_CHECK bool cn_kernel_trace_start(struct cn_kernel_trace *trace, pid_t pid,
                                    struct cn_error *err);

/* Write new pages; at the end all of them. */
CN_CHECK bool cn_kernel_trace_drain(struct cn_kernel_trace *trace, struct cn_error *err);
CN_CHECK bool cn_kernel_trace_finish(struct cn_kernel_trace *trace, struct cn_error *err);

/* Undo the set-up; safe when it never opened. */
void cn_kernel_trace_close(struct cn_kernel_trace *trace);

#endif
