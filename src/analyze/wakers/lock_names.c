#include "analyze/wakers/lock_names.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/views/frames.h"
#include "analyze/wakers/graph.h"
#include "analyze/wakers/sites.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "model/contexts/database.h"
#include "model/locks.h"

/* How long threads waited for a lock in a function. */
struct place_time {
    uint32_t lock, place;
    uint64_t time_ns;
};

struct naming {
    struct cn_lock_names *names;
    struct cn_map lock_of, time_of;
    struct place_time *times;
    size_t count, capacity;
};

/* These have several words that threads wait on. */
static uint64_t first_word(enum cn_lock_kind kind, uint64_t address)
{
    return kind == CN_LOCK_CONDITION || kind == CN_LOCK_RWLOCK || kind == CN_LOCK_BARRIER
               ? address & ~UINT64_C(7)
               : address;
}

static uint32_t lock_at(struct naming *n, const struct cn_waited_lock *lock,
                        enum cn_lock_kind kind)
{
    struct cn_lock_names *names = n->names;
    bool is_variable = lock->variable[0] != '\0';
    uint64_t offset = first_word(kind, is_variable ? lock->offset : lock->address);
    uint64_t key[4] = {lock->process, (uint64_t)kind, offset,
                       XXH3_64bits(lock->variable, strlen(lock->variable))};
    uint32_t at =
        *cn_map_at(&n->lock_of, XXH3_64bits(key, sizeof(key)), (uint32_t)names->count);

    if (at < names->count)
        return at;
    CN_PUSH(names->list, names->count, names->capacity,
            (struct cn_named_lock){
                .kind = kind,
                .is_variable = is_variable,
                .address = first_word(kind, lock->address),
                .process = lock->process,
            });
    if (is_variable && offset > 0)
        names->list[at].name =
            cn_arena_printf(&names->arena, "%s %s+0x%" PRIx64, cn_lock_kind_names[kind],
                            lock->variable, offset);
    else if (is_variable)
        names->list[at].name = cn_arena_printf(&names->arena, "%s %s",
                                               cn_lock_kind_names[kind], lock->variable);
    return at;
}

static void add_time(struct naming *n, uint32_t lock, struct cn_wait_site site,
                     uint64_t ns)
{
    uint32_t place = site.own != CN_NONE ? site.own : site.call;
    uint64_t key = (uint64_t)lock << 32 | place;
    uint32_t at = *cn_map_at(&n->time_of, key, (uint32_t)n->count);

    if (at == n->count)
        CN_PUSH(n->times, n->count, n->capacity, (struct place_time){lock, place, 0});
    n->times[at].time_ns += ns;
}

/* Those in no variable. */
static void name_by_places(struct naming *n, const struct cn_frames *frames)
{
    CN_SORT(n->times, n->count, CN_DOWN(struct place_time, time_ns),
            CN_UP(struct place_time, place));
    for (size_t i = 0; i < n->count; i++) {
        struct cn_named_lock *lock = &n->names->list[n->times[i].lock];

        if (lock->name)
            continue;
        lock->name = cn_arena_printf(
            &n->names->arena, "%s of %s", cn_lock_kind_names[lock->kind],
            n->times[i].place != CN_NONE ? frames->names.list[n->times[i].place]
                                         : "[unknown]");
    }
}

/* The number of the lock that a wait is for, plus one; 0: it is for the end of a thread. */
static uint32_t name_lock(struct naming *n, const struct cn_waited_lock *lock,
                          const struct cn_waited *wait, enum cn_lock_kind kind,
                          const struct cn_wait_sites *sites)
{
    uint32_t at;

    if (kind == CN_LOCK_JOIN)
        return 0;
    at = lock_at(n, lock, kind);
    add_time(n, at, cn_wait_site_of(sites, wait->context),
             wait->woken_ns - wait->begin_ns);
    return at + 1;
}

void cn_lock_names_build(struct cn_lock_names *names, struct cn_wait_graph *graph,
                         const struct cn_database *db, const struct cn_frames *frames,
                         const struct cn_wait_sites *sites)
{
    struct naming n = {.names = names};

    *names = (struct cn_lock_names){0};
    if (!db->locks)
        return;
    uint8_t *kinds = cn_lock_kinds(frames);
    for (uint32_t profile = 0; profile < graph->profile_count; profile++) {
        struct cn_waited wait;

        for (size_t i = 0; cn_wait_graph_next(graph, profile, &i, &wait);)
            if (wait.lock != 0)
                graph->lock_of[graph->first_of[profile] + i - 1] = name_lock(
                    &n, &db->locks->list[wait.lock - 1], &wait,
                    (enum cn_lock_kind)kinds[cn_frames_find(frames, wait.context)],
                    sites);
    }
    name_by_places(&n, frames);
    free(kinds);
    free(n.times);
    cn_map_done(&n.lock_of);
    cn_map_done(&n.time_of);
}

void cn_lock_names_done(struct cn_lock_names *names)
{
    free(names->list);
    cn_arena_done(&names->arena);
    *names = (struct cn_lock_names){0};
}
