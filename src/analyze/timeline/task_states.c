#include "analyze/timeline/task_states.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

void cn_state_clock_init(struct cn_state_clock *clock, struct cn_time_range range)
{
    *clock = (struct cn_state_clock){.range = range, .state = CN_TASK_UNKNOWN};
}

/* The part of a time that is in the range, from its first to its last nanosecond. */
static uint64_t in_range(struct cn_time_range range, uint64_t begin_ns, uint64_t end_ns)
{
    if (begin_ns < range.first_ns)
        begin_ns = range.first_ns;
    if (end_ns > range.last_ns)
        end_ns = range.last_ns;
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* Count what lasted until now. */
static void settle(struct cn_state_clock *clock)
{
    uint64_t ns = in_range(clock->range, clock->since_ns, clock->now_ns);

    clock->since_ns = clock->now_ns;
    if (clock->state == CN_TASK_UNKNOWN)
        return;
    clock->sums.ns[clock->state] += ns;
    if (!clock->is_inside)
        clock->sums.outside_ns[clock->state] += ns;
}

/* A thread has its name before it runs. */
static bool shows_running(const struct cn_call *call)
{
    return call->kind != CN_CALL_LOST &&
           (call->kind != CN_CALL_EVENT ||
            (call->address != CN_EVENT_TASK_NEW && call->address != CN_EVENT_TASK_NAME));
}

static enum cn_task_state state_after(struct cn_state_clock *clock,
                                      const struct cn_call *call)
{
    bool is_event = call->kind == CN_CALL_EVENT;

    if (is_event &&
        (call->address == CN_EVENT_SCHED_IN || call->address == CN_EVENT_SCHED_OUT ||
         call->address == CN_EVENT_SCHED_OUT_PREEMPT)) {
        clock->has_events = true;
        return call->address == CN_EVENT_SCHED_IN    ? CN_TASK_RUNNING
               : call->address == CN_EVENT_SCHED_OUT ? CN_TASK_BLOCKED
                                                     : CN_TASK_PREEMPTED;
    }
    return clock->state == CN_TASK_UNKNOWN && shows_running(call) ? CN_TASK_RUNNING
                                                                  : clock->state;
}

static bool inside_after(const struct cn_state_clock *clock, const struct cn_call *call)
{
    switch ((enum cn_call_kind)call->kind) {
    case CN_CALL_ENTER:
        return true;
    case CN_CALL_EXIT:
        return call->depth > 0;
    case CN_CALL_EVENT:
        return clock->is_inside && call->address != CN_EVENT_TASK_EXIT;
    case CN_CALL_LOST:
        break;
    }
    return clock->is_inside;
}

bool cn_state_clock_take(struct cn_state_clock *clock, const struct cn_call *call)
{
    enum cn_task_state state = state_after(clock, call);
    bool is_inside = inside_after(clock, call), is_changed = state != clock->state;

    if (call->time_ns > clock->now_ns)
        clock->now_ns = call->time_ns;
    if (is_changed || is_inside != clock->is_inside)
        settle(clock);
    if (clock->state == CN_TASK_UNKNOWN)
        clock->first_ns = clock->now_ns;
    clock->state = state;
    clock->is_inside = is_inside;
    return is_changed;
}

void cn_state_clock_end(struct cn_state_clock *clock)
{
    settle(clock);
}

void cn_wall_time_add(struct cn_wall_time *wall, uint64_t first_ns, uint64_t last_ns)
{
    bool is_first = wall->end_ns == 0;

    if (last_ns == 0)
        return; /* it has no records */
    if (is_first || first_ns < wall->begin_ns)
        wall->begin_ns = first_ns;
    if (is_first || last_ns > wall->end_ns)
        wall->end_ns = last_ns;
}

void cn_state_sums_fill(struct cn_state_sums *sums, uint64_t wall_ns)
{
    uint64_t known_ns = 0;

    for (unsigned i = 0; i < CN_TASK_UNKNOWN; i++)
        known_ns += sums->ns[i];
    sums->ns[CN_TASK_UNKNOWN] = wall_ns > known_ns ? wall_ns - known_ns : 0;
}

struct states_build {
    const struct cn_recording *rec;
    const struct cn_progress *progress;
    struct cn_state_clock *clocks; /* by task */
    bool is_stopped;
    struct cn_error err;
};

static void read_task(void *arg, size_t task, unsigned worker)
{
    const struct states_build *build = arg;
    struct cn_state_clock *clock = &build->clocks[task];
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error ignored; /* damage ends the reading; `take` asks again for a stop */

    (void)worker;
    if (!cn_recording_stream_open(build->rec, (uint32_t)task, cn_time_always, &stream,
                                  &ignored))
        return;
    while (cn_progress_check(build->progress, "reading states", &ignored) &&
           cn_call_stream_next(stream, &batch, &ignored) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            (void)cn_state_clock_take(clock, &batch.calls[i]);
    cn_state_clock_end(clock);
    cn_call_stream_close(stream);
}

static void take_task(void *arg, size_t task, unsigned worker)
{
    struct states_build *build = arg;

    (void)worker;
    if (!build->is_stopped)
        build->is_stopped =
            !cn_progress_report(build->progress, "reading states", task + 1,
                                build->rec->task_count, "tasks", &build->err);
}

static void collect(struct cn_task_states *out, const struct states_build *build,
                    struct cn_time_range range)
{
    struct cn_wall_time wall = {0};

    for (size_t i = 0; i < out->count; i++) {
        const struct cn_state_clock *clock = &build->clocks[i];

        out->is_known |= clock->has_events;
        cn_wall_time_add(&wall, clock->first_ns, clock->now_ns);
    }
    out->wall_ns = in_range(range, wall.begin_ns, wall.end_ns);
    for (size_t i = 0; i < out->count; i++) {
        out->list[i] = build->clocks[i].sums;
        cn_state_sums_fill(&out->list[i], out->wall_ns);
    }
}

bool cn_task_states_build(struct cn_task_states *out, const struct cn_recording *rec,
                          struct cn_time_range range, unsigned workers,
                          const struct cn_progress *progress, struct cn_error *err)
{
    struct states_build build = {.rec = rec, .progress = progress};

    build.clocks = cn_alloc(rec->task_count, sizeof(*build.clocks));
    for (uint32_t i = 0; i < rec->task_count; i++)
        cn_state_clock_init(&build.clocks[i], range);
    cn_pool_run(&(struct cn_jobs){rec->task_count, &build, read_task, take_task, NULL},
                workers > 0 ? workers : cn_pool_default_workers());
    *out = (struct cn_task_states){0};
    if (build.is_stopped) {
        *err = build.err;
    } else {
        out->list = cn_alloc(rec->task_count, sizeof(*out->list));
        out->count = rec->task_count;
        collect(out, &build, range);
    }
    free(build.clocks);
    return !build.is_stopped;
}

void cn_task_states_done(struct cn_task_states *states)
{
    free(states->list);
    *states = (struct cn_task_states){0};
}
