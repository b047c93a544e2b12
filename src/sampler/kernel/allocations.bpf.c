/* Samples what a running process allocates, at the functions of its allocator: about one in `interval` bytes,
 * with a copy of the stack, and the frees of those that were sampled.
 *
 * The distances between samples are drawn from a table of an exponential distribution, for all threads of a
 * processor together: as each byte has the same chance whatever came before, it does not matter whose the
 * bytes before it were. What is not sampled is left at once.
 *
 * Two ways to see a function return: kernels from 6.13 on ask the program at its begin (a session), so that
 * only sampled calls have a changed return address; older ones change that of every call.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include <bpf/bpf_helpers.h>

#include "sampler/kernel/allocations_shared.h"

char cn_license[] SEC("license") = "GPL"; /* as unwind.bpf.c */

#include "sampler/kernel/user.bpf.h"

#include "sampler/kernel/frames.bpf.h"

enum { WAIT_FOR_RETURN = 0, NO_RETURN = 1 };

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct cn_kernel_allocations);
} counts SEC(".maps");

/* Bytes between samples: equally likely ones. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1 << CN_KERNEL_GAP_BITS);
    __type(key, uint32_t);
    __type(value, uint64_t);
} gaps SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, 64);
    __type(key, uint32_t);
    __type(value, struct cn_kernel_allocator);
} allocators SEC(".maps");

/* Calls that are sampled and have not returned, by process and thread. */
struct asked_alloc {
    uint64_t size, old_size;
    uint64_t out; /* where the address will be; 0: it is returned */
    uint64_t is_mapping;
    uint64_t sp; /* after the return: other functions may return before */
};

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __uint(max_entries, CN_KERNEL_PROCESSES_MAX);
    __type(key, uint64_t);
    __type(value, struct asked_alloc);
} asked_of SEC(".maps");

/* Sampled blocks that are not freed. */
struct block_key {
    uint64_t address;
    uint64_t pid;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __uint(max_entries, CN_KERNEL_LIVE_MAX);
    __type(key, struct block_key);
    __type(value, uint8_t);
} live SEC(".maps");

/* A record while it is made, one for each processor; a thread that is pre-empted meanwhile has it. */
struct room {
    uint32_t is_busy, unused;
    struct cn_kernel_alloc record;
    uint8_t copy[CN_KERNEL_COPY_MAX + CN_KERNEL_PAGE_LEN];
};

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, struct room);
} rooms SEC(".maps");

/* The program `session_ends`. */
struct {
    __uint(type, BPF_MAP_TYPE_PROG_ARRAY);
    __uint(max_entries, 1);
    __type(key, uint32_t);
    __type(value, uint32_t);
} ends_of SEC(".maps");

#ifdef CN_MACHINE_aarch64
#define ARGUMENT(ctx, i) ((ctx)->regs[i])
#define RESULT(ctx)      ((ctx)->regs[0])
#define PC(ctx)          ((ctx)->pc)
#define SP(ctx)          ((ctx)->sp)
#else
#define ARGUMENT(ctx, i) \
    ((i) == 0 ? (ctx)->rdi : (i) == 1 ? (ctx)->rsi : (i) == 2 ? (ctx)->rdx : (ctx)->rcx)
#define RESULT(ctx) ((ctx)->rax)
#define PC(ctx)     ((ctx)->rip)
#define SP(ctx)     ((ctx)->rsp)
#endif

static __always_inline struct cn_kernel_allocations *count_probe(void)
{
    uint32_t zero = 0;
    struct cn_kernel_allocations *c = bpf_map_lookup_elem(&counts, &zero);

    if (c)
        c->probe_count++;
    return c;
}

static __always_inline void count_lost(void)
{
    uint32_t zero = 0;
    struct cn_kernel_allocations *c = bpf_map_lookup_elem(&counts, &zero);

    if (c)
        c->lost_count++;
}

static __always_inline int64_t next_gap(void)
{
    uint32_t at = bpf_get_prandom_u32() & ((1 << CN_KERNEL_GAP_BITS) - 1);
    uint64_t *gap = bpf_map_lookup_elem(&gaps, &at);

    return gap ? (int64_t)*gap : 1;
}

/* True if a sample falls into these bytes; a block of no bytes has a chance as well. */
static __always_inline bool is_sampled(uint64_t size)
{
    struct cn_kernel_allocations *c = count_probe();

    if (!c)
        return false;
    if (!c->has_begun) {
        c->has_begun = 1;
        c->left = next_gap();
    }
    if (size > INT64_MAX)
        return false;
    c->left -= size > 0 ? (int64_t)size : 1;
    if (c->left > 0)
        return false;
    c->left = next_gap();
    return true;
}

static __always_inline struct cn_kernel_allocator *allocator_of(uint64_t task)
{
    uint32_t pid = (uint32_t)(task >> 32);

    return bpf_map_lookup_elem(&allocators, &pid);
}

/* Where the function that is entered returns to. */
static __always_inline uint64_t caller_of(const bpf_user_pt_regs_t *ctx)
{
#ifdef CN_MACHINE_aarch64
    return ctx->regs[30];
#else
    uint64_t caller = 0;

    (void)read_user(&caller, sizeof(caller), ctx->rsp);
    return caller;
#endif
}

static __always_inline bool is_within(const struct cn_kernel_range *ranges,
                                      uint32_t count, uint64_t address)
{
    bool is = false;

#pragma unroll
    for (uint32_t i = 0; i < count; i++)
        is = is || (address >= ranges[i].begin && address < ranges[i].end);
    return is;
}

static __always_inline int ask(const bpf_user_pt_regs_t *ctx, struct asked_alloc *asked,
                               uint64_t task)
{
#ifdef CN_MACHINE_aarch64
    asked->sp = ctx->sp;
#else
    asked->sp = ctx->rsp + sizeof(uint64_t);
#endif
    return bpf_map_update_elem(&asked_of, &task, asked, BPF_ANY) == 0 ? WAIT_FOR_RETURN
                                                                      : NO_RETURN;
}

/* What the allocator gave for a block. 0: unknown. */
static __always_inline uint64_t usable_size(const struct cn_kernel_allocator *allocator,
                                            uint64_t address)
{
    enum { FLAGS = 7, IS_MAPPED = 2 };
    uint64_t head;

    if (!allocator->has_heads || address == 0 ||
        !read_user(&head, sizeof(head), address - sizeof(head)))
        return 0;
    return (head & ~(uint64_t)FLAGS) - (head & IS_MAPPED ? 16 : 8);
}

/* A call for `size` bytes. One that the allocator makes itself is counted where the program made it. */
static __always_inline int begin_alloc(const bpf_user_pt_regs_t *ctx, uint64_t size,
                                       uint64_t old, uint64_t out)
{
    uint64_t task = bpf_get_current_pid_tgid();
    struct cn_kernel_allocator *allocator;
    struct asked_alloc asked;

    if (!is_sampled(size) || !(allocator = allocator_of(task)) ||
        is_within(allocator->inner, CN_KERNEL_INNER_MAX, caller_of(ctx)))
        return NO_RETURN;
    asked = (struct asked_alloc){
        .size = size,
        .old_size = usable_size(allocator, old),
        .out = out,
    };
    return ask(ctx, &asked, task);
}

/* C libraries go on to malloc() for these, so that they return from there. */
static __always_inline bool is_c_library(void)
{
    struct cn_kernel_allocator *allocator = allocator_of(bpf_get_current_pid_tgid());

    return allocator && allocator->is_c_library;
}

static __always_inline void release(uint64_t address)
{
    uint64_t task = bpf_get_current_pid_tgid();
    struct block_key key = {address, task >> 32};
    struct cn_kernel_release record = {
        .head = {.kind = CN_KERNEL_RELEASE,
                 .pid = (uint32_t)(task >> 32),
                 .tid = (uint32_t)task},
        .address = address,
    };

    if (address == 0 || bpf_map_delete_elem(&live, &key) != 0)
        return;
    record.head.time_ns = bpf_ktime_get_ns();
    if (bpf_ringbuf_output(&ring, &record, sizeof(record), wake_up_if_full()) != 0)
        count_lost();
}

static __always_inline int begin_first(const bpf_user_pt_regs_t *ctx)
{
    return begin_alloc(ctx, ARGUMENT(ctx, 0), 0, 0);
}

static __always_inline int begin_product(const bpf_user_pt_regs_t *ctx)
{
    return begin_alloc(ctx, ARGUMENT(ctx, 0) * ARGUMENT(ctx, 1), 0, 0);
}

static __always_inline int begin_realloc(const bpf_user_pt_regs_t *ctx)
{
    uint64_t old = ARGUMENT(ctx, 0);

    if (old == 0 && is_c_library())
        return NO_RETURN;
    release(old);
    return begin_alloc(ctx, ARGUMENT(ctx, 1), old, 0);
}

enum { ALIGNMENT = 16 }; /* that malloc() has */

static __always_inline int begin_aligned(const bpf_user_pt_regs_t *ctx)
{
    if (ARGUMENT(ctx, 0) <= ALIGNMENT && is_c_library())
        return NO_RETURN;
    return begin_alloc(ctx, ARGUMENT(ctx, 1), 0, 0);
}

static __always_inline int begin_posix(const bpf_user_pt_regs_t *ctx)
{
    return begin_alloc(ctx, ARGUMENT(ctx, 2), 0, ARGUMENT(ctx, 0));
}

/* Private memory that can be written, not for a stack. */
static __always_inline int begin_mapping(const bpf_user_pt_regs_t *ctx)
{
    enum {
        WRITE = 2,
        PRIVATE = 0x02,
        FIXED = 0x10,
        ANONYMOUS = 0x20,
        NORESERVE = 0x4000,
        STACK = 0x20000,
        CHOSEN = PRIVATE | FIXED | ANONYMOUS | NORESERVE | STACK,
    };
    uint64_t task = bpf_get_current_pid_tgid(), size = ARGUMENT(ctx, 1);
    struct cn_kernel_allocator *allocator;
    struct asked_alloc asked;

    if (!(ARGUMENT(ctx, 2) & WRITE) ||
        (ARGUMENT(ctx, 3) & CHOSEN) != (PRIVATE | ANONYMOUS) || !is_sampled(size) ||
        !(allocator = allocator_of(task)) ||
        is_within(allocator->modules, 2, caller_of(ctx)))
        return NO_RETURN;
    asked = (struct asked_alloc){.size = size, .is_mapping = 1};
    return ask(ctx, &asked, task);
}

static __always_inline void copy_registers(uint64_t *out, const bpf_user_pt_regs_t *ctx)
{
#ifdef CN_MACHINE_aarch64
#pragma unroll
    for (uint32_t i = 0; i < 31; i++)
        out[i] = ctx->regs[i];
    out[31] = ctx->sp;
    out[32] = ctx->pc;
#else
    out[0] = ctx->rax;
    out[1] = ctx->rdx;
    out[2] = ctx->rcx;
    out[3] = ctx->rbx;
    out[4] = ctx->rsi;
    out[5] = ctx->rdi;
    out[6] = ctx->rbp;
    out[7] = ctx->rsp;
    out[8] = ctx->r8;
    out[9] = ctx->r9;
    out[10] = ctx->r10;
    out[11] = ctx->r11;
    out[12] = ctx->r12;
    out[13] = ctx->r13;
    out[14] = ctx->r14;
    out[15] = ctx->r15;
    out[16] = ctx->rip;
#endif
}

struct copying {
    struct room *room;
    uint64_t from;
};

/* One more page of the stack, or what is left of the first; 1 ends the loop. */
static long copy_page(uint32_t index, void *arg)
{
    struct copying *c = arg;
    uint32_t off = c->room->record.copy_len;
    uint32_t len = CN_KERNEL_PAGE_LEN - (uint32_t)(c->from & (CN_KERNEL_PAGE_LEN - 1));

    (void)index;
    if (off > CN_KERNEL_COPY_MAX || len > CN_KERNEL_PAGE_LEN ||
        bpf_probe_read_user(c->room->copy + off, len, (const void *)c->from) != 0)
        return 1;
    c->room->record.copy_len = off + len;
    c->from += len;
    return 0;
}

static __always_inline void send(struct room *room, const bpf_user_pt_regs_t *ctx)
{
    struct copying copying = {room, SP(ctx)};
    uint32_t len;

    room->record.copy_len = 0;
    copy_registers(room->record.registers, ctx);
    bpf_loop(CN_KERNEL_COPY_MAX / CN_KERNEL_PAGE_LEN, copy_page, &copying, 0);
    len = room->record.copy_len;
    if (len > CN_KERNEL_COPY_MAX)
        len = room->record.copy_len = CN_KERNEL_COPY_MAX;
    if (bpf_ringbuf_output(&ring, &room->record, sizeof(room->record) + len,
                           wake_up_if_full()) != 0)
        count_lost();
}

static __always_inline void take(struct room *room, const bpf_user_pt_regs_t *ctx,
                                 const struct asked_alloc *asked, uint64_t address,
                                 uint64_t task)
{
    struct cn_kernel_allocator *allocator = allocator_of(task);
    uint32_t pid = (uint32_t)(task >> 32);
    struct cn_frame_table *interpreter = bpf_map_lookup_elem(&interpreters, &pid);
    uint64_t time_ns = bpf_ktime_get_ns();
    struct user_registers registers = REGISTERS(ctx);
    uint64_t usable =
        allocator && !asked->is_mapping ? usable_size(allocator, address) : 0;

    room->record.head = (struct cn_kernel_record){
        .kind = CN_KERNEL_ALLOC,
        .pid = pid,
        .tid = (uint32_t)task,
        .time_ns = time_ns,
    };
    room->record.address = address;
    room->record.size = asked->size;
    room->record.usable_size = usable > asked->size ? usable : asked->size;
    room->record.old_size = asked->old_size;
    room->record.is_mapping = (uint32_t)asked->is_mapping;
    if (interpreter)
        (void)walk_frames(interpreter, task, time_ns, &registers);
    send(room, ctx);
}

/* A function returns. */
static __always_inline int end_alloc(bpf_user_pt_regs_t *ctx)
{
    enum { ERRORS = 4096 };
    uint64_t task = bpf_get_current_pid_tgid(), address = RESULT(ctx);
    struct asked_alloc *found = bpf_map_lookup_elem(&asked_of, &task), asked;
    uint32_t cpu = bpf_get_smp_processor_id();
    struct block_key key = {0, task >> 32};
    uint8_t is_live = 1;
    struct room *room;

    if (!found || found->sp != SP(ctx))
        return 0;
    asked = *found;
    bpf_map_delete_elem(&asked_of, &task);
    if (asked.out != 0 &&
        (address != 0 || !read_user(&address, sizeof(address), asked.out)))
        return 0;
    if (address == 0 || address > UINT64_MAX - ERRORS)
        return 0;
    room = bpf_map_lookup_elem(&rooms, &cpu);
    key.address = address;
    if (!room || __sync_lock_test_and_set(&room->is_busy, 1) != 0) {
        count_lost();
        return 0;
    }
    if (bpf_map_update_elem(&live, &key, &is_live, BPF_ANY) == 0)
        take(room, ctx, &asked, address, task);
    else
        count_lost();
    room->is_busy = 0;
    return 0;
}

SEC("kprobe/ends")
int ends(bpf_user_pt_regs_t *ctx)
{
    return end_alloc(ctx);
}

SEC("kprobe/session_ends")
int session_ends(bpf_user_pt_regs_t *ctx)
{
    return end_alloc(ctx);
}

/* Each function has a program for its begin, and one for a session. */
#define FUNCTION(name)                          \
    SEC("kprobe/begins_" #name)                 \
    int begins_##name(bpf_user_pt_regs_t *ctx)  \
    {                                           \
        (void)begin_##name(ctx);                \
        return 0;                               \
    }                                           \
    SEC("kprobe/session_" #name)                \
    int session_##name(bpf_user_pt_regs_t *ctx) \
    {                                           \
        if (PC(ctx) == bpf_get_func_ip(ctx))    \
            return begin_##name(ctx);           \
        bpf_tail_call(ctx, &ends_of, 0);        \
        return 0;                               \
    }

FUNCTION(first)
FUNCTION(product)
FUNCTION(realloc)
FUNCTION(aligned)
FUNCTION(posix)
FUNCTION(mapping)

SEC("kprobe/frees")
int frees(bpf_user_pt_regs_t *ctx)
{
    (void)count_probe();
    release(ARGUMENT(ctx, 0));
    return 0;
}
