#include "analyze/wakers/saved_time.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/timeline/spans.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "base/search.h"
#include "model/contexts/database.h"
#include "model/thread_states.h"

/* The states of one thread, while its samples are visited. */
struct saved_walk {
    struct cn_saved_time *saved;
    const struct cn_frames *frames;
    const double *shares;
    const struct cn_thread_states *states;
    int64_t before_ns;
    size_t first;     /* state whose context is not known yet */
    size_t at;        /* state at which the samples are */
    uint64_t done_ns; /* of that state, the context is known up to here */
    double share;     /* of the last sample */
    bool is_sampled;  /* the thread has had one */
};

static double share_of(const struct saved_walk *walk, uint32_t context)
{
    return context != 0 ? walk->shares[cn_frames_find(walk->frames, context)] : 1;
}

static void save(struct saved_walk *walk, uint64_t begin_ns, uint64_t end_ns,
                 double share)
{
    struct cn_saving saving = {begin_ns, walk->before_ns, 1 - share};

    if (begin_ns >= end_ns || !(share < 1))
        return;
    CN_PUSH(walk->saved->list, walk->saved->count, walk->saved->capacity, saving);
    walk->before_ns += llround(saving.share * (double)(end_ns - begin_ns));
}

static void save_state(struct saved_walk *walk, size_t at, double share)
{
    struct cn_state_change change = cn_thread_states_at(walk->states, at);

    if (change.state == CN_TASK_RUNNING)
        save(walk, change.time_ns, cn_thread_states_at(walk->states, at + 1).time_ns,
             share);
}

/* At `at`, the thread was seen in a context: states before it without a sample are like it. */
static void see(struct saved_walk *walk, double share)
{
    for (; walk->first < walk->at; walk->first++)
        save_state(walk, walk->first, share);
    walk->share = share;
    walk->is_sampled = true;
}

/* Go to the next state. */
static void leave_state(struct saved_walk *walk)
{
    struct cn_state_change change = cn_thread_states_at(walk->states, walk->at);
    uint64_t end_ns = cn_thread_states_at(walk->states, walk->at + 1).time_ns;

    if (change.state == CN_TASK_PREEMPTED) {
        see(walk, share_of(walk, change.context));
        save(walk, change.time_ns, end_ns, walk->share);
        walk->first = walk->at + 1;
    } else if (walk->done_ns > change.time_ns) {
        save(walk, walk->done_ns, end_ns, walk->share);
        walk->first = walk->at + 1;
    }
    walk->at++;
    walk->done_ns = end_ns;
}

/* The sample of the wait that follows says where the thread stops, not where it has run. */
static bool is_stop(const struct cn_state_change *next, uint32_t context)
{
    return next->state == CN_TASK_BLOCKED && next->context == context;
}

static void add_span(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct saved_walk *walk = arg;

    while (walk->at + 1 < walk->states->count) {
        struct cn_state_change change = cn_thread_states_at(walk->states, walk->at);
        struct cn_state_change next = cn_thread_states_at(walk->states, walk->at + 1);
        uint64_t from_ns = begin_ns > change.time_ns ? begin_ns : change.time_ns;
        uint64_t to_ns = end_ns < next.time_ns ? end_ns : next.time_ns;

        /* For its first nanosecond, a thread is shown where it has waited. */
        if (change.state == CN_TASK_RUNNING && context != 0 && from_ns + 1 < to_ns &&
            !is_stop(&next, context)) {
            see(walk, share_of(walk, context));
            save(walk, walk->done_ns, to_ns, walk->share);
            walk->done_ns = to_ns;
        }
        if (end_ns < next.time_ns)
            break;
        leave_state(walk);
    }
}

/* After the last sample. A thread without any has run where it stopped. */
static void finish(struct saved_walk *walk)
{
    while (walk->at + 1 < walk->states->count)
        leave_state(walk);
    for (; walk->first < walk->at; walk->first++)
        save_state(
            walk, walk->first,
            walk->is_sampled
                ? walk->share
                : share_of(walk,
                           cn_thread_states_at(walk->states, walk->first + 1).context));
}

static bool saves_any(const struct cn_frames *frames, const double *shares)
{
    for (size_t i = 0; i < frames->count; i++)
        if (shares[i] < 1)
            return true;
    return false;
}

bool cn_saved_time_build(struct cn_saved_time *out, struct cn_database *db,
                         const struct cn_frames *frames, const double *shares,
                         struct cn_error *err)
{
    bool saves = saves_any(frames, shares);

    *out = (struct cn_saved_time){
        .first_of = cn_alloc((size_t)db->profile_count + 1, sizeof(*out->first_of))};
    for (uint32_t i = 0; i < db->profile_count; i++) {
        struct saved_walk walk = {
            .saved = out, .frames = frames, .shares = shares, .states = &db->states[i]};

        out->first_of[i] = out->count;
        if (!saves || walk.states->count < 2)
            continue;
        walk.done_ns = cn_thread_states_begin(walk.states);
        if (!cn_spans_visit(db, i, 0, UINT64_MAX, add_span, &walk, err))
            return false;
        finish(&walk);
        CN_PUSH(out->list, out->count, out->capacity,
                (struct cn_saving){UINT64_MAX, walk.before_ns, 0});
    }
    out->first_of[db->profile_count] = out->count;
    return true;
}

void cn_saved_time_done(struct cn_saved_time *saved)
{
    free(saved->list);
    free(saved->first_of);
    *saved = (struct cn_saved_time){0};
}

static bool begins_before(const void *data, uint64_t at, uint64_t time_ns)
{
    const struct cn_saving *list = data;

    return list[at].begin_ns < time_ns;
}

int64_t cn_saved_until(const struct cn_saved_time *saved, uint32_t profile,
                       uint64_t time_ns)
{
    size_t first = saved->first_of[profile];
    size_t at = (size_t)cn_search(first, saved->first_of[profile + 1], begins_before,
                                  saved->list, time_ns);

    if (at == first)
        return 0;
    const struct cn_saving *last = &saved->list[at - 1];
    double ns = last->share * (double)(time_ns - last->begin_ns);
    int64_t most_ns = saved->list[at].before_ns - last->before_ns;
    return last->before_ns + (ns < (double)most_ns ? llround(ns) : most_ns);
}
