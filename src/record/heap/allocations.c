/* What the program allocates and frees: these functions are in the place of those of its allocator,
 * which they call.
 *
 * The program must not notice: it gets what the allocator gives, and errno is as that leaves it. A program
 * that has its own malloc() does not come here. */

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "formats/memory/format.h"
#include "record/heap/log.h"
#include "record/heap/operators.h"
#include "record/process.h"
#include "record/state/thread.h"
#include "record/syscalls.h"

#define EXPORT     __attribute__((visibility("default")))
#define RARELY(is) __builtin_expect(!!(is), 0)
#define CALLER()   ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

enum { EARLY_LEN = 1 << 16, EARLY_ALIGNMENT = 16 };

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

/* What is allocated while the allocator is looked up; never given back, and not recorded. */
static _Alignas(EARLY_ALIGNMENT) uint8_t early[EARLY_LEN];
static _Atomic size_t early_len;

static __thread bool is_resolving __attribute__((tls_model("initial-exec")));
static __thread bool is_sizing __attribute__((tls_model("initial-exec")));

static void *early_alloc(size_t size)
{
    size_t len = (size + 2 * EARLY_ALIGNMENT - 1) / EARLY_ALIGNMENT * EARLY_ALIGNMENT;

    if (size > EARLY_LEN / 2)
        return NULL;
    size_t at = atomic_fetch_add(&early_len, len);
    if (at > EARLY_LEN - len)
        return NULL;
    *(size_t *)(void *)(early + at) = size;
    return early + at + EARLY_ALIGNMENT;
}

static bool is_early(const void *block)
{
    return (uintptr_t)block - (uintptr_t)early < EARLY_LEN;
}

static size_t early_size(const void *block)
{
    return *(const size_t *)((const void *)((const uint8_t *)block - EARLY_ALIGNMENT));
}

static void find(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    __builtin_memcpy(function, &found, sizeof(found));
}

/* The first call of the process is before any constructor. False while this thread does it. */
static bool resolve(void)
{
    int error = errno;

    if (is_resolving)
        return false;
    is_resolving = true;
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
    is_resolving = false;
    errno = error;
    return true;
}

/* True if the allocator is known. */
static inline bool has_next(void)
{
    return !RARELY(!next.malloc) || resolve();
}

/* The first call of tcmalloc's allocates, which is not of the program. */
static size_t usable_size(void *block, size_t size)
{
    if (!next.usable_size)
        return size;
    is_sizing = true;
    size = next.usable_size(block);
    is_sizing = false;
    return size;
}

static inline void *noted(uint64_t kind, void *block, size_t size)
{
    cn_operators_count++;
    if (block && !RARELY(is_sizing))
        cn_rec_heap_add(kind, (uintptr_t)block, size, usable_size(block, size));
    return block;
}

EXPORT void *malloc(size_t size)
{
    if (RARELY(!has_next()))
        return early_alloc(size);
    return noted(CN_MEMORY_ALLOC, next.malloc(size), size);
}

EXPORT void *calloc(size_t count, size_t size)
{
    if (RARELY(!has_next()))
        return size > 0 && count > EARLY_LEN / size ? NULL : early_alloc(count * size);
    return noted(CN_MEMORY_ALLOC, next.calloc(count, size), count * size);
}

/* Another thread may be given the block as soon as it is free. */
EXPORT void free(void *block)
{
    if (RARELY(is_early(block)) || RARELY(!has_next()))
        return;
    if (block)
        cn_rec_heap_add(CN_MEMORY_FREE, (uintptr_t)block, 0, 0);
    next.free(block);
}

static void *move_early(void *block, size_t size)
{
    void *to = has_next() ? next.malloc(size) : early_alloc(size);
    size_t len = early_size(block);

    for (size_t i = 0; to && i < len && i < size; i++)
        ((volatile uint8_t *)to)[i] = ((const uint8_t *)block)[i];
    return to;
}

/* The time of the free is that before the call: then the block may be another thread's. */
static void *move(void *block, size_t size)
{
    size_t old_size = usable_size(block, 0);
    uint8_t *slot = cn_rec_heap_reserve();
    void *moved = next.realloc(block, size);

    if (slot)
        cn_rec_heap_complete(slot,
                             moved || size == 0 ? CN_MEMORY_MOVED : CN_MEMORY_NOTHING,
                             (uintptr_t)block, old_size);
    return noted(CN_MEMORY_GROWN, moved, size);
}

EXPORT void *realloc(void *block, size_t size)
{
    if (RARELY(is_early(block)))
        return move_early(block, size);
    if (RARELY(!has_next()))
        return early_alloc(size);
    if (!block)
        return noted(CN_MEMORY_ALLOC, next.realloc(NULL, size), size);
    return move(block, size);
}

/* That of the C library would come here, others would not. */
EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t len;

    if (RARELY(__builtin_mul_overflow(count, size, &len))) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, len);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
    if (RARELY(!has_next()) || !next.aligned_alloc)
        return NULL;
    return noted(CN_MEMORY_ALLOC, next.aligned_alloc(alignment, size), size);
}

EXPORT void *memalign(size_t alignment, size_t size)
{
    if (RARELY(!has_next()) || !next.memalign)
        return NULL;
    return noted(CN_MEMORY_ALLOC, next.memalign(alignment, size), size);
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size)
{
    if (RARELY(!has_next()) || !next.posix_memalign)
        return ENOMEM;
    int result = next.posix_memalign(out, alignment, size);
    if (result == 0)
        (void)noted(CN_MEMORY_ALLOC, *out, size);
    return result;
}

EXPORT void *valloc(size_t size)
{
    if (RARELY(!has_next()) || !next.valloc)
        return NULL;
    return noted(CN_MEMORY_ALLOC, next.valloc(size), size);
}

EXPORT void *pvalloc(size_t size)
{
    if (RARELY(!has_next()) || !next.pvalloc)
        return NULL;
    return noted(CN_MEMORY_ALLOC, next.pvalloc(size), size);
}

/* True if the allocator itself asks for memory: what it gives away of it is recorded. */
static bool is_allocator(uintptr_t caller)
{
    static const void *home; /* of the allocator */
    Dl_info info;
    void *allocator;

    if (!home) {
        __builtin_memcpy(&allocator, &next.malloc, sizeof(allocator));
        home = dladdr(allocator, &info) ? info.dli_fbase : &home;
    }
    return dladdr((const void *)caller, &info) && info.dli_fbase == home;
}

static void *map(void *address, size_t len, int protection, int flags, int fd, off_t off,
                 uintptr_t caller)
{
    void *at;

    if (!has_next() || !next.mmap) {
        long result = cn_rec_raw_syscall6(SYS_mmap, (long)address, (long)len, protection,
                                          flags, fd, (long)off);

        if (result >= 0 || result < -4095)
            return (void *)result;
        errno = (int)-result;
        return MAP_FAILED;
    }
    at = next.mmap(address, len, protection, flags, fd, off);
    if (at != MAP_FAILED && (flags & MAP_ANONYMOUS) && (flags & MAP_PRIVATE) &&
        !(flags & (MAP_FIXED | MAP_STACK | MAP_NORESERVE)) && (protection & PROT_WRITE) &&
        !is_allocator(caller))
        cn_rec_heap_add(CN_MEMORY_MAP, (uintptr_t)at, len, len);
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
    if (!has_next() || !next.munmap) {
        long result =
            cn_rec_raw_syscall6(SYS_munmap, (long)address, (long)len, 0, 0, 0, 0);

        errno = result < 0 ? (int)-result : errno;
        return result < 0 ? -1 : 0;
    }
    cn_rec_heap_add(CN_MEMORY_UNMAP, (uintptr_t)address, len, 0);
    return next.munmap(address, len);
}

/* True if the program's malloc() is not the one here. Its address says nothing: it may be that of a
 * stub in the program. */
static bool has_own_malloc(void)
{
    void *(*allocate)(size_t);
    void (*give_back)(void *);
    uint64_t count = cn_operators_count;
    void *found = dlsym(RTLD_DEFAULT, "malloc"), *block;

    __builtin_memcpy(&allocate, &found, sizeof(found));
    found = dlsym(RTLD_DEFAULT, "free");
    __builtin_memcpy(&give_back, &found, sizeof(found));
    block = allocate(1);
    give_back(block);
    return cn_operators_count == count;
}

void cn_operators_made(void *block, size_t size, uintptr_t caller)
{
    (void)caller;
    (void)noted(CN_MEMORY_ALLOC, block, size);
}

void cn_operators_freed(void *block)
{
    cn_rec_heap_add(CN_MEMORY_FREE, (uintptr_t)block, 0, 0);
}

void cn_operators_quiet(void)
{
    cn_rec_quiet++;
}

void cn_operators_loud(void)
{
    cn_rec_quiet--;
}

void cn_rec_heap_begin(void)
{
    struct cn_rec_shared *shared =
        cn_rec_process.is_running ? cn_rec_process.shared : NULL;
    bool is_own = false;

    cn_rec_quiet++;
    (void)has_next();
    if (shared) {
        is_own = has_own_malloc();
        if (is_own)
            atomic_fetch_add(&shared->own_malloc_count, 1);
    }
    cn_rec_quiet--;
    cn_rec_heap_switch(shared && !is_own);
    if (shared && !is_own) {
        atomic_fetch_add(&shared->heap_count, 1);
        cn_rec_leaks_begin();
    }
}
