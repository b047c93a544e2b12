#include "support/fake_recording.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

enum { FIRST_TID = 100, BATCH_LEN = 3, FUNCTION_LEN = 64, RECORD_LEN = 16 };

struct fake_stream {
    struct cn_call_stream base;
    struct cn_time_range range;
    size_t next, end; /* calls */
};

static const struct cn_fake_recording *fake_of(const struct cn_recording *rec)
{
    return (const struct cn_fake_recording *)rec;
}

static bool stream_open(const struct cn_recording *rec, uint32_t task,
                        struct cn_time_range range, struct cn_call_stream **out,
                        struct cn_error *err)
{
    struct fake_stream *stream = cn_alloc(1, sizeof(*stream));

    (void)err;
    stream->base = (struct cn_call_stream){.rec = rec, .task = task};
    stream->range = range;
    stream->end = fake_of(rec)->fake_tasks[task].count;
    *out = &stream->base;
    return true;
}

static size_t find_parts(const struct cn_recording *rec, uint32_t task, uint64_t part_len,
                         struct cn_call_part **out)
{
    const struct cn_fake_task *self = &fake_of(rec)->fake_tasks[task];
    size_t len = part_len > RECORD_LEN ? (size_t)part_len / RECORD_LEN : 1, count = 0;

    if (self->count <= len)
        return 0;
    *out = cn_alloc(self->count / len + 1, sizeof(**out));
    for (size_t i = 0; i < self->count; i += len)
        (*out)[count++] = (struct cn_call_part){
            .begin_off = i, .end_off = i + len < self->count ? i + len : self->count};
    return count;
}

static bool part_open(const struct cn_recording *rec, uint32_t task,
                      const struct cn_call_part *part, struct cn_call_stream **out,
                      struct cn_error *err)
{
    struct fake_stream *stream;

    if (!stream_open(rec, task, cn_time_always, out, err))
        return false;
    stream = (struct fake_stream *)*out;
    stream->next = (size_t)part->begin_off;
    stream->end = (size_t)part->end_off;
    return true;
}

static bool is_inside(const struct cn_call *call, struct cn_time_range range)
{
    return call->kind == CN_CALL_LOST ||
           (call->time_ns >= range.first_ns && call->time_ns <= range.last_ns);
}

static enum cn_step stream_next(struct cn_call_stream *base, struct cn_call_batch *out,
                                struct cn_error *err)
{
    struct fake_stream *stream = (struct fake_stream *)base;
    const struct cn_fake_recording *fake = fake_of(base->rec);
    const struct cn_fake_task *task = &fake->fake_tasks[base->task];
    size_t first;

    while (stream->next < stream->end &&
           !is_inside(&task->calls[stream->next], stream->range))
        stream->next++;
    first = stream->next;
    while (stream->next < stream->end && stream->next - first < fake->batch_len &&
           is_inside(&task->calls[stream->next], stream->range))
        stream->next++;
    *out = (struct cn_call_batch){.calls = task->calls + first,
                                  .count = stream->next - first};
    if (out->count > 0)
        return CN_ITEM;
    if (task->is_damaged && stream->end == task->count)
        return cn_fail(err, CN_ERR_FORMAT, "damaged");
    base->is_whole = task->is_disordered;
    return task->is_disordered ? cn_fail(err, CN_ERR_FORMAT, "not in order") : CN_END;
}

static void stream_close(struct cn_call_stream *stream)
{
    free(stream);
}

static uint32_t find_function(const struct cn_recording *rec, uint32_t task,
                              uint64_t time_ns, uint64_t address)
{
    (void)task;
    (void)time_ns;
    for (uint32_t i = 0; i < rec->function_count; i++) {
        uint64_t begin = 0x1000 + rec->functions[i].offset;

        if (address >= begin && address < begin + rec->functions[i].size)
            return i;
    }
    return CN_NONE;
}

static const struct cn_recording_ops ops = {
    .stream_open = stream_open,
    .parts = find_parts,
    .part_open = part_open,
    .stream_next = stream_next,
    .stream_close = stream_close,
    .find_function = find_function,
};

void cn_fake_recording_init(struct cn_fake_recording *fake, const char *const *names)
{
    uint32_t count = 0;

    *fake = (struct cn_fake_recording){
        .rec = {.ops = &ops, .path = "", .options = "", .max_stack = 1024},
        .sessions = {{.sid = "0123456789abcdef", .exename = "/bin/fake"}},
        .modules = {{.path = "/bin/fake", .name = "fake", .build_id = ""}},
        .batch_len = BATCH_LEN,
    };
    for (; names[count]; count++) {
        assert(count < CN_FAKE_FUNCTIONS_MAX);
        fake->functions[count] = (struct cn_call_function){
            .name = names[count],
            .raw_name = names[count],
            .type = 'T',
            .offset = FUNCTION_LEN * count,
            .size = FUNCTION_LEN,
            .file = "",
        };
    }
    fake->modules[0].function_count = count;
    fake->rec.functions = fake->functions;
    fake->rec.function_count = count;
    fake->rec.modules = fake->modules;
    fake->rec.module_count = 1;
    fake->rec.sessions = fake->sessions;
    fake->rec.session_count = 1;
    fake->rec.tasks = fake->tasks;
}

void cn_fake_recording_add(struct cn_fake_recording *fake, const struct cn_call *calls,
                           size_t count)
{
    uint32_t i = fake->rec.task_count++;

    assert(i < CN_FAKE_TASKS_MAX);
    fake->fake_tasks[i] = (struct cn_fake_task){.calls = calls, .count = count};
    fake->tasks[i] = (struct cn_task){
        .tid = FIRST_TID + i,
        .pid = FIRST_TID + i,
        .parent = CN_NONE,
        .name = "fake",
        .first_ns = count > 0 ? calls[0].time_ns : 0,
        .time_ns = count > 0 ? calls[0].time_ns : 0,
        .data_len = RECORD_LEN * count,
        .sessions = fake->task_sessions,
        .session_count = 1,
    };
}
