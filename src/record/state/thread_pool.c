#include "record/state/thread_pool.h"

#include <stddef.h>
#include <sys/mman.h>

#include "record/layout.h"
#include "record/state/memory.h"
#include "record/state/thread.h"
#include "record/syscalls.h"

enum {
    FRAMES_MAX = 1 << 20, /* open calls of a thread, if memory allows */
    FRAMES_MIN = 1 << 11,
    FRAMES_SHARE = 16, /* of a limited address space */
    /* Threads that are mapped at once: as many as there are so far. */
    BLOCK_MIN = 4,
    BLOCK_MAX = CN_REC_T_LIMIT / CN_REC_PAGE_LEN,
};

static struct cn_rec_thread *_Atomic unused;
static _Atomic uint32_t mapped_count;

static uint32_t choose_block_len(uint64_t limit)
{
    uint32_t wanted = atomic_load_explicit(&mapped_count, memory_order_relaxed);

    if (limit != UINT64_MAX)
        return 1;
    return wanted < BLOCK_MIN ? BLOCK_MIN : wanted > BLOCK_MAX ? BLOCK_MAX : wanted;
}

/* Add the list that this thread has removed, less its first elements: there are none, or few that
 * others have added since. */
static void add_rest(struct cn_rec_thread *first)
{
    struct cn_rec_thread *none = NULL;

    while (!atomic_compare_exchange_strong(&unused, &none, first)) {
        struct cn_rec_thread *others = atomic_exchange(&unused, NULL), *last = others;

        none = NULL;
        if (!others)
            continue;
        while (last->next_unused)
            last = last->next_unused;
        last->next_unused = first;
        first = others;
    }
}

/* Map a block: the frames of its threads, their structures, and as many pages that fork clears.
 * A mapping for each thread would exceed the number that a process may have, and threads that
 * start at once would wait for each other. */
static struct cn_rec_thread *map_block(void)
{
    uint64_t limit = cn_rec_memory_limit_len(), wanted = limit / FRAMES_SHARE;
    uint32_t threads = choose_block_len(limit);
    uint64_t count = FRAMES_MAX, frames_len = 0, len = 0;
    uint64_t wiped_len = threads * CN_REC_PAGE_LEN;
    struct cn_rec_thread *first = NULL;
    char *at = NULL;

    while (count * sizeof(struct cn_rec_frame) > wanted && count > FRAMES_MIN)
        count /= 4;
    for (;; count /= 4) {
        frames_len = threads * count * sizeof(struct cn_rec_frame);
        len = frames_len + CN_REC_T_LIMIT + wiped_len;
        at = cn_rec_map(len);
        if (at || count <= FRAMES_MIN)
            break;
    }
    if (!at)
        return NULL;
    (void)cn_rec_syscall3(SYS_madvise, (long)at, (long)len, MADV_NOHUGEPAGE);
    if (cn_rec_syscall3(SYS_madvise, (long)(at + frames_len + CN_REC_T_LIMIT),
                        (long)wiped_len, MADV_WIPEONFORK) < 0)
        return NULL;
    atomic_fetch_add_explicit(&mapped_count, threads, memory_order_relaxed);
    for (uint32_t i = threads; i-- > 0;) {
        struct cn_rec_thread *thread =
            (struct cn_rec_thread *)(at + frames_len + (size_t)i * CN_REC_PAGE_LEN);

        thread->frames = (struct cn_rec_frame *)at + i * count;
        thread->real_end = thread->frames + count - 1;
        thread->next_unused = first;
        first = thread;
    }
    return first;
}

struct cn_rec_thread *cn_rec_thread_pool_take(void)
{
    struct cn_rec_thread *first = atomic_exchange(&unused, NULL);

    if (!first)
        first = map_block();
    if (first && first->next_unused)
        add_rest(first->next_unused);
    if (first)
        first->next_unused = NULL;
    return first;
}

void cn_rec_thread_pool_add(struct cn_rec_thread *thread)
{
    struct cn_rec_thread *next = atomic_load(&unused);

    do
        thread->next_unused = next;
    while (!atomic_compare_exchange_strong(&unused, &next, thread));
}

static void unmap_after(const void *last, const void *end)
{
    uintptr_t from =
        ((uintptr_t)last + 2 * CN_REC_PAGE_LEN - 1) & ~(uintptr_t)(CN_REC_PAGE_LEN - 1);

    if (from < (uintptr_t)end)
        (void)cn_rec_syscall3(SYS_munmap, (long)from, (long)((uintptr_t)end - from), 0);
}

void cn_rec_thread_pool_cut(struct cn_rec_thread *thread, struct cn_rec_frame *last)
{
    struct cn_rec_frame *end = thread->real_end + 1;

    if (last >= thread->real_end)
        return;
    thread->real_end = last;
    unmap_after(last + 1, end);
    if (thread->notes)
        unmap_after(thread->notes + (last + 1 - thread->frames),
                    thread->notes + (end - thread->frames));
}

void cn_rec_thread_pool_shrink(void)
{
    struct cn_rec_thread *first = atomic_exchange(&unused, NULL);

    for (struct cn_rec_thread *thread = first; thread; thread = thread->next_unused)
        cn_rec_thread_pool_cut(thread, thread->frames + FRAMES_MIN);
    if (first)
        add_rest(first);
}
