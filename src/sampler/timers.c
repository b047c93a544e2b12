#include "sampler/timers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/host/library.h"
#include "base/run/clock.h"
#include "sampler/inside/shared.h"

bool cn_timers_open(struct cn_timers *timers, uint64_t period_ns, uint64_t interval,
                    struct cn_error *err)
{
    const size_t len = sizeof(*timers->shared);
    void *at = MAP_FAILED;

    *timers = (struct cn_timers){.fd = -1};
    if ((period_ns > 0 &&
         !cn_own_library_find(CN_INSIDE_LIBRARY, &timers->library, err)) ||
        (interval > 0 &&
         !cn_own_library_find(CN_INSIDE_MEMORY_LIBRARY, &timers->memory_library, err))) {
        cn_timers_close(timers);
        return false;
    }
    timers->fd = memfd_create("cairn-sample", MFD_CLOEXEC);
    if (timers->fd >= 0 && ftruncate(timers->fd, (off_t)len) == 0)
        at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, timers->fd, 0);
    if (at == MAP_FAILED) {
        (void)cn_fail_errno(err, "no memory for samples");
        cn_timers_close(timers);
        return false;
    }
    timers->shared = at;
    timers->shared->magic = CN_INSIDE_MAGIC;
    timers->shared->period_ns = (uint32_t)period_ns;
    timers->shared->interval = interval;
    timers->shared->slot_count = CN_INSIDE_FIRST_SLOTS;
    timers->wait_ms = CN_TIMERS_WAIT_MIN_MS;
    (void)snprintf(timers->path, sizeof(timers->path), "/proc/%d/fd/%d", (int)getpid(),
                   timers->fd);
    return true;
}

void cn_timers_close(struct cn_timers *timers)
{
    if (timers->shared)
        (void)munmap(timers->shared, sizeof(*timers->shared));
    if (timers->fd >= 0)
        (void)close(timers->fd);
    free(timers->library);
    free(timers->memory_library);
    *timers = (struct cn_timers){.fd = -1};
}

static int by_time(const void *a, const void *b)
{
    const struct cn_inside_slot *x = *(const struct cn_inside_slot *const *)a;
    const struct cn_inside_slot *y = *(const struct cn_inside_slot *const *)b;

    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

enum {
    SLOTS_WHOLE_NS = 100000000,
    RELEASES_WHOLE_NS = 1000000000, /* it takes 30 us to look at all */
    FULL_PART = 8,                  /* of the slots may be full when they are moved */
};

/* Entries are taken in turn. One that is still filled is looked at again. */
static void begin_scan(struct cn_inside_scan *scan, const _Atomic uint32_t *next,
                       uint32_t count, uint64_t whole_ns, uint32_t *first, uint32_t *end)
{
    uint64_t now_ns = cn_clock_ns();
    uint32_t last = atomic_load_explicit(next, memory_order_relaxed);
    bool is_whole = last - scan->at > count || count != scan->count ||
                    now_ns - scan->whole_ns >= whole_ns;

    *first = is_whole ? last - count : scan->at;
    *end = last;
    scan->at = last;
    scan->count = count;
    scan->now_ns = now_ns;
    if (is_whole)
        scan->whole_ns = now_ns;
}

/* How many there are. */
static uint32_t begin_slots(struct cn_timers *timers, uint32_t *first, uint32_t *end)
{
    uint32_t count = cn_inside_slot_count(timers->shared);

    begin_scan(&timers->slots, &timers->shared->next, count, SLOTS_WHOLE_NS, first, end);
    return count;
}

/* Until a part of all slots is full, at the rate of the last time. */
static int wait_ms(uint32_t taken, uint64_t passed_ns)
{
    uint64_t ms = CN_TIMERS_WAIT_MAX_MS;

    if (taken > 0)
        ms = passed_ns * (CN_INSIDE_SLOTS / FULL_PART) / taken / 1000000;
    return ms < CN_TIMERS_WAIT_MIN_MS   ? CN_TIMERS_WAIT_MIN_MS
           : ms > CN_TIMERS_WAIT_MAX_MS ? CN_TIMERS_WAIT_MAX_MS
                                        : (int)ms;
}

static void look_again(struct cn_inside_scan *scan, uint32_t at)
{
    if ((int32_t)(at - scan->at) < 0)
        scan->at = at;
}

/* Take back a slot whose program ended while it filled it. */
static void free_ended(_Atomic uint32_t *state, uint32_t pid)
{
    if (pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH)
        atomic_store(state, CN_INSIDE_FREE);
}

bool cn_timers_read(struct cn_timers *timers,
                    bool (*take)(void *arg, struct cn_inside_slot *slot,
                                 struct cn_error *err),
                    void *arg, struct cn_error *err)
{
    struct cn_inside_slot *full[CN_INSIDE_SLOTS];
    size_t count = 0;
    bool ok = true;
    uint32_t at, end;

    uint32_t slot_count = begin_slots(timers, &at, &end);
    for (; at != end; at++) {
        struct cn_inside_slot *slot = &timers->shared->slots[at % slot_count];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

        if (state == CN_INSIDE_FULL) {
            full[count++] = slot;
        } else if (state == CN_INSIDE_FILLING) {
            free_ended(&slot->state, slot->pid);
            look_again(&timers->slots, at);
        }
    }
    qsort(full, count, sizeof(full[0]), by_time);
    for (size_t i = 0; i < count && ok; i++) {
        timers->alloc_count += full[i]->kind == CN_INSIDE_ALLOC;
        ok = take(arg, full[i], err);
        atomic_store_explicit(&full[i]->state, CN_INSIDE_FREE, memory_order_release);
    }
    return ok;
}

void cn_timers_move(struct cn_timers *timers,
                    void (*take)(void *arg, const struct cn_inside_slot *slot), void *arg)
{
    uint32_t at, end;

    uint64_t before_ns = timers->slots.now_ns;
    uint32_t before = timers->slots.at, slot_count = begin_slots(timers, &at, &end);

    timers->wait_ms = wait_ms(end - before, timers->slots.now_ns - before_ns);
    for (; at != end; at++) {
        struct cn_inside_slot *slot = &timers->shared->slots[at % slot_count];
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);

        if (state == CN_INSIDE_FILLING) {
            free_ended(&slot->state, slot->pid);
            look_again(&timers->slots, at);
        }
        if (state != CN_INSIDE_FULL)
            continue;
        timers->alloc_count += slot->kind == CN_INSIDE_ALLOC;
        if (slot->kind == CN_INSIDE_ALLOC || slot->kind == CN_INSIDE_OBJECT)
            take(arg, slot);
        atomic_store_explicit(&slot->state, CN_INSIDE_FREE, memory_order_release);
    }
}

bool cn_timers_read_releases(struct cn_timers *timers,
                             bool (*take)(void *arg,
                                          const struct cn_inside_release *release,
                                          struct cn_error *err),
                             void *arg, struct cn_error *err)
{
    uint32_t at, end;

    begin_scan(&timers->releases, &timers->shared->next_release, CN_INSIDE_RELEASES,
               RELEASES_WHOLE_NS, &at, &end);
    for (; at != end; at++) {
        struct cn_inside_release *release =
            &timers->shared->releases[at % CN_INSIDE_RELEASES];
        uint32_t state = atomic_load_explicit(&release->state, memory_order_acquire);

        if (state == CN_INSIDE_FILLING) {
            free_ended(&release->state, release->pid);
            look_again(&timers->releases, at);
        }
        if (state != CN_INSIDE_FULL)
            continue;
        if (!take(arg, release, err))
            return false;
        atomic_store_explicit(&release->state, CN_INSIDE_FREE, memory_order_release);
    }
    return true;
}

uint64_t cn_timers_lost(const struct cn_timers *timers)
{
    return atomic_load(&timers->shared->lost_count);
}

void cn_timers_put_table(struct cn_timers *timers, uint32_t pid,
                         const struct cn_frame_table *table)
{
    struct cn_inside_table *tables = timers->shared->tables, *to = NULL;

    for (size_t i = 0; i < CN_INSIDE_TABLES; i++) {
        uint32_t used_by = atomic_load_explicit(&tables[i].pid, memory_order_relaxed);

        if (used_by == pid || (used_by == 0 && !to))
            to = &tables[i];
        if (used_by == pid)
            break;
    }
    if (!to)
        return;
    atomic_store_explicit(&to->pid, 0, memory_order_release);
    if (!table)
        return;
    to->table = *table;
    atomic_store_explicit(&to->pid, pid, memory_order_release);
}

void cn_timers_stop(struct cn_timers *timers)
{
    atomic_store(&timers->shared->is_over, 1);
    timers->slots.whole_ns = timers->releases.whole_ns = 0;
}
