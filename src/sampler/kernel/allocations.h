/* The programs in the kernel that sample what running processes allocate (allocations.bpf.c).
 *
 *     probes = cn_kernel_allocations_new(kernel, interval, &err);
 *     cn_kernel_allocations_attach(probes, pid, &allocator, list, count, &err);
 *
 * Records of allocations_shared.h come with those of `kernel`, which cn_kernel_read() delivers and which must
 * live longer. A thread at a probe enters the kernel: that takes a microsecond or more at each call.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_KERNEL_ALLOCATIONS_H
#define CN_SAMPLER_KERNEL_ALLOCATIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct cn_kernel;
struct cn_kernel_allocator;
struct cn_kernel_allocations_probes;

/* What a function of an allocator is given. */
enum cn_kernel_function {
    CN_KERNEL_TAKES_SIZE,
    CN_KERNEL_TAKES_PRODUCT, /* as calloc() */
    CN_KERNEL_TAKES_BLOCK,   /* as realloc() */
    CN_KERNEL_TAKES_ALIGNMENT,
    CN_KERNEL_TAKES_PLACE, /* as posix_memalign() */
    CN_KERNEL_TAKES_MAPPING,
    CN_KERNEL_FREES,
    CN_KERNEL_FUNCTION_COUNT
};

struct cn_kernel_probe {
    enum cn_kernel_function function;
    const char *path;
    uint64_t off; /* in the file */
};

/* NULL if the kernel refuses them. `interval`: bytes between samples. */
struct cn_kernel_allocations_probes *cn_kernel_allocations_new(struct cn_kernel *kernel,
                                                               uint64_t interval,
                                                               struct cn_error *err);

/* Sample what a process allocates; not its children. */
CN_CHECK bool cn_kernel_allocations_attach(struct cn_kernel_allocations_probes *probes,
                                           pid_t pid,
                                           const struct cn_kernel_allocator *allocator,
                                           const struct cn_kernel_probe *list,
                                           size_t count, struct cn_error *err);

/* End the sampling; what was counted stays. */
void cn_kernel_allocations_detach(struct cn_kernel_allocations_probes *probes);

/* How often probes were reached, and what had no room. */
void cn_kernel_allocations_count(const struct cn_kernel_allocations_probes *probes,
                                 uint64_t *probe_count, uint64_t *lost_count);

void cn_kernel_allocations_free(
    struct cn_kernel_allocations_probes *probes); /* NULL is fine */

#endif
