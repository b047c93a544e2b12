#include "analyze/wakers/chain.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "model/contexts/database.h"
#include "model/thread_states.h"

const char *cn_wait_kind_name(uint32_t kind)
{
    return kind < CN_WAIT_FOR_KINDS ? cn_wait_kind_names[kind] : "running";
}

struct chain_walk {
    uint64_t begin_ns, end_ns; /* the range, cut to the life of the thread */
    cn_chain_visit_fn visit;
    void *arg;
    size_t count; /* of parts */
    bool is_over; /* nothing more is to be visited */
    const struct cn_database *db;
    const struct cn_wait_graph *graph;
    uint32_t profile; /* the thread that the chain is in */
    uint64_t time_ns; /* parts reach back to here */
    size_t hops;      /* at this time */
    uint32_t
        context;  /* in which the thread woke the one before, at this time; 0: unknown */
    size_t *last; /* by profile: after the change that was found last; 0: none yet */
};

/* Add a part from `begin_ns`, or from the begin of the range, until now, as far as it is in the range. */
static void add_part(struct chain_walk *walk, uint64_t begin_ns,
                     struct cn_chain_part part)
{
    uint64_t end_ns = walk->time_ns < walk->end_ns ? walk->time_ns : walk->end_ns;

    if (begin_ns < walk->begin_ns)
        begin_ns = walk->begin_ns;
    if (begin_ns >= walk->time_ns)
        return;
    if (begin_ns < end_ns) {
        part.begin_ns = begin_ns;
        part.end_ns = end_ns;
        part.profile = walk->profile;
        walk->is_over = !walk->visit(walk->arg, &part);
        cn_wait_graph_forget(walk->graph, ++walk->count);
    }
    walk->time_ns = begin_ns;
    walk->hops = 0;
    walk->context = 0;
}

static void step_back(struct chain_walk *walk, uint64_t begin_ns, uint32_t kind,
                      uint32_t context)
{
    add_part(walk, begin_ns, (struct cn_chain_part){.kind = kind, .context = context});
}

static void end_here(struct chain_walk *walk)
{
    step_back(walk, walk->begin_ns, CN_WAIT_FOR_UNKNOWN, 0);
}

/* Go on in another thread. Where threads wake each other at one time, the chain ends. */
static void hop(struct chain_walk *walk, uint32_t profile, uint32_t context)
{
    if (profile == 0 || ++walk->hops > walk->graph->profile_count) {
        end_here(walk);
    } else {
        walk->profile = profile;
        walk->context = context;
    }
}

static bool is_before(const void *states, uint64_t at, uint64_t time_ns)
{
    return cn_thread_states_at(states, (size_t)at).time_ns < time_ns;
}

/* The last change of the thread's state before the time; -1: there is none. The walk goes back in time: what is
 * looked for is near what was found last of this thread. */
static ptrdiff_t change_before(struct chain_walk *walk, uint64_t time_ns)
{
    const struct cn_thread_states *states = &walk->db->states[walk->profile];
    size_t *last = &walk->last[walk->profile], high = *last, step = 1;

    if (high == 0 || high > states->count)
        high = states->count;
    while (step < high && !is_before(states, high - step, time_ns)) {
        high -= step;
        step *= 2;
    }
    *last = (size_t)cn_search(step < high ? high - step : 0, high, is_before, states,
                              time_ns);
    return (ptrdiff_t)*last - 1;
}

static void walk_wait(struct chain_walk *walk, size_t state)
{
    struct cn_waited wait;

    if (!cn_wait_graph_at(walk->graph, walk->profile, state, &wait) ||
        wait.kind == CN_WAIT_FOR_UNKNOWN) {
        end_here(walk);
        return;
    }
    if (walk->time_ns > wait.woken_ns && wait.kind != CN_WAIT_BY_PREEMPTION) {
        step_back(walk, wait.woken_ns, CN_WAIT_FOR_PROCESSOR, wait.context);
        if (walk->time_ns == walk->begin_ns || wait.woken_ns == wait.begin_ns)
            return;
    }
    if (walk->time_ns == wait.woken_ns && cn_wait_is_for_thread(&wait)) {
        hop(walk, wait.waker, wait.waker_context);
    } else {
        add_part(walk, wait.begin_ns,
                 (struct cn_chain_part){.kind = wait.kind,
                                        .context = wait.context,
                                        .is_inferred = wait.is_inferred});
    }
}

/* The thread did not exist yet: the one that created it comes before. */
static void walk_start(struct chain_walk *walk)
{
    uint32_t creator = walk->graph->creators[walk->profile];
    uint64_t created_ns = walk->graph->created_ns[walk->profile];

    if (creator == 0 || created_ns > walk->time_ns) {
        end_here(walk);
        return;
    }
    step_back(walk, created_ns, CN_WAIT_FOR_PROCESSOR, 0);
    if (walk->time_ns > walk->begin_ns)
        hop(walk, creator, 0);
}

static void walk_back(struct chain_walk *walk)
{
    while (walk->time_ns > walk->begin_ns && !walk->is_over) {
        const struct cn_thread_states *states = &walk->db->states[walk->profile];
        ptrdiff_t at = change_before(walk, walk->time_ns);

        if (at < 0) {
            walk_start(walk);
            continue;
        }
        struct cn_state_change change = cn_thread_states_at(states, (size_t)at);
        switch (change.state) {
        case CN_TASK_RUNNING:
            step_back(walk, change.time_ns, CN_CHAIN_RUNS, 0);
            break;
        case CN_TASK_BLOCKED:
        case CN_TASK_PREEMPTED:
            walk_wait(walk, (size_t)at);
            break;
        case CN_TASK_UNKNOWN:
        case CN_TASK_STATES:
            /* The last thing that a thread does is to wake the one that waits for its end. */
            if (walk->hops > 0 && at > 0 && (size_t)at + 1 == states->count)
                step_back(walk, change.time_ns, CN_CHAIN_RUNS, walk->context);
            else
                end_here(walk);
            break;
        }
    }
}

/* Where the range ends in a wait for another thread: when that is over. The chain begins there, although
 * only what it has of the range counts. */
static uint64_t woken_after(struct chain_walk *walk, uint64_t end_ns)
{
    ptrdiff_t at = change_before(walk, end_ns);
    struct cn_waited wait;

    return at >= 0 && cn_wait_graph_at(walk->graph, walk->profile, (size_t)at, &wait) &&
                   cn_wait_is_for_thread(&wait) && wait.woken_ns > end_ns
               ? wait.woken_ns
               : end_ns;
}

/* A range, cut to the life of the thread; empty if that is unknown. */
static void cut_range(const struct cn_thread_states *states, uint64_t *begin_ns,
                      uint64_t *end_ns)
{
    uint64_t first_ns = cn_thread_states_begin(states);
    uint64_t last_ns = cn_thread_states_end(states);

    *begin_ns = *begin_ns > first_ns ? *begin_ns : first_ns;
    *end_ns = *end_ns < last_ns ? *end_ns : last_ns;
    if (states->count == 0)
        *begin_ns = 0;
    if (*end_ns < *begin_ns)
        *end_ns = *begin_ns;
}

void cn_wait_chain_visit(const struct cn_database *db, const struct cn_wait_graph *graph,
                         uint32_t profile, uint64_t begin_ns, uint64_t end_ns,
                         cn_chain_visit_fn visit, void *arg)
{
    struct chain_walk walk = {.begin_ns = begin_ns,
                              .end_ns = end_ns,
                              .visit = visit,
                              .arg = arg,
                              .db = db,
                              .graph = graph,
                              .profile = profile};

    cut_range(&db->states[profile], &walk.begin_ns, &walk.end_ns);
    if (walk.begin_ns == walk.end_ns)
        return;
    walk.last = cn_alloc((size_t)graph->profile_count + 1, sizeof(*walk.last));
    walk.time_ns = woken_after(&walk, walk.end_ns);
    /* It may be later. */
    walk.last[profile] = 0;
    walk_back(&walk);
    free(walk.last);
}

static bool keep_part(void *arg, const struct cn_chain_part *part)
{
    struct cn_wait_chain *path = arg;

    CN_PUSH(path->list, path->count, path->capacity,
            (struct cn_chain_kept){part->begin_ns, part->profile, part->kind});
    return true;
}

void cn_wait_chain_build(struct cn_wait_chain *path, const struct cn_database *db,
                         const struct cn_wait_graph *graph, uint32_t profile,
                         uint64_t begin_ns, uint64_t end_ns)
{
    *path = (struct cn_wait_chain){
        .begin_ns = begin_ns, .end_ns = end_ns, .profile_count = graph->profile_count};
    cut_range(&db->states[profile], &path->begin_ns, &path->end_ns);
    cn_wait_chain_visit(db, graph, profile, begin_ns, end_ns, keep_part, path);
}

void cn_wait_chain_done(struct cn_wait_chain *path)
{
    free(path->list);
    *path = (struct cn_wait_chain){0};
}
