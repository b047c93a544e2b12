#include "record/state/memory.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "record/process.h"
#include "record/state/lock.h"
#include "record/state/returns.h"
#include "record/state/thread.h"
#include "record/text.h"

/* The preferred address: far from libraries, which need free pages nearby for stubs. */
#define FAR_AWAY     ((uintptr_t)2 << 44)
#define RESERVED_MAX (UINT64_C(2) << 30)

enum {
    WINDOW_LEN = 256, /* tracks that are mapped at once: the largest page */
    RING_SHARE = 64,  /* of a limited address space */
};

static struct {
    char path[PATH_MAX];
    uintptr_t base;
    uint64_t len, reserved_len;
    _Atomic bool is_limited; /* only these are mapped: */
    uint64_t rules_len, values_len, patches_len;
    uint32_t ring_lens[CN_REC_TRACK_COUNT];
    bool windows[CN_REC_TRACK_COUNT / WINDOW_LEN];
    struct cn_rec_lock lock;
} memory;

uint64_t cn_rec_memory_limit_len(void)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

    (void)cn_rec_syscall6(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0);
    return limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/* ThreadSanitizer leaves little of the address space on aarch64: reserve what there is for
 * the parts that will be mapped one by one. */
static bool reserve(void)
{
    for (uint64_t len = RESERVED_MAX; len > CN_REC_RINGS_OFF; len /= 2) {
        long at = cn_rec_syscall6(SYS_mmap, 0, (long)len, PROT_NONE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (at >= 0 || at < -CN_REC_PAGE_LEN) {
            memory.base = (uintptr_t)at;
            memory.reserved_len = len;
            return true;
        }
    }
    return false;
}

static bool map_from(long fd, uint64_t off, uint64_t len, int how)
{
    long at = cn_rec_syscall6(SYS_mmap, (long)(memory.base + off), (long)len,
                              PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | how,
                              fd, (long)off);

    if (at < 0 && at > -CN_REC_PAGE_LEN)
        return false;
    if (how == 0)
        memory.base = (uintptr_t)at - off;
    if ((uintptr_t)at != memory.base + off) {
        (void)cn_rec_syscall3(SYS_munmap, at, (long)len, 0);
        return false;
    }
    (void)cn_rec_syscall3(SYS_madvise, at, (long)len, MADV_DONTDUMP);
    return true;
}

static bool map(uint64_t off, uint64_t len)
{
    long fd = cn_rec_syscall6(SYS_openat, AT_FDCWD, (long)memory.path, O_RDWR | O_CLOEXEC,
                              0, 0, 0);
    int how = off + len <= memory.reserved_len ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    bool ok = fd >= 0 && map_from(fd, off, len, how);

    if (fd >= 0)
        (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
    return ok;
}

static void unmap(uint64_t from, uint64_t to)
{
    if (from < to)
        (void)cn_rec_syscall3(SYS_munmap, (long)(memory.base + from), (long)(to - from),
                              0);
}

static uint64_t pages_len(uint64_t count, uint64_t size)
{
    return (count * size + CN_REC_PAGE_LEN - 1) & ~(uint64_t)(CN_REC_PAGE_LEN - 1);
}

/* Bytes of the rules, values and patches that exist. */
static uint64_t rules_len(void)
{
    return pages_len(cn_rec_process.shared->rule_count, sizeof(struct cn_rec_rule));
}

static uint64_t values_len(void)
{
    return pages_len(cn_rec_process.shared->value_count, sizeof(struct cn_rec_value));
}

static uint64_t patches_len(void)
{
    return pages_len(cn_rec_process.shared->patch_count, sizeof(struct cn_rec_patch));
}

/* Map what was added at the end since the last time. */
static bool map_more(uint64_t off, uint64_t *mapped_len, uint64_t len)
{
    if (*mapped_len >= len)
        return true;
    if (!map(off + *mapped_len, len - *mapped_len))
        return false;
    *mapped_len = len;
    return true;
}

bool cn_rec_memory_rules(void)
{
    if (!memory.is_limited)
        return true;
    cn_rec_lock(&memory.lock);
    bool ok = map_more(CN_REC_RULES_OFF, &memory.rules_len, rules_len()) &&
              map_more(CN_REC_VALUES_OFF, &memory.values_len, values_len()) &&
              map_more(CN_REC_PATCHES_OFF, &memory.patches_len, patches_len());
    cn_rec_unlock(&memory.lock);
    return ok;
}

static bool map_first(void)
{
    long fd = cn_rec_syscall6(SYS_openat, AT_FDCWD, (long)memory.path, O_RDWR | O_CLOEXEC,
                              0, 0, 0);
    struct stat status;
    bool ok = fd >= 0 && cn_rec_syscall3(SYS_fstat, fd, (long)&status, 0) >= 0 &&
              status.st_size >= CN_REC_RINGS_OFF;

    memory.base = FAR_AWAY;
    memory.len = ok ? (uint64_t)status.st_size : 0;
    memory.is_limited = cn_rec_memory_limit_len() != UINT64_MAX;
    if (ok && !memory.is_limited && !map_from(fd, 0, memory.len, 0)) {
        ok = reserve();
        memory.is_limited = ok;
    }
    if (ok && memory.is_limited)
        ok = map_from(fd, 0, CN_REC_RULES_OFF,
                      memory.reserved_len > 0 ? MAP_FIXED : MAP_FIXED_NOREPLACE);
    if (fd >= 0)
        (void)cn_rec_syscall3(SYS_close, fd, 0, 0);
    return ok;
}

/* A number that fork clears; NULL if the kernel cannot do that. */
static _Atomic uint32_t *map_image(void)
{
    void *page = cn_rec_map(CN_REC_PAGE_LEN);

    return page && cn_rec_syscall3(SYS_madvise, (long)page, CN_REC_PAGE_LEN,
                                   MADV_WIPEONFORK) == 0
               ? page
               : NULL;
}

bool cn_rec_memory_open(const char *path)
{
    struct cn_rec_text copy = {memory.path, sizeof(memory.path), 0, false};
    struct cn_rec_process *process = &cn_rec_process;

    cn_rec_text_str(&copy, path);
    if (copy.is_cut || !map_first())
        return false;
    struct cn_rec_shared *shared = (struct cn_rec_shared *)memory.base;
    if (shared->magic != CN_REC_MAGIC)
        return false;
    process->shared = shared;
    process->rules = (const struct cn_rec_rule *)(memory.base + CN_REC_RULES_OFF);
    process->values = (const struct cn_rec_value *)(memory.base + CN_REC_VALUES_OFF);
    process->patches = (const struct cn_rec_patch *)(memory.base + CN_REC_PATCHES_OFF);
    process->tracks = (struct cn_rec_track *)(memory.base + CN_REC_TRACKS_OFF);
    atomic_store(&process->pid, cn_rec_pid());
    process->image = map_image();
    if (!cn_rec_memory_rules())
        process->shared = NULL;
    if (cn_rec_memory_limit_len() != UINT64_MAX)
        cn_rec_returns_limit();
    return process->shared;
}

bool cn_rec_memory_tracks(uint32_t count)
{
    uint64_t len = WINDOW_LEN * sizeof(struct cn_rec_track);
    bool ok = true;

    if (!memory.is_limited)
        return true;
    cn_rec_lock(&memory.lock);
    for (uint32_t i = 0; i < (count + WINDOW_LEN - 1) / WINDOW_LEN && ok; i++) {
        if (!memory.windows[i])
            ok = memory.windows[i] = map(CN_REC_TRACKS_OFF + i * len, len);
    }
    cn_rec_unlock(&memory.lock);
    return ok;
}

/* Map a ring, as long as there is memory for. */
static uint64_t map_ring(uint32_t index)
{
    const struct cn_rec_shared *shared = cn_rec_process.shared;
    uint64_t len = cn_rec_ring_len(shared, index);
    uint64_t wanted = cn_rec_memory_limit_len() / RING_SHARE;

    while (len > wanted && len > CN_REC_RING_MIN)
        len /= 2;
    while (!map(cn_rec_ring_off(shared, index), len)) {
        if (len <= CN_REC_RING_MIN)
            return 0;
        len /= 2;
    }
    return len;
}

/* The ring of a track, with the lock. */
static uint8_t *find_ring(const struct cn_rec_track *track, uint64_t *ring_len)
{
    uint32_t index = (uint32_t)(track - cn_rec_process.tracks);
    uint64_t len = cn_rec_ring_len(cn_rec_process.shared, index);

    if (memory.is_limited) {
        if (memory.ring_lens[index] == 0)
            memory.ring_lens[index] = (uint32_t)map_ring(index);
        len = memory.ring_lens[index];
    }
    *ring_len = len;
    return len > 0
               ? (uint8_t *)memory.base + cn_rec_ring_off(cn_rec_process.shared, index)
               : NULL;
}

uint8_t *cn_rec_memory_heap_ring(struct cn_rec_track *track, struct cn_rec_heap *heap)
{
    uint64_t len;

    cn_rec_lock(&memory.lock);
    uint8_t *ring = find_ring(track, &len);
    if (ring) {
        track->ring_len = len;
        heap->track = track;
    }
    cn_rec_unlock(&memory.lock);
    return ring;
}

uint8_t *cn_rec_memory_ring(struct cn_rec_track *track, struct cn_rec_thread *thread)
{
    uint64_t len;

    cn_rec_lock(&memory.lock);
    uint8_t *ring = find_ring(track, &len);
    if (thread && ring) {
        track->ring_len = len;
        thread->ring = ring;
        thread->track = track;
    }
    cn_rec_unlock(&memory.lock);
    return ring;
}

static void keep_ring(const struct cn_rec_track *track)
{
    if (track)
        memory.ring_lens[track - cn_rec_process.tracks] = (uint32_t)track->ring_len;
}

/* Keep the rings of all threads; others are mapped again when they are needed. */
static void unmap_rings(void)
{
    uint64_t kept = CN_REC_RINGS_OFF;
    uint32_t count = atomic_load(&cn_rec_process.shared->track_count);

    for (struct cn_rec_thread *thread = atomic_load(&cn_rec_threads); thread;
         thread = atomic_load(&thread->next)) {
        if (atomic_load(&thread->is_used)) {
            keep_ring(thread->track);
            keep_ring(cn_rec_wiped(thread)->heap.track);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint64_t off = cn_rec_ring_off(cn_rec_process.shared, i);

        if (memory.ring_lens[i] == 0)
            continue;
        unmap(kept, off);
        kept = off + memory.ring_lens[i];
    }
    unmap(kept, memory.len);
}

void cn_rec_memory_limit(void)
{
    uint64_t len = WINDOW_LEN * sizeof(struct cn_rec_track);

    if (!cn_rec_process.shared || memory.is_limited)
        return;
    cn_rec_lock(&memory.lock);
    /* Another thread may be taking one of the next tracks: leave some more. */
    uint32_t window_count =
        atomic_load(&cn_rec_process.shared->track_count) / WINDOW_LEN + 2;
    for (uint32_t i = 0; i < window_count && i < CN_REC_TRACK_COUNT / WINDOW_LEN; i++)
        memory.windows[i] = true;
    memory.rules_len = rules_len();
    memory.values_len = values_len();
    memory.patches_len = patches_len();
    unmap(CN_REC_RULES_OFF + memory.rules_len, CN_REC_VALUES_OFF);
    unmap(CN_REC_VALUES_OFF + memory.values_len, CN_REC_PATCHES_OFF);
    unmap(CN_REC_PATCHES_OFF + memory.patches_len, CN_REC_TRACKS_OFF);
    unmap(CN_REC_TRACKS_OFF + window_count * len, CN_REC_RINGS_OFF);
    unmap_rings();
    memory.is_limited = true;
    cn_rec_unlock(&memory.lock);
    cn_rec_returns_limit();
}
