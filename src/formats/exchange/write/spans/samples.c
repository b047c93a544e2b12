#include "formats/exchange/write/spans/samples.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/calls/defaults.h"
#include "analyze/timeline/spans.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/calls/recording_memory.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

/* Deeper calls are left out: recorded depths have 16 bits. */
enum { DEPTH_MAX = 1024 };

struct sampled_task {
    uint32_t profile, pid, tid;
    bool is_stream; /* of a GPU */
};

struct sampled_calls {
    struct cn_export *x;
    struct cn_database *db;
    struct cn_frames frames;
    struct cn_memory_recording *m;
    struct sampled_task *tasks; /* by tid */
    size_t task_count;
    uint32_t *task_of; /* by profile; CN_NONE: none */

    /* Of the task that is being read. */
    uint32_t task;
    uint32_t open[DEPTH_MAX]; /* frames, outermost first */
    uint32_t depth;
    uint64_t end_ns;
    const struct cn_thread_states *states;
    size_t next_state;
    bool is_waiting;
};

static uint64_t number_of(const struct cn_database *db, const struct cn_profile *profile,
                          const char *kind)
{
    for (size_t i = 0; i < profile->identity.count; i++)
        if (strcmp(db->kinds.list[profile->identity.ids[i].kind], kind) == 0)
            return profile->identity.ids[i].physical;
    return UINT64_MAX;
}

/* Threads have the numbers of the system, unless two have the same, or one has none: then those of their
 * profiles. */
static void number_tasks(struct sampled_calls *calls)
{
    struct cn_map seen = {0};
    bool is_unique = true;

    for (size_t i = 0; i < calls->task_count; i++) {
        is_unique = is_unique && calls->tasks[i].tid != UINT32_MAX &&
                    cn_map_find(&seen, calls->tasks[i].tid, 0) == 0;
        *cn_map_at(&seen, calls->tasks[i].tid, 0) = 1;
    }
    for (size_t i = 0; i < calls->task_count && !is_unique; i++)
        calls->tasks[i].tid = calls->tasks[i].profile;
    cn_map_done(&seen);
    CN_SORT(calls->tasks, calls->task_count, CN_UP(struct sampled_task, tid));
}

static bool find_tasks(struct sampled_calls *calls, struct cn_error *err)
{
    struct cn_database *db = calls->db;

    calls->tasks = cn_alloc(db->profile_count, sizeof(*calls->tasks));
    calls->task_of = cn_alloc(db->profile_count, sizeof(*calls->task_of));
    for (uint32_t i = 0; i < db->profile_count; i++) {
        struct cn_profile profile;
        struct cn_timeline timeline;

        calls->task_of[i] = CN_NONE;
        if (!cn_database_profile(db, i, &profile, err) ||
            !cn_timeline_open(db, i, &timeline, err))
            return false;
        if (profile.is_summary || timeline.count == 0)
            continue;
        uint64_t pid = number_of(db, &profile, "PROCESS"),
                 tid = number_of(db, &profile, "THREAD");
        calls->tasks[calls->task_count++] = (struct sampled_task){
            .profile = i,
            .pid = pid < UINT32_MAX ? (uint32_t)pid : 1,
            .tid = tid < UINT32_MAX ? (uint32_t)tid : UINT32_MAX,
            .is_stream = number_of(db, &profile, "GPUSTREAM") != UINT64_MAX,
        };
    }
    number_tasks(calls);
    return true;
}

static void add_functions(struct sampled_calls *calls)
{
    uint32_t module = cn_memory_recording_add_module(calls->m, calls->db->title, "");

    for (uint32_t i = 0; i < calls->frames.names.count; i++) {
        const char *name = calls->frames.names.list[i];

        (void)cn_memory_recording_add_function(calls->m,
                                               (struct cn_call_function){.name = name,
                                                                         .raw_name = name,
                                                                         .module = module,
                                                                         .type = 'T',
                                                                         .offset = i,
                                                                         .size = 1,
                                                                         .file = ""});
    }
}

static bool add_tasks(struct sampled_calls *calls, struct cn_error *err)
{
    struct cn_text name = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < calls->task_count; i++) {
        struct sampled_task *task = &calls->tasks[i];
        struct cn_profile profile;

        ok = cn_database_profile(calls->db, task->profile, &profile, err);
        cn_text_clear(&name);
        if (ok && profile.name && *profile.name)
            cn_text_str_add(&name, profile.name);
        else if (ok)
            cn_identity_print(&profile.identity, &calls->db->kinds, &name);
        calls->task_of[task->profile] = cn_memory_recording_add_task(
            calls->m, (struct cn_task){.tid = task->tid,
                                       .pid = task->pid,
                                       .parent = CN_NONE,
                                       .name = cn_text_str(&name),
                                       .has_file = true});
    }
    cn_text_done(&name);
    return ok;
}

static void add_call(struct sampled_calls *calls, struct cn_call call)
{
    cn_memory_recording_add_call(calls->m, calls->task, call, (struct cn_bytes){0});
}

static void close_calls(struct sampled_calls *calls, uint32_t depth, uint64_t time_ns)
{
    while (calls->depth > depth) {
        uint32_t frame = calls->open[--calls->depth];

        add_call(calls, (struct cn_call){.time_ns = time_ns,
                                         .function = calls->frames.list[frame].place,
                                         .depth = (uint16_t)calls->depth,
                                         .kind = CN_CALL_EXIT});
    }
}

/* The frames from the outermost function to that of a context; entry points are no calls. */
static uint32_t stack_of(const struct sampled_calls *calls, uint32_t context,
                         uint32_t *stack)
{
    const struct cn_frame *list = calls->frames.list;
    uint32_t frame = context != 0 ? cn_frames_find(&calls->frames, context) : CN_NONE;
    uint32_t count;

    while (frame != CN_NONE && list[frame].depth > DEPTH_MAX)
        frame = list[frame].parent;
    count = frame != CN_NONE ? list[frame].depth : 0;
    /* What launched an operation is shown in the track of its thread. */
    if (count > 0 && calls->tasks[calls->task].is_stream) {
        stack[0] = frame;
        return 1;
    }
    for (uint32_t i = count; i-- > 0 && frame != CN_NONE; frame = list[frame].parent)
        stack[i] = frame;
    return count;
}

/* Keep the calls that the stacks have in common. */
static void set_stack(struct sampled_calls *calls, uint32_t context, uint64_t time_ns)
{
    uint32_t stack[DEPTH_MAX], count = stack_of(calls, context, stack), same = 0;

    while (same < count && same < calls->depth && calls->open[same] == stack[same])
        same++;
    close_calls(calls, same, time_ns);
    for (; calls->depth < count; calls->depth++) {
        calls->open[calls->depth] = stack[calls->depth];
        add_call(calls, (struct cn_call){
                            .time_ns = time_ns,
                            .function = calls->frames.list[stack[calls->depth]].place,
                            .depth = (uint16_t)calls->depth,
                            .kind = CN_CALL_ENTER});
    }
}

static void add_event(struct sampled_calls *calls, uint64_t time_ns, uint64_t event)
{
    add_call(calls, (struct cn_call){.time_ns = time_ns,
                                     .address = event,
                                     .function = CN_NONE,
                                     .kind = CN_CALL_EVENT});
}

/* The waits that begin or end up to a time. A wait is below the functions in which it is. */
static void add_states(struct sampled_calls *calls, uint64_t until_ns)
{
    const struct cn_thread_states *states = calls->states;

    for (; states && calls->next_state < states->count; calls->next_state++) {
        struct cn_state_change change = cn_thread_states_at(states, calls->next_state);

        if (change.time_ns > until_ns)
            break;
        if (calls->is_waiting)
            add_event(calls, change.time_ns, CN_EVENT_SCHED_IN);
        calls->is_waiting =
            change.state == CN_TASK_BLOCKED || change.state == CN_TASK_PREEMPTED;
        if (!calls->is_waiting)
            continue;
        if (change.context != 0)
            set_stack(calls, change.context, change.time_ns);
        add_event(calls, change.time_ns,
                  change.state == CN_TASK_PREEMPTED ? CN_EVENT_SCHED_OUT_PREEMPT
                                                    : CN_EVENT_SCHED_OUT);
    }
}

static void add_span(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct sampled_calls *calls = arg;

    add_states(calls, begin_ns);
    if (!calls->is_waiting)
        set_stack(calls, context, begin_ns);
    calls->end_ns = end_ns;
}

static bool add_calls(struct sampled_calls *calls, struct cn_error *err)
{
    for (size_t i = 0; i < calls->task_count; i++) {
        uint32_t profile = calls->tasks[i].profile;

        calls->task = (uint32_t)i;
        calls->depth = 0;
        calls->end_ns = 0;
        calls->states = calls->db->states ? &calls->db->states[profile] : NULL;
        calls->next_state = 0;
        calls->is_waiting = false;
        if (!cn_spans_visit(calls->db, profile, 0, UINT64_MAX, add_span, calls, err))
            return false;
        add_states(calls, UINT64_MAX);
        if (calls->states && cn_thread_states_end(calls->states) > calls->end_ns)
            calls->end_ns = cn_thread_states_end(calls->states);
        close_calls(calls, 0, calls->end_ns);
    }
    return true;
}

/* False if it does not fit, or leads from or to what is no task. */
static bool add_flow(struct sampled_calls *calls, uint32_t from, uint32_t to,
                     struct cn_flow flow)
{
    flow.from_task = calls->task_of[from];
    flow.to_task = calls->task_of[to];
    return flow.from_task != CN_NONE && flow.to_task != CN_NONE &&
           cn_memory_recording_add_flow(calls->m, flow);
}

/* Wake-ups by interrupts lead from no thread. */
static void add_flows(struct sampled_calls *calls)
{
    const struct cn_database *db = calls->db;
    uint64_t excess = 0, launch_excess = 0;

    for (size_t i = 0; i < db->wakeups.count; i++) {
        struct cn_wakeup wakeup = cn_wakeups_at(&db->wakeups, i);

        if (cn_wakeup_is_of_thread(&wakeup))
            excess +=
                !add_flow(calls, wakeup.from, wakeup.to,
                          (struct cn_flow){.from_ns = wakeup.time_ns,
                                           .to_ns = cn_wakeup_runs_ns(&wakeup, db->runs),
                                           .name = "wakes"});
    }
    for (size_t i = 0; i < db->launch_count; i++) {
        const struct cn_launch *launch = &db->launches[i];

        launch_excess += launch->to_ns < launch->from_ns ||
                         !add_flow(calls, launch->from_profile, launch->to_profile,
                                   (struct cn_flow){.from_ns = launch->from_ns,
                                                    .to_ns = launch->to_ns,
                                                    .name = "launch"});
    }
    cn_export_lose(calls->x, "wake-ups of threads", excess);
    cn_export_lose(calls->x, "launches of GPU work", launch_excess);
}

static bool build(struct sampled_calls *calls, struct cn_error *err)
{
    if (!calls->db->has_timelines)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "%s has no timelines: %s shows calls over time", calls->db->path,
                       calls->x->format->name);
    if (!cn_frames_build(&calls->frames, calls->db, NULL, err) || !find_tasks(calls, err))
        return false;
    calls->m = cn_memory_recording_new();
    add_functions(calls);
    if (!add_tasks(calls, err) || !add_calls(calls, err))
        return false;
    add_flows(calls);
    return true;
}

bool cn_export_samples(struct cn_export *x, cn_export_fn write, struct cn_error *err)
{
    struct sampled_calls calls = {.x = x, .db = x->db};
    struct cn_recording *rec = NULL;
    struct cn_all_calls all = {0};
    bool ok = build(&calls, err);

    cn_frames_done(&calls.frames);
    free(calls.tasks);
    free(calls.task_of);
    if (ok) {
        rec = cn_memory_recording_finish(calls.m);
        ok = cn_all_calls_init(&all, rec, err);
        all.query.is_raw = true; /* nothing was recorded by calls */
        x->query = &all.query;
        ok = ok && write(x, err);
        x->query = NULL;
        cn_all_calls_done(&all);
        cn_recording_close(rec);
    } else {
        cn_memory_recording_free(calls.m);
    }
    return ok;
}
