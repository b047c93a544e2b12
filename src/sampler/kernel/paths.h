/* The program in the kernel that reads paths and addresses of system calls (paths.bpf.c).
 *
 *     paths = cn_kernel_paths_new(&err);
 *     cn_kernel_paths_attach(paths, fd, which, &err);   for each tracepoint
 *     cn_kernel_paths_read(paths, take, arg);           records of paths_shared.h
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_KERNEL_PATHS_H
#define CN_SAMPLER_KERNEL_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum cn_kernel_argument {
    CN_KERNEL_PATH_FIRST,
    CN_KERNEL_PATH_SECOND,
    CN_KERNEL_ADDRESS_SECOND,
    CN_KERNEL_ADDRESS_FOUND, /* the call stores it where the second points to */
    CN_KERNEL_PAIR_FIRST,
    CN_KERNEL_PAIR_FIRST_FLAGS, /* the second has flags */
    CN_KERNEL_PAIR_FOURTH,      /* likewise */
    CN_KERNEL_ARGUMENT_COUNT
};

struct cn_kernel_paths;

/* NULL if this build has none or the kernel refuses it. */
struct cn_kernel_paths *cn_kernel_paths_new(struct cn_error *err);
void cn_kernel_paths_free(struct cn_kernel_paths *paths); /* NULL is fine */

/* Run it at an open event of a tracepoint of syscalls, for all processes. */
CN_CHECK bool cn_kernel_paths_attach(struct cn_kernel_paths *paths, int fd,
                                     enum cn_kernel_argument which, struct cn_error *err);

void cn_kernel_paths_read(struct cn_kernel_paths *paths,
                          void (*take)(void *arg, const uint8_t *record, size_t len),
                          void *arg);

#endif
