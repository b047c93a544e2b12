#include "formats/exchange/read/call_recording.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/exchange/read/call_import.h"
#include "model/calls/recording_memory.h"

enum { FUNCTION_LEN = 16, RECORD_LEN = 16, BATCH = 512 };

struct recording {
    struct cn_recording rec;
    struct cn_recording *tables; /* everything but the calls */
    struct cn_call_track *tracks;
    struct cn_spool spool;
    uint64_t base_ns;
};

struct open_call {
    uint64_t end_ns; /* CN_CALL_BEGIN: not known yet */
    uint32_t function;
    bool is_half; /* ends with an item of its own */
};

struct stream {
    struct cn_call_stream base;
    struct cn_time_range range;
    struct cn_run_merge *merge;
    struct open_call *open;
    size_t depth, capacity;
    size_t leaving; /* calls to be closed at leave_ns, whatever their ends say */
    uint64_t leave_ns;
    bool is_over;
    struct cn_call calls[BATCH];
    size_t count;
};

static void emit(struct stream *s, enum cn_call_kind kind, uint64_t time_ns,
                 uint32_t function, size_t depth)
{
    const struct recording *r = (const struct recording *)s->base.rec;
    uint64_t at_ns = time_ns + r->base_ns;

    if (at_ns < s->range.first_ns || at_ns > s->range.last_ns)
        return;
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
    s->depth--;
    emit(s, CN_CALL_EXIT, time_ns, s->open[s->depth].function, s->depth);
}

static bool enter(struct stream *s, const struct cn_call_item *item, struct cn_error *err)
{
    bool is_half = item->duration_ns == CN_CALL_BEGIN;
    uint64_t end_ns = is_half ? CN_CALL_BEGIN : item->time_ns + item->duration_ns;
    uint64_t outer_ns = s->depth > 0 ? s->open[s->depth - 1].end_ns : CN_CALL_BEGIN;

    if (s->depth == CN_CALL_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "calls nest deeper than %d", CN_CALL_DEPTH_MAX);
    s->open = cn_grow(s->open, s->depth, &s->capacity, sizeof(*s->open));
    s->open[s->depth] = (struct open_call){
        .end_ns = end_ns < outer_ns ? end_ns : outer_ns,
        .function = item->name,
        .is_half = is_half,
    };
    emit(s, CN_CALL_ENTER, item->time_ns, item->name, s->depth);
    s->depth++;
    return true;
}

/* The innermost call that has only begun ends, and with it everything inside. */
static void end_half(struct stream *s, uint64_t time_ns)
{
    size_t at = s->depth;

    while (at > 0 && !s->open[at - 1].is_half)
        at--;
    if (at == 0)
        return;
    s->leaving = s->depth - at + 1;
    s->leave_ns = time_ns;
}

/* One step: a return that is due, or the next item. False at the end. */
static enum cn_step advance(struct stream *s, struct cn_error *err)
{
    const struct recording *r = (const struct recording *)s->base.rec;
    const struct cn_call_item *item = NULL;
    struct cn_call_item taken;
    enum cn_step step;

    if (s->leaving > 0) {
        s->leaving--;
        leave(s, s->leave_ns);
        return CN_ITEM;
    }
    step = cn_run_merge_peek(s->merge, &item, err);
    if (step == CN_FAIL)
        return step;
    if (s->depth > 0) {
        uint64_t end_ns = s->open[s->depth - 1].end_ns;

        if (step == CN_END && end_ns == CN_CALL_BEGIN)
            end_ns = r->tracks[s->base.task].last_ns;
        if (step == CN_END || end_ns <= item->time_ns) {
            leave(s, end_ns);
            return CN_ITEM;
        }
    }
    if (step == CN_END)
        return step;
    taken = *item;
    cn_run_merge_take(s->merge);
    if (taken.name != CN_NONE)
        return enter(s, &taken, err) ? CN_ITEM : CN_FAIL;
    end_half(s, taken.time_ns);
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
        .calls = s->calls, .count = s->count, .data = {(const uint8_t *)"", 0}};
    return CN_ITEM;
}

static bool stream_open(const struct cn_recording *rec, uint32_t task,
                        struct cn_time_range range, struct cn_call_stream **out,
                        struct cn_error *err)
{
    const struct recording *r = (const struct recording *)rec;
    struct stream *s = cn_alloc(1, sizeof(*s));

    (void)err;
    s->base = (struct cn_call_stream){rec, task};
    s->range = range;
    s->merge = cn_run_merge_new(&r->tracks[task].runs, &r->spool);
    *out = &s->base;
    return true;
}

static void stream_close(struct cn_call_stream *stream)
{
    struct stream *s = (struct stream *)stream;

    cn_run_merge_free(s->merge);
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

    for (uint32_t i = 0; i < rec->task_count; i++) {
        free(r->tracks[i].runs.list);
        free(r->tracks[i].runs.items);
    }
    free(r->tracks);
    cn_spool_close(&r->spool);
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

static int by_tid(const void *a, const void *b)
{
    const struct cn_call_track *x = a, *y = b;

    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void add_functions(struct cn_memory_recording *m, uint32_t module,
                          const struct cn_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        (void)cn_memory_recording_add_function(m,
                                               (struct cn_call_function){
                                                   .name = names->list[i],
                                                   .raw_name = names->list[i],
                                                   .module = module,
                                                   .type = 'T',
                                                   .offset = (uint64_t)i * FUNCTION_LEN,
                                                   .size = FUNCTION_LEN,
                                                   .file = "",
                                               });
}

static void add_tasks(struct cn_memory_recording *m, uint32_t session,
                      const struct cn_call_track *list, size_t count, uint64_t base_ns)
{
    for (size_t i = 0; i < count; i++) {
        bool is_empty = list[i].first_ns == UINT64_MAX;
        uint64_t first_ns = is_empty ? 0 : list[i].first_ns + base_ns;
        uint32_t task = cn_memory_recording_add_task(m, (struct cn_task){
                                                            .tid = list[i].tid,
                                                            .pid = list[i].pid,
                                                            .parent = CN_NONE,
                                                            .name = list[i].name,
                                                            .time_ns = first_ns,
                                                            .has_session = i == 0,
                                                            .has_file = true,
                                                        });

        cn_memory_recording_add_task_session(m, task, 0, session);
    }
}

/* As long as the records would be in a file of uftrace. */
static uint64_t length_of(const struct cn_call_runs *runs)
{
    uint64_t count = runs->item_count;

    for (size_t i = 0; i < runs->count; i++)
        count += runs->list[i].count;
    return 2 * RECORD_LEN * count;
}

/* The tables have no calls: their tasks do not know when and how long they are. */
static void complete_tasks(struct recording *r)
{
    struct cn_task *tasks =
        cn_arena_alloc(&r->rec.arena, r->rec.task_count, sizeof(*tasks));

    for (uint32_t i = 0; i < r->rec.task_count; i++) {
        tasks[i] = r->tables->tasks[i];
        tasks[i].first_ns = tasks[i].time_ns;
        tasks[i].data_len = length_of(&r->tracks[i].runs);
    }
    r->rec.tasks = tasks;
}

struct cn_recording *cn_call_recording_new(const char *module,
                                           const struct cn_names *names,
                                           struct cn_call_track *list, size_t count,
                                           const struct cn_spool *spool, uint64_t base_ns)
{
    struct recording *r = cn_alloc(1, sizeof(*r));
    struct cn_memory_recording *m = cn_memory_recording_new();
    uint32_t number = cn_memory_recording_add_module(m, module, ""), session;

    if (count > 0)
        qsort(list, count, sizeof(*list), by_tid);
    session = cn_memory_recording_add_session(m, "0000000000000001",
                                              count > 0 ? list[0].pid : 1, 0, module);
    add_functions(m, number, names);
    cn_memory_recording_add_mapping(
        m, session,
        (struct cn_mapping){0, (uint64_t)names->count * FUNCTION_LEN + 1, 0, number,
                            "r-xp"});
    add_tasks(m, session, list, count, base_ns);
    r->tables = cn_memory_recording_finish(m);
    r->rec = *r->tables;
    r->rec.ops = &ops;
    r->rec.arena = (struct cn_arena){0};
    r->tracks = cn_alloc(count, sizeof(*r->tracks));
    if (count > 0)
        memcpy(r->tracks, list, count * sizeof(*r->tracks));
    r->spool = *spool;
    r->base_ns = base_ns;
    complete_tasks(r);
    return &r->rec;
}
