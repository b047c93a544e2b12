#include "analyze/wakers/lock_rows.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/wakers/causes.h"
#include "analyze/wakers/study.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/contexts/database.h"

/* Of a row, what happened meanwhile is told from so many of its waits. */
enum { SEEN_MAX = 200 };

/* A wait for a lock, as far as it is in the range. */
struct lock_wait {
    uint64_t begin_ns, woken_ns, time_ns;
    uint32_t profile, state; /* of the wait */
    uint32_t waker;
    uint32_t lock; /* plus one */
    uint32_t row;
};

struct row_build {
    struct cn_lock_rows *rows;
    const struct cn_wait_study *study;
    struct cn_wait_sums names; /* of threads */
    struct lock_wait *waits;
    size_t count, capacity;
    struct cn_map row_of, has_waited;
    struct cn_text text;
};

static const char *keep_site(struct row_build *b, struct cn_wait_site site)
{
    if (!cn_wait_site_is_known(site))
        return NULL;
    cn_text_clear(&b->text);
    cn_wait_site_print(&b->study->sites, site, &b->text);
    return cn_arena_strdup(&b->rows->arena, cn_text_str(&b->text));
}

static const char *name_of(const struct row_build *b, uint32_t profile)
{
    return b->names.names.list[b->names.name_of[profile]];
}

static void begin_row(struct row_build *b, const struct cn_waited *wait,
                      struct cn_wait_site by)
{
    const struct cn_named_lock *lock = &b->study->locks.list[wait->lock - 1];
    struct cn_lock_row row = {
        .lock = cn_arena_strdup(&b->rows->arena, lock->name),
        .address = lock->address,
        .process = lock->process,
        .is_variable = lock->is_variable,
        .released_in = wait->is_ending ? NULL : keep_site(b, by),
    };

    if (wait->waker != 0)
        row.thread =
            cn_arena_printf(&b->rows->arena, "%s%s", wait->is_ending ? "end of " : "",
                            name_of(b, wait->waker));
    else if (wait->is_woken)
        row.thread = cn_arena_strdup(&b->rows->arena, cn_wait_kind_names[wait->kind]);
    CN_PUSH(b->rows->list, b->rows->count, b->rows->capacity, row);
}

static uint32_t row_at(struct row_build *b, const struct cn_waited *wait)
{
    struct cn_wait_site by = {CN_NONE, CN_NONE};
    uint32_t name = wait->waker != 0 ? b->names.name_of[wait->waker] : CN_NONE;

    if (wait->waker != 0 && !wait->is_ending)
        by = cn_wait_site_of(&b->study->sites, wait->waker_context);
    uint32_t key[6] = {wait->lock,      name,
                       by.own,          by.call,
                       wait->is_ending, wait->waker != 0 ? 0 : 1U + wait->kind};
    uint32_t at =
        *cn_map_at(&b->row_of, XXH3_64bits(key, sizeof(key)), (uint32_t)b->rows->count);
    if (at == b->rows->count)
        begin_row(b, wait, by);
    return at;
}

static void add_wait(struct row_build *b, const struct cn_waited *wait, size_t state,
                     uint64_t begin_ns, uint64_t end_ns)
{
    struct lock_wait added = {
        .profile = wait->profile,
        .state = (uint32_t)state,
        .waker = wait->waker,
        .begin_ns = wait->begin_ns > begin_ns ? wait->begin_ns : begin_ns,
        .woken_ns = wait->woken_ns,
        .lock = wait->lock,
    };

    uint64_t until_ns = wait->woken_ns < end_ns ? wait->woken_ns : end_ns;
    if (added.begin_ns >= until_ns)
        return;
    added.time_ns = until_ns - added.begin_ns;
    added.row = row_at(b, wait);
    struct cn_lock_row *row = &b->rows->list[added.row];
    uint32_t *has_waited =
        cn_map_at(&b->has_waited, (uint64_t)added.row << 32 | wait->profile, 0);
    row->waiter_count += *has_waited == 0;
    *has_waited = 1;
    row->time_ns += added.time_ns;
    row->count++;
    if (added.time_ns > row->longest_ns) {
        row->longest_ns = added.time_ns;
        row->longest_at_ns = added.begin_ns;
        row->context = wait->context;
        row->waker_context = wait->waker_context;
    }
    CN_PUSH(b->waits, b->count, b->capacity, added);
}

/* The wait after which its waker had the lock: its last one for it. False if there is none. */
static bool find_acquired(const struct row_build *b, const struct cn_waited *wait,
                          struct cn_waited *out)
{
    const struct cn_wait_graph *graph = &b->study->graph;
    size_t state = cn_wait_graph_after(graph, wait->waker, wait->woken_ns);

    for (size_t seen = 0; state > 0 && seen < SEEN_MAX;) {
        if (!cn_wait_graph_at(graph, wait->waker, --state, out))
            continue;
        if (out->lock == wait->lock)
            return true;
        seen++;
    }
    return false;
}

/* A lock that one waits for all the time is given back to it: so it was kept since the other got it, unless that
 * woke a third one in between. `waits` are those of the lock, by the time of the wake-up. */
static void add_kept(struct row_build *b, const struct lock_wait *waits, size_t at)
{
    struct cn_lock_row *row = &b->rows->list[waits[at].row];
    struct cn_waited wait, before;

    if (waits[at].waker == 0 ||
        !cn_lock_is_held(b->study->locks.list[waits[at].lock - 1].kind) ||
        !cn_wait_graph_at(&b->study->graph, waits[at].profile, waits[at].state, &wait) ||
        !find_acquired(b, &wait, &before) || wait.begin_ns > before.end_ns)
        return;
    for (size_t i = at;
         i-- > 0 && waits[i].lock == waits[at].lock && waits[i].woken_ns > before.end_ns;)
        if (waits[i].waker == wait.waker)
            return;
    uint64_t kept_ns = wait.woken_ns - before.end_ns;
    row->kept_ns += kept_ns;
    row->kept_count++;
    if (kept_ns > row->longest_kept_ns || !row->taken_in) {
        row->longest_kept_ns = kept_ns;
        row->taken_in = keep_site(b, cn_wait_site_of(&b->study->sites, before.context));
    }
}

/* The first one that is about the program: others that used the processor are none of it. */
static size_t main_cause(const struct cn_wait_causes *causes,
                         const struct cn_wait_sums *sums)
{
    for (size_t i = 0; i < causes->count; i++) {
        uint32_t kind = sums->list[causes->list[i].row].kind;

        if (kind != CN_WAIT_BY_PREEMPTION && kind != CN_WAIT_FOR_PROCESSOR &&
            kind != CN_WAIT_FOR_UNKNOWN)
            return i;
    }
    return 0;
}

/* The critical paths of the wakers, from the begin of each wait to its end. */
static bool add_meanwhile(struct row_build *b, const struct lock_wait *waits,
                          size_t count, struct cn_error *err)
{
    struct cn_lock_row *row = &b->rows->list[waits[0].row];
    struct cn_wait_sums sums;
    struct cn_wait_causes causes;
    bool ok = cn_wait_sums_init(&sums, b->study->db, &b->study->sites,
                                b->study->tells_threads, err);

    for (size_t i = 0; ok && i < count && i < SEEN_MAX; i++)
        if (waits[i].waker != 0)
            ok = cn_wait_sums_add_chain(&sums, &b->study->graph, waits[i].waker,
                                        waits[i].begin_ns, waits[i].woken_ns, err);
    if (ok && sums.total_ns > 0) {
        cn_wait_sums_finish(&sums);
        cn_wait_causes_list(&causes, &sums);
        size_t at = main_cause(&causes, &sums);
        cn_text_clear(&b->text);
        cn_wait_cause_print(&sums, causes.list[at].row, "", &b->text);
        row->meanwhile = cn_arena_strdup(&b->rows->arena, cn_text_str(&b->text));
        row->meanwhile_ns = causes.list[at].time_ns;
        row->seen_ns = sums.total_ns;
        cn_wait_causes_done(&causes);
    }
    cn_wait_sums_done(&sums);
    return ok;
}

static bool explain(struct row_build *b, struct cn_error *err)
{
    bool ok = true;

    CN_SORT(b->waits, b->count, CN_UP(struct lock_wait, lock),
            CN_UP(struct lock_wait, woken_ns));
    for (size_t i = 0; i < b->count; i++)
        add_kept(b, b->waits, i);
    CN_SORT(b->waits, b->count, CN_UP(struct lock_wait, row),
            CN_DOWN(struct lock_wait, time_ns), CN_UP(struct lock_wait, begin_ns));
    for (size_t i = 0, end; ok && i < b->count; i = end) {
        struct cn_lock_row *row = &b->rows->list[b->waits[i].row];

        for (end = i; end < b->count && b->waits[end].row == b->waits[i].row;)
            end++;
        row->waits = keep_site(b, cn_wait_site_of(&b->study->sites, row->context));
        ok = add_meanwhile(b, &b->waits[i], end - i, err);
    }
    return ok;
}

bool cn_lock_rows_build(struct cn_lock_rows *rows, const struct cn_wait_study *study,
                        const bool *is_chosen, uint64_t begin_ns, uint64_t end_ns,
                        struct cn_error *err)
{
    struct row_build b = {.rows = rows, .study = study};

    *rows = (struct cn_lock_rows){0};
    bool ok =
        cn_wait_sums_init(&b.names, study->db, &study->sites, study->tells_threads, err);
    for (uint32_t profile = 0;
         ok && study->graph.lock_of && profile < study->graph.profile_count; profile++) {
        struct cn_waited wait;

        if (is_chosen && !is_chosen[profile])
            continue;
        for (size_t i = 0; cn_wait_graph_next(&study->graph, profile, &i, &wait);)
            if (wait.lock != 0)
                add_wait(&b, &wait, i - 1, begin_ns, end_ns);
    }
    ok = ok && explain(&b, err);
    cn_lock_rows_finish(rows);
    cn_wait_sums_done(&b.names);
    cn_map_done(&b.row_of);
    cn_map_done(&b.has_waited);
    cn_text_done(&b.text);
    free(b.waits);
    return ok;
}

void cn_lock_rows_finish(struct cn_lock_rows *rows)
{
    struct cn_map of = {0};
    uint64_t *times = cn_alloc(rows->count + 1, sizeof(*times));
    uint32_t *lock_of = cn_alloc(rows->count + 1, sizeof(*lock_of));

    rows->total_ns = 0;
    for (size_t i = 0; i < rows->count; i++) {
        const struct cn_lock_row *row = &rows->list[i];
        uint64_t key[3] = {row->address, row->process,
                           XXH3_64bits(row->lock, strlen(row->lock))};

        lock_of[i] = *cn_map_at(&of, XXH3_64bits(key, sizeof(key)), (uint32_t)i);
        times[lock_of[i]] += row->time_ns;
        rows->total_ns += row->time_ns;
    }
    for (size_t i = 0; i < rows->count; i++)
        rows->list[i].lock_ns = times[lock_of[i]];
    CN_SORT(rows->list, rows->count, CN_DOWN(struct cn_lock_row, lock_ns),
            CN_UP(struct cn_lock_row, process), CN_UP(struct cn_lock_row, address),
            CN_DOWN(struct cn_lock_row, time_ns),
            CN_UP(struct cn_lock_row, longest_at_ns));
    cn_map_done(&of);
    free(times);
    free(lock_of);
}

void cn_lock_rows_done(struct cn_lock_rows *rows)
{
    free(rows->list);
    cn_arena_done(&rows->arena);
    *rows = (struct cn_lock_rows){0};
}
