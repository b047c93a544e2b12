#include "record/heap/log.h"

#include <stddef.h>

#include "formats/memory/format.h"
#include "record/clock.h"
#include "record/process.h"
#include "record/state/memory.h"
#include "record/state/thread.h"
#include "record/state/track.h"
#include "record/syscalls.h"

enum {
    LEN = cn_memory_record_size,
    EARLY_MAX = 4096,  /* records before the set-up */
    NESTED_LEN = 2048, /* for handlers that interrupt a thread that has found room */
};

struct early_record {
    uint64_t kind, size, usable_size;
    uintptr_t address;
};

static struct early_record early[EARLY_MAX];
static _Atomic uint32_t early_count;

static enum { EARLY, OFF, ON } state;
static uint64_t program; /* a number for this program in its process */

static uint64_t place_of(uint64_t kind, uint64_t address)
{
    return (address & ((UINT64_C(1) << CN_MEMORY_KIND_AT) - 1)) |
           kind << CN_MEMORY_KIND_AT;
}

/* The time of what has happened: the processor may read its counter earlier. That of a free is read
 * before it, and x86_64 lets no later store be seen before the counter is read. */
static inline uint64_t time_of(const struct cn_rec_thread *self, bool is_after)
{
#if defined(__x86_64__)
    if (is_after)
        __asm__ volatile("lfence" ::: "memory");
#else
    (void)is_after;
    __asm__ volatile("isb" ::: "memory");
#endif
    return cn_rec_now(self);
}

/* Only signal handlers of this thread compete. */
static bool advance(struct cn_rec_heap *heap, uint64_t from, uint64_t to)
{
#if defined(__x86_64__)
    uint64_t seen = from;

    __asm__ volatile("cmpxchgq %2, %1"
                     : "+a"(seen), "+m"(heap->reserved)
                     : "r"(to)
                     : "cc", "memory");
    return seen == from;
#else
    return __atomic_compare_exchange_n(&heap->reserved, &from, to, false,
                                       __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

/* Claim the next slot and store the time there. A handler that runs after the time was read takes the
 * slot, and another time is read: times ascend. */
static inline uint8_t *claim(struct cn_rec_thread *self, struct cn_rec_heap *heap,
                             bool is_after)
{
    uint64_t at, time_ns;

    heap->depth++;
    do {
        at = heap->reserved;
        time_ns = time_of(self, is_after);
    } while (!advance(heap, at, at + LEN));
    uint8_t *slot = heap->ring + (at & heap->mask);
    cn_u64_put(slot, time_ns);
    cn_u64_put(slot + 8, 0);
    return slot;
}

/* The records up to here may be drained, unless an outer one is being stored. */
static void publish(struct cn_rec_heap *heap)
{
    atomic_signal_fence(memory_order_seq_cst);
    if (heap->depth == 1)
        atomic_store_explicit(&heap->track->recorded, heap->reserved,
                              memory_order_release);
    heap->depth--;
}

static void store(struct cn_rec_thread *self, struct cn_rec_heap *heap, uint64_t place,
                  uint64_t size, uint64_t usable_size)
{
    uint8_t *slot = claim(self, heap, place >> CN_MEMORY_KIND_AT != CN_MEMORY_FREE);

    cn_u64_put(slot + 8, place);
    cn_u64_put(slot + 16, size);
    cn_u64_put(slot + 24, usable_size);
    publish(heap);
}

static uint64_t room(const struct cn_rec_heap *heap)
{
    return heap->track->ring_len - (heap->reserved - atomic_load(&heap->track->drained));
}

static bool begin(struct cn_rec_thread *self, struct cn_rec_heap *heap)
{
    struct cn_rec_track *track =
        heap->is_missing ? NULL : cn_rec_track_take(self->tid, true);

    if (track && !(heap->ring = cn_rec_memory_heap_ring(track, heap))) {
        cn_rec_track_release(track);
        track = NULL;
    }
    heap->is_missing = !track;
    if (!track)
        return false;
    heap->mask = track->ring_len - 1;
    heap->reserved = heap->lost_recorded = 0;
    heap->depth = 0;
    cn_rec_track_open(track);
    store(self, heap, place_of(CN_MEMORY_BEGIN, cn_rec_pid()), 0, program);
    return true;
}

/* A record that a jump out of a signal handler has left will never be complete. */
static void publish_left(struct cn_rec_heap *heap)
{
    uint64_t left = heap->reserved - atomic_load(&heap->track->recorded);

    if (heap->depth == 0 || left < heap->track->ring_len / 2)
        return;
    heap->depth = 0;
    atomic_store(&heap->track->recorded, heap->reserved);
}

static bool make_room_blocked(struct cn_rec_thread *self, struct cn_rec_heap *heap)
{
    if (!cn_rec_wiped(self)->is_mine && !cn_rec_thread_adopt(self))
        return false;
    if (atomic_load(&cn_rec_process.shared->stop)) {
        cn_rec_thread_stop(self);
        return false;
    }
    if (!heap->track && !begin(self, heap)) {
        atomic_fetch_add(&cn_rec_process.shared->memory_lost_count, 1);
        return false;
    }
    if (room(heap) < 2 * NESTED_LEN && !cn_rec_track_is_stuck(heap->track)) {
        publish_left(heap);
        (void)cn_rec_track_make_room(heap->track, heap->ring);
    }
    if (room(heap) < 2 * NESTED_LEN) {
        atomic_fetch_add(&heap->track->lost, 1);
        return false;
    }
    uint64_t lost = atomic_load(&heap->track->lost);
    if (lost != heap->lost_recorded) {
        store(self, heap, place_of(CN_MEMORY_LOST, 0), lost - heap->lost_recorded, 0);
        heap->lost_recorded = lost;
    }
    cn_rec_track_ring_bell();
    uint64_t end = heap->reserved + room(heap) - NESTED_LEN;
    uint64_t bell = heap->reserved + heap->track->ring_len / 4;
    heap->limit = bell < end ? bell : end;
    return true;
}

static __attribute__((noinline)) bool make_room(struct cn_rec_thread *self,
                                                struct cn_rec_heap *heap)
{
    uint64_t before;

    if (cn_rec_is_sandboxed)
        cn_rec_thread_stop(self);
    if (self->is_off)
        return false;
    cn_rec_block_signals(&before);
    bool ok = make_room_blocked(self, heap);
    cn_rec_restore_signals(&before);
    return ok;
}

static void keep_early(uint64_t kind, uintptr_t address, uint64_t size,
                       uint64_t usable_size)
{
    uint32_t at = atomic_fetch_add(&early_count, 1);

    if (at < EARLY_MAX)
        early[at] = (struct early_record){kind, size, usable_size, address};
}

/* The state of this thread, if it is recorded and its ring has room. */
static inline struct cn_rec_thread *ready(void)
{
    struct cn_rec_thread *self = cn_rec_self;

    if (!self)
        self = cn_rec_thread_begin();
    if (!self || !cn_rec_thread_is_ours(self))
        return NULL;
    struct cn_rec_heap *heap = &cn_rec_wiped(self)->heap;
    return heap->reserved + LEN <= heap->limit || make_room(self, heap) ? self : NULL;
}

void cn_rec_heap_add(uint64_t kind, uintptr_t address, uint64_t size,
                     uint64_t usable_size)
{
    struct cn_rec_thread *self;

    if (cn_rec_quiet > 0)
        return;
    if (state == EARLY)
        keep_early(kind, address, size, usable_size);
    if (state == ON && (self = ready()))
        store(self, &cn_rec_wiped(self)->heap, place_of(kind, address), size,
              usable_size);
}

uint8_t *cn_rec_heap_reserve(void)
{
    struct cn_rec_thread *self = state == ON && cn_rec_quiet == 0 ? ready() : NULL;

    return self ? claim(self, &cn_rec_wiped(self)->heap, false) : NULL;
}

void cn_rec_heap_complete(uint8_t *slot, uint64_t kind, uintptr_t address,
                          uint64_t usable_size)
{
    cn_u64_put(slot + 8, kind == CN_MEMORY_NOTHING ? 0 : place_of(kind, address));
    cn_u64_put(slot + 16, 0);
    cn_u64_put(slot + 24, kind == CN_MEMORY_NOTHING ? 0 : usable_size);
    publish(&cn_rec_wiped(cn_rec_self)->heap);
}

uint64_t cn_rec_heap_program(void)
{
    return program;
}

void cn_rec_heap_switch(bool is_recorded)
{
    uint32_t count = atomic_load(&early_count);

    if (!is_recorded) {
        state = OFF;
        return;
    }
    program = cn_rec_clock_ns(cn_rec_process.shared);
    state = ON;
    /* No address stays here that would look like a pointer to the block. */
    for (uint32_t i = 0; i < count && i < EARLY_MAX; i++) {
        cn_rec_heap_add(early[i].kind, early[i].address, early[i].size,
                        early[i].usable_size);
        early[i].address = 0;
    }
    if (count > EARLY_MAX)
        atomic_fetch_add(&cn_rec_process.shared->memory_lost_count, count - EARLY_MAX);
}

void cn_rec_heap_end(struct cn_rec_thread *self)
{
    struct cn_rec_heap *heap = &cn_rec_wiped(self)->heap;

    if (heap->track && cn_rec_wiped(self)->is_mine) {
        atomic_store(&heap->track->recorded, heap->reserved);
        cn_rec_track_close(heap->track, heap->ring);
    }
    heap->track = NULL;
    heap->limit = heap->reserved = 0;
    heap->is_missing = false;
}
