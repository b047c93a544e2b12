#include "formats/exchange/write/spans/finished.h"

#include <assert.h>
#include <stdlib.h>

#include "analyze/calls/stack.h"
#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "base/bytes/record.h"

/* The ids of the spans of a task: 1 is the task, 2 its first call. */
enum { TASK_SHIFT = 40, TASK_ID = 1, FIRST_CALL_ID = 2 };

static uint64_t task_id(uint32_t slot)
{
    return ((uint64_t)slot + 1) << TASK_SHIFT | TASK_ID;
}

struct cn_finished *cn_finished_new(const struct cn_writer *writer, uint64_t first_id,
                                    uint64_t root_id)
{
    struct cn_finished *finished = cn_alloc(1, sizeof(*finished));

    static_assert(sizeof(finished->name) >= CN_CALL_NAME_MAX, "an address fits");
    finished->rec = writer->rec;
    finished->first_id = first_id;
    finished->root_id = root_id;
    finished->first_ns = writer->task->time_ns ? writer->task->time_ns : UINT64_MAX;
    return finished;
}

void cn_finished_free(struct cn_finished *finished)
{
    for (size_t i = 0; i < finished->count; i++)
        cn_text_done(&finished->levels[i].arguments);
    free(finished->levels);
    cn_text_done(&finished->result);
    free(finished);
}

bool cn_finished_visit(struct cn_finished *finished, const struct cn_span *span,
                       struct cn_finished_call *out)
{
    bool is_begin = span->kind == CN_SPAN_BEGIN;

    if (!is_begin && (span->kind != CN_SPAN_END || !span->has_begin))
        return false;
    if (is_begin && span->depth == finished->count) {
        CN_PUSH(finished->levels, finished->count, finished->capacity,
                (struct cn_finished_level){0});
    }
    struct cn_finished_level *level = &finished->levels[span->depth];
    struct cn_text *values = is_begin ? &level->arguments : &finished->result;
    cn_text_clear(values);
    if (cn_span_has_values(span))
        cn_span_values(finished->rec, span, values);
    if (is_begin) {
        level->id = finished->first_id + span->number;
        if (span->time_ns < finished->first_ns)
            finished->first_ns = span->time_ns;
        return false;
    }
    if (span->time_ns > finished->last_ns)
        finished->last_ns = span->time_ns;
    *out = (struct cn_finished_call){
        .name = cn_span_name(finished->rec, span, finished->name),
        .arguments = cn_text_str(&level->arguments),
        .result = cn_text_str(&finished->result),
        .id = level->id,
        .parent_id = span->depth > 0 ? level[-1].id : finished->root_id,
        .begin_ns = span->begin_ns,
        .end_ns = span->time_ns,
    };
    return true;
}

void cn_trace_export_init(struct cn_trace_export *trace,
                          const struct cn_call_query *query)
{
    uint64_t pid = query->task_count > 0 ? query->rec->tasks[query->tasks[0]].pid : 0;

    *trace = (struct cn_trace_export){.offset_ns = cn_export_clock_offset_ns(query->rec)};
    cn_u64_be_put(trace->id, cn_export_start_ns(query) + trace->offset_ns);
    cn_u64_be_put(trace->id + 8, pid << 32 | query->task_count);
    cn_hex_put(trace->hex, trace->id, CN_TRACE_ID_LEN);
}

struct cn_finished *cn_trace_finished_new(const struct cn_writer *writer)
{
    uint64_t root_id = task_id(writer->slot);

    return cn_finished_new(writer, root_id - TASK_ID + FIRST_CALL_ID, root_id);
}

void cn_trace_root(const struct cn_finished *finished, const struct cn_writer *writer,
                   struct cn_finished_call *out)
{
    const struct cn_call_query *query = writer->x->query;

    *out = (struct cn_finished_call){
        .name = writer->task->name,
        .arguments = "",
        .result = "",
        .id = finished->root_id,
        .begin_ns = finished->first_ns == UINT64_MAX ? 0 : finished->first_ns,
        .end_ns = finished->last_ns,
    };
    if (out->end_ns < out->begin_ns)
        out->end_ns = out->begin_ns;
    /* A task whose parent is not in the query is at the top of the trace. */
    for (uint32_t i = 0; i < query->task_count; i++)
        if (query->tasks[i] == writer->task->parent && i != writer->slot)
            out->parent_id = task_id(i);
}

static void add_id(struct cn_text *text, const char *key, uint64_t id)
{
    cn_text_add(text, ",\"", 2);
    cn_text_str_add(text, key);
    cn_text_add(text, "\":\"", 3);
    cn_hex64_put(cn_text_room(text, CN_HEX64_LEN), id);
    cn_text_advance(text, CN_HEX64_LEN);
    cn_text_char(text, '"');
}

void cn_trace_export_span(struct cn_text *text, const struct cn_trace_export *trace,
                          const struct cn_finished_call *call, const char *id_key,
                          const char *parent_key)
{
    cn_text_str_add(text, "{\"traceId\":\"");
    cn_text_str_add(text, trace->hex);
    cn_text_char(text, '"');
    add_id(text, id_key, call->id);
    if (call->parent_id)
        add_id(text, parent_key, call->parent_id);
    cn_text_str_add(text, ",\"name\":");
    cn_json_quote(text, call->name);
}
