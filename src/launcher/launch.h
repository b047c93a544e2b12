/* Running a program and recording it.
 *
 * cn_launch_run() does all of it: it prepares the directory, starts the program with the
 * recorder loaded, writes out what it records, and completes the recording when the
 * program and the processes it started have ended. Should the launcher be killed, a
 * process it left behind keeps the records that only memory holds.
 * Threads: one thread at a time; the calling process must have no other.
 */
#ifndef CN_LAUNCHER_LAUNCH_H
#define CN_LAUNCHER_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "launcher/arguments.h"
#include "launcher/rules.h"

struct cn_launch_options {
    const char *dir;                /* to record into */
    const char *library;            /* the recorder; NULL: found beside this program */
    const char *command_line;       /* as it is told in the recording */
    const char *const *words;       /* the program and its arguments, NULL at the end */
    uint64_t ring_len;              /* bytes of memory a thread; a power of two */
    uint64_t size_limit;            /* bytes of records; 0: none */
    uint64_t duration_ns;           /* record this long; 0: to the end */
    uint64_t time_limit_ns;         /* leave out calls that take less */
    uint32_t depth_limit;           /* leave out calls nested deeper; 0: none */
    struct cn_rules rules;          /* filters and triggers */
    struct cn_arguments *arguments; /* to record; recording adds what readers need */
    bool asks_kernel; /* for the time, in place of the processor's counter */
    bool is_packed, is_off, has_libcalls;
    bool has_nested_libcalls; /* calls that libraries make of each other, too */
    bool has_events;          /* context switches and names of tasks, from the kernel */
    bool has_sites;           /* calls are recorded with where they are made */
    bool is_forced;           /* record even a program that offers nothing */

    /* Something the user should know, while the program runs. */
    void (*say)(void *arg, const char *text);
    void *say_arg;
};

struct cn_launch_result {
    int wait_status;
    uint64_t call_count, record_len, stored_len, lost_count;
    int stop; /* enum cn_rec_stop */
};

/* True when the program ran, however it ended. */
CN_CHECK bool cn_launch_run(const struct cn_launch_options *options,
                            struct cn_launch_result *result, struct cn_error *err);

#endif
