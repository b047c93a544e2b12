/* Samples the allocations of the program that this library is preloaded into: about one in
 * `interval` bytes, with a copy of its stack, and the frees of those that were sampled.
 *
 * The program must not notice: what it asks for goes to the allocator that it would have without this
 * library, errno is restored, and nothing here locks or allocates. A program that has its own
 * malloc() does not come here. */

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/heap/operators.h"
#include "sampler/inside/gap.h"
#include "sampler/inside/leaks.h"
#include "sampler/inside/live.h"
#include "sampler/inside/slot.h"
#include "sampler/inside/thread.h"

#define EXPORT     __attribute__((visibility("default")))
#define RARELY(is) __builtin_expect(!!(is), 0)
#define CALLER()   ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

enum {
    EARLY_LEN = 1 << 16,
    EARLY_ALIGNMENT = 16,
    SOON_BYTES = 1 << 20, /* a thread looks again whether it is to be sampled */
};

/* The allocator of the program. */
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*memalign)(size_t, size_t);
    void *(*valloc)(size_t);
    void *(*pvalloc)(size_t);
    size_t (*usable_size)(void *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
} next;

/* What is allocated while the allocator is looked up; never given back. */
static _Alignas(EARLY_ALIGNMENT) uint8_t early[EARLY_LEN];
static _Atomic size_t early_len;

static uint32_t image;
static bool has_malloc; /* the program has its own: operator new may be of it */

static _Thread_local struct {
    int64_t left;    /* bytes until the next sample; it is 0 in a new thread */
    uint64_t random; /* 0: not begun */
    uint32_t tid;
    bool is_inside, is_resolving, is_mapping, was_inside;
    int64_t quiet_left; /* as it was before */
} self;

static void *early_alloc(size_t size)
{
    size_t len = (size + 2 * EARLY_ALIGNMENT - 1) / EARLY_ALIGNMENT * EARLY_ALIGNMENT;

    if (size > EARLY_LEN / 2)
        return NULL;
    size_t at = atomic_fetch_add(&early_len, len);
    if (at > EARLY_LEN - len)
        return NULL;
    memcpy(early + at, &size, sizeof(size));
    return early + at + EARLY_ALIGNMENT;
}

static bool is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)early < EARLY_LEN;
}

static size_t early_size(const void *block)
{
    size_t size;

    memcpy(&size, (const uint8_t *)block - EARLY_ALIGNMENT, sizeof(size));
    return size;
}

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    memcpy(function, &found, sizeof(found));
}

/* The first call of the process is before any constructor. False while this thread does it. */
static bool resolve(void)
{
    int error = errno;

    if (self.is_resolving)
        return false;
    self.is_resolving = true;
    find(&next.calloc, "calloc");
    find(&next.realloc, "realloc");
    find(&next.free, "free");
    find(&next.aligned_alloc, "aligned_alloc");
    find(&next.posix_memalign, "posix_memalign");
    find(&next.memalign, "memalign");
    find(&next.valloc, "valloc");
    find(&next.pvalloc, "pvalloc");
    find(&next.usable_size, "malloc_usable_size");
    find(&next.mmap, "mmap");
    find(&next.munmap, "munmap");
    atomic_thread_fence(memory_order_release);
    find(&next.malloc, "malloc");
    self.is_resolving = false;
    errno = error;
    return true;
}

/* True if the allocator is known. */
static inline bool has_next(void)
{
    return !RARELY(!next.malloc) || resolve();
}

/* The registers that a caller's frame is found with, by number in DWARF. */
static inline __attribute__((always_inline)) uintptr_t capture(uint64_t *out)
{
#if defined(__x86_64__)
    __asm__ volatile("movq %%rbx, 24(%0)\n\t"
                     "movq %%rbp, 48(%0)\n\t"
                     "movq %%rsp, 56(%0)\n\t"
                     "movq %%r12, 96(%0)\n\t"
                     "movq %%r13, 104(%0)\n\t"
                     "movq %%r14, 112(%0)\n\t"
                     "movq %%r15, 120(%0)\n\t"
                     "leaq 0(%%rip), %%rax\n\t"
                     "movq %%rax, 128(%0)"
                     :
                     : "r"(out)
                     : "rax", "memory");
    return (uintptr_t)out[7];
#else
    __asm__ volatile("stp x19, x20, [%0, 152]\n\t"
                     "stp x21, x22, [%0, 168]\n\t"
                     "stp x23, x24, [%0, 184]\n\t"
                     "stp x25, x26, [%0, 200]\n\t"
                     "stp x27, x28, [%0, 216]\n\t"
                     "stp x29, x30, [%0, 232]\n\t"
                     "mov x9, sp\n\t"
                     "str x9, [%0, 248]\n\t"
                     "adr x9, .\n\t"
                     "str x9, [%0, 256]"
                     :
                     : "r"(out)
                     : "x9", "memory");
    return (uintptr_t)out[31];
#endif
}

static void begin_thread(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    self.tid = (uint32_t)syscall(SYS_gettid);
    self.random = ((uint64_t)now.tv_nsec << 32 ^ (uint64_t)now.tv_sec ^
                   (uint64_t)self.tid * UINT64_C(0x9e3779b97f4a7c15)) |
                  1;
    for (int i = 0; i < 4; i++)
        (void)cn_gap_random(&self.random);
    self.left = cn_gap_next(&self.random, cn_inside->interval);
}

/* Leave the sample to cairn, unless there is no room for it. */
static __attribute__((noinline)) void take(uintptr_t block, size_t size, size_t old_size,
                                           uintptr_t caller)
{
    const struct cn_live_block live = {
        .tid = self.tid,
        .number = cn_operators_count,
        .size = self.is_mapping ? 0
                : size > 0      ? size
                                : 1,
    };
    struct cn_inside_slot *slot;

    if (!cn_live_add(block, &live)) {
        atomic_fetch_add_explicit(&cn_inside->lost_alloc_count, 1, memory_order_relaxed);
        return;
    }
    slot = cn_inside_take(CN_INSIDE_ALLOC);
    if (!slot) {
        struct cn_live_block ignored;

        (void)cn_live_remove(block, &ignored);
        return;
    }
    slot->alloc = (struct cn_inside_alloc){
        .address = block,
        .size = size,
        .usable_size =
            next.usable_size && !self.is_mapping ? next.usable_size((void *)block) : size,
        .old_size = old_size,
        .caller = caller,
        .image = image,
        .is_mapping = self.is_mapping,
    };
    cn_inside_copy_stack(slot, capture(slot->registers));
    cn_inside_read_frames(slot);
    cn_inside_give(slot);
}

/* The bytes until the next sample are over. */
static __attribute__((noinline)) void *reach(void *block, size_t size, size_t old_size,
                                             uintptr_t caller)
{
    int error = errno;

    if (self.is_inside) { /* not the program's: as before */
        self.left += (int64_t)(size > 0 ? size : 1);
        return block;
    }
    if (!cn_inside_is_on()) {
        self.left = SOON_BYTES;
        return block;
    }
    self.is_inside = true;
    if (self.random == 0) {
        begin_thread();
        self.left -= (int64_t)(size > 0 ? size : 1);
    }
    if (self.left <= 0) {
        self.left = cn_gap_next(&self.random, cn_inside->interval);
        take((uintptr_t)block, size, old_size, caller);
    }
    self.is_inside = false;
    errno = error;
    return block;
}

/* Count a block; one of no bytes has a chance as well. */
static inline __attribute__((always_inline)) void *
counted(void *block, size_t size, size_t old_size, uintptr_t caller)
{
    if (!block)
        return block;
    cn_operators_count++;
    self.left -= (int64_t)(size > 0 ? size : 1);
    if (RARELY(self.left <= 0))
        return reach(block, size, old_size, caller);
    return block;
}

static uint64_t now_ns(void)
{
    struct timespec now;

    if (!cn_inside_is_on())
        return 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Tell cairn that a block is freed. */
static void report(uintptr_t block, const struct cn_live_block *was, uint64_t time_ns)
{
    uint32_t state = CN_INSIDE_FREE;

    if (!cn_inside_is_on())
        return;
    uint32_t at =
        atomic_fetch_add_explicit(&cn_inside->next_release, 1, memory_order_relaxed);
    struct cn_inside_release *to = &cn_inside->releases[at % CN_INSIDE_RELEASES];
    if (!atomic_compare_exchange_strong(&to->state, &state, CN_INSIDE_FILLING)) {
        atomic_fetch_or_explicit(&cn_inside->notes, CN_INSIDE_RELEASES_FULL,
                                 memory_order_relaxed);
        return;
    }
    to->pid = (uint32_t)getpid();
    to->tid = (uint32_t)syscall(SYS_gettid);
    to->image = image;
    to->address = block;
    to->time_ns = time_ns;
    to->is_next = to->tid == was->tid && cn_operators_count == was->number;
    atomic_store_explicit(&to->state, CN_INSIDE_FULL, memory_order_release);
}

static __attribute__((noinline)) void release(uintptr_t block)
{
    int error = errno;
    struct cn_live_block was;

    if (block != 0 && cn_live_remove(block, &was))
        report(block, &was, now_ns());
    errno = error;
}

/* The block is not in the table while it may be in no place: another thread may be given its
 * address before this one continues. */
static __attribute__((noinline)) void *move_sampled(void *block, size_t size)
{
    uint64_t time_ns = now_ns();
    struct cn_live_block was;
    bool is_sampled = cn_live_remove((uintptr_t)block, &was);
    void *moved = next.realloc(block, size);
    int error = errno;

    if (is_sampled && (moved || size == 0))
        report((uintptr_t)block, &was, time_ns);
    else if (is_sampled)
        (void)cn_live_add((uintptr_t)block, &was);
    errno = error;
    return moved;
}

EXPORT void *malloc(size_t size)
{
    if (RARELY(!has_next()))
        return early_alloc(size);
    return counted(next.malloc(size), size, 0, CALLER());
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (RARELY(!has_next()))
        return size > 0 && count > EARLY_LEN / size ? NULL : early_alloc(count * size);
    return counted(next.calloc(count, size), count * size, 0, CALLER());
}

EXPORT void free(void *block)
{
    if (RARELY(is_early(block)) || RARELY(!has_next()))
        return;
    if (RARELY(cn_live_may_have((uintptr_t)block)))
        release((uintptr_t)block);
    next.free(block);
}

static void *move_early(void *block, size_t size)
{
    void *to = has_next() ? next.malloc(size) : early_alloc(size);
    size_t len = early_size(block);

    if (to)
        memcpy(to, block, len < size ? len : size);
    return to;
}

EXPORT void *realloc(void *block, size_t size)
{
    size_t old_size;
    void *moved;

    if (RARELY(is_early(block)))
        return move_early(block, size);
    if (RARELY(!has_next()))
        return early_alloc(size);
    if (!block)
        return counted(next.realloc(NULL, size), size, 0, CALLER());
    /* Only where the new block may be sampled, this costs time. */
    old_size =
        self.left <= (int64_t)size && next.usable_size ? next.usable_size(block) : 0;
    moved = RARELY(cn_live_may_have((uintptr_t)block)) ? move_sampled(block, size)
                                                       : next.realloc(block, size);
    return counted(moved, size, old_size, CALLER());
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    if (RARELY(!has_next()) || !next.aligned_alloc)
        return NULL;
    return counted(next.aligned_alloc(alignment, size), size, 0, CALLER());
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    if (RARELY(!has_next()) || !next.memalign)
        return NULL;
    return counted(next.memalign(alignment, size), size, 0, CALLER());
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (RARELY(!has_next()) || !next.posix_memalign)
        return ENOMEM;
    int result = next.posix_memalign(out, alignment, size);
    if (result == 0)
        (void)counted(*out, size, 0, CALLER());
    return result;
}

EXPORT void *valloc(size_t size)
{
    if (RARELY(!has_next()) || !next.valloc)
        return NULL;
    return counted(next.valloc(size), size, 0, CALLER());
}

EXPORT void *pvalloc(size_t size)
{
    if (RARELY(!has_next()) || !next.pvalloc)
        return NULL;
    return counted(next.pvalloc(size), size, 0, CALLER());
}

/* True if the allocator itself asks for memory: what it gives away of it is counted. */
static bool is_allocator(uintptr_t caller)
{
    static const void *home; /* of the allocator */
    Dl_info info;
    void *allocator;

    if (!home) {
        memcpy(&allocator, &next.malloc, sizeof(allocator));
        home = dladdr(allocator, &info) ? info.dli_fbase : &home;
    }
    return dladdr((const void *)caller, &info) && info.dli_fbase == home;
}

/* Memory that is asked of the kernel is a block as well: interpreters have allocators of their own. */
static __attribute__((noinline)) void *map(void *address, size_t len, int protection,
                                           int flags, int fd, off_t off, uintptr_t caller)
{
    void *at;

    if (!has_next() || !next.mmap)
        return (void *)syscall(SYS_mmap, address, len, protection, flags, fd, off);
    at = next.mmap(address, len, protection, flags, fd, off);
    if (at == MAP_FAILED || !(flags & MAP_ANONYMOUS) || !(flags & MAP_PRIVATE) ||
        flags & (MAP_FIXED | MAP_STACK | MAP_NORESERVE) || !(protection & PROT_WRITE) ||
        !cn_inside || self.is_inside || is_allocator(caller))
        return at;
    self.is_mapping = true;
    (void)counted(at, len, 0, caller);
    self.is_mapping = false;
    return at;
}

EXPORT void *mmap(void *address, size_t len, int protection, int flags, int fd, off_t off)
{
    return map(address, len, protection, flags, fd, off, CALLER());
}

EXPORT void *mmap64(void *address, size_t len, int protection, int flags, int fd,
                    off_t off)
{
    return map(address, len, protection, flags, fd, off, CALLER());
}

EXPORT int munmap(void *address, size_t len)
{
    if (!has_next() || !next.munmap)
        return (int)syscall(SYS_munmap, address, len);
    if (RARELY(cn_live_may_have((uintptr_t)address)))
        release((uintptr_t)address);
    return next.munmap(address, len);
}

void cn_operators_made(void *block, size_t size, uintptr_t caller)
{
    if (!has_malloc)
        (void)counted(block, size, 0, caller);
}

void cn_operators_freed(void *block)
{
    if (RARELY(cn_live_may_have((uintptr_t)block)))
        release((uintptr_t)block);
}

void cn_operators_quiet(void)
{
    self.quiet_left = self.left;
    self.was_inside = self.is_inside;
    self.is_inside = true;
}

void cn_operators_loud(void)
{
    self.left = self.quiet_left;
    self.is_inside = self.was_inside;
}

void cn_inside_sandboxed(void)
{
    atomic_fetch_or(&cn_inside->notes, CN_INSIDE_SANDBOXED);
}

void cn_inside_thread_begin(void)
{
    if (!cn_inside_is_on())
        return;
    self.is_inside = true;
    cn_inside_find_stack();
    self.is_inside = false;
}

/* What another thread did at that moment is not finished in the child. */
static void after_fork(void)
{
    self.is_inside = false;
    self.random = 0;
    self.left = 0;
    cn_inside_forget();
}

/* True if the program's malloc() is not the one here. Its address says nothing: it may be that of a
 * stub in the program. */
static bool has_own_malloc(void)
{
    void *(*allocate)(size_t);
    void (*give_back)(void *);
    uint64_t number = cn_operators_count;
    void *found = dlsym(RTLD_DEFAULT, "malloc"), *block;

    memcpy(&allocate, &found, sizeof(found));
    found = dlsym(RTLD_DEFAULT, "free");
    memcpy(&give_back, &found, sizeof(found));
    block = allocate(1);
    give_back(block);
    return cn_operators_count == number;
}

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv(CN_INSIDE_MEMORY_ENV);
    int error = errno;
    struct timespec now;

    self.is_inside = true;
    (void)has_next();
    cn_inside_find_calls();
    if (path && cn_inside_map(path)) {
        (void)clock_gettime(CLOCK_MONOTONIC, &now);
        image = (uint32_t)now.tv_sec << 10 | (uint32_t)(now.tv_nsec >> 20);
        (void)pthread_atfork(NULL, NULL, after_fork);
        cn_inside_find_stack();
        has_malloc = has_own_malloc();
        if (!has_malloc) {
            atomic_fetch_add(&cn_inside->memory_count, 1);
            cn_inside_leaks_begin(image);
        }
        atomic_fetch_or(&cn_inside->notes,
                        has_malloc ? CN_INSIDE_OWN_MALLOC : CN_INSIDE_HAS_MEMORY);
    }
    self.left = 0;
    self.is_inside = false;
    errno = error;
}
