/* System calls of a recording (--syscalls): another process samples them, as cairn sample --io does, and they
 * become part of the recording when it is complete.
 *
 *     cn_record_syscalls_begin(&s, args, &launch, err)    before the program starts
 *     cn_launch_run(&launch, ...)
 *     cn_record_syscalls_end(&s, dir, err)                 `s.count` calls are in DIR
 *     cn_record_syscalls_close(&s);                        a zeroed one is fine
 *
 * Where they are not allowed, a message says so, and the program runs without.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORD_SYSCALLS_H
#define CN_CLI_RECORD_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct cn_args;
struct cn_launch_options;

struct cn_record_syscalls {
    const struct cn_args *args;
    uint64_t duration_ns;
    pid_t helper;   /* 0: none */
    int connection; /* to it */
    bool is_on;     /* it samples */
    char *folder;   /* with what it writes */
    size_t count;
    bool is_incomplete; /* there were more */
};

/* Start the process. The options must outlive the launch. */
CN_CHECK bool cn_record_syscalls_begin(struct cn_record_syscalls *s,
                                       const struct cn_args *args,
                                       struct cn_launch_options *launch,
                                       struct cn_error *err);

CN_CHECK bool cn_record_syscalls_end(struct cn_record_syscalls *s, const char *dir,
                                     struct cn_error *err);
void cn_record_syscalls_close(struct cn_record_syscalls *s);

#endif
