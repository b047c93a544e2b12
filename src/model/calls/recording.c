#include "model/calls/recording.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct cn_time_range cn_time_always = {0, UINT64_MAX};

void cn_recording_close(struct cn_recording *rec)
{
    if (rec)
        rec->ops->close(rec);
}

bool cn_recording_prepare(struct cn_recording *rec, unsigned workers,
                          const struct cn_progress *progress, struct cn_error *err)
{
    return !rec->ops->prepare || rec->ops->prepare(rec, workers, progress, err);
}

bool cn_recording_stream_open(const struct cn_recording *rec, uint32_t task,
                              struct cn_time_range range, struct cn_call_stream **out,
                              struct cn_error *err)
{
    assert(task < rec->task_count);
    return rec->ops->stream_open(rec, task, range, out, err);
}

size_t cn_recording_parts(const struct cn_recording *rec, uint32_t task,
                          uint64_t part_len, struct cn_call_part **out)
{
    assert(task < rec->task_count && part_len > 0);
    *out = NULL;
    return rec->ops->parts ? rec->ops->parts(rec, task, part_len, out) : 0;
}

bool cn_recording_part_open(const struct cn_recording *rec, uint32_t task,
                            const struct cn_call_part *part, struct cn_call_stream **out,
                            struct cn_error *err)
{
    return rec->ops->part_open(rec, task, part, out, err);
}

static bool open_last_part(const struct cn_recording *rec, uint32_t task,
                           struct cn_call_stream **out, struct cn_error *err)
{
    struct cn_call_part *parts;
    size_t count = cn_recording_parts(rec, task, CN_CALL_PART_LEN, &parts);
    bool ok = count > 0 ? cn_recording_part_open(rec, task, &parts[count - 1], out, err)
                        : cn_recording_stream_open(rec, task, cn_time_always, out, err);

    free(parts);
    return ok;
}

uint64_t cn_recording_last_ns(const struct cn_recording *rec, uint32_t task)
{
    struct cn_call_stream *stream = NULL;
    struct cn_call_batch batch;
    struct cn_error ignored;
    uint64_t last_ns = 0;

    if (!open_last_part(rec, task, &stream, &ignored))
        return 0;
    while (cn_call_stream_next(stream, &batch, &ignored) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (batch.calls[i].time_ns > last_ns)
                last_ns = batch.calls[i].time_ns;
    cn_call_stream_close(stream);
    return last_ns;
}

bool cn_recording_source_open(const struct cn_recording *rec, uint32_t source,
                              struct cn_call_stream **out, struct cn_error *err)
{
    assert(source < rec->source_count);
    return rec->ops->source_open(rec, source, out, err);
}

enum cn_step cn_call_stream_next(struct cn_call_stream *stream, struct cn_call_batch *out,
                                 struct cn_error *err)
{
    return stream->rec->ops->stream_next(stream, out, err);
}

void cn_call_stream_close(struct cn_call_stream *stream)
{
    if (stream)
        stream->rec->ops->stream_close(stream);
}

const char *cn_recording_fact(const struct cn_recording *rec, const char *key)
{
    for (uint32_t i = 0; i < rec->fact_count; i++)
        if (strcmp(rec->facts[i].key, key) == 0)
            return rec->facts[i].value;
    return NULL;
}

uint32_t cn_recording_find_task(const struct cn_recording *rec, uint32_t tid)
{
    uint32_t low = 0, high = rec->task_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (rec->tasks[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rec->task_count && rec->tasks[low].tid == tid ? low : CN_NONE;
}

const struct cn_session *cn_recording_session_at(const struct cn_recording *rec,
                                                 uint32_t task, uint64_t time_ns)
{
    const struct cn_task *t = &rec->tasks[task];
    size_t low = 0, high = t->session_count;

    if (t->session_count == 0)
        return NULL;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (t->sessions[middle].from_ns <= time_ns)
            low = middle;
        else
            high = middle;
    }
    return &rec->sessions[t->sessions[low].session];
}

uint32_t cn_recording_find_function(const struct cn_recording *rec, uint32_t task,
                                    uint64_t time_ns, uint64_t address)
{
    return rec->ops->find_function(rec, task, time_ns, address);
}

void cn_recording_warn(struct cn_recording *rec, bool is_damage, const char *fmt, ...)
{
    enum { WARNINGS_MAX = 100 };
    struct cn_recording_warning *warning;
    struct cn_recording_warning **end = &rec->warnings;
    struct cn_error text;
    unsigned count = 0;
    va_list args;

    for (; *end; end = &(*end)->next)
        count++;
    /* A hostile recording must not make us collect one for each of its lines. */
    if (count > WARNINGS_MAX)
        return;
    va_start(args, fmt);
    (void)vsnprintf(text.text, sizeof(text.text), fmt, args);
    va_end(args);
    warning = cn_arena_alloc(&rec->arena, 1, sizeof(*warning));
    warning->text = count == WARNINGS_MAX ? "more problems were found"
                                          : cn_arena_strdup(&rec->arena, text.text);
    warning->is_damage = is_damage;
    *end = warning;
}
