#include "record/state/returns.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "record/state/lock.h"
#include "record/state/thread.h"
#include "record/stubs.h"

enum {
    UNIT_LEN = 8,
    GROUP_LEN = 16, /* units */
    MAX = CN_REC_RETURNS_LEN / UNIT_LEN,
    CHUNK = 8192,        /* units that are written at once: the largest pages */
    LIMITED_MAX = 65536, /* in a limited address space, unless more are in use */
    BATCH = 32,          /* frames that get one at once */
    KEPT = 1024,         /* frames that keep theirs when a thread ends */
};

static struct {
    struct cn_rec_lock lock;
    uint32_t taken, written; /* units, from the first */
    uint32_t limit;          /* MAX less than it is 0 */
    uintptr_t spare;         /* a list of those that threads left */
} pool;

#if defined(__x86_64__)
enum { RETURN_AT = 5 }; /* after the call */

/* The last unit of a group has no stub: the others jump there. */
static bool is_stub(uint32_t unit)
{
    return unit % GROUP_LEN != GROUP_LEN - 1;
}

static void write_unit(uint32_t unit)
{
    static const uint8_t call[] = {0x3e, 0xff, 0x54, 0x24, 0xf0}; /* notrack call */
    uint8_t *at = (uint8_t *)cn_rec_returns + (size_t)unit * UNIT_LEN;
    int32_t far = (int32_t)((uintptr_t)cn_rec_return - (uintptr_t)(at + 5));

    if (is_stub(unit)) {
        memcpy(at, call, sizeof(call));
        at[5] = 0xeb; /* jmp */
        at[6] = (uint8_t)((GROUP_LEN - 1 - unit % GROUP_LEN) * UNIT_LEN - 7);
        at[7] = 0xcc;
    } else {
        at[0] = 0xe9; /* jmp */
        memcpy(at + 1, &far, sizeof(far));
    }
}
#else
enum { RETURN_AT = 4 };

static bool is_stub(uint32_t unit)
{
    (void)unit;
    return true;
}

static void write_unit(uint32_t unit)
{
    uint8_t *at = (uint8_t *)cn_rec_returns + (size_t)unit * UNIT_LEN;
    int64_t distance =
        ((int64_t)(uintptr_t)cn_rec_return - (int64_t)(uintptr_t)(at + 4)) / 4;
    uint32_t code[2] = {0xd63f0220 /* blr x17 */,
                        0x14000000 | ((uint32_t)distance & 0x3ffffff)};

    memcpy(at, code, sizeof(code));
}
#endif

uintptr_t cn_rec_sigreturn;

void cn_rec_returns_begin(void)
{
#if defined(__aarch64__)
    uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
    const Elf64_Ehdr *head = (const Elf64_Ehdr *)vdso;
    const Elf64_Phdr *segment = vdso ? (const Elf64_Phdr *)(vdso + head->e_phoff) : NULL;

    for (uint64_t i = 0; segment && i + 8 <= segment->p_memsz; i += 4) {
        const uint32_t *code = (const uint32_t *)(vdso + i);

        if (code[0] == 0xd2801168 /* mov x8, #139 */ &&
            code[1] == 0xd4000001 /* svc #0 */)
            cn_rec_sigreturn = (uintptr_t)code;
    }
#endif
}

uintptr_t cn_rec_return_seen(uintptr_t ret)
{
    return cn_rec_is_return(ret) ? *cn_rec_return_value(ret)
                                 : ret - (ret != cn_rec_sigreturn);
}

uintptr_t cn_rec_return_true(uintptr_t stub)
{
    uintptr_t seen = *cn_rec_return_value(stub);

    return seen + (seen != cn_rec_sigreturn);
}

static uint32_t limit(void)
{
    return pool.limit ? pool.limit : MAX;
}

/* Write the code of more stubs. No thread uses these pages yet. */
static bool write_chunk(void)
{
    uintptr_t low = (uintptr_t)cn_rec_returns + (uintptr_t)pool.written * UNIT_LEN;
    uintptr_t high = low + (uintptr_t)CHUNK * UNIT_LEN;

    if (limit() - pool.written < CHUNK)
        return false;
    (void)cn_rec_syscall3(SYS_madvise, (long)low, CHUNK * UNIT_LEN, MADV_NOHUGEPAGE);
    for (uint32_t i = 0; i < CHUNK; i++)
        write_unit(pool.written + i);
    __builtin___clear_cache((char *)low, (char *)high);
    if (!cn_rec_protect(low, high, PROT_READ | PROT_EXEC))
        return false;
    pool.written += CHUNK;
    return true;
}

/* A stub that was never used, or 0. */
static uintptr_t take_new(void)
{
    while (pool.taken < pool.written || write_chunk()) {
        uint32_t unit = pool.taken++;

        if (is_stub(unit))
            return (uintptr_t)cn_rec_returns + (uintptr_t)unit * UNIT_LEN + RETURN_AT;
    }
    return 0;
}

static uintptr_t take(void)
{
    uintptr_t stub = pool.spare;

    if (!stub)
        return take_new();
    pool.spare = *cn_rec_return_value(stub);
    return stub;
}

bool cn_rec_return_assign(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    struct cn_rec_frame *end = frame + BATCH;
    uint64_t before;

    cn_rec_block_signals(&before);
    cn_rec_lock(&pool.lock);
    for (struct cn_rec_frame *at = frame; at < end && at < self->real_end; at++) {
        if (!at->stub)
            at->stub = take();
    }
    cn_rec_unlock(&pool.lock);
    if (end > self->stubs_end)
        self->stubs_end = end < self->real_end ? end : self->real_end;
    cn_rec_restore_signals(&before);
    return frame->stub != 0;
}

void cn_rec_return_close(struct cn_rec_thread *self, struct cn_rec_frame *frame)
{
    uintptr_t *place = &self->closed[self->closed_count++ % CN_REC_CLOSED_MAX];
    uintptr_t oldest = *place;

    *place = frame->stub;
    frame->stub = oldest;
}

void cn_rec_returns_shrink(struct cn_rec_thread *self)
{
    struct cn_rec_frame *from = self->top + 1 + KEPT;

    cn_rec_lock(&pool.lock);
    for (; from < self->stubs_end; from++) {
        if (!from->stub)
            continue;
        *cn_rec_return_value(from->stub) = pool.spare;
        pool.spare = from->stub;
        from->stub = 0;
    }
    if (self->top + 1 + KEPT < self->stubs_end)
        self->stubs_end = self->top + 1 + KEPT;
    cn_rec_unlock(&pool.lock);
}

void cn_rec_returns_limit(void)
{
    uintptr_t stubs = (uintptr_t)cn_rec_returns, values = stubs + CN_REC_RETURNS_LEN;
    uint64_t used, rest;

    cn_rec_lock(&pool.lock);
    if (!pool.limit) {
        pool.limit = pool.written < LIMITED_MAX ? LIMITED_MAX : pool.written;
        used = (uint64_t)pool.limit * UNIT_LEN;
        rest = CN_REC_RETURNS_LEN - used;
        (void)cn_rec_syscall3(SYS_munmap, (long)(stubs + used), (long)rest, 0);
        (void)cn_rec_syscall3(SYS_munmap, (long)(values + used), (long)rest, 0);
    }
    cn_rec_unlock(&pool.lock);
}
