#include "model/calls/recording.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/search.h"

const struct cn_time_range cn_time_always = {0, UINT64_MAX};

uint64_t cn_recording_begin_ns(const struct cn_recording *rec)
{
    uint64_t first_ns = UINT64_MAX;

    for (uint32_t i = 0; i < rec->task_count; i++)
        if (rec->tasks[i].has_first && rec->tasks[i].first_ns < first_ns)
            first_ns = rec->tasks[i].first_ns;
    return first_ns == UINT64_MAX ? 0 : first_ns;
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

bool cn_recording_source_open(const struct cn_recording *rec, uint32_t source,
                              struct cn_call_stream **out, struct cn_error *err)
{
    assert(source < rec->source_count);
    return rec->ops->source_open(rec, source, out, err);
}

const char *cn_recording_fact(const struct cn_recording *rec, const char *key)
{
    for (uint32_t i = 0; i < rec->fact_count; i++)
        if (strcmp(rec->facts[i].key, key) == 0)
            return rec->facts[i].value;
    return NULL;
}

uint32_t cn_recording_caller_of(const struct cn_recording *rec, uint32_t task,
                                uint64_t time_ns)
{
    uint32_t low = 0, high = rec->moved_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct cn_moved_call *call = &rec->moved[middle];

        if (call->task < task || (call->task == task && call->time_ns < time_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low < rec->moved_count && rec->moved[low].task == task &&
                   rec->moved[low].time_ns == time_ns
               ? rec->moved[low].path
               : CN_NONE;
}

uint32_t cn_recording_find_task(const struct cn_recording *rec, uint32_t tid)
{
    size_t end = rec->task_count > 0 ? cn_search_u32(&rec->tasks->tid, rec->task_count,
                                                     sizeof(*rec->tasks), tid)
                                     : 0;

    return end > 0 && rec->tasks[end - 1].tid == tid ? (uint32_t)end - 1 : CN_NONE;
}

const struct cn_session *cn_recording_session_at(const struct cn_recording *rec,
                                                 uint32_t task, uint64_t time_ns)
{
    const struct cn_task *t = &rec->tasks[task];

    if (t->session_count == 0)
        return NULL;
    size_t end = cn_search_u64(&t->sessions->from_ns, t->session_count,
                               sizeof(*t->sessions), time_ns);
    return &rec->sessions[t->sessions[end > 0 ? end - 1 : 0].session];
}

const struct cn_mapping *cn_recording_mapping_at(const struct cn_recording *rec,
                                                 uint32_t task, uint64_t time_ns,
                                                 uint64_t address)
{
    const struct cn_session *session = cn_recording_session_at(rec, task, time_ns);
    const struct cn_mapping *found = NULL;

    for (size_t i = 0; session && i < session->mapping_count; i++) {
        const struct cn_mapping *m = &session->mappings[i];

        if (address >= m->begin && address < m->end && m->time_ns <= time_ns)
            found = m;
    }
    return found;
}

void cn_recording_warn(struct cn_recording *rec, bool is_damage, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_warning_add(&rec->warnings, &rec->arena, is_damage, fmt, args);
    va_end(args);
}
