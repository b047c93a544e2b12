#include "formats/exchange/spans/finished.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/digits.h"
#include "base/bytes/record.h"
#include "formats/exchange/spans/span_text.h"

struct cn_finished *cn_finished_new(const struct cn_lane *lane)
{
    struct cn_finished *finished = cn_alloc(1, sizeof(*finished));

    finished->task = lane->x->query->tasks[lane->slot];
    finished->first_ns = lane->task->time_ns ? lane->task->time_ns : UINT64_MAX;
    return finished;
}

void cn_finished_free(struct cn_finished *finished)
{
    for (size_t i = 0; i < finished->count; i++)
        cn_text_done(&finished->levels[i].arguments);
    free(finished->levels);
    free(finished);
}

static void begin(struct cn_finished *finished, struct cn_lane *lane,
                  const struct cn_span *span)
{
    struct cn_finished_level *level;

    if (span->depth == finished->count) {
        finished->levels = cn_grow(finished->levels, finished->count, &finished->capacity,
                                   sizeof(*finished->levels));
        finished->levels[finished->count++] = (struct cn_finished_level){0};
    }
    level = &finished->levels[span->depth];
    level->id = cn_trace_span_id(lane->slot, span->number);
    cn_text_clear(&level->arguments);
    if (cn_span_has_values(span))
        cn_span_values(lane->x->query->rec, finished->task, span, &level->arguments);
    if (span->time_ns < finished->first_ns)
        finished->first_ns = span->time_ns;
}

static void end(struct cn_finished *finished, struct cn_lane *lane,
                const struct cn_span *span, struct cn_finished_call *out)
{
    const struct cn_finished_level *level = &finished->levels[span->depth];

    cn_text_clear(&lane->scratch);
    if (cn_span_has_values(span))
        cn_span_values(lane->x->query->rec, finished->task, span, &lane->scratch);
    if (span->time_ns > finished->last_ns)
        finished->last_ns = span->time_ns;
    *out = (struct cn_finished_call){
        .arguments = cn_text_str(&level->arguments),
        .result = cn_text_str(&lane->scratch),
        .id = level->id,
        .parent_id = span->depth > 0 ? level[-1].id : cn_trace_root_id(lane->slot),
        .begin_ns = span->begin_ns,
        .end_ns = span->time_ns,
    };
}

bool cn_finished_visit(struct cn_finished *finished, struct cn_lane *lane,
                       const struct cn_span *span, struct cn_finished_call *out)
{
    switch ((enum cn_span_kind)span->kind) {
    case CN_SPAN_BEGIN:
        begin(finished, lane, span);
        return false;
    case CN_SPAN_END:
        lane->counts.without_begin += !span->has_begin;
        if (span->has_begin)
            end(finished, lane, span, out);
        return span->has_begin;
    case CN_SPAN_EVENT:
        lane->counts.events++;
        return false;
    case CN_SPAN_LOST:
        lane->counts.lost += span->address;
        return false;
    }
    return false;
}

void cn_finished_root(const struct cn_finished *finished, const struct cn_lane *lane,
                      struct cn_finished_call *out)
{
    const struct cn_call_query *query = lane->x->query;
    uint64_t parent_id = 0;

    /* A task whose parent is not shown is at the top of the trace. */
    for (uint32_t i = 0; i < query->task_count; i++)
        if (query->tasks[i] == lane->task->parent && i != lane->slot)
            parent_id = cn_trace_root_id(i);
    *out = (struct cn_finished_call){
        .name = lane->task->name,
        .arguments = "",
        .result = "",
        .id = cn_trace_root_id(lane->slot),
        .parent_id = parent_id,
        .begin_ns = finished->first_ns == UINT64_MAX ? 0 : finished->first_ns,
        .end_ns = finished->last_ns,
        .is_root = true,
    };
    if (out->end_ns < out->begin_ns)
        out->end_ns = out->begin_ns;
}

void cn_trace_add_id(struct cn_text *text, const char *key, uint64_t id)
{
    cn_text_add(text, ",\"", 2);
    cn_text_str_add(text, key);
    cn_text_add(text, "\":\"", 3);
    cn_hex64_put(cn_text_room(text, CN_HEX64_LEN), id);
    cn_text_advance(text, CN_HEX64_LEN);
    cn_text_char(text, '"');
}

void cn_trace_add_number(struct cn_text *text, const char *key, uint64_t value)
{
    cn_text_add(text, ",\"", 2);
    cn_text_str_add(text, key);
    cn_text_add(text, "\":", 2);
    cn_text_advance(text, cn_digits_put(cn_text_room(text, CN_DIGITS_MAX), value));
}

void cn_trace_id(const struct cn_call_query *query, uint8_t out[CN_TRACE_ID_LEN],
                 char hex[2 * CN_TRACE_ID_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";

    uint64_t start_ns = cn_export_start_ns(query) + cn_export_clock_offset_ns(query->rec);
    uint64_t who = query->task_count > 0 ? query->rec->tasks[query->tasks[0]].pid : 0;

    cn_u64_be_put(out, start_ns);
    cn_u64_be_put(out + 8, who << 32 | query->task_count);
    for (size_t i = 0; i < CN_TRACE_ID_LEN && hex; i++) {
        hex[2 * i] = digits[out[i] >> 4];
        hex[2 * i + 1] = digits[out[i] & 15];
    }
    if (hex)
        hex[2 * CN_TRACE_ID_LEN] = '\0';
}
