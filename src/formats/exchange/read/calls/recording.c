#include "formats/exchange/read/calls/recording.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "base/sort.h"
#include "formats/exchange/read/calls/import.h"
#include "model/calls/recording_memory.h"
#include "model/calls/values.h"
#include "model/gpu/work.h"

enum { FUNCTION_LEN = 16, RECORD_LEN = 16, BATCH = 512, VALUE_LEN = 8 };

struct recording {
    struct cn_recording rec;
    struct cn_recording *tables; /* all except the calls */
    struct cn_call_tracks tracks;
    uint64_t base_ns;
    struct cn_gpu_work *gpu;
    uint32_t blocked, preempted; /* names of waiting, as uftrace and cairn write it */
};

struct import_open_call {
    uint64_t end_ns; /* CN_CALL_BEGIN: unknown */
    uint32_t function;
    bool has_end_item; /* an item of the track ends it */
};

struct stream {
    struct cn_call_stream base;
    struct cn_time_range range;
    struct cn_run_merge *merge;
    struct cn_run_merge *readings; /* NULL: none */
    struct import_open_call *open;
    size_t depth, capacity;
    size_t waiting; /* open items that are waiting, not calls */
    size_t leaving; /* number of calls to end at leave_ns */
    uint64_t leave_ns;
    bool is_over;
    struct cn_call calls[BATCH];
    size_t count;
    uint8_t values[BATCH][VALUE_LEN]; /* of readings, by index of the call */
};

static bool is_waiting(const struct stream *s, uint32_t function)
{
    const struct recording *r = (const struct recording *)s->base.rec;

    return function == r->blocked || function == r->preempted;
}

static void emit(struct stream *s, enum cn_call_kind kind, uint64_t time_ns,
                 uint32_t function)
{
    const struct recording *r = (const struct recording *)s->base.rec;
    uint64_t at_ns = time_ns + r->base_ns;
    size_t depth = s->depth - s->waiting;

    if (at_ns < s->range.first_ns || at_ns > s->range.last_ns)
        return;
    if (is_waiting(s, function)) {
        s->calls[s->count++] = (struct cn_call){
            .time_ns = at_ns,
            .address = kind == CN_CALL_EXIT       ? CN_EVENT_SCHED_IN
                       : function == r->preempted ? CN_EVENT_SCHED_OUT_PREEMPT
                                                  : CN_EVENT_SCHED_OUT,
            .function = CN_NONE,
            .depth = (uint16_t)depth,
            .kind = CN_CALL_EVENT,
        };
        return;
    }
    s->calls[s->count++] = (struct cn_call){
        .time_ns = at_ns,
        .address = (uint64_t)function * FUNCTION_LEN,
        .function = function,
        .depth = (uint16_t)depth,
        .kind = (uint8_t)kind,
    };
}

static void leave(struct stream *s, uint64_t time_ns)
{
    uint32_t function = s->open[--s->depth].function;

    s->waiting -= is_waiting(s, function);
    emit(s, CN_CALL_EXIT, time_ns, function);
}

static bool enter(struct stream *s, const struct cn_imported_call *item,
                  struct cn_error *err)
{
    bool has_end_item = item->duration_ns == CN_CALL_BEGIN;
    uint64_t end_ns = has_end_item ? CN_CALL_BEGIN : item->time_ns + item->duration_ns;
    uint64_t outer_ns = s->depth > 0 ? s->open[s->depth - 1].end_ns : CN_CALL_BEGIN;

    if (s->depth == CN_CALL_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "calls nest deeper than %d", CN_CALL_DEPTH_MAX);
    CN_GROW(s->open, s->depth, s->capacity);
    s->open[s->depth] = (struct import_open_call){
        .end_ns = end_ns < outer_ns ? end_ns : outer_ns,
        .function = item->name,
        .has_end_item = has_end_item,
    };
    emit(s, CN_CALL_ENTER, item->time_ns, item->name);
    s->depth++;
    s->waiting += is_waiting(s, item->name);
    return true;
}

static void emit_reading(struct stream *s, const struct cn_imported_call *item)
{
    const struct recording *r = (const struct recording *)s->base.rec;
    uint64_t at_ns = item->time_ns + r->base_ns;

    if (at_ns < s->range.first_ns || at_ns > s->range.last_ns)
        return;
    cn_f64_put(s->values[s->count], item->value);
    s->calls[s->count] = (struct cn_call){
        .time_ns = at_ns,
        .address = CN_EVENT_COUNTER + item->name,
        .function = CN_NONE,
        .depth = (uint16_t)(s->depth - s->waiting),
        .kind = CN_CALL_EVENT,
        .flags = CN_CALL_HAS_DATA,
        .data_off = (uint32_t)(s->count * VALUE_LEN),
        .data_len = VALUE_LEN,
    };
    s->count++;
}

/* The next reading before or at a time; CN_END if there is none. */
static enum cn_step read_counter(struct stream *s, uint64_t time_ns, struct cn_error *err)
{
    const struct cn_imported_call *item;

    if (!s->readings)
        return CN_END;
    enum cn_step step = cn_run_merge_peek(s->readings, &item, err);
    if (step != CN_ITEM)
        return step;
    if (item->time_ns > time_ns)
        return CN_END;
    emit_reading(s, item);
    cn_run_merge_take(s->readings);
    return CN_ITEM;
}

/* One step: a reading, a call that ends, or the next item. */
static enum cn_step advance(struct stream *s, struct cn_error *err)
{
    const struct recording *r = (const struct recording *)s->base.rec;
    const struct cn_imported_call *item = NULL;
    enum cn_step step;
    enum cn_step reading;
    size_t at;

    if (s->leaving > 0) {
        reading = read_counter(s, s->leave_ns, err);
        if (reading != CN_END)
            return reading;
        s->leaving--;
        leave(s, s->leave_ns);
        return CN_ITEM;
    }
    while ((step = cn_run_merge_peek(s->merge, &item, err)) == CN_ITEM &&
           cn_call_tracks_moved(&r->tracks, item->order))
        cn_run_merge_take(s->merge);
    if (step == CN_FAIL)
        return step;
    if (s->depth > 0) {
        uint64_t end_ns = s->open[s->depth - 1].end_ns;

        if (step == CN_END && end_ns == CN_CALL_BEGIN)
            end_ns = r->tracks.list[s->base.task].last_ns;
        if (step == CN_END || end_ns <= item->time_ns) {
            reading = read_counter(s, end_ns, err);
            if (reading != CN_END)
                return reading;
            leave(s, end_ns);
            return CN_ITEM;
        }
    }
    reading = read_counter(s, step == CN_END ? UINT64_MAX : item->time_ns, err);
    if (reading != CN_END || step == CN_END)
        return reading;
    if (item->name != CN_NONE) {
        if (!enter(s, item, err))
            return CN_FAIL;
    } else {
        /* An end: of the innermost call without a duration, and of the calls inside it. */
        for (at = s->depth; at > 0 && !s->open[at - 1].has_end_item;)
            at--;
        s->leaving = at > 0 ? s->depth - at + 1 : 0;
        s->leave_ns = item->time_ns;
    }
    cn_run_merge_take(s->merge);
    return CN_ITEM;
}

static enum cn_step stream_next(struct cn_call_stream *stream, struct cn_call_batch *out,
                                struct cn_error *err)
{
    struct stream *s = (struct stream *)stream;
    enum cn_step step = CN_ITEM;

    s->count = 0;
    while (!s->is_over && step == CN_ITEM && s->count < BATCH)
        step = advance(s, err);
    if (step == CN_FAIL)
        return step;
    s->is_over = s->is_over || step == CN_END;
    if (s->count == 0)
        return CN_END;
    *out = (struct cn_call_batch){
        .calls = s->calls, .count = s->count, .data = {s->values[0], sizeof(s->values)}};
    return CN_ITEM;
}

static bool stream_open(const struct cn_recording *rec, uint32_t task,
                        struct cn_time_range range, struct cn_call_stream **out,
                        struct cn_error *err)
{
    const struct recording *r = (const struct recording *)rec;
    struct stream *s = cn_alloc(1, sizeof(*s));

    (void)err;
    s->base = (struct cn_call_stream){.rec = rec, .task = task};
    s->range = range;
    s->merge = cn_run_merge_new(&r->tracks.list[task].runs, &r->tracks.spool);
    if (r->tracks.list[task].readings.count > 0 ||
        r->tracks.list[task].readings.item_count > 0)
        s->readings = cn_run_merge_new(&r->tracks.list[task].readings, &r->tracks.spool);
    *out = &s->base;
    return true;
}

static void stream_close(struct cn_call_stream *stream)
{
    struct stream *s = (struct stream *)stream;

    cn_run_merge_free(s->merge);
    if (s->readings)
        cn_run_merge_free(s->readings);
    free(s->open);
    free(s);
}

static uint32_t find_function(const struct cn_recording *rec, uint32_t task,
                              uint64_t time_ns, uint64_t address)
{
    (void)task;
    (void)time_ns;
    return address / FUNCTION_LEN < rec->function_count
               ? (uint32_t)(address / FUNCTION_LEN)
               : CN_NONE;
}

static void close_recording(struct cn_recording *rec)
{
    struct recording *r = (struct recording *)rec;

    cn_call_tracks_done(&r->tracks);
    cn_gpu_work_free(r->gpu);
    cn_arena_done(&r->rec.arena);
    cn_recording_close(r->tables);
    free(r);
}

static const struct cn_recording_ops ops = {
    .stream_open = stream_open,
    .stream_next = stream_next,
    .stream_close = stream_close,
    .find_function = find_function,
    .close = close_recording,
};

void cn_call_tracks_done(struct cn_call_tracks *tracks)
{
    for (size_t i = 0; i < tracks->count; i++) {
        cn_call_runs_done(&tracks->list[i].runs);
        cn_call_runs_done(&tracks->list[i].readings);
        free(tracks->list[i].name);
    }
    free(tracks->list);
    free(tracks->moved);
    cn_spool_close(&tracks->spool);
    *tracks = (struct cn_call_tracks){0};
}

static uint64_t count_of(const struct cn_call_runs *runs)
{
    uint64_t count = runs->item_count;

    for (size_t i = 0; i < runs->count; i++)
        count += runs->list[i].count;
    return count;
}

/* A recording with all tables and no calls. */
static struct cn_recording *make_tables(const char *module, const struct cn_names *names,
                                        struct cn_located_list located,
                                        const struct cn_names *counters,
                                        const struct cn_call_tracks *tracks,
                                        uint64_t base_ns)
{
    struct cn_memory_recording *m = cn_memory_recording_new();
    uint32_t number = cn_memory_recording_add_module(m, module, "");
    uint32_t session = cn_memory_recording_add_session(
        m, "0000000000000001", tracks->count > 0 ? tracks->list[0].pid : 1, 0, module);

    for (size_t i = 0; i < names->count; i++) {
        bool is_located = located.count > 0 && located.list->number == i;
        const char *name = is_located ? located.list->name : names->list[i];

        (void)cn_memory_recording_add_function(
            m, (struct cn_call_function){
                   .name = name,
                   .raw_name = name,
                   .module = number,
                   .type = 'T',
                   .offset = (uint64_t)i * FUNCTION_LEN,
                   .size = FUNCTION_LEN,
                   .file = is_located ? located.list->file : "",
                   .line = is_located ? located.list->line : 0,
               });
        located.list += is_located;
        located.count -= is_located;
    }
    for (size_t i = 0; i < counters->count; i++)
        cn_memory_recording_add_event_name(m, CN_EVENT_COUNTER + i, counters->list[i]);
    cn_memory_recording_add_mapping(
        m, session,
        (struct cn_mapping){0, (uint64_t)names->count * FUNCTION_LEN + 1, 0, number,
                            "r-xp"});
    for (size_t i = 0; i < tracks->count; i++) {
        const struct cn_call_track *track = &tracks->list[i];
        bool is_empty = track->start_ns == UINT64_MAX;
        uint32_t task = cn_memory_recording_add_task(
            m, (struct cn_task){
                   .tid = track->tid,
                   .pid = track->pid,
                   .parent = CN_NONE,
                   .name = track->name,
                   .time_ns = is_empty ? 0 : track->start_ns + base_ns,
                   .has_session = i == 0,
                   .has_file = true,
                   .is_stream = track->is_stream,
               });

        cn_memory_recording_add_task_session(m, task, 0, session);
    }
    return cn_memory_recording_finish(m);
}

/* The name of an event; the number of names if there is none. */
static uint32_t find_event(const struct recording *r, const struct cn_names *names,
                           uint64_t event)
{
    const char *name = cn_recording_event_name(&r->rec, event);
    uint32_t i = 0;

    while (i < names->count && strcmp(names->list[i], name) != 0)
        i++;
    return i;
}

struct cn_recording *cn_call_recording_new(const char *module,
                                           const struct cn_names *names,
                                           struct cn_located_list located,
                                           const struct cn_names *counters,
                                           struct cn_call_tracks *tracks,
                                           struct cn_gpu_work *gpu, uint64_t base_ns)
{
    struct recording *r = cn_alloc(1, sizeof(*r));

    CN_SORT(tracks->list, tracks->count, CN_UP(struct cn_call_track, tid));
    r->tables = make_tables(module, names, located, counters, tracks, base_ns);
    r->rec = *r->tables;
    r->rec.ops = &ops;
    r->rec.arena = (struct cn_arena){0};
    r->tracks = *tracks;
    r->base_ns = base_ns;
    r->gpu = gpu;
    r->rec.gpu = gpu;
    r->blocked = find_event(r, names, CN_EVENT_SCHED_BOTH);
    r->preempted = find_event(r, names, CN_EVENT_SCHED_BOTH_PREEMPT);
    *tracks = (struct cn_call_tracks){0};
    /* The tables have no calls: complete their tasks. */
    struct cn_task *tasks =
        cn_arena_alloc(&r->rec.arena, r->rec.task_count, sizeof(*tasks));
    for (uint32_t i = 0; i < r->rec.task_count; i++) {
        uint64_t first_ns = r->tracks.list[i].first_ns;

        tasks[i] = r->tables->tasks[i];
        tasks[i].has_first = first_ns != UINT64_MAX;
        tasks[i].first_ns = tasks[i].has_first ? first_ns + base_ns : 0;
        tasks[i].data_len =
            2 * RECORD_LEN *
            (count_of(&r->tracks.list[i].runs) + count_of(&r->tracks.list[i].readings));
    }
    r->rec.tasks = tasks;
    return &r->rec;
}
