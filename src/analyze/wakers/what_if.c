#include "analyze/wakers/what_if.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/views/frames.h"
#include "analyze/wakers/graph.h"
#include "analyze/wakers/saved_time.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/heap.h"
#include "base/suggest.h"
#include "base/text.h"
#include "model/contexts/database.h"
#include "model/thread_states.h"

bool cn_what_if_parse(const char *text, struct cn_what_if_change *out,
                      struct cn_error *err)
{
    static const char lock[] = "lock:";
    const char *equals = strrchr(text, '='); /* names have some: operator== */
    char *end = NULL;
    double percent = equals ? strtod(equals + 1, &end) : NAN;

    /* lock::take is a function. */
    bool is_lock = strncmp(text, lock, strlen(lock)) == 0 && text[strlen(lock)] != ':';
    const char *function = is_lock ? text + strlen(lock) : text;
    if (!equals || end == equals + 1 || strcmp(end, "%") != 0 || equals == function)
        return cn_fail(err, CN_ERR_USAGE,
                       "'%s': expected FUNCTION=PERCENT or lock:FUNCTION=PERCENT, such "
                       "as compress=50%%",
                       text);
    if (!(percent >= 0 && percent <= 100))
        return cn_fail(err, CN_ERR_USAGE, "'%s': expected 0%% to 100%%", text);
    *out = (struct cn_what_if_change){
        .function = function,
        .function_len = (size_t)(equals - function),
        .share = percent / 100,
        .is_lock = is_lock,
    };
    return true;
}

/* A name, or one without parameters. */
static bool is_named(const char *name, const struct cn_what_if_change *change)
{
    size_t len = change->function_len;

    return strncmp(name, change->function, len) == 0 &&
           (name[len] == '\0' || name[len] == '(');
}

/* Functions in which threads wait for a lock, as parts of their names. */
static bool is_lock_function(const char *name)
{
    static const char *const parts[] = {
        "mutex_lock",      "mutex_timedlock", "mutex_clocklock", "mutex_cond_lock",
        "lll_lock_wait",   "rwlock_rdlock",   "rwlock_wrlock",   "lock_contended",
        "Mutex).Lock",     "Mutex).RLock",    "Mutex).lockSlow", "flock_lock_inode",
        "posix_lock_inode"};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(name, parts[i]))
            return true;
    return false;
}

static bool no_function(const struct cn_frames *frames,
                        const struct cn_what_if_change *change, struct cn_error *err)
{
    char *typed = cn_strprintf("%.*s", (int)change->function_len, change->function);
    struct cn_suggestion near = {.typed = typed};

    for (size_t i = 0; i < frames->names.count; i++)
        if (frames->functions[i] != CN_NONE)
            cn_suggestion_offer(&near, frames->names.list[i]);
    (void)cn_fail(err, CN_ERR_NOT_FOUND, "no function '%s' in the data%s%s%s", typed,
                  near.best ? ", did you mean '" : "", near.best ? near.best : "",
                  near.best ? "'?" : "");
    free(typed);
    return false;
}

/* By frame: how much of the time below the changed functions is left. */
struct what_if_shares {
    double *running, *locks;
};

static bool add_change(struct what_if_shares *shares, const struct cn_frames *frames,
                       const struct cn_what_if_change *change, struct cn_error *err)
{
    enum { BELOW = 1, IN_LOCK = 2 };
    uint8_t *marks = cn_alloc(frames->count + 1, sizeof(*marks));
    bool is_known = false, has_lock = false;

    for (size_t i = 0; i < frames->count; i++) {
        const struct cn_frame *frame = &frames->list[i];
        const char *name = frame->place < frames->names.count && frame->depth > 0
                               ? frames->names.list[frame->place]
                               : "";

        marks[i] = frame->parent < i ? marks[frame->parent] : 0;
        if (is_named(name, change))
            marks[i] |= BELOW;
        if (marks[i] & BELOW && change->is_lock && is_lock_function(name))
            marks[i] |= IN_LOCK;
        is_known = is_known || marks[i] & BELOW;
        has_lock = has_lock || marks[i] & IN_LOCK;
        if (marks[i] & IN_LOCK)
            shares->locks[i] *= change->share;
        else if (marks[i] & BELOW && !change->is_lock)
            shares->running[i] *= change->share;
    }
    free(marks);
    if (!is_known)
        return no_function(frames, change, err);
    return has_lock || !change->is_lock ||
           cn_fail(err, CN_ERR_NOT_FOUND, "%.*s waits for no lock in the data",
                   (int)change->function_len, change->function);
}

/* For what is unknown all threads are looked at, unless that is too much work. */
enum { LOOKS_MAX = 100000000 };

#define TIMES_MAX_NS (UINT64_C(1) << 60)

/* The events of a thread in the order of time; its start is a lane of its own. */
struct what_if_lane {
    uint64_t
        time_ns; /* at which the next one is replayed: when what it depends on is known */
    uint64_t begin_ns; /* of a wait or a gap */
    size_t state;      /* after it */
    uint32_t profile;
    enum { WHAT_IF_START, WHAT_IF_GAP, WHAT_IF_WAIT } kind;
    struct cn_waited wait;
};

struct what_if_replay {
    const struct cn_database *db;
    const struct cn_wait_graph *graph;
    const struct cn_frames *frames;
    struct what_if_shares shares;
    struct cn_saved_time saved;
    struct what_if_lane *lanes; /* two a thread */
    /* By profile: how much earlier than recorded it is, without what cn_saved_until() says. */
    int64_t *earlier_ns;
    uint32_t profile;         /* whose time is asked for */
    int64_t start_earlier_ns; /* of it */
    bool is_optimistic;       /* about what is unknown */
    uint64_t looks;           /* at threads */
};

/* Go to the next event of a thread, if there is one. */
static bool go_on(const struct what_if_replay *r, struct what_if_lane *lane)
{
    const struct cn_thread_states *states = &r->db->states[lane->profile];
    struct cn_state_change change;

    while (lane->kind != WHAT_IF_START && lane->state + 1 < states->count) {
        size_t at = lane->state++;

        if (cn_wait_graph_at(r->graph, lane->profile, at, &lane->wait)) {
            lane->kind = WHAT_IF_WAIT;
            lane->time_ns = lane->wait.woken_ns;
            lane->begin_ns = lane->wait.begin_ns;
            if (lane->wait.kind != CN_WAIT_BY_PREEMPTION)
                return true;
            continue;
        }
        change = cn_thread_states_at(states, at);
        if (change.state == CN_TASK_UNKNOWN) {
            lane->kind = WHAT_IF_GAP;
            lane->time_ns = cn_thread_states_at(states, lane->state).time_ns;
            lane->begin_ns = change.time_ns;
            return true;
        }
    }
    return false;
}

static bool is_before(const void *data, uint32_t a, uint32_t b)
{
    const struct what_if_lane *lanes = data, *x = &lanes[a], *y = &lanes[b];

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns;
    if (x->begin_ns != y->begin_ns)
        return x->begin_ns < y->begin_ns;
    if ((x->kind == WHAT_IF_WAIT) != (y->kind == WHAT_IF_WAIT))
        return y->kind == WHAT_IF_WAIT;
    return a < b;
}

/* The lanes that have events, as a heap, in a list that has room for all. */
static size_t begin_lanes(struct what_if_replay *r, uint32_t *heap)
{
    const struct cn_wait_graph *graph = r->graph;
    size_t count = 0;

    for (uint32_t i = 0; i < graph->profile_count; i++) {
        const struct cn_thread_states *states = &r->db->states[i];
        struct what_if_lane *lane = &r->lanes[2 * (size_t)i];

        lane[0] = (struct what_if_lane){.time_ns = graph->creators[i] != 0
                                                       ? graph->created_ns[i]
                                                       : cn_thread_states_begin(states),
                                        .profile = i,
                                        .kind = WHAT_IF_START};
        lane[1] = (struct what_if_lane){.profile = i, .kind = WHAT_IF_GAP};
        if (states->count > 0)
            heap[count++] = 2 * i;
        if (go_on(r, &lane[1]))
            heap[count++] = 2 * i + 1;
    }
    cn_heap_build(heap, count, is_before, r->lanes);
    return count;
}

/* How much earlier than recorded a thread is at what it did at this time; never negative. */
static int64_t earlier_at(const struct what_if_replay *r, uint32_t profile,
                          uint64_t time_ns)
{
    return r->earlier_ns[profile] + cn_saved_until(&r->saved, profile, time_ns);
}

static void set_earlier(struct what_if_replay *r, uint32_t profile, uint64_t time_ns,
                        int64_t earlier_ns)
{
    r->earlier_ns[profile] = earlier_ns - cn_saved_until(&r->saved, profile, time_ns);
}

/* How much earlier something may be whose cause is unknown: as much as the thread that gains most, as any
 * may be the cause; but after what the thread itself did before. */
static int64_t unknown_earlier(struct what_if_replay *r, int64_t most_ns,
                               uint64_t time_ns)
{
    int64_t earlier_ns = 0;

    if (!r->is_optimistic)
        return 0;
    r->looks += r->graph->profile_count;
    if (r->looks > LOOKS_MAX)
        return most_ns;
    for (uint32_t i = 0; i < r->graph->profile_count && earlier_ns < most_ns; i++) {
        int64_t of_thread_ns = earlier_at(r, i, time_ns);

        earlier_ns = of_thread_ns > earlier_ns ? of_thread_ns : earlier_ns;
    }
    return earlier_ns < most_ns ? earlier_ns : most_ns;
}

/* Times here are those of the changed run, from the recorded begin of the wait on. */
static void replay_wait(struct what_if_replay *r, const struct cn_waited *wait)
{
    int64_t woken_ns = (int64_t)(wait->woken_ns - wait->begin_ns);
    int64_t end_ns = (int64_t)(wait->end_ns - wait->begin_ns);
    int64_t own_ns = -earlier_at(r, wait->profile, wait->begin_ns), ready_ns;

    if (cn_wait_is_for_thread(wait))
        ready_ns = woken_ns - earlier_at(r, wait->waker, wait->woken_ns);
    else if (wait->kind == CN_WAIT_FOR_UNKNOWN)
        ready_ns = woken_ns - unknown_earlier(r, woken_ns - own_ns, wait->woken_ns);
    else
        ready_ns = own_ns + woken_ns;
    /* What it would wait for has happened: it runs on. */
    int64_t runs_ns = ready_ns < own_ns ? own_ns : ready_ns + (end_ns - woken_ns);
    double share = wait->context != 0
                       ? r->shares.locks[cn_frames_find(r->frames, wait->context)]
                       : 1;
    if (share < 1)
        runs_ns = own_ns + llround(share * (double)(runs_ns - own_ns));
    set_earlier(r, wait->profile, wait->end_ns, end_ns - runs_ns);
}

static void replay_start(struct what_if_replay *r, const struct what_if_lane *event)
{
    uint32_t creator = r->graph->creators[event->profile];
    uint64_t begin_ns = cn_thread_states_begin(&r->db->states[r->profile]);
    int64_t earlier_ns = 0;

    if (creator != 0)
        earlier_ns = earlier_at(r, creator, event->time_ns);
    else if (event->time_ns > begin_ns)
        earlier_ns =
            unknown_earlier(r, (int64_t)(event->time_ns - begin_ns), event->time_ns);
    set_earlier(r, event->profile, cn_thread_states_begin(&r->db->states[event->profile]),
                earlier_ns);
    if (event->profile == r->profile)
        r->start_earlier_ns = earlier_ns;
}

static void replay_event(struct what_if_replay *r, const struct what_if_lane *event)
{
    if (event->kind == WHAT_IF_START) {
        replay_start(r, event);
    } else if (event->kind == WHAT_IF_WAIT) {
        replay_wait(r, &event->wait);
    } else {
        int64_t gap_ns = (int64_t)(event->time_ns - event->begin_ns);
        int64_t most_ns = earlier_at(r, event->profile, event->begin_ns) + gap_ns;

        set_earlier(r, event->profile, event->time_ns,
                    unknown_earlier(r, most_ns, event->time_ns));
    }
}

/* How long the thread takes. */
static uint64_t replay(struct what_if_replay *r)
{
    const struct cn_thread_states *own = &r->db->states[r->profile];
    uint64_t begin_ns = cn_thread_states_begin(own), end_ns = cn_thread_states_end(own);
    uint32_t *heap = cn_alloc(2 * (size_t)r->graph->profile_count + 1, sizeof(*heap));
    size_t count;

    memset(r->earlier_ns, 0, sizeof(*r->earlier_ns) * r->graph->profile_count);
    r->start_earlier_ns = 0;
    count = begin_lanes(r, heap);
    for (size_t i = 0; count > 0 && r->lanes[heap[0]].time_ns <= end_ns; i++) {
        replay_event(r, &r->lanes[heap[0]]);
        if (!go_on(r, &r->lanes[heap[0]]))
            heap[0] = heap[--count];
        cn_heap_sink(heap, count, 0, is_before, r->lanes);
        cn_wait_graph_forget(r->graph, i);
    }
    free(heap);
    return end_ns - begin_ns -
           (uint64_t)(earlier_at(r, r->profile, end_ns) - r->start_earlier_ns);
}

static bool find_shares(struct what_if_shares *shares, const struct cn_frames *frames,
                        const struct cn_what_if_change *changes, size_t count,
                        struct cn_error *err)
{
    *shares = (struct what_if_shares){
        .running = cn_alloc(frames->count + 1, sizeof(*shares->running)),
        .locks = cn_alloc(frames->count + 1, sizeof(*shares->locks)),
    };
    for (size_t i = 0; i <= frames->count; i++)
        shares->running[i] = shares->locks[i] = 1;
    for (size_t i = 0; i < count; i++)
        if (!add_change(shares, frames, &changes[i], err))
            return false;
    return true;
}

/* Sums of times fit in 64 bits. */
static bool check_times(const struct cn_database *db, struct cn_error *err)
{
    uint64_t first_ns = UINT64_MAX, last_ns = 0;

    for (uint32_t i = 0; i < db->profile_count; i++) {
        const struct cn_thread_states *states = &db->states[i];

        if (states->count > 0 && cn_thread_states_begin(states) < first_ns)
            first_ns = cn_thread_states_begin(states);
        if (cn_thread_states_end(states) > last_ns)
            last_ns = cn_thread_states_end(states);
    }
    return last_ns < first_ns || last_ns - first_ns <= TIMES_MAX_NS ||
           cn_fail(err, CN_ERR_LIMIT,
                   "threads from %" PRIu64 " to %" PRIu64 " ns: longer "
                   "than %" PRIu64 " ns",
                   first_ns, last_ns, TIMES_MAX_NS);
}

bool cn_what_if_replay(struct cn_what_if *out, struct cn_database *db,
                       const struct cn_wait_graph *graph, const struct cn_frames *frames,
                       const struct cn_what_if_change *changes, size_t count,
                       uint32_t profile, struct cn_error *err)
{
    const struct cn_thread_states *own = &db->states[profile];
    struct what_if_replay r = {
        .db = db, .graph = graph, .frames = frames, .profile = profile};

    if (own->count == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "it is not known when the thread waits");
    bool ok = check_times(db, err) &&
              find_shares(&r.shares, frames, changes, count, err) &&
              cn_saved_time_build(&r.saved, db, frames, r.shares.running, err);
    if (ok) {
        r.earlier_ns = cn_alloc((size_t)graph->profile_count + 1, sizeof(*r.earlier_ns));
        r.lanes = cn_alloc(2 * (size_t)graph->profile_count + 1, sizeof(*r.lanes));
        out->recorded_ns = cn_thread_states_end(own) - cn_thread_states_begin(own);
        out->missing = graph->missing;
        out->inferred = graph->inferred;
        out->most_ns = replay(&r);
        r.is_optimistic = true;
        out->least_ns = replay(&r);
        if (out->least_ns > out->most_ns)
            out->least_ns = out->most_ns;
    }
    free(r.lanes);
    free(r.earlier_ns);
    free(r.shares.running);
    free(r.shares.locks);
    cn_saved_time_done(&r.saved);
    return ok;
}

static void print_change(const struct cn_what_if_change *change, struct cn_text *out)
{
    cn_text_str_add(out, change->share > 0 ? "with " : "without ");
    cn_text_printf(out, "%s%.*s", change->is_lock ? "waits for locks in " : "",
                   (int)change->function_len, change->function);
    if (change->share > 0)
        cn_text_printf(out, " at %g %%", 100 * change->share);
}

static void print_gain(const struct cn_what_if *answer, uint64_t ns, struct cn_text *out)
{
    uint64_t gain_ns = answer->recorded_ns - ns;

    cn_text_printf(out, "%s%.1f %%", gain_ns > 0 ? "-" : "",
                   gain_ns > 0 ? 100 * (double)gain_ns / (double)answer->recorded_ns : 0);
}

void cn_what_if_print(const struct cn_what_if *answer,
                      const struct cn_what_if_change *changes, size_t count,
                      const char *thread, struct cn_text *out)
{
    for (size_t i = 0; i < count; i++) {
        print_change(&changes[i], out);
        cn_text_str_add(out, ", ");
    }
    cn_text_printf(out, "%s would take ", thread);
    if (answer->least_ns != answer->most_ns) {
        cn_text_str_add(out, "between ");
        cn_duration_print(out, answer->least_ns);
        cn_text_str_add(out, " and ");
    }
    cn_duration_print(out, answer->most_ns);
    cn_text_str_add(out, " instead of ");
    cn_duration_print(out, answer->recorded_ns);
    cn_text_str_add(out, ": ");
    if (answer->least_ns != answer->most_ns) {
        print_gain(answer, answer->least_ns, out);
        cn_text_str_add(out, " to ");
    }
    print_gain(answer, answer->most_ns, out);
    if (answer->least_ns != answer->most_ns)
        cn_text_printf(out, ", unknown because wake-ups are missing (of %zu %s)",
                       answer->missing, cn_plural(answer->missing, "wait", "waits"));
}

void cn_what_if_print_assumptions(const struct cn_what_if *answer,
                                  const struct cn_what_if_change *changes, size_t count,
                                  struct cn_text *out)
{
    bool has_lock = false;

    for (size_t i = 0; i < count; i++)
        has_lock = has_lock || changes[i].is_lock;
    cn_text_printf(out,
                   "assumes that threads wake each other in the same order%s, that other "
                   "waits and those for a processor take as long, and that pre-emption "
                   "is in proportion to running time",
                   has_lock ? ", that processors are free for more threads at a time"
                            : "");
    if (answer->inferred > 0)
        cn_text_printf(out, ", and that %zu %s for the disk or timers, as inferred",
                       answer->inferred,
                       cn_plural(answer->inferred, "wait is", "waits are"));
}
