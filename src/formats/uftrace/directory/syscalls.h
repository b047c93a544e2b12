/* The system calls of syscalls.dat, as functions of the kernel that contain the file or peer they are
 * about: both have symbols of a module of their own.
 *
 * A task's calls follow each other: one that begins before the one before it ends is left out.
 * Threads: one thread builds it; immutable afterwards.
 */
#ifndef CN_FORMATS_UFTRACE_DIRECTORY_SYSCALLS_H
#define CN_FORMATS_UFTRACE_DIRECTORY_SYSCALLS_H

#include "formats/uftrace/directory/directory.h"

struct cn_io_call;

struct cn_uft_syscalls {
    struct cn_io_call *list;                     /* by task, then by time; in the arena */
    size_t *begins;                              /* of each task, and the end */
    uint32_t *call_functions, *target_functions; /* by call and by target; CN_NONE */
};

/* Read the file; what cannot be read becomes a warning. */
void cn_uft_syscalls_build(struct cn_uft_directory *dir);
void cn_uft_syscalls_free(struct cn_uft_syscalls *calls); /* NULL is fine */

/* The entries and exits of a task are numbered: those of a call follow each other. */
void cn_uft_syscalls_task(const struct cn_uft_directory *dir, uint32_t task,
                          size_t *begin, size_t *end);

/* The first of them that is not before a time. */
size_t cn_uft_syscalls_find(const struct cn_uft_directory *dir, size_t begin, size_t end,
                            uint64_t time_ns);

/* This one, or the next one if the call is about no file and this is of its file. */
size_t cn_uft_syscalls_skip(const struct cn_uft_directory *dir, size_t number);

/* When it is, and as a call, with depth 0 or 1. */
uint64_t cn_uft_syscall_time(const struct cn_uft_directory *dir, size_t number);
void cn_uft_syscall_decode(const struct cn_uft_directory *dir, size_t number,
                           struct cn_call *call);

#endif
