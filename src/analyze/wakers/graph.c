#include "analyze/wakers/graph.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/views/frames.h"
#include "analyze/wakers/kernel_names.h"
#include "base/alloc.h"
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

enum {
    EARLY_NS = 50000,
    FORGET_EVERY = 1 << 20, /* records: their pages are given back */
};

struct waker_build {
    struct cn_wait_graph *graph;
    struct cn_database *db;
    uint32_t *wakeups;               /* numbers, by woken thread, then by time */
    size_t *first_of;                /* by profile: the first in the list */
    struct cn_lock_wait *lock_waits; /* by profile, then by time */
    size_t lock_wait_count, next_lock_wait;
    /* Of the thread that is looked at: its next wake-up, and when that and the one before are. */
    size_t next, end;
    uint64_t next_ns, last_ns;
};

static unsigned marks_of(const struct cn_wait_graph *graph, uint32_t context)
{
    return context != 0 ? graph->marks[cn_frames_find(graph->frames, context)] : 0;
}

static enum cn_wait_kind kind_by_marks(unsigned marks)
{
    return marks & CN_KERNEL_DISK      ? CN_WAIT_FOR_DISK
           : marks & CN_KERNEL_NETWORK ? CN_WAIT_FOR_NETWORK
           : marks & CN_KERNEL_TIMER   ? CN_WAIT_FOR_TIMER
                                       : CN_WAIT_FOR_INTERRUPT;
}

static enum cn_wait_kind kind_of_thread(const struct cn_wait_graph *graph, uint32_t waker,
                                        const struct cn_waited *woken, unsigned marks)
{
    if (graph->process_of[waker] == graph->process_of[woken->profile])
        return CN_WAIT_FOR_THREAD;
    return marks & CN_KERNEL_EXIT && marks_of(graph, woken->context) & CN_KERNEL_CHILD
               ? CN_WAIT_FOR_CHILD
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

static void set_waker(const struct cn_wait_graph *graph, const struct cn_wakeup *wakeup,
                      struct cn_waited *wait)
{
    unsigned marks = marks_of(graph, wakeup->context);
    bool is_of_thread = cn_wakeup_is_of_thread(wakeup);
    enum cn_wait_kind kind;

    /* A packet that a thread sends to its own machine arrives in its system call. */
    if (wakeup->source == CN_WOKEN_BY_SOFT_INTERRUPT && wakeup->from != 0 &&
        !(marks & CN_KERNEL_INTERRUPT) && marks & CN_KERNEL_CALL)
        is_of_thread = true;
    if (is_of_thread) {
        kind = kind_of_thread(graph, wakeup->from, wait, marks);
        wait->waker = wakeup->from;
        wait->is_ending = marks & CN_KERNEL_EXIT;
    } else if (wakeup->source == CN_WOKEN_BY_OTHER) {
        kind = kind_of_other(marks, marks_of(graph, wait->context));
    } else {
        kind = kind_by_marks(marks);
    }
    wait->kind = (uint8_t)kind;
    wait->is_woken = true;
    if (kind == CN_WAIT_FOR_INTERRUPT)
        infer_kind(wait, marks_of(graph, wait->context));
    wait->waker_context = wakeup->context;
    wait->woken_ns = wakeup->time_ns > wait->begin_ns ? wakeup->time_ns : wait->begin_ns;
}

static uint64_t wakeup_ns(const struct waker_build *b, size_t at)
{
    return cn_wakeups_at(&b->db->wakeups, b->wakeups[at]).time_ns;
}

/* Most threads have them in order. */
static void sort_by_time(struct waker_build *b, size_t first, size_t end)
{
    struct numbered {
        uint64_t time_ns;
        uint32_t number;
    } * list;
    uint64_t last_ns = 0;
    bool is_sorted = true;

    for (size_t i = first; i < end && is_sorted; i++) {
        uint64_t time_ns = wakeup_ns(b, i);

        is_sorted = time_ns >= last_ns;
        last_ns = time_ns;
    }
    if (is_sorted)
        return;
    list = cn_alloc(end - first, sizeof(*list));
    for (size_t i = first; i < end; i++)
        list[i - first] = (struct numbered){wakeup_ns(b, i), b->wakeups[i]};
    CN_SORT(list, end - first, CN_UP(struct numbered, time_ns));
    for (size_t i = first; i < end; i++)
        b->wakeups[i] = list[i - first].number;
    free(list);
}

void cn_wait_graph_forget(const struct cn_wait_graph *graph, size_t number)
{
    if (number % FORGET_EVERY == FORGET_EVERY - 1)
        cn_database_forget(graph->db);
}

/* Put wake-ups in order, by their numbers; those at the start of a thread aside. */
static void sort_wakeups(struct waker_build *b)
{
    struct cn_wait_graph *graph = b->graph;
    const struct cn_wakeups *wakeups = &b->db->wakeups;
    size_t room = (size_t)b->db->profile_count + 2, at = 0;
    size_t *next = cn_alloc(room, sizeof(*next));

    for (size_t i = 0; i < wakeups->count; i++) {
        struct cn_wakeup wakeup = cn_wakeups_at(wakeups, i);

        cn_wait_graph_forget(graph, i);
        if (wakeup.source != CN_WOKEN_AT_START) {
            next[wakeup.to + 1]++;
            graph->wakeup_count++;
        } else if (graph->creators[wakeup.to] == 0) {
            graph->creators[wakeup.to] = wakeup.from;
            graph->created_ns[wakeup.to] = wakeup.time_ns;
        }
    }
    b->wakeups = cn_alloc(graph->wakeup_count + 1, sizeof(*b->wakeups));
    b->first_of = cn_alloc(room, sizeof(*b->first_of));
    for (uint32_t i = 0; i <= b->db->profile_count; i++) {
        at += next[i];
        next[i] = b->first_of[i] = at;
    }
    for (size_t i = 0; i < wakeups->count; i++) {
        struct cn_wakeup wakeup = cn_wakeups_at(wakeups, i);

        cn_wait_graph_forget(graph, i);
        /* The file may have changed since they were counted. */
        if (wakeup.source != CN_WOKEN_AT_START &&
            next[wakeup.to] < b->first_of[wakeup.to + 1])
            b->wakeups[next[wakeup.to]++] = (uint32_t)i;
    }
    for (uint32_t i = 0; i < b->db->profile_count; i++)
        sort_by_time(b, b->first_of[i], b->first_of[i + 1]);
    free(next);
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

/* Waits are asked for in their order. */
static uint32_t lock_of(struct waker_build *b, uint32_t profile, uint64_t begin_ns)
{
    const struct cn_lock_wait *next = &b->lock_waits[b->next_lock_wait];

    while (b->next_lock_wait < b->lock_wait_count &&
           (next->profile < profile ||
            (next->profile == profile && next->time_ns < begin_ns)))
        next = &b->lock_waits[++b->next_lock_wait];
    return b->next_lock_wait < b->lock_wait_count && next->profile == profile &&
                   next->time_ns == begin_ns
               ? 1 + next->lock
               : 0;
}

static bool is_wait(const struct cn_state_change *change)
{
    return change->state == CN_TASK_BLOCKED || change->state == CN_TASK_PREEMPTED;
}

static void go_to_wakeup(struct waker_build *b, size_t at)
{
    b->last_ns = b->next_ns;
    b->next = at;
    b->next_ns = at < b->end ? wakeup_ns(b, at) : UINT64_MAX;
}

/* The wake-up that ends a wait until `end_ns`, a number plus one; 0: none. A thread that is about to stop may be
 * woken on another processor before it has stopped: it then waits for nothing but a processor. */
static uint32_t find_wakeup(struct waker_build *b, uint32_t profile,
                            const struct cn_state_change *before,
                            const struct cn_state_change *change, uint64_t end_ns)
{
    while (b->next < b->end && b->next_ns < change->time_ns)
        go_to_wakeup(b, b->next + 1);
    if (change->state != CN_TASK_BLOCKED)
        return 0;
    if (b->next < b->end && b->next_ns <= end_ns)
        return 1 + b->wakeups[b->next];
    return before->state == CN_TASK_RUNNING && b->next > b->first_of[profile] &&
                   b->last_ns > before->time_ns &&
                   change->time_ns - b->last_ns <= EARLY_NS
               ? 1 + b->wakeups[b->next - 1]
               : 0;
}

/* The wait that is state `at` of all, the second last of its thread or not. */
static void make_wait(const struct cn_wait_graph *graph, size_t at, uint32_t profile,
                      const struct cn_state_change *change, uint64_t end_ns, bool is_last,
                      struct cn_waited *wait)
{
    bool is_blocked = change->state == CN_TASK_BLOCKED;

    *wait = (struct cn_waited){
        .begin_ns = change->time_ns,
        .woken_ns = end_ns,
        .end_ns = end_ns,
        .profile = profile,
        .context = change->context,
        .lock = graph->lock_of ? graph->lock_of[at] : 0,
        .kind = is_blocked ? CN_WAIT_FOR_UNKNOWN : CN_WAIT_BY_PREEMPTION,
    };
    if (graph->wakeup_of[at] != 0) {
        struct cn_wakeup wakeup =
            cn_wakeups_at(&graph->db->wakeups, graph->wakeup_of[at] - 1);

        set_waker(graph, &wakeup, wait);
    } else if (is_blocked && is_last) {
        wait->kind = CN_WAIT_FOR_ALWAYS;
    } else if (is_blocked) {
        infer_kind(wait, marks_of(graph, wait->context));
    }
}

bool cn_wait_graph_at(const struct cn_wait_graph *graph, uint32_t profile, size_t state,
                      struct cn_waited *out)
{
    const struct cn_thread_states *states = &graph->db->states[profile];
    struct cn_state_change change;
    uint64_t end_ns;

    if (state + 1 >= states->count)
        return false;
    change = cn_thread_states_at(states, state);
    if (!is_wait(&change))
        return false;
    end_ns = cn_thread_states_at(states, state + 1).time_ns;
    if (change.time_ns >= end_ns)
        return false;
    make_wait(graph, graph->first_of[profile] + state, profile, &change, end_ns,
              state + 2 == states->count, out);
    return true;
}

bool cn_wait_graph_next(const struct cn_wait_graph *graph, uint32_t profile,
                        size_t *state, struct cn_waited *out)
{
    while (*state < graph->db->states[profile].count)
        if (cn_wait_graph_at(graph, profile, (*state)++, out))
            return true;
    return false;
}

/* The waits of a thread are in order, and do not overlap. */
size_t cn_wait_graph_after(const struct cn_wait_graph *graph, uint32_t profile,
                           uint64_t time_ns)
{
    size_t until = cn_thread_states_until(&graph->db->states[profile], time_ns);

    return until > 0 ? until - 1 : 0;
}

static void add_thread(struct waker_build *b, uint32_t profile)
{
    const struct cn_thread_states *states = &b->db->states[profile];
    struct cn_wait_graph *graph = b->graph;
    struct cn_state_change before = {.state = CN_TASK_UNKNOWN}, change, next = {0};
    struct cn_waited wait;

    b->end = b->first_of[profile + 1];
    go_to_wakeup(b, b->first_of[profile]);
    if (states->count > 0)
        next = cn_thread_states_at(states, 0);
    for (size_t i = 0, at = graph->first_of[profile]; i + 1 < states->count; i++, at++) {
        change = next;
        next = cn_thread_states_at(states, i + 1);
        if (is_wait(&change) && change.time_ns < next.time_ns) {
            graph->wakeup_of[at] =
                find_wakeup(b, profile, &before, &change, next.time_ns);
            if (change.state == CN_TASK_BLOCKED && graph->lock_of)
                graph->lock_of[at] = lock_of(b, profile, change.time_ns);
            make_wait(graph, at, profile, &change, next.time_ns, i + 2 == states->count,
                      &wait);
            graph->count++;
            graph->missing += wait.kind == CN_WAIT_FOR_UNKNOWN;
            graph->inferred += wait.is_inferred;
            graph->wait_ns += wait.end_ns - wait.begin_ns;
        }
        before = change;
        cn_wait_graph_forget(graph, i);
    }
}

static bool find_processes(struct waker_build *b, struct cn_error *err)
{
    uint64_t *process_of = b->graph->process_of;
    struct cn_profile profile;

    for (uint32_t i = 0; i < b->db->profile_count; i++) {
        if (!cn_database_profile(b->db, i, &profile, err))
            return false;
        /* All but the last number, which is that of the thread. */
        for (size_t k = 0; k + 1 < profile.identity.count; k++)
            process_of[i] =
                process_of[i] * UINT64_C(1000003) + profile.identity.ids[k].physical;
    }
    return true;
}

static bool build(struct waker_build *b, struct cn_error *err)
{
    struct cn_wait_graph *graph = b->graph;
    const struct cn_database *db = b->db;
    size_t count = 0;

    if (!db->states)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "it is not known when threads wait; cairn sample --off-cpu and "
                       "perf record --switch-events record it");
    if (db->wakeups.count >= UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu wake-ups; at most %" PRIu32,
                       db->wakeups.count, UINT32_MAX - 1);
    if (!find_processes(b, err))
        return false;
    graph->marks = cn_kernel_marks(graph->frames);
    sort_wakeups(b);
    sort_lock_waits(b);
    for (uint32_t i = 0; i < db->profile_count; i++) {
        graph->first_of[i] = count;
        count += db->states[i].count;
    }
    graph->first_of[db->profile_count] = count;
    graph->wakeup_of = cn_alloc(count + 1, sizeof(*graph->wakeup_of));
    if (b->lock_waits)
        graph->lock_of = cn_alloc(count + 1, sizeof(*graph->lock_of));
    for (uint32_t i = 0; i < db->profile_count; i++)
        add_thread(b, i);
    return true;
}

bool cn_wait_graph_build(struct cn_wait_graph *graph, struct cn_database *db,
                         const struct cn_frames *frames, struct cn_error *err)
{
    size_t room = (size_t)db->profile_count + 1;
    struct waker_build b = {.graph = graph, .db = db};

    *graph = (struct cn_wait_graph){
        .db = db,
        .frames = frames,
        .process_of = cn_alloc(room, sizeof(*graph->process_of)),
        .first_of = cn_alloc(room, sizeof(*graph->first_of)),
        .creators = cn_alloc(room, sizeof(*graph->creators)),
        .created_ns = cn_alloc(room, sizeof(*graph->created_ns)),
        .profile_count = db->profile_count,
    };
    bool ok = build(&b, err);
    free(b.wakeups);
    free(b.first_of);
    free(b.lock_waits);
    if (!ok)
        cn_wait_graph_done(graph);
    return ok;
}

void cn_wait_graph_done(struct cn_wait_graph *graph)
{
    free(graph->marks);
    free(graph->process_of);
    free(graph->first_of);
    free(graph->wakeup_of);
    free(graph->lock_of);
    free(graph->creators);
    free(graph->created_ns);
    *graph = (struct cn_wait_graph){0};
}
