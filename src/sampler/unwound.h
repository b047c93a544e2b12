/* Whole stacks of the sampled processes, unwound while they are sampled.
 *
 * cn_unwound_take() follows the mappings of processes by the kernel's records, in the order of
 * time; cn_unwound_unwind() makes addresses of registers and a copy of the stack.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_UNWOUND_H
#define CN_SAMPLER_UNWOUND_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/map.h"
#include "unwind/unwind.h"

struct cn_unwound {
    struct cn_unwinder *unwinder;
    struct cn_map process_of; /* by pid */
    struct cn_unwound_process *processes;
    size_t count, capacity;
    uint64_t ends[CN_UNWIND_BAD + 1]; /* stacks by how they ended */
};

void cn_unwound_begin(struct cn_unwound *stacks);
void cn_unwound_done(struct cn_unwound *stacks);

/* Follow a record with its head: mappings, forks, exec, ends of tasks. */
void cn_unwound_take(struct cn_unwound *stacks, struct cn_bytes record);

/* The stack of a sample of `pid`, the innermost address first. Returns the number of
 * addresses. */
size_t cn_unwound_unwind(struct cn_unwound *stacks, uint32_t pid,
                         const struct cn_unwind_registers *registers,
                         struct cn_bytes stack, uint64_t *out, size_t most);

/* Count a stack that was not unwound here. */
void cn_unwound_count(struct cn_unwound *stacks, enum cn_unwind_end end);

/* The mappings of a process; NULL if it is unknown. */
const struct cn_unwind_space *cn_unwound_space(const struct cn_unwound *stacks,
                                               uint32_t pid);

#endif
