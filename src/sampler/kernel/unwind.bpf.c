/* Unwinds the stack of the sampled task at the moment of the sample, in the kernel.
 *
 * Runs when a perf event overflows. A stack that was unwound to its end goes to the ring, and
 * the result 0 tells the kernel to write no sample of its own; the result 1 lets it copy the
 * stack as it does without this program, and the sampler unwinds the copy. So whatever is
 * unknown here costs time, but no data.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include <bpf/bpf_helpers.h>

#include "sampler/kernel/shared.h"

#if !defined(CN_MACHINE_aarch64) && !defined(CN_MACHINE_x86_64)
#error "no such processor"
#endif

enum { WRITE_A_SAMPLE = 1, WRITE_NONE = 0 };

/* The kernel has what is used here for programs under the GPL alone: this file and shared.h may be
 * used under the terms of version 2 of it as well. */
char cn_license[] SEC("license") = "GPL";

#include "sampler/kernel/user.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, CN_KERNEL_PROCESSES_MAX);
    __type(key, uint32_t);
    __type(value, struct cn_kernel_process);
} processes SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
    __uint(max_entries, CN_KERNEL_MODULES_MAX);
    __type(key, uint32_t);
    __array(
        values, struct {
            __uint(type, BPF_MAP_TYPE_ARRAY);
            __uint(map_flags, BPF_F_INNER_MAP | BPF_F_MMAPABLE);
            __uint(max_entries, 1);
            __type(key, uint32_t);
            __uint(value_size, sizeof(struct cn_kernel_block));
        });
} modules SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, CN_KERNEL_RULES_MAX);
    __type(key, uint32_t);
    __type(value, struct cn_kernel_rule);
} rules SEC(".maps");

/* The system calls that are shown, by number; none without --io. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, CN_KERNEL_CALLS_MAX);
    __type(key, uint32_t);
    __type(value, uint8_t);
} shown_calls SEC(".maps");

/* The numbers of rules that were found on this processor, by address: most stacks share most of
 * their callers. An epoch is of one process, and code that it knows is not replaced in it. */
enum { FOUND_BITS = 11, FOUND_MAX = 1 << FOUND_BITS };

struct found_rules {
    struct {
        uint64_t pc;
        uint32_t epoch, rule;
    } list[FOUND_MAX];
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct found_rules);
} founds SEC(".maps");

/* What is read of the stack at a time. */
enum { WINDOW_LEN = 1024 };

/* One stack while it is unwound. It is in a map, so that the verifier knows nothing about its
 * values and checks each loop once. */
struct walk {
    uint64_t pc, sp, fp, lr;
    uint64_t lowest;      /* frames of callers begin here or above */
    uint64_t stack_begin; /* what is below was never saved, or is restored */
    bool is_exact;        /* pc is no return address */
    bool has_fp;
    bool is_over;                     /* the outermost frame was reached */
    bool is_other;                    /* the stack is not that of the thread */
    bool is_left_out;                 /* the frame at pc is not shown */
    uint32_t zero;                    /* a number that the verifier does not know */
    struct cn_kernel_mapping mapping; /* of the last frame */
    uint64_t window_begin;            /* of what was read of the stack; 0: nothing */
    uint8_t window[WINDOW_LEN];
    struct {
        struct cn_kernel_record head;
        struct cn_kernel_stack stack;
        uint64_t addresses[CN_KERNEL_CHAIN_MAX + CN_KERNEL_FRAMES_MAX];
    } record;
};

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct walk);
} walks SEC(".maps");

/* Addresses of programs have at most 48 bits; the others of a return address may be an
 * authentication code. */
static __always_inline uint64_t address_of(uint64_t pc)
{
#ifdef CN_MACHINE_aarch64
    return pc & ((UINT64_C(1) << 48) - 1);
#else
    return pc;
#endif
}

/* The mapping of an address, in w->mapping. */
static __always_inline bool find_mapping(struct walk *w,
                                         struct cn_kernel_process *process, uint64_t pc)
{
    uint32_t low = w->zero;

    if (pc >= w->mapping.begin && pc < w->mapping.end)
        return true;
    if (process->count == 0)
        return false;
#pragma unroll
    for (uint32_t step = CN_KERNEL_MAPPINGS_MAX / 2; step > 0; step /= 2) {
        uint32_t middle = low + step;

        if (middle < process->count &&
            process->mappings[middle & (CN_KERNEL_MAPPINGS_MAX - 1)].begin <= pc)
            low = middle;
    }
    w->mapping = process->mappings[low & (CN_KERNEL_MAPPINGS_MAX - 1)];
    return pc >= w->mapping.begin && pc < w->mapping.end;
}

/* The last row of a block at or before an offset. */
static __always_inline uint32_t search_block(struct walk *w,
                                             struct cn_kernel_block *block, uint32_t off)
{
    uint32_t low = w->zero;

#pragma unroll
    for (uint32_t step = CN_KERNEL_BLOCK_ROWS / 2; step > 0; step /= 2) {
        uint32_t middle = low + step;

        if (block->begins[middle & (CN_KERNEL_BLOCK_ROWS - 1)] <= off)
            low = middle;
    }
    return block->to[low & (CN_KERNEL_BLOCK_ROWS - 1)];
}

struct loop {
    struct walk *walk;
    struct cn_kernel_process *process;
    struct found_rules *found;
    struct cn_frame_table *interpreter; /* NULL: none */
};

/* The number of the rule of an address, by the rows of its module. */
static __always_inline bool search_rule(struct walk *w, struct cn_kernel_process *process,
                                        uint64_t pc, uint32_t *out)
{
    uint32_t at = 0, level;
    void *module;

    if (!find_mapping(w, process, pc))
        return false;
    module = bpf_map_lookup_elem(&modules, &w->mapping.module);
    if (!module)
        return false;
    for (level = 0; level < CN_KERNEL_DEPTH_MAX; level++) {
        struct cn_kernel_block *block;

        if (level >= w->mapping.depth)
            break;
        block = bpf_map_lookup_elem(module, &at);
        if (!block)
            return false;
        at = search_block(w, block, (uint32_t)(pc - w->mapping.base));
    }
    *out = at;
    return true;
}

static __always_inline struct cn_kernel_rule *find_rule(const struct loop *loop)
{
    struct walk *w = loop->walk;
    uint64_t pc = w->is_exact ? w->pc : w->pc - 1;
    uint32_t epoch = (uint32_t)loop->process->epoch;
    uint32_t slot =
        (uint32_t)((pc ^ (uint64_t)epoch << 20) * UINT64_C(0x9e3779b97f4a7c15) >>
                   (64 - FOUND_BITS));
    uint32_t rule;

    slot &= FOUND_MAX - 1;
    if (loop->found->list[slot].pc == pc && loop->found->list[slot].epoch == epoch) {
        rule = loop->found->list[slot].rule;
    } else {
        if (!search_rule(w, loop->process, pc, &rule))
            return NULL;
        loop->found->list[slot].pc = pc;
        loop->found->list[slot].epoch = epoch;
        loop->found->list[slot].rule = rule;
    }
    return bpf_map_lookup_elem(&rules, &rule);
}

/* 8 bytes of the stack, of what was read of it or will be used of it next. */
static __always_inline bool read_stack(struct walk *w, uint64_t *out, uint64_t address)
{
    uint64_t off = address - w->window_begin;

    if (address & 7)
        return read_user(out, sizeof(*out), address);
    if (w->window_begin == 0 || off > WINDOW_LEN - 8) {
        w->window_begin = 0;
        /* The stack may end before. */
        if (!read_user(w->window, WINDOW_LEN, address))
            return read_user(out, sizeof(*out), address);
        w->window_begin = address;
        off = 0;
    }
    *out = *(uint64_t *)(w->window + (off & (WINDOW_LEN - 8)));
    return true;
}

#include "sampler/kernel/frames.bpf.h"

/* Out of a signal handler, by the layout of the kernel. */
static __always_inline bool step_by_signal(struct walk *w)
{
#ifdef CN_MACHINE_aarch64
    enum { REGISTERS_OFF = 128 + 184 };
    uint64_t saved[4]; /* x29, x30, sp, pc */

    if (!read_user(saved, sizeof(saved), w->sp + REGISTERS_OFF + 8 * 29))
        return false;
    w->fp = saved[0];
    w->lr = saved[1];
    w->sp = saved[2];
    w->pc = saved[3];
#else
    enum { REGISTERS_OFF = 40, RBP = 10, RSP = 15 };
    uint64_t saved[2]; /* rsp, rip */

    if (!read_user(&w->fp, sizeof(w->fp), w->sp + REGISTERS_OFF + 8 * RBP) ||
        !read_user(saved, sizeof(saved), w->sp + REGISTERS_OFF + 8 * RSP))
        return false;
    w->sp = saved[0];
    w->pc = saved[1];
#endif
    w->has_fp = true;
    w->lowest = 0;
    w->is_exact = true;
    return true;
}

/* To the caller. False if the sampler must do it. */
static __always_inline bool step_by_rule(struct walk *w,
                                         const struct cn_kernel_rule *rule)
{
    uint64_t cfa, pc = w->pc, fp = w->fp, lr = w->lr;
    bool has_saved_fp = rule->flags & CN_KERNEL_SAVED_FP;
    bool has_saved_pc = rule->flags & CN_KERNEL_SAVED_PC;

    switch (rule->kind) {
    case CN_KERNEL_BY_SP:
        cfa = w->sp + (uint64_t)(int64_t)rule->cfa;
        break;
    case CN_KERNEL_BY_FP:
        if (!w->has_fp)
            return false;
        cfa = w->fp + (uint64_t)(int64_t)rule->cfa;
        break;
    case CN_KERNEL_BY_PLT:
        cfa = w->sp + 8 + ((w->pc & 15) >= rule->push ? 8 : 0);
        break;
    default:
        return false;
    }
    if (cfa < w->lowest)
        return false;
    /* Compilers do not say that a register was restored between the end of a frame and the
     * return: then its place is below the stack. */
    if (has_saved_fp && cfa + (uint64_t)(int64_t)rule->fp >= w->stack_begin) {
        if (!read_stack(w, &fp, cfa + (uint64_t)(int64_t)rule->fp))
            return false;
    }
    if (has_saved_pc && cfa + (uint64_t)(int64_t)rule->pc >= w->stack_begin) {
        if (!read_stack(w, &lr, cfa + (uint64_t)(int64_t)rule->pc))
            return false;
    }
#ifdef CN_MACHINE_x86_64
    else
        return false;
#endif
    w->fp = fp;
    w->lr = lr;
    if (has_saved_fp)
        w->has_fp = true;
    if (rule->flags & CN_KERNEL_LOST_FP)
        w->has_fp = false;
    w->sp = cfa;
    w->pc = address_of(w->lr);
    /* The same frame again: a leaf can be left only once. */
    if (cfa == w->lowest && w->pc == pc)
        return false;
    w->lowest = cfa;
    w->is_exact = false;
    return true;
}

/* From the stack of the thread to another, where the run-time has changed from that one. */
static __always_inline bool step_to_other(struct walk *w, const struct cn_frame_table *t)
{
    uint32_t cpu = bpf_get_smp_processor_id();
    struct cn_frame_walk *f = bpf_map_lookup_elem(&frame_walks, &cpu);
    bool changes = false;

    if (!f || w->is_other)
        return false;
    for (uint32_t i = 0; i < CN_FRAME_CHANGES_MAX; i++)
        changes |= w->pc > t->changes[i].begin && w->pc < t->changes[i].end;
    if (!changes || f->states[0] != f->words[CN_FRAME_OTHER_FROM] ||
        f->words[CN_FRAME_OTHER_SP] < f->words[CN_FRAME_OTHER_BEGIN] ||
        f->words[CN_FRAME_OTHER_SP] >= f->words[CN_FRAME_OTHER_END])
        return false;
    w->pc = address_of(f->words[CN_FRAME_OTHER_PC]);
    w->fp = f->words[CN_FRAME_OTHER_FP];
    w->sp = w->lowest = w->stack_begin = f->words[CN_FRAME_OTHER_SP];
    w->lr = 0;
    w->has_fp = w->is_other = true;
    w->window_begin = 0;
    w->is_left_out = w->pc >= t->resumed.begin && w->pc < t->resumed.end;
    /* It has not called anything, the others have. */
    w->is_exact = w->is_left_out;
    return true;
}

/* One frame; 1 ends the loop. */
static long step(uint32_t index, void *arg)
{
    struct loop *loop = arg;
    struct walk *w = loop->walk;
    uint32_t at = w->record.stack.kernel_count + w->record.stack.user_count;
    struct cn_kernel_rule *rule;

    (void)index;
    if (at >= CN_KERNEL_CHAIN_MAX + CN_KERNEL_FRAMES_MAX)
        return 1;
    w->record.addresses[at] = w->pc;
    w->record.stack.user_count += !w->is_left_out;
    w->is_left_out = false;
    rule = find_rule(loop);
    if (!rule)
        return 1;
    if (rule->kind == CN_KERNEL_END) {
        w->is_over = !loop->interpreter || !step_to_other(w, loop->interpreter);
        return w->is_over;
    }
    if (rule->kind == CN_KERNEL_BY_SIGNAL ? !step_by_signal(w) : !step_by_rule(w, rule))
        return 1;
    w->is_over = w->pc == 0;
    return w->is_over;
}

static __always_inline bool find_registers(struct bpf_perf_event_data *ctx,
                                           struct user_registers *out)
{
    if (IS_USER(&ctx->regs)) {
        *out = (struct user_registers)REGISTERS(&ctx->regs);
        return true;
    }
    return read_registers(out,
                          (const void *)bpf_task_pt_regs(bpf_get_current_task_btf()));
}

/* A stack of the task that runs, before it is unwound. NULL: the kernel has to copy it. */
static __always_inline struct walk *begin(struct loop *loop, uint64_t task,
                                          const struct user_registers *registers)
{
    uint32_t pid = (uint32_t)(task >> 32), zero = 0;
    struct walk *w = bpf_map_lookup_elem(&walks, &zero);
    struct cn_kernel_process *process = bpf_map_lookup_elem(&processes, &pid);
    struct cn_frame_table *interpreter = bpf_map_lookup_elem(&interpreters, &pid);
    uint64_t time_ns = bpf_ktime_get_ns();

    *loop = (struct loop){w, process, bpf_map_lookup_elem(&founds, &zero), interpreter};
    if (interpreter && !walk_frames(interpreter, task, time_ns, registers))
        return 0;
    if (!w || !process || !loop->found)
        return 0;
    w->record.head = (struct cn_kernel_record){
        .kind = CN_KERNEL_STACK,
        .pid = pid,
        .tid = (uint32_t)task,
        .time_ns = time_ns,
    };
    w->record.stack = (struct cn_kernel_stack){
        .cpu = bpf_get_smp_processor_id(),
        .epoch = process->epoch,
        .argument = registers->argument,
    };
    return w;
}

/* Unwind it and put it into the ring. False: the kernel has to copy it. */
static __always_inline bool finish(struct walk *w, struct loop *loop,
                                   const struct user_registers *registers)
{
    uint32_t count;

    w->pc = registers->pc;
    w->sp = w->lowest = w->stack_begin = registers->sp;
    w->fp = registers->fp;
    w->lr = registers->lr;
    w->is_exact = w->has_fp = true;
    w->is_over = w->is_other = w->is_left_out = false;
    w->window_begin = 0;
    w->mapping = (struct cn_kernel_mapping){0};
    bpf_loop(CN_KERNEL_FRAMES_MAX, step, loop, 0);
    if (!w->is_over && w->record.stack.user_count < CN_KERNEL_FRAMES_MAX)
        return false;
    w->record.stack.is_cut = !w->is_over;
    count = w->record.stack.kernel_count + w->record.stack.user_count;
    if (count > CN_KERNEL_CHAIN_MAX + CN_KERNEL_FRAMES_MAX)
        return false;
    w->record.head.count = CN_KERNEL_STACK_WORDS + count;
    return bpf_ringbuf_output(&ring, &w->record,
                              sizeof(w->record.head) + sizeof(w->record.stack) +
                                  count * sizeof(uint64_t),
                              wake_up_if_full()) == 0;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
    uint64_t task = bpf_get_current_pid_tgid();
    struct user_registers registers = {0};
    bool has_registers = find_registers(ctx, &registers);
    struct loop loop;
    struct walk *w = begin(&loop, task, &registers);

    if (!w || !has_registers)
        return WRITE_A_SAMPLE;
    w->record.stack.ip = FRAME_PC(&ctx->regs);
    w->record.stack.period = ctx->sample_period;
    w->record.stack.is_user = IS_USER(&ctx->regs);
    if (!w->record.stack.is_user) {
        long len = bpf_get_stack(ctx, w->record.addresses,
                                 CN_KERNEL_CHAIN_MAX * sizeof(uint64_t), 0);

        if (len < 0)
            return WRITE_A_SAMPLE;
        w->record.stack.kernel_count = (uint32_t)len / sizeof(uint64_t);
    }
    return finish(w, &loop, &registers) ? WRITE_NONE : WRITE_A_SAMPLE;
}

/* A page fault, without the kernel's part of its stack, which is the same of all. */
SEC("perf_event")
int fault(struct bpf_perf_event_data *ctx)
{
    struct user_registers registers = {0};
    bool has_registers = find_registers(ctx, &registers);
    struct loop loop;
    struct walk *w = begin(&loop, bpf_get_current_pid_tgid(), &registers);

    if (!w || !has_registers)
        return WRITE_A_SAMPLE;
    w->record.stack.ip = FRAME_PC(&ctx->regs);
    w->record.stack.period = ctx->sample_period;
    w->record.stack.argument = ctx->addr;
    w->record.stack.is_user = IS_USER(&ctx->regs);
    w->record.stack.is_fault = true;
    return finish(w, &loop, &registers) ? WRITE_NONE : WRITE_A_SAMPLE;
}

/* The fields of raw_syscalls:sys_enter. */
struct entered {
    uint64_t common;
    uint64_t number;
    uint64_t arguments[6];
};

/* A system call, in place of the sample of the tracepoint. Runs in all processes; those that are not
 * sampled, and calls that are not shown, are left alone. */
SEC("tracepoint")
int call(struct entered *entered)
{
    uint64_t task = bpf_get_current_pid_tgid();
    uint32_t pid = (uint32_t)(task >> 32), number = (uint32_t)entered->number;
    struct user_registers registers = {0};
    const uint8_t *is_shown = bpf_map_lookup_elem(&shown_calls, &number);
    struct loop loop;
    struct walk *w;

    if (!is_shown || !*is_shown || !bpf_map_lookup_elem(&processes, &pid) ||
        !read_registers(&registers,
                        (const void *)bpf_task_pt_regs(bpf_get_current_task_btf())) ||
        !(w = begin(&loop, task, &registers)))
        return WRITE_A_SAMPLE;
    w->record.stack.ip = registers.pc;
    w->record.stack.period = 1;
    w->record.stack.is_user = w->record.stack.is_call = true;
    w->record.stack.kernel_count = CN_KERNEL_CALL_WORDS;
    w->record.addresses[0] = entered->number;
    for (uint32_t i = 0; i < 6; i++)
        w->record.addresses[1 + i] = entered->arguments[i];
    return finish(w, &loop, &registers) ? WRITE_NONE : WRITE_A_SAMPLE;
}

/* The fields of sched:sched_waking after the common ones, which programs cannot read. */
struct woken {
    uint64_t common;
    uint64_t name[2];
    uint64_t pid_and_priority;
    uint32_t processor;
};

/* Functions of the kernel that interrupts begin with. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct cn_kernel_interrupts);
} interrupts SEC(".maps");

struct search {
    const struct walk *walk;
    const struct cn_kernel_interrupts *interrupts;
    bool is_interrupt;
};

static long search_interrupt(uint32_t index, void *arg)
{
    struct search *search = arg;
    uint32_t at = CN_KERNEL_WAKING_WORDS + index;
    uint64_t pc;

    if (at >= CN_KERNEL_CHAIN_MAX || at >= search->walk->record.stack.kernel_count)
        return 1;
    pc = search->walk->record.addresses[at];
    for (uint32_t i = 0; i < CN_KERNEL_INTERRUPTS; i++)
        search->is_interrupt |= pc >= search->interrupts->list[i].begin &&
                                pc < search->interrupts->list[i].end;
    return search->is_interrupt;
}

/* A wake-up by a sampled process, in place of the sample of the tracepoint. Runs in all processes; what
 * interrupts and others do is left alone. Whether the woken thread is sampled is not known here. */
SEC("tracepoint")
int waking(struct woken *woken)
{
    uint64_t task = bpf_get_current_pid_tgid();
    uint32_t pid = (uint32_t)(task >> 32), zero = 0;
    struct user_registers registers = {0};
    struct search search = {.interrupts = bpf_map_lookup_elem(&interrupts, &zero)};
    struct loop loop;
    struct walk *w;
    long len;

    if (!bpf_map_lookup_elem(&processes, &pid) || !search.interrupts ||
        !read_registers(&registers,
                        (const void *)bpf_task_pt_regs(bpf_get_current_task_btf())) ||
        !(w = begin(&loop, task, &registers)))
        return WRITE_A_SAMPLE;
    w->record.stack.ip = registers.pc;
    w->record.stack.period = 1;
    w->record.stack.is_waking = true;
    w->record.addresses[0] = woken->name[0];
    w->record.addresses[1] = woken->name[1];
    w->record.addresses[2] = woken->pid_and_priority;
    w->record.addresses[3] = woken->processor;
    len = bpf_get_stack(woken, w->record.addresses + CN_KERNEL_WAKING_WORDS,
                        (CN_KERNEL_CHAIN_MAX - CN_KERNEL_WAKING_WORDS) * sizeof(uint64_t),
                        0);
    if (len < 0)
        return WRITE_A_SAMPLE;
    w->record.stack.kernel_count =
        CN_KERNEL_WAKING_WORDS + (uint32_t)len / sizeof(uint64_t);
    search.walk = w;
    bpf_loop(CN_KERNEL_CHAIN_MAX, search_interrupt, &search, 0);
    if (search.is_interrupt)
        return WRITE_A_SAMPLE;
    return finish(w, &loop, &registers) ? WRITE_NONE : WRITE_A_SAMPLE;
}
