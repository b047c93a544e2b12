/* The call chain of a sample, from whatever the sample has of it: addresses that the kernel
 * found, registers and a copy of the stack, or the calls that the processor remembers.
 *
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_STACK_H
#define CN_FORMATS_EXCHANGE_PERF_STACK_H

#include "formats/exchange/perf/address_space.h"

struct cn_import;

enum { CN_PERF_STACK_MAX = 4096 }; /* addresses of the user part */

struct cn_perf_stacks {
    uint8_t *chain;
    size_t capacity;
    uint64_t *addresses;
    uint64_t unwound_count;                /* copies of stacks */
    uint64_t end_count[CN_UNWIND_BAD + 1]; /* how they ended */
};

/* Replace the chain of a sample by one with the callers in its copy of the stack or its
 * branches, or with the caller that a chain of frame pointers lacks. Valid until the next
 * call. */
enum cn_unwind_machine cn_perf_machine(const struct cn_perf_file *file);

void cn_perf_stack_complete(struct cn_perf_stacks *stacks,
                            const struct cn_perf_file *file,
                            struct cn_perf_spaces *spaces, struct cn_perf_sample *sample);

/* Warn of stacks that do not reach the beginning of their thread. */
void cn_perf_stacks_warn(const struct cn_perf_stacks *stacks, struct cn_import *import);

void cn_perf_stacks_done(struct cn_perf_stacks *stacks);

#endif
