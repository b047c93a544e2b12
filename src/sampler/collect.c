#include "sampler/collect.h"

#include <assert.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "sampler/attached.h"
#include "sampler/inside/shared.h"
#include "sampler/io.h"
#include "sampler/kernel/shared.h"
#include "sampler/synthesis.h"

/* Words of a sample, with its head. */
enum {
    AT_ID = 1,
    AT_IP = 2,
    AT_TASK = 3,
    AT_TIME = 4,
    AT_CPU = 5,
    AT_PERIOD = 6,
    AT_CHAIN = 7,
    HEAD_LEN = 8,
    FIXED_LEN = AT_CHAIN * 8,
    LOST_LEN = 24,
    TID_FROM_END = 28, /* in a record that is no sample */
    COMM_TID_OFF = 12,
    FORK_TID_OFF = 16,
    FORK_LEN = 32,
    KERNEL_CHAIN_MAX = 512,
    KERNEL_TID_OFF = offsetof(struct cn_kernel_record, tid),
    RAW_LEN_MAX = 256,
    /* Tasks: the events of one that has ended are gone, but it still wakes the one that waits for it. */
    LIVES = 1,
    HAS_ENDED,
    /* Fields of sched:sched_waking. */
    RAW_FLAGS_OFF = 2,
    RAW_WOKEN_OFF = 24,
    RAW_WAKING_LEN = 36,
    RAW_IN_HARD_INTERRUPT = 0x08,
    RAW_TASK_OFF = 4,
    RAW_NAME_OFF = 8,
};

void cn_collector_done(struct cn_sample_collector *c)
{
    cn_unwound_done(&c->stacks);
    cn_stored_names_done(&c->stored);
    cn_map_done(&c->stored_mappings_of);
    cn_map_done(&c->woken);
    cn_map_done(&c->ours);
    cn_map_done(&c->in_exec);
    free(c->slot);
    c->slot = NULL;
}

/* The event of a kernel's id. */
static uint64_t number_of(const struct cn_sample_collector *c, uint64_t id)
{
    return (uint64_t)cn_map_find(&c->rings->event_of, id, 0) + 1;
}

/* The event of the sample that is written. */
static const struct cn_sample_event *event_of(const struct cn_sample_collector *c)
{
    static const struct cn_sample_event none;
    uint64_t event = c->words[AT_ID] - 1;

    return event < c->setup->events.count ? &c->setup->events.list[event] : &none;
}

/* The fields after the call chain: registers and a copy of the stack. */
struct copied {
    bool has_registers;
    struct cn_unwind_registers registers;
    struct cn_bytes stack;
};

static bool decode_copied(const struct cn_sample_collector *c, struct cn_bytes rest,
                          struct copied *out)
{
    uint64_t mask = c->setup->register_mask, abi, room, len = 0;
    struct cn_bytes values;

    *out = (struct copied){0};
    if (!cn_wire_u64_take(&rest, &abi))
        return false;
    /* A task of the kernel has no registers of a user. */
    if (abi != PERF_SAMPLE_REGS_ABI_NONE) {
        if (!cn_bytes_take(&rest, 8 * (size_t)__builtin_popcountll(mask), &values))
            return false;
        out->has_registers = abi == PERF_SAMPLE_REGS_ABI_64 &&
                             cn_unwind_registers_decode(
                                 &out->registers, cn_unwind_machine_here(), mask, values);
    }
    if (!cn_wire_u64_take(&rest, &room))
        return false;
    if (room > 0 && (!cn_bytes_take(&rest, (size_t)room, &out->stack) ||
                     !cn_wire_u64_take(&rest, &len)))
        return false;
    out->stack.len = len < out->stack.len ? (size_t)len : out->stack.len;
    return true;
}

/* Append the stack of the user's code to the chain. */
static size_t add_user(struct cn_sample_collector *c, const struct copied *copied,
                       uint64_t *chain, size_t count)
{
    struct cn_unwound_task task = {
        .pid = (uint32_t)c->words[AT_TASK],
        .tid = (uint32_t)(c->words[AT_TASK] >> 32),
        .time_ns = c->words[AT_TIME],
    };

    if (!copied->has_registers)
        return count;
    chain[count++] = PERF_CONTEXT_USER;
    size_t added = cn_unwound_unwind(&c->stacks, &task, &copied->registers, copied->stack,
                                     chain + count, CN_COLLECT_CHAIN_MAX - count);
    return count + added;
}

static bool is_user(const uint8_t *record)
{
    return (cn_u16_get(record + 4) & PERF_RECORD_MISC_CPUMODE_MASK) ==
           PERF_RECORD_MISC_USER;
}

/* Write a record that was synthesised, as it is but for the number of its event. */
static bool write_mapping(void *collector, const uint8_t *record, size_t len,
                          uint64_t time_ns, struct cn_error *err)
{
    struct cn_sample_collector *c = collector;
    uint8_t copy[256];

    (void)time_ns;
    if (len > sizeof(copy))
        return true;
    memcpy(copy, record, len);
    cn_u64_put(copy + len - CN_RING_ID_FROM_END, number_of(c, 0));
    return cn_perf_writer_add(c->writer, (struct cn_bytes){copy, len}, err);
}

static void show(struct cn_sample_collector *c, size_t chain_len)
{
    const uint64_t *words = c->words;
    struct cn_sample_seen seen = {
        .pid = (uint32_t)words[AT_TASK],
        .tid = (uint32_t)(words[AT_TASK] >> 32),
        .event = (uint32_t)words[AT_ID] - 1,
        .time_ns = words[AT_TIME],
        .period = words[AT_PERIOD],
        .chain = words + AT_CHAIN + 1,
        .chain_len = chain_len,
        .space = cn_unwound_space(&c->stacks, (uint32_t)words[AT_TASK]),
    };

    if (c->options->see)
        c->options->see(c->options->arg, &seen);
}

/* perf needs a mapping for each address of a chain, also for those of stored names. */
static bool map_stored(struct cn_sample_collector *c, enum cn_language language,
                       struct cn_error *err)
{
    uint32_t *known = cn_map_at(&c->stored_mappings_of, (uint32_t)c->words[AT_TASK], 0);
    const struct cn_synthesis to = {write_mapping, c, c->words[AT_TIME], false};
    char path[32];

    if (*known >> language & 1)
        return true;
    *known |= UINT32_C(1) << language;
    (void)snprintf(path, sizeof(path), "[%s]", cn_language_name(language));
    return cn_synthesize_mapping(&to, (pid_t)(uint32_t)c->words[AT_TASK],
                                 CN_STORED_ADDRESS_BASE +
                                     (uint64_t)language * CN_STORED_LANGUAGE_LEN,
                                 CN_STORED_LANGUAGE_LEN, path, err);
}

/* Write what the names in the chain need, before the sample. */
static bool write_stored(struct cn_sample_collector *c, size_t chain_len,
                         struct cn_error *err)
{
    const uint64_t *chain = c->words + AT_CHAIN + 1;
    struct cn_text record = {0};
    bool ok = true;

    if (c->stored.count == 0)
        return true;
    for (size_t i = 0; i < chain_len && ok; i++)
        ok = !cn_stored_is_frame(chain[i]) ||
             map_stored(c, cn_stored_language(chain[i]), err);
    while (ok && cn_stored_names_encode(&c->stored, &record))
        ok = cn_perf_writer_add(c->writer, cn_wire_view(&record), err);
    cn_text_done(&record);
    return ok;
}

bool cn_collector_write_names(struct cn_sample_collector *c,
                              const struct cn_unwound_task *task, const uint64_t *chain,
                              size_t count, struct cn_error *err)
{
    count = count < CN_COLLECT_CHAIN_MAX ? count : CN_COLLECT_CHAIN_MAX;
    c->words[AT_TASK] = task->pid | (uint64_t)task->tid << 32;
    c->words[AT_TIME] = task->time_ns;
    memcpy(c->words + AT_CHAIN + 1, chain, count * sizeof(*chain));
    return write_stored(c, count, err);
}

/* The register that samples of switches have (cn_sample_setup_stored()), after `len` bytes. */
static size_t add_argument(struct cn_sample_collector *c, size_t len)
{
    const struct cn_sample_event *event = &c->setup->events.list[c->words[AT_ID] - 1];
    uint8_t *at = (uint8_t *)c->words + len;

    if (!event->is_switch || !(event->attr.sample_type & PERF_SAMPLE_REGS_USER))
        return len;
    cn_u64_put(at,
               c->argument != 0 ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
    if (c->argument == 0)
        return len + sizeof(uint64_t);
    cn_u64_put(at + sizeof(uint64_t), c->argument);
    return len + 2 * sizeof(uint64_t);
}

static bool has_address(const struct cn_sample_collector *c)
{
    return event_of(c)->attr.sample_type & PERF_SAMPLE_ADDR;
}

/* Put the address of a sample of `len` bytes after its time. Returns its length. */
static size_t add_address(struct cn_sample_collector *c, size_t len)
{
    uint64_t *at = c->words + AT_CPU;

    if (!has_address(c))
        return len;
    memmove(at + 1, at, len - AT_CPU * sizeof(*at));
    *at = c->address;
    return len + sizeof(*at);
}

/* Write a sample whose fixed fields and chain are in c->words; `raw`: the fields of a tracepoint with
 * their length, or nothing. */
static bool write_sample(struct cn_sample_collector *c, size_t chain_len, bool has_chain,
                         struct cn_bytes raw, struct cn_error *err)
{
    size_t len = FIXED_LEN + (has_chain ? 8 + 8 * chain_len : 0);

    if (raw.len > 0)
        memcpy((uint8_t *)c->words + len, raw.ptr, raw.len);
    len = add_argument(c, len + raw.len);
    c->argument = 0;
    if (has_chain && !write_stored(c, chain_len, err))
        return false;
    if (has_chain)
        c->words[AT_CHAIN] = chain_len;
    len = add_address(c, len);
    cn_u16_put((uint8_t *)c->words + 6, (uint16_t)len);
    if (!cn_perf_writer_add(c->writer, (struct cn_bytes){(uint8_t *)c->words, len}, err))
        return false;
    if (event_of(c)->call != CN_SAMPLE_NO_CALL)
        return true;
    cn_perf_writer_count_sample(c->writer, c->words[AT_TIME]);
    show(c, chain_len);
    return true;
}

static bool is_wakeup(const struct cn_sample_collector *c, struct cn_bytes raw)
{
    return event_of(c)->is_waking && raw.len >= sizeof(uint32_t) + RAW_WAKING_LEN;
}

/* A thread that was woken, and has not run since: what the kernel reports of it once more is the same
 * wake-up, in the events of the one that wakes and of the one that is woken. */
static bool is_repeated(struct cn_sample_collector *c, struct cn_bytes raw)
{
    uint32_t *is_woken;

    if (!c->options->has_switches || !is_wakeup(c, raw))
        return false;
    is_woken =
        cn_map_at(&c->woken, cn_u32_get(raw.ptr + sizeof(uint32_t) + RAW_WOKEN_OFF), 0);
    bool was_woken = *is_woken != 0;
    *is_woken = 1;
    return was_woken;
}

static void runs(struct cn_sample_collector *c, uint32_t tid)
{
    if (cn_map_find(&c->woken, tid, 0))
        *cn_map_at(&c->woken, tid, 0) = 0;
}

static bool is_ours(const struct cn_sample_collector *c, uint32_t tid)
{
    return c->options->has_machine || cn_map_find(&c->ours, tid, 0);
}

/* A wake-up of another program, or one that the event of the sampled tasks has as well. */
static bool is_others(const struct cn_sample_collector *c, struct cn_bytes raw)
{
    const uint8_t *fields = raw.ptr + sizeof(uint32_t);

    if (!c->options->has_switches || !is_wakeup(c, raw))
        return false;
    return !is_ours(c, cn_u32_get(fields + RAW_WOKEN_OFF)) ||
           (event_of(c)->is_of_machine &&
            !(fields[RAW_FLAGS_OFF] & RAW_IN_HARD_INTERRUPT) &&
            (c->options->has_machine ||
             cn_map_find(&c->ours, (uint32_t)(c->words[AT_TASK] >> 32), 0) == LIVES));
}

/* What an interrupt has stopped does not matter. Without its mappings, the stack of a process is
 * unknown. */
static bool has_user_stack(const struct cn_sample_collector *c, struct cn_bytes raw)
{
    if (!is_wakeup(c, raw))
        return true;
    return !(raw.ptr[sizeof(uint32_t) + RAW_FLAGS_OFF] & RAW_IN_HARD_INTERRUPT) &&
           cn_unwound_space(&c->stacks, (uint32_t)c->words[AT_TASK]) != NULL;
}

/* What exec accesses is the memory of the new program; the registers are still those of the old one. */
static bool is_in_exec(struct cn_sample_collector *c, bool is_user)
{
    uint32_t pid = (uint32_t)c->words[AT_TASK];

    if (cn_map_find(&c->in_exec, pid, 0) == 0)
        return false;
    if (is_user || event_of(c)->call == CN_SAMPLE_CALL_BEGINS)
        *cn_map_at(&c->in_exec, pid, 0) = 0;
    return !is_user && event_of(c)->call >= CN_SAMPLE_MINOR_FAULTS;
}

static bool has_copy(const struct cn_sample_collector *c)
{
    return event_of(c)->attr.sample_type & PERF_SAMPLE_STACK_USER;
}

/* The fields of a wake-up or of a system call, with their length. */
static bool take_raw(const struct cn_sample_collector *c, struct cn_bytes *rest,
                     struct cn_bytes *out)
{
    *out = (struct cn_bytes){0};
    if (!(event_of(c)->attr.sample_type & PERF_SAMPLE_RAW))
        return true;
    return rest->len >= sizeof(uint32_t) && cn_u32_get(rest->ptr) <= RAW_LEN_MAX &&
           cn_bytes_take(rest, sizeof(uint32_t) + cn_u32_get(rest->ptr), out);
}

/* What a system call says of descriptors. */
static bool take_call(struct cn_sample_collector *c, struct cn_bytes raw,
                      struct cn_error *err)
{
    return !c->io || cn_sample_io_take(c->io, c->writer, event_of(c)->call,
                                       (uint32_t)c->words[AT_TASK], raw, err);
}

/* The fields that all samples have, in c->words, and the address. */
static bool take_fixed(struct cn_sample_collector *c, struct cn_bytes *rest)
{
    const size_t rest_len = FIXED_LEN - AT_CPU * sizeof(*c->words);
    struct cn_bytes fixed;

    if (!cn_bytes_take(rest, AT_CPU * sizeof(*c->words), &fixed))
        return false;
    memcpy(c->words, fixed.ptr, fixed.len);
    c->words[AT_ID] = number_of(c, c->words[AT_ID]);
    if ((has_address(c) && !cn_wire_u64_take(rest, &c->address)) ||
        !cn_bytes_take(rest, rest_len, &fixed))
        return false;
    memcpy(c->words + AT_CPU, fixed.ptr, fixed.len);
    return true;
}

static bool is_of_call(const struct cn_sample_collector *c)
{
    return event_of(c)->call >= CN_SAMPLE_CALL_BEGINS &&
           event_of(c)->call <= CN_SAMPLE_CALL_ENDS;
}

/* A request of a disk, or its end. */
static bool is_of_disk(const struct cn_sample_collector *c)
{
    return event_of(c)->call == CN_SAMPLE_DISK_BEGINS ||
           event_of(c)->call == CN_SAMPLE_DISK_ENDS;
}

static bool take_sample(struct cn_sample_collector *c, const uint8_t *record, size_t len,
                        struct cn_error *err)
{
    struct cn_bytes rest = {record, len}, raw, kernel = {0};
    bool has_chain = c->options->stacks != CN_SAMPLE_NONE;
    uint64_t kernel_len = 0, *chain = c->words + AT_CHAIN + 1;
    struct copied copied;
    size_t count;

    if (!take_fixed(c, &rest) ||
        (has_chain && (!cn_wire_u64_take(&rest, &kernel_len) ||
                       !cn_bytes_array(rest, 0, kernel_len, sizeof(uint64_t), &kernel) ||
                       !cn_bytes_take(&rest, kernel.len, &kernel))))
        return true;
    if (!take_raw(c, &rest, &raw) ||
        (raw.len > 0 && (is_others(c, raw) || is_repeated(c, raw))))
        return true;
    if (!event_of(c)->is_waking)
        runs(c, (uint32_t)(c->words[AT_TASK] >> 32));
    if (is_of_disk(c) &&
        (!c->io || !cn_sample_io_wants_disk(c->io, event_of(c)->call, raw)))
        return true;
    if (is_of_call(c) && !take_call(c, raw, err))
        return false;
    count = kernel.len / sizeof(uint64_t);
    count = count < KERNEL_CHAIN_MAX ? count : KERNEL_CHAIN_MAX;
    if (count > 0)
        memcpy(chain, kernel.ptr, count * sizeof(uint64_t));
    if (!is_in_exec(c, is_user(record)) && has_copy(c) && has_user_stack(c, raw)) {
        if (!decode_copied(c, rest, &copied))
            return true;
        count = add_user(c, &copied, chain, count);
        if (copied.has_registers)
            c->argument =
                copied.registers.value[cn_unwind_perf_argument(cn_unwind_machine_here())];
        if (count == 0 && is_user(record)) {
            chain[count++] = PERF_CONTEXT_USER;
            chain[count++] = c->words[AT_IP];
            cn_unwound_count(&c->stacks, CN_UNWIND_UNKNOWN);
        }
    }
    return write_sample(c, count, has_chain, raw, err);
}

/* The fields of a wake-up, with their length, from its words in the record. */
static struct cn_bytes restore_waking(const struct cn_sample_collector *c,
                                      struct cn_bytes words, uint32_t tid,
                                      uint8_t out[sizeof(uint32_t) + RAW_WAKING_LEN])
{
    uint8_t *fields = out + sizeof(uint32_t);

    memset(out, 0, sizeof(uint32_t) + RAW_WAKING_LEN);
    cn_u32_put(out, RAW_WAKING_LEN);
    cn_u16_put(fields, (uint16_t)c->setup->events.list[c->kernel_waking].attr.config);
    cn_u32_put(fields + RAW_TASK_OFF, tid);
    memcpy(fields + RAW_NAME_OFF, words.ptr, RAW_WAKING_LEN - RAW_NAME_OFF);
    return (struct cn_bytes){out, sizeof(uint32_t) + RAW_WAKING_LEN};
}

static uint32_t event_of_kernel(const struct cn_sample_collector *c,
                                const struct cn_kernel_stack *stack)
{
    return stack->is_call       ? c->io->event
           : stack->is_fault    ? c->io->fault_event
           : stack->is_waking   ? c->kernel_waking
           : stack->period == 1 ? c->kernel_switches
                                : 0;
}

/* A stack that was unwound in the kernel. */
static bool take_kernel(struct cn_sample_collector *c, struct cn_bytes rest,
                        struct cn_error *err)
{
    uint64_t *chain = c->words + AT_CHAIN + 1;
    struct cn_kernel_record head;
    struct cn_kernel_stack stack;
    struct cn_bytes bytes, kernel, user, raw = {0};
    uint8_t waking[sizeof(uint32_t) + RAW_WAKING_LEN];
    size_t count = 0;

    if (!cn_bytes_take(&rest, sizeof(head), &bytes))
        return true;
    memcpy(&head, bytes.ptr, sizeof(head));
    if (!cn_bytes_take(&rest, sizeof(stack), &bytes))
        return true;
    memcpy(&stack, bytes.ptr, sizeof(stack));
    if (stack.kernel_count > CN_KERNEL_CHAIN_MAX ||
        stack.user_count > CN_KERNEL_FRAMES_MAX ||
        !cn_bytes_take(&rest, stack.kernel_count * sizeof(uint64_t), &kernel) ||
        !cn_bytes_take(&rest, stack.user_count * sizeof(uint64_t), &user))
        return true;
    if (stack.is_fault && !c->io)
        return true;
    if (stack.is_call && (!c->io || !cn_sample_io_restore(c->io, kernel, &raw)))
        return true;
    c->words[AT_ID] = 1 + event_of_kernel(c, &stack);
    c->words[AT_TASK] = head.pid | (uint64_t)head.tid << 32;
    if (stack.is_waking) {
        if (!cn_bytes_take(&kernel, CN_KERNEL_WAKING_WORDS * sizeof(uint64_t), &bytes))
            return true;
        raw = restore_waking(c, bytes, head.tid, waking);
        if (is_others(c, raw) || is_repeated(c, raw))
            return true;
    }
    if (kernel.len > 0 && !stack.is_call) {
        chain[count] = PERF_CONTEXT_KERNEL;
        /* Newer kernels begin with the marker themselves. */
        count += cn_u64_get(kernel.ptr) != PERF_CONTEXT_KERNEL;
        memcpy(chain + count, kernel.ptr, kernel.len);
        count += kernel.len / sizeof(uint64_t);
    }
    if (is_in_exec(c, stack.is_user))
        user.len = 0;
    bool is_current = cn_unwound_is_epoch(&c->stacks, head.pid, stack.epoch);
    /* With other mappings than it had, only the first address is sure. */
    if (!is_current)
        user.len = user.len > sizeof(uint64_t) ? sizeof(uint64_t) : user.len;
    chain[count++] = PERF_CONTEXT_USER;
    memcpy(chain + count, user.ptr, user.len);
    struct cn_unwound_task task = {head.pid, head.tid, head.time_ns};
    count +=
        cn_unwound_finish(&c->stacks, &task, is_current && !stack.is_cut, chain + count,
                          user.len / sizeof(uint64_t), CN_COLLECT_CHAIN_MAX - count);
    cn_unwound_count(&c->stacks, !is_current    ? CN_UNWIND_UNKNOWN
                                 : stack.is_cut ? CN_UNWIND_CUT
                                                : CN_UNWIND_WHOLE);
    c->kernel_count++;
    c->words[0] =
        PERF_RECORD_SAMPLE |
        (uint64_t)(stack.is_user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL) << 32;
    c->words[AT_IP] = stack.ip;
    c->words[AT_TIME] = head.time_ns;
    c->words[AT_CPU] = stack.cpu;
    c->words[AT_PERIOD] = stack.period;
    c->argument = stack.is_fault ? 0 : stack.argument;
    c->address = stack.argument;
    if (!stack.is_waking)
        runs(c, head.tid);
    return (!stack.is_call || take_call(c, raw, err)) &&
           write_sample(c, count, true, raw, err);
}

static void take_object(struct cn_sample_collector *c, struct cn_bytes record)
{
    struct cn_kernel_record head;
    struct cn_bytes bytes;

    if (!cn_bytes_take(&record, sizeof(head), &bytes))
        return;
    memcpy(&head, bytes.ptr, sizeof(head));
    cn_unwound_take_object(&c->stacks, head.pid, record);
}

bool cn_collector_take(void *collector, const uint8_t *record, size_t len,
                       uint64_t time_ns, struct cn_error *err)
{
    struct cn_sample_collector *c = collector;
    uint32_t type = cn_u32_get(record);
    uint8_t *copy = (uint8_t *)c->words, *id = copy + len - CN_RING_ID_FROM_END;

    (void)time_ns;
    c->has_round = true;
    if (type == PERF_RECORD_SAMPLE)
        return take_sample(c, record, len, err);
    if (type == CN_KERNEL_STACK)
        return take_kernel(c, (struct cn_bytes){record, len}, err);
    if (type == CN_COLLECT_SLOT)
        return cn_collector_take_slot(c, (struct cn_bytes){record, len}, err);
    if (type == CN_KERNEL_ALLOC || type == CN_KERNEL_RELEASE)
        return cn_collector_take_attached(c, (struct cn_bytes){record, len}, err);
    if (type == CN_KERNEL_FRAMES) {
        cn_unwound_take_frames(&c->stacks, (struct cn_bytes){record, len});
        return true;
    }
    if (type == CN_KERNEL_OBJECT) {
        take_object(c, (struct cn_bytes){record, len});
        return true;
    }
    if (type == CN_KERNEL_PATH)
        return !c->io || !is_ours(c, cn_u32_get(record + KERNEL_TID_OFF)) ||
               cn_sample_io_take_path(c->io, c->writer, (struct cn_bytes){record, len},
                                      err);
    if (type == PERF_RECORD_LOST && len >= LOST_LEN) {
        c->lost_count += cn_u64_get(record + 16);
        if (c->io)
            cn_sample_io_forget(c->io);
    }
    if (len > sizeof(c->words))
        return true;
    if ((type == PERF_RECORD_FORK || type == PERF_RECORD_EXIT) && len >= FORK_LEN)
        *cn_map_at(&c->ours, cn_u32_get(record + FORK_TID_OFF), 0) =
            type == PERF_RECORD_FORK ? LIVES : HAS_ENDED;
    if (type == PERF_RECORD_COMM && len >= FORK_LEN)
        *cn_map_at(&c->ours, cn_u32_get(record + COMM_TID_OFF), 0) = LIVES;
    if ((type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE) &&
        len >= TID_FROM_END)
        runs(c, cn_u32_get(record + len - TID_FROM_END));
    if (type == PERF_RECORD_COMM && cn_u16_get(record + 4) & PERF_RECORD_MISC_COMM_EXEC) {
        *cn_map_at(&c->stored_mappings_of, cn_u32_get(record + HEAD_LEN), 0) = 0;
        *cn_map_at(&c->in_exec, cn_u32_get(record + HEAD_LEN), 0) = 1;
        if (c->io)
            cn_sample_io_exec(c->io, cn_u32_get(record + HEAD_LEN));
    }
    /* The memory of a ring is not ours to change. */
    memcpy(copy, record, len);
    cn_u64_put(id, number_of(c, cn_u64_get(id)));
    cn_unwound_take(&c->stacks, (struct cn_bytes){copy, len});
    return cn_perf_writer_add(c->writer, (struct cn_bytes){copy, len}, err);
}

bool cn_collector_add_sample(struct cn_sample_collector *c,
                             const struct cn_unwound_task *task, uint64_t period,
                             const uint64_t *chain, size_t count, struct cn_error *err)
{
    c->has_round = true;
    c->words[0] = PERF_RECORD_SAMPLE | (uint64_t)PERF_RECORD_MISC_USER << 32;
    c->words[AT_ID] = 1;
    c->words[AT_IP] = count > 0 ? chain[0] : 0;
    c->words[AT_TASK] = task->pid | (uint64_t)task->tid << 32;
    c->words[AT_TIME] = task->time_ns;
    c->words[AT_CPU] = 0;
    c->words[AT_PERIOD] = period;
    c->words[AT_CHAIN + 1] = PERF_CONTEXT_USER;
    memcpy(c->words + AT_CHAIN + 2, chain, count * sizeof(*chain));
    return write_sample(c, count + 1, true, (struct cn_bytes){0}, err);
}

bool cn_collector_end_round(struct cn_sample_collector *c, struct cn_error *err)
{
    struct cn_perf_head head = {.type = CN_PERF_FINISHED_ROUND, .size = HEAD_LEN};
    uint8_t record[HEAD_LEN];

    if (!c->has_round)
        return true;
    c->has_round = false;
    cn_perf_head_encode(&head, record);
    return cn_perf_writer_add(c->writer, (struct cn_bytes){record, HEAD_LEN}, err);
}
