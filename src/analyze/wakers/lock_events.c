#include "analyze/wakers/lock_events.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"

enum { DEPTH_MAX = 4096, PATH_SHOWN_MAX = 64 };

/* A call that has not returned. */
struct open_call {
    uint32_t function;
    uint32_t path;  /* 0: not yet looked up */
    uint32_t event; /* CN_NONE: it is of no lock */
};

struct event_reading {
    struct cn_lock_events *events;
    const struct cn_recording *rec;
    const struct cn_call_batch *batch;
    uint32_t task;
    struct open_call open[DEPTH_MAX];
    size_t depth;       /* deeper calls are not looked at */
    uint64_t before_ns; /* when the last record of the task was */
    bool is_lost;       /* what followed it was */
};

static uint32_t path_of(struct event_reading *r, size_t depth)
{
    struct cn_lock_events *events = r->events;
    size_t known = depth;

    while (known > 0 && r->open[known - 1].path == 0)
        known--;
    uint32_t path = known > 0 ? r->open[known - 1].path : 0;
    for (; known < depth; known++) {
        uint64_t key = (uint64_t)path << 32 | r->open[known].function;
        uint32_t at = *cn_map_at(&events->path_of, key, (uint32_t)events->path_count);

        if (at == events->path_count)
            CN_PUSH(events->paths, events->path_count, events->path_capacity,
                    (struct cn_lock_path){path, r->open[known].function});
        path = r->open[known].path = at;
    }
    return path;
}

/* Argument `index`; 0: it was not recorded. */
static uint64_t argument(const struct event_reading *r, const struct cn_call *call,
                         unsigned index)
{
    struct cn_call_values values;
    struct cn_call_value value;

    cn_call_values_begin(&values, r->rec, r->batch, call);
    while (cn_call_values_next(&values, &value))
        if (value.spec->index == index && !value.spec->is_float)
            return cn_call_value_number(&values, &value);
    return 0;
}

static void enter(struct event_reading *r, const struct cn_call *call)
{
    const struct cn_lock_call *lock = call->function < r->rec->function_count
                                          ? r->events->call_of[call->function]
                                          : NULL;
    struct open_call *open = &r->open[r->depth];

    *open = (struct open_call){.function = call->function, .event = CN_NONE};
    r->depth++;
    if (!lock)
        return;
    uint64_t address = argument(r, call, 1);
    if (address == 0) {
        r->events->without_address++;
        return;
    }
    open->event = (uint32_t)r->events->count;
    CN_PUSH(r->events->list, r->events->count, r->events->capacity,
            (struct cn_lock_event){
                .call = lock,
                .address = address,
                .second = lock->action == CN_LOCK_SLEEPS ? argument(r, call, 2) : 0,
                .begin_ns = call->time_ns,
                .end_ns = UINT64_MAX,
                .pid = r->rec->tasks[r->task].pid,
                .task = r->task,
                .path = path_of(r, r->depth),
            });
}

static void leave(struct event_reading *r, const struct cn_call *call)
{
    struct cn_lock_event *event;

    if (r->depth == 0 || r->open[--r->depth].event == CN_NONE)
        return;
    event = &r->events->list[r->open[r->depth].event];
    event->end_ns = call->time_ns;
    if (event->call->action == CN_LOCK_TRIES ||
        event->call->action == CN_LOCK_TRIES_SHARED) {
        struct cn_call_values values;
        struct cn_call_value value;

        cn_call_values_begin(&values, r->rec, r->batch, call);
        event->has_failed = !cn_call_values_next(&values, &value) ||
                            cn_call_value_number(&values, &value) != 0;
    }
}

/* Records are missing from the last one of the task to the next. */
static void begin_loss(struct event_reading *r)
{
    while (r->depth > 0)
        if (r->open[--r->depth].event != CN_NONE)
            r->events->list[r->open[r->depth].event].is_cut = true;
    if (!r->is_lost)
        CN_PUSH(r->events->losses, r->events->loss_count, r->events->loss_capacity,
                (struct cn_lock_loss){r->before_ns, UINT64_MAX, r->task});
    r->is_lost = true;
}

static void take(struct event_reading *r, const struct cn_call *call, size_t *skipped)
{
    if (call->time_ns > r->events->last_ns)
        r->events->last_ns = call->time_ns;
    if (call->kind == CN_CALL_LOST) {
        begin_loss(r);
        *skipped = 0;
        return;
    }
    if (r->is_lost)
        r->events->losses[r->events->loss_count - 1].end_ns = call->time_ns;
    r->is_lost = false;
    r->before_ns = call->time_ns;
    if (call->kind == CN_CALL_ENTER && r->depth < DEPTH_MAX && *skipped == 0)
        enter(r, call);
    else if (call->kind == CN_CALL_ENTER)
        ++*skipped;
    else if (call->kind == CN_CALL_EXIT && *skipped > 0)
        --*skipped;
    else if (call->kind == CN_CALL_EXIT)
        leave(r, call);
}

static bool read_task(struct event_reading *r, uint32_t task, struct cn_error *err)
{
    struct cn_call_stream *stream;
    struct cn_call_batch batch;
    struct cn_error damage;
    size_t skipped = 0;

    r->task = task;
    r->depth = 0;
    r->before_ns = 0;
    r->is_lost = false;
    r->batch = &batch;
    if (!cn_recording_stream_open(r->rec, task, cn_time_always, &stream, err))
        return false;
    while (cn_call_stream_next(stream, &batch, &damage) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            take(r, &batch.calls[i], &skipped);
    cn_call_stream_close(stream);
    return true;
}

bool cn_lock_events_read(struct cn_lock_events *out, const struct cn_recording *rec,
                         struct cn_error *err)
{
    struct event_reading *r = cn_alloc(1, sizeof(*r));
    bool ok = true;

    *out = (struct cn_lock_events){
        .rec = rec,
        .call_of = cn_alloc((size_t)rec->function_count + 1, sizeof(*out->call_of)),
    };
    for (uint32_t i = 0; i < rec->function_count; i++)
        out->call_of[i] = cn_lock_call_find(rec->functions[i].name);
    CN_PUSH(out->paths, out->path_count, out->path_capacity,
            (struct cn_lock_path){0, CN_NONE});
    r->events = out;
    r->rec = rec;
    for (uint32_t i = 0; ok && i < rec->task_count; i++)
        if (!rec->tasks[i].is_stream && !rec->tasks[i].is_ranges)
            ok = read_task(r, i, err);
    CN_SORT(out->list, out->count, CN_UP(struct cn_lock_event, pid),
            CN_UP(struct cn_lock_event, address), CN_UP(struct cn_lock_event, begin_ns),
            CN_UP(struct cn_lock_event, task));
    free(r);
    return ok;
}

void cn_lock_events_done(struct cn_lock_events *events)
{
    free(events->list);
    free(events->paths);
    free(events->call_of);
    free(events->losses);
    cn_map_done(&events->path_of);
    *events = (struct cn_lock_events){0};
}

/* Losses are in the order of tasks, then of time: where one is looked for. */
struct loss_search {
    const struct cn_lock_loss *losses;
    uint32_t task;
};

static bool is_loss_before(const void *data, uint64_t at, uint64_t time_ns)
{
    const struct loss_search *search = data;
    const struct cn_lock_loss *loss = &search->losses[at];

    return loss->task < search->task ||
           (loss->task == search->task && loss->begin_ns < time_ns);
}

const struct cn_lock_loss *cn_lock_events_loss(const struct cn_lock_events *events,
                                               uint32_t task, uint64_t after_ns)
{
    struct loss_search search = {events->losses, task};
    size_t at =
        (size_t)cn_search(0, events->loss_count, is_loss_before, &search, after_ns);

    return at < events->loss_count && events->losses[at].task == task
               ? &events->losses[at]
               : NULL;
}

void cn_lock_path_print(const struct cn_lock_events *events, uint32_t path, bool is_whole,
                        struct cn_text *out)
{
    const char *names[PATH_SHOWN_MAX];
    size_t count = 0, most = is_whole ? PATH_SHOWN_MAX : 2;

    for (; path != 0 && count < most; path = events->paths[path].parent) {
        uint32_t function = events->paths[path].function;

        names[count++] = function < events->rec->function_count
                             ? events->rec->functions[function].name
                             : "[unknown]";
    }
    if (path != 0 && is_whole)
        cn_text_str_add(out, "... → ");
    while (count-- > 0)
        cn_text_printf(out, "%s%s", names[count], count > 0 ? " → " : "");
}
