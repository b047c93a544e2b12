/* Samples programs: what they do at regular times, with whole stacks, written as perf.data.
 *
 * cn_sample_run() starts a program or attaches to running ones, and writes until the program
 * ends, the time is over, or the user presses Ctrl-C. The stacks are unwound here: the file
 * has addresses only. If this process is killed, the file is readable up to then.
 * Threads: the calling process must have no other thread.
 */
#ifndef CN_SAMPLER_SAMPLER_H
#define CN_SAMPLER_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct cn_unwind_space;

enum cn_sample_stacks {
    CN_SAMPLE_WHOLE,    /* registers and a copy of the stack, unwound here */
    CN_SAMPLE_POINTERS, /* by frame pointers, in the kernel */
    CN_SAMPLE_NONE,
};

/* Where whole stacks are unwound. */
enum cn_sample_place {
    CN_SAMPLE_ANYWHERE,   /* in the kernel where that is allowed */
    CN_SAMPLE_IN_KERNEL,  /* also say why it is not */
    CN_SAMPLE_COPIED,     /* here, from copies */
    CN_SAMPLE_BY_SIGNALS, /* here, from copies that the program makes itself */
};

enum {
    CN_SAMPLE_FREQUENCY = 999,
    CN_SAMPLE_STACK_LEN = 60 << 10, /* bytes of a stack that are copied, if it has them */
    CN_SAMPLE_STACK_LEN_MAX = 63 << 10,
    CN_SAMPLE_MEMORY = 512 << 10, /* bytes between sampled allocations */
    CN_SAMPLE_MEMORY_LIMIT = 25,  /* percent of a processor's time that probes may cost */
};

/* A sample as it is written, for a view of what happens now. */
struct cn_sample_seen {
    uint32_t pid, tid, event;
    uint64_t time_ns, period;
    const uint64_t *chain; /* addresses and markers of perf, the innermost first */
    size_t chain_len;
    const struct cn_unwind_space *space; /* mappings of the process; NULL if unknown */
};

struct cn_sample_options {
    const char *path;         /* of the file */
    const char *const *words; /* the program and its arguments; NULL: none */
    const char *runner; /* the file that runs it: of a script the interpreter; NULL if
                               * signals cannot sample it */
    const pid_t *pids;  /* attach to these */
    size_t pid_count;
    bool has_machine;          /* sample all processes */
    const char *const *events; /* lists of names */
    size_t event_count;
    uint64_t frequency;   /* samples a second */
    uint64_t period;      /* 0: use the frequency */
    uint64_t duration_ns; /* 0: to the end */
    bool has_end;         /* attached: to when `end` is readable, not to the end */
    int end;
    enum cn_sample_stacks stacks;
    enum cn_sample_place place;
    uint32_t stack_len;  /* 0: as much as the rings allow */
    bool has_switches;   /* also when and where tasks stop running */
    bool has_io;         /* also system calls about files and sockets */
    bool has_goroutines; /* tell goroutines of Go apart */
    bool has_gpu;        /* also the work of GPUs */
    bool has_ranges;     /* call paths begin with ranges that the program names (NVTX) */
    uint64_t memory_interval; /* bytes between sampled allocations; 0: none are */
    double memory_share_max;  /* with pids: of a processor's time that this may cost */
    bool has_leaks; /* of these, which no pointer leads to when their program ends */
    int compression_level;
    bool has_symbols; /* the file contains the names of what was sampled */

    /* Print a message to the user. */
    void (*say)(void *arg, const char *text);
    /* Called for each sample, and about ten times a second; NULL: not. */
    void (*see)(void *arg, const struct cn_sample_seen *sample);
    void (*refresh)(void *arg);
    /* Called once, when events are recorded; NULL: not. */
    void (*started)(void *arg);
    void *arg;
};

/* Programs that were checked for leaks. */
struct cn_sample_leaks_result {
    uint64_t program_count, checked_count;
    uint64_t leaked_count;                              /* sampled allocations */
    char failure[sizeof(((struct cn_error *)0)->text)]; /* why one was not; or "" */
};

struct cn_sample_result {
    int wait_status; /* of the program */
    uint64_t sample_count, lost_count;
    uint64_t stack_count, whole_count;            /* stacks, and those that are whole */
    uint64_t cut_count, unknown_count, bad_count; /* why others are not (unwind.h) */
    uint64_t file_len;
    bool is_user_only;                      /* the code of the kernel was not sampled */
    bool is_inside;                         /* the program was sampled by signals */
    uint64_t kernel_count;                  /* stacks that were unwound in the kernel */
    uint64_t alloc_count, alloc_lost_count; /* sampled allocations */
    uint32_t memory_notes;                  /* of inside/shared.h */
    uint64_t probe_count;        /* calls of allocators of attached processes */
    double probe_ns;             /* what each cost */
    double ended_share, ended_s; /* when they cost too much; 0: they did not */
    struct cn_sample_leaks_result leaks;
    bool has_gpu;                          /* a program used a GPU */
    uint64_t gpu_op_count, gpu_lost_count; /* operations; records that had no room */
    uint64_t range_count;                  /* that programs named */
    uint64_t call_count;                   /* system calls */
    char
        *gpu_notes; /* what is missing, a line each; the caller frees it; NULL: nothing */
    struct cn_error refusal; /* why none were; empty if it was not asked for */
    struct cn_error failure; /* why sampling ended early; empty if it did not */
};

/* True if the program was started or processes were attached to. */
CN_CHECK bool cn_sample_run(const struct cn_sample_options *options,
                            struct cn_sample_result *result, struct cn_error *err);

#endif
