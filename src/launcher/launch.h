/* Runs a program and records it.
 *
 * cn_launch_run() creates the directory, starts the program with the recorder loaded,
 * drains its records, and completes the recording when the program and its children have
 * ended. If the launcher is killed, a standby process saves the records that are still in
 * shared memory.
 * Threads: the calling process must have no other thread.
 */
#ifndef CN_LAUNCHER_LAUNCH_H
#define CN_LAUNCHER_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/events/kernel_trace.h"
#include "launcher/files/gpu.h"
#include "launcher/rules/arguments.h"
#include "launcher/rules/patch_plan.h"
#include "launcher/rules/rules.h"
#include "launcher/rules/watches.h"
#include "record/shared.h"

struct cn_launch_rank;

struct cn_launch_options {
    const char *dir;                   /* of the recording */
    const struct cn_launch_rank *rank; /* record into a folder of this rank; or NULL */
    const char *symbols;               /* folder of .sym files to use first; or NULL */
    const char *library;               /* path of the recorder; NULL: search for it */
    const char *command_line;          /* for the info file */
    const char *const *words; /* the program and its arguments, NULL at the end */
    uint64_t ring_len;        /* bytes of a thread's ring; a power of two */
    uint64_t size_limit;      /* bytes of records; 0: none */
    uint64_t duration_ns;     /* 0: to the end */
    uint64_t time_limit_ns;   /* leave out shorter calls */
    uint32_t depth_limit;     /* leave out deeper calls; 0: none */
    struct cn_rules rules;    /* filters and triggers */
    struct cn_watches watches;
    struct cn_arguments *arguments;     /* recording adds what readers need */
    const struct cn_text *view_options; /* further lines of default.opts; NULL: none */
    bool asks_kernel; /* use the kernel's clock instead of the processor's counter */
    bool is_packed, is_off, has_libcalls;
    bool without_throws;               /* of these, not those that throw and catch */
    bool has_bare_jumps;               /* calls that longjmp() leaves have no exits */
    bool has_nested_libcalls;          /* also record calls between libraries */
    bool has_events;                   /* record kernel events */
    bool without_switches;             /* of these, no context switches */
    struct cn_kernel_choice kernel;    /* functions of the kernel to record */
    const char *const *event_patterns; /* further events to record (chosen_events.h) */
    size_t event_pattern_count;
    bool has_glob_events;
    bool has_sites;  /* record call sites */
    bool has_python; /* record functions of Python */
    bool is_forced;  /* run the program even if it is not instrumented */
    bool keeps_pid;  /* this process becomes the program; another one records it */
    bool has_agent;  /* clients may change what is recorded (agent.h) */
    bool has_gpu;    /* also the work of GPUs; not with keeps_pid */
    bool has_ranges; /* call paths begin with NVTX ranges; not with keeps_pid */
    bool has_memory; /* also what the program allocates and frees */
    bool has_leaks;  /* with it: which blocks no pointer leads to at its end */

    /* Print a message to the user. */
    void (*say)(void *arg, const char *text);
    void *say_arg;
    /* Called with the number of the process before it runs the program; NULL: not. */
    void (*prepare)(void *arg, pid_t pid);
    void *prepare_arg;
};

struct cn_launch_result {
    int wait_status;
    uint64_t call_count, record_len, stored_len, lost_count;
    uint64_t lost_event_count;
    uint64_t memory_len, lost_memory_count; /* bytes and lost records, with has_memory */
    struct cn_launch_leaks {
        uint64_t program_count, checked_count; /* programs */
        uint64_t live_count, leaked_count;     /* blocks of those that were checked */
        double live_bytes, leaked_bytes;
        char failure[sizeof(((struct cn_error *)0)->text)]; /* why one was not; or "" */
    } leaks;
    uint32_t own_malloc_count;  /* programs that contain their own: not recorded */
    bool has_dropped_events;    /* there were too many threads for them */
    uint32_t sandboxed_count;   /* processes that were recorded only up to seccomp() */
    uint64_t missed_count;      /* threads that were not recorded */
    bool is_full;               /* because there was no memory for their buffers */
    uint32_t bypassed_count;    /* library functions whose calls were not recorded */
    char bypassed[64];          /* one of them */
    enum cn_rec_exec_kind kind; /* of the program */
    uint32_t unloaded[CN_REC_EXEC_KINDS]; /* programs that it started, not recorded */
    bool is_python;                       /* functions of Python were to be recorded */
    struct cn_patch_counts patch_counts;  /* functions without hooks */
    uint32_t unpatched_count;             /* of these, in all processes */
    bool has_only_libcalls;               /* the program itself is not instrumented */
    int stop;                             /* enum cn_rec_stop */
    struct cn_gpu_file_counts gpu; /* with has_gpu; the caller releases the notes */
    struct cn_error failure; /* why the launcher could not record on; empty if it could */
};

/* True if the program was started. An agent adds to the rules. */
CN_CHECK bool cn_launch_run(struct cn_launch_options *options,
                            struct cn_launch_result *result, struct cn_error *err);

#endif
