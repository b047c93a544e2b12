#include "analyze/wakers/graph.h"

#include <stdlib.h>

#include "analyze/views/frames.h"
#include "analyze/wakers/kernel_names.h"
#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/contexts/database.h"
#include "model/locks.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

const char *const cn_wait_kind_names[CN_WAIT_FOR_KINDS] = {
    [CN_WAIT_FOR_THREAD] = "thread",       [CN_WAIT_FOR_PROCESS] = "process",
    [CN_WAIT_FOR_CHILD] = "child",         [CN_WAIT_FOR_TIMER] = "timer",
    [CN_WAIT_FOR_NETWORK] = "network",     [CN_WAIT_FOR_DISK] = "disk",
    [CN_WAIT_FOR_INTERRUPT] = "interrupt", [CN_WAIT_FOR_KERNEL] = "kernel",
    [CN_WAIT_FOR_PROCESSOR] = "processor", [CN_WAIT_BY_PREEMPTION] = "pre-empted",
    [CN_WAIT_FOR_ALWAYS] = "not woken",    [CN_WAIT_FOR_UNKNOWN] = "unknown",
};

enum { EARLY_NS = 50000 };

struct waker_build {
    struct cn_wait_graph *graph;
    struct cn_database *db;
    const struct cn_frames *frames;
    uint16_t *marks;                 /* by frame */
    uint64_t *process_of;            /* by profile */
    uint32_t *wakeups;               /* numbers, by woken thread, then by time */
    size_t *wakeup_of;               /* by profile: the first in the list */
    struct cn_lock_wait *lock_waits; /* by profile, then by time */
    size_t lock_wait_count, next_lock_wait;
};

static unsigned marks_of(const struct waker_build *b, uint32_t context)
{
    return context != 0 ? b->marks[cn_frames_find(b->frames, context)] : 0;
}

static enum cn_wait_kind kind_by_marks(unsigned marks)
{
    return marks & CN_KERNEL_DISK      ? CN_WAIT_FOR_DISK
           : marks & CN_KERNEL_NETWORK ? CN_WAIT_FOR_NETWORK
           : marks & CN_KERNEL_TIMER   ? CN_WAIT_FOR_TIMER
                                       : CN_WAIT_FOR_INTERRUPT;
}

static enum cn_wait_kind kind_of_thread(const struct waker_build *b, uint32_t waker,
                                        uint32_t woken, unsigned marks, unsigned waiting)
{
    if (b->process_of[waker] == b->process_of[woken])
        return CN_WAIT_FOR_THREAD;
    return marks & CN_KERNEL_EXIT && waiting & CN_KERNEL_CHILD ? CN_WAIT_FOR_CHILD
                                                               : CN_WAIT_FOR_PROCESS;
}

/* A thread that the data does not have. What it did for the disk may have no name. */
static enum cn_wait_kind kind_of_other(unsigned marks, unsigned waiting)
{
    enum cn_wait_kind kind = kind_by_marks(marks);

    if (kind != CN_WAIT_FOR_INTERRUPT || waiting & CN_KERNEL_DISK)
        return kind;
    if (marks & CN_KERNEL_EXIT && waiting & CN_KERNEL_CHILD)
        return CN_WAIT_FOR_CHILD;
    return marks & CN_KERNEL_CALL ? CN_WAIT_FOR_PROCESS : CN_WAIT_FOR_KERNEL;
}

/* Some functions of the kernel wait for one thing only; others tell nothing. */
static void infer_kind(struct cn_waited *wait, unsigned waiting)
{
    if (waiting & CN_KERNEL_DISK)
        wait->kind = CN_WAIT_FOR_DISK;
    else if (waiting & CN_KERNEL_SLEEP && !wait->is_woken)
        wait->kind = CN_WAIT_FOR_TIMER;
    else
        return;
    wait->is_inferred = true;
}

static void set_waker(const struct waker_build *b, const struct cn_wakeup *wakeup,
                      struct cn_waited *wait)
{
    unsigned marks = marks_of(b, wakeup->context), waiting = marks_of(b, wait->context);
    bool is_of_thread = cn_wakeup_is_of_thread(wakeup);
    enum cn_wait_kind kind;

    /* A packet that a thread sends to its own machine arrives in its system call. */
    if (wakeup->source == CN_WOKEN_BY_SOFT_INTERRUPT && wakeup->from != 0 &&
        !(marks & CN_KERNEL_INTERRUPT) && marks & CN_KERNEL_CALL)
        is_of_thread = true;
    if (is_of_thread) {
        kind = kind_of_thread(b, wakeup->from, wait->profile, marks, waiting);
        wait->waker = wakeup->from;
        wait->is_ending = marks & CN_KERNEL_EXIT;
    } else if (wakeup->source == CN_WOKEN_BY_OTHER) {
        kind = kind_of_other(marks, waiting);
    } else {
        kind = kind_by_marks(marks);
    }
    wait->kind = (uint8_t)kind;
    wait->is_woken = true;
    if (kind == CN_WAIT_FOR_INTERRUPT)
        infer_kind(wait, waiting);
    wait->waker_context = wakeup->context;
    wait->woken_ns = wakeup->time_ns > wait->begin_ns ? wakeup->time_ns : wait->begin_ns;
}

static const struct cn_wakeup *wakeup_at(const struct waker_build *b, size_t at)
{
    return &b->db->wakeups[b->wakeups[at]];
}

/* Most threads have them in order. */
static void sort_by_time(struct waker_build *b, size_t first, size_t end)
{
    struct numbered {
        uint64_t time_ns;
        uint32_t number;
    } * list;
    size_t at = first + 1;

    while (at < end && wakeup_at(b, at - 1)->time_ns <= wakeup_at(b, at)->time_ns)
        at++;
    if (at >= end)
        return;
    list = cn_alloc(end - first, sizeof(*list));
    for (size_t i = first; i < end; i++)
        list[i - first] = (struct numbered){wakeup_at(b, i)->time_ns, b->wakeups[i]};
    CN_SORT(list, end - first, CN_UP(struct numbered, time_ns));
    for (size_t i = first; i < end; i++)
        b->wakeups[i] = list[i - first].number;
    free(list);
}

/* Put wake-ups in order, by their numbers; those at the start of a thread aside. */
static void sort_wakeups(struct waker_build *b)
{
    const struct cn_database *db = b->db;
    struct cn_wait_graph *graph = b->graph;
    size_t *next = cn_alloc((size_t)db->profile_count + 2, sizeof(*next)), at = 0;

    for (size_t i = 0; i < db->wakeup_count; i++) {
        const struct cn_wakeup *wakeup = &db->wakeups[i];

        if (wakeup->source != CN_WOKEN_AT_START) {
            next[wakeup->to + 1]++;
            graph->wakeup_count++;
        } else if (graph->creators[wakeup->to] == 0) {
            graph->creators[wakeup->to] = wakeup->from;
            graph->created_ns[wakeup->to] = wakeup->time_ns;
        }
    }
    b->wakeups = cn_alloc(graph->wakeup_count + 1, sizeof(*b->wakeups));
    b->wakeup_of = cn_alloc((size_t)db->profile_count + 1, sizeof(*b->wakeup_of));
    for (uint32_t i = 0; i <= db->profile_count; i++) {
        at += next[i];
        next[i] = b->wakeup_of[i] = at;
    }
    for (size_t i = 0; i < db->wakeup_count; i++)
        if (db->wakeups[i].source != CN_WOKEN_AT_START)
            b->wakeups[next[db->wakeups[i].to]++] = (uint32_t)i;
    for (uint32_t i = 0; i < db->profile_count; i++)
        sort_by_time(b, b->wakeup_of[i], b->wakeup_of[i + 1]);
    free(next);
}

/* A thread that is about to stop may be woken on another processor before it has stopped: it then waits
 * for nothing but a processor. */
static const struct cn_wakeup *early_wakeup(const struct waker_build *b,
                                            const struct cn_thread_states *states,
                                            size_t at, uint32_t profile, size_t next)
{
    const struct cn_state_change *change = &states->list[at];
    const struct cn_wakeup *last = next > 0 ? wakeup_at(b, next - 1) : NULL;

    return at > 0 && change[-1].state == CN_TASK_RUNNING &&
                   next > b->wakeup_of[profile] && last->time_ns > change[-1].time_ns &&
                   change->time_ns - last->time_ns <= EARLY_NS
               ? last
               : NULL;
}

static void sort_lock_waits(struct waker_build *b)
{
    const struct cn_locks *locks = b->db->locks;

    if (!locks)
        return;
    b->lock_wait_count = locks->wait_count;
    b->lock_waits = cn_alloc(locks->wait_count + 1, sizeof(*b->lock_waits));
    for (size_t i = 0; i < locks->wait_count; i++)
        b->lock_waits[i] = locks->waits[i];
    CN_SORT(b->lock_waits, b->lock_wait_count, CN_UP(struct cn_lock_wait, profile),
            CN_UP(struct cn_lock_wait, time_ns));
}

/* Waits are asked for in the order of the list. */
static uint32_t lock_of(struct waker_build *b, const struct cn_waited *wait)
{
    const struct cn_lock_wait *next = &b->lock_waits[b->next_lock_wait];

    while (b->next_lock_wait < b->lock_wait_count &&
           (next->profile < wait->profile ||
            (next->profile == wait->profile && next->time_ns < wait->begin_ns)))
        next = &b->lock_waits[++b->next_lock_wait];
    return b->next_lock_wait < b->lock_wait_count && next->profile == wait->profile &&
                   next->time_ns == wait->begin_ns
               ? 1 + next->lock
               : 0;
}

static void add_wait(struct waker_build *b, const struct cn_thread_states *states,
                     size_t at, uint32_t profile, size_t *next)
{
    const struct cn_state_change *change = &states->list[at];
    size_t end = b->wakeup_of[profile + 1];
    struct cn_waited wait = {
        .begin_ns = change->time_ns,
        .woken_ns = change[1].time_ns,
        .end_ns = change[1].time_ns,
        .profile = profile,
        .context = change->context,
        .kind = change->state == CN_TASK_PREEMPTED ? CN_WAIT_BY_PREEMPTION
                                                   : CN_WAIT_FOR_UNKNOWN,
    };

    const struct cn_wakeup *wakeup = NULL;

    if (wait.begin_ns == wait.end_ns)
        return;
    while (*next < end && wakeup_at(b, *next)->time_ns < wait.begin_ns)
        ++*next;
    if (change->state == CN_TASK_BLOCKED && *next < end &&
        wakeup_at(b, *next)->time_ns <= wait.end_ns)
        wakeup = wakeup_at(b, *next);
    else if (change->state == CN_TASK_BLOCKED)
        wakeup = early_wakeup(b, states, at, profile, *next);
    if (wakeup)
        set_waker(b, wakeup, &wait);
    else if (change->state == CN_TASK_BLOCKED && at + 2 == states->count)
        wait.kind = CN_WAIT_FOR_ALWAYS;
    else if (change->state == CN_TASK_BLOCKED)
        infer_kind(&wait, marks_of(b, wait.context));
    if (change->state == CN_TASK_BLOCKED && b->lock_waits)
        wait.lock = lock_of(b, &wait);
    b->graph->missing += wait.kind == CN_WAIT_FOR_UNKNOWN;
    b->graph->inferred += wait.is_inferred;
    b->graph->wait_ns += wait.end_ns - wait.begin_ns;
    b->graph->list[b->graph->count++] = wait;
}

static bool is_wait(const struct cn_state_change *change)
{
    return change->state == CN_TASK_BLOCKED || change->state == CN_TASK_PREEMPTED;
}

static size_t count_waits(const struct cn_database *db)
{
    size_t count = 0;

    for (uint32_t i = 0; i < db->profile_count; i++)
        for (size_t k = 0; k + 1 < db->states[i].count; k++)
            count += is_wait(&db->states[i].list[k]);
    return count;
}

static bool find_processes(struct waker_build *b, struct cn_error *err)
{
    struct cn_profile profile;

    b->process_of = cn_alloc((size_t)b->db->profile_count + 1, sizeof(*b->process_of));
    for (uint32_t i = 0; i < b->db->profile_count; i++) {
        if (!cn_database_profile(b->db, i, &profile, err))
            return false;
        /* All but the last number, which is that of the thread. */
        for (size_t k = 0; k + 1 < profile.identity.count; k++)
            b->process_of[i] =
                b->process_of[i] * UINT64_C(1000003) + profile.identity.ids[k].physical;
    }
    return true;
}

static bool build(struct waker_build *b, struct cn_error *err)
{
    struct cn_database *db = b->db;

    if (!db->states)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "it is not known when threads wait; cairn sample --off-cpu and "
                       "perf record --switch-events record it");
    if (!find_processes(b, err))
        return false;
    b->marks = cn_kernel_marks(b->frames);
    sort_wakeups(b);
    sort_lock_waits(b);
    b->graph->list = cn_alloc(count_waits(db) + 1, sizeof(*b->graph->list));
    for (uint32_t i = 0; i < db->profile_count; i++) {
        const struct cn_thread_states *states = &db->states[i];
        size_t next = b->wakeup_of[i];

        b->graph->first_of[i] = b->graph->count;
        for (size_t k = 0; k + 1 < states->count; k++)
            if (is_wait(&states->list[k]))
                add_wait(b, states, k, i, &next);
    }
    b->graph->first_of[db->profile_count] = b->graph->count;
    return true;
}

bool cn_wait_graph_build(struct cn_wait_graph *graph, struct cn_database *db,
                         const struct cn_frames *frames, struct cn_error *err)
{
    size_t room = (size_t)db->profile_count + 1;
    struct waker_build b = {.graph = graph, .db = db, .frames = frames};

    *graph = (struct cn_wait_graph){
        .first_of = cn_alloc(room, sizeof(*graph->first_of)),
        .creators = cn_alloc(room, sizeof(*graph->creators)),
        .created_ns = cn_alloc(room, sizeof(*graph->created_ns)),
        .profile_count = db->profile_count,
    };
    bool ok = build(&b, err);
    free(b.marks);
    free(b.process_of);
    free(b.wakeups);
    free(b.wakeup_of);
    free(b.lock_waits);
    if (!ok)
        cn_wait_graph_done(graph);
    return ok;
}

void cn_wait_graph_done(struct cn_wait_graph *graph)
{
    free(graph->list);
    free(graph->first_of);
    free(graph->creators);
    free(graph->created_ns);
    *graph = (struct cn_wait_graph){0};
}

const struct cn_waited *cn_wait_graph_find(const struct cn_wait_graph *graph,
                                           uint32_t profile, uint64_t begin_ns)
{
    size_t low, high;

    if (profile >= graph->profile_count)
        return NULL;
    low = graph->first_of[profile];
    high = graph->first_of[profile + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (graph->list[middle].begin_ns < begin_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low < graph->first_of[profile + 1] && graph->list[low].begin_ns == begin_ns
               ? &graph->list[low]
               : NULL;
}

/* The waits of a thread are in order, and do not overlap. */
size_t cn_wait_graph_after(const struct cn_wait_graph *graph, uint32_t profile,
                           uint64_t time_ns)
{
    size_t first = graph->first_of[profile];

    return first + cn_search_u64(&graph->list[first].end_ns,
                                 graph->first_of[profile + 1] - first,
                                 sizeof(*graph->list), time_ns);
}
