#include "formats/exchange/perf/stack.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/exchange/read/stacks/import.h"

enum cn_unwind_machine cn_perf_machine(const struct cn_perf_file *file)
{
    if (!file->origin.machine)
        return cn_unwind_machine_here();
    return strcmp(file->origin.machine, "x86_64") == 0    ? CN_UNWIND_X86_64
           : strcmp(file->origin.machine, "aarch64") == 0 ? CN_UNWIND_AARCH64
                                                          : CN_UNWIND_NO_MACHINE;
}

/* Unwind the copy of the stack. The number of addresses; 0 if the sample has none. */
static size_t unwind(struct cn_perf_stacks *stacks, const struct cn_perf_file *file,
                     struct cn_perf_spaces *spaces, const struct cn_perf_sample *sample)
{
    const struct cn_perf_attr *attr = &file->events[sample->event].attr;
    struct cn_unwind_registers registers;
    enum cn_unwind_end end;

    if (!(attr->sample_type & CN_PERF_HAS_USER_STACK) ||
        sample->user_registers.len == 0 ||
        !cn_unwind_registers_decode(&registers, cn_perf_machine(file),
                                    attr->sample_regs_user, sample->user_registers))
        return 0;
    uint64_t sp =
        registers.value[registers.machine == CN_UNWIND_AARCH64 ? CN_UNWIND_ARM_SP
                                                               : CN_UNWIND_X86_RSP];
    size_t count =
        cn_unwind(cn_perf_process_at(spaces, sample->pid)->space, &registers, sp,
                  sample->user_stack, stacks->addresses, CN_PERF_STACK_MAX, &end);
    stacks->unwound_count++;
    stacks->end_count[end]++;
    return count;
}

/* The calls that lead here, of a processor that remembers them: each branch is from the call
 * in the caller to the function it called. */
static size_t follow_branches(struct cn_perf_stacks *stacks,
                              const struct cn_perf_file *file,
                              const struct cn_perf_sample *sample, bool is_kernel)
{
    size_t count = sample->branches.len / CN_PERF_BRANCH_LEN, depth = 0;

    if (!(file->events[sample->event].attr.branch_sample_type &
          CN_PERF_BRANCH_CALL_STACK) ||
        count == 0)
        return 0;
    stacks->addresses[depth++] =
        is_kernel ? cn_u64_get(sample->branches.ptr + CN_PERF_BRANCH_TO_OFF) : sample->ip;
    for (size_t i = 0; i < count && depth < CN_PERF_STACK_MAX; i++) {
        uint64_t from = cn_u64_get(sample->branches.ptr + i * CN_PERF_BRANCH_LEN);

        /* Chains have return addresses, which are after the call. */
        if (from > 0)
            stacks->addresses[depth++] = from + 1;
    }
    return depth;
}

/* On aarch64, a chain of frame pointers lacks the caller of a function that has not stored
 * its return address. For such chains, perf samples the register that contains it. Returns
 * the caller of the function at `ip`, 0 if its return address is on the stack. */
static uint64_t find_leaf_caller(struct cn_perf_stacks *stacks,
                                 const struct cn_perf_file *file,
                                 struct cn_perf_spaces *spaces,
                                 const struct cn_perf_sample *sample, uint64_t ip)
{
    const uint64_t return_address = UINT64_C(1) << CN_UNWIND_ARM_LR;
    const struct cn_perf_attr *attr = &file->events[sample->event].attr;
    struct cn_unwind_registers registers = {
        .machine = CN_UNWIND_AARCH64,
        .known = return_address | UINT64_C(1) << CN_UNWIND_ARM_SP |
                 UINT64_C(1) << CN_UNWIND_ARM_PC,
    };
    enum cn_unwind_end end;

    if (cn_perf_machine(file) != CN_UNWIND_AARCH64 ||
        attr->sample_regs_user != return_address || sample->user_registers.len < 8)
        return 0;
    registers.value[CN_UNWIND_ARM_LR] = cn_u64_get(sample->user_registers.ptr);
    registers.value[CN_UNWIND_ARM_PC] = ip;
    return cn_unwind(cn_perf_process_at(spaces, sample->pid)->space, &registers, 0,
                     (struct cn_bytes){0}, stacks->addresses, 2, &end) == 2
               ? stacks->addresses[1]
               : 0;
}

static void put(struct cn_perf_stacks *stacks, size_t at, uint64_t address)
{
    stacks->chain = cn_grow_to(stacks->chain, 8 * (at + 1), &stacks->capacity, 1);
    cn_u64_put(stacks->chain + 8 * at, address);
}

/* Copy the chain, with the caller that it lacks after the innermost function of the user. */
static void add_leaf_caller(struct cn_perf_stacks *stacks,
                            const struct cn_perf_file *file,
                            struct cn_perf_spaces *spaces, struct cn_perf_sample *sample)
{
    size_t len = sample->chain.len / 8, user = 0;

    while (user < len && cn_u64_get(sample->chain.ptr + 8 * user) != CN_PERF_CONTEXT_USER)
        user++;
    if (user + 1 >= len)
        return;
    uint64_t caller = find_leaf_caller(stacks, file, spaces, sample,
                                       cn_u64_get(sample->chain.ptr + 8 * (user + 1)));
    if (caller == 0 ||
        (user + 2 < len && cn_u64_get(sample->chain.ptr + 8 * (user + 2)) == caller))
        return;
    for (size_t i = 0; i <= len; i++)
        put(stacks, i,
            i < user + 2    ? cn_u64_get(sample->chain.ptr + 8 * i)
            : i == user + 2 ? caller
                            : cn_u64_get(sample->chain.ptr + 8 * (i - 1)));
    sample->chain = (struct cn_bytes){stacks->chain, 8 * (len + 1)};
}

void cn_perf_stack_complete(struct cn_perf_stacks *stacks,
                            const struct cn_perf_file *file,
                            struct cn_perf_spaces *spaces, struct cn_perf_sample *sample)
{
    size_t depth, count = 0;
    bool is_kernel = false;

    if (!stacks->addresses)
        stacks->addresses = cn_alloc(CN_PERF_STACK_MAX, sizeof(*stacks->addresses));
    depth = unwind(stacks, file, spaces, sample);
    for (size_t i = 0; i < sample->chain.len / 8; i++) {
        uint64_t address = cn_u64_get(sample->chain.ptr + 8 * i);

        if (address == CN_PERF_CONTEXT_USER)
            break;
        is_kernel = is_kernel || address == CN_PERF_CONTEXT_KERNEL;
        put(stacks, count++, address);
    }
    if (depth == 0)
        depth = follow_branches(stacks, file, sample, is_kernel);
    if (depth == 0) {
        add_leaf_caller(stacks, file, spaces, sample);
        return;
    }
    /* The part of the kernel, then the user's. */
    if (!is_kernel)
        count = 0;
    put(stacks, count++, CN_PERF_CONTEXT_USER);
    for (size_t i = 0; i < depth; i++)
        put(stacks, count++, stacks->addresses[i]);
    sample->chain = (struct cn_bytes){stacks->chain, 8 * count};
}

void cn_perf_stacks_warn(const struct cn_perf_stacks *stacks, struct cn_import *import)
{
    uint64_t cut = stacks->end_count[CN_UNWIND_CUT];
    uint64_t unknown =
        stacks->end_count[CN_UNWIND_UNKNOWN] + stacks->end_count[CN_UNWIND_BAD];

    if (cut > 0)
        cn_import_warn(import, false,
                       "outer callers of %" PRIu64 " of %" PRIu64
                       " samples are missing: the copy of the stack ended; record with "
                       "--call-graph dwarf,65528",
                       cut, stacks->unwound_count);
    if (unknown > 0)
        cn_import_warn(
            import, false,
            "outer callers of %" PRIu64 " of %" PRIu64
            " samples are missing: code without unwind tables or frame pointers",
            unknown, stacks->unwound_count);
}

void cn_perf_stacks_done(struct cn_perf_stacks *stacks)
{
    free(stacks->chain);
    free(stacks->addresses);
    *stacks = (struct cn_perf_stacks){0};
}
