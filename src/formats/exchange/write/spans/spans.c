#include "formats/exchange/write/spans/spans.h"

#include <stdlib.h>

#include "analyze/calls/feed.h"
#include "analyze/calls/stack.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "model/calls/values.h"

struct open_span {
    uint64_t address, number;
    uint64_t begin_ns, child_ns; /* corrected */
    uint64_t recorded_ns;        /* of its begin */
    uint32_t function;
    bool is_shown;
};

struct cn_spans {
    uint32_t task;
    struct cn_call_feed feed;
    struct cn_call_stack stack;
    bool is_on;
    struct open_span *open; /* one for each frame of the stack */
    size_t count, capacity;
    uint32_t depth; /* of the shown spans */
    uint64_t last_ns, last_recorded_ns;
    uint64_t first_ns; /* of the time range */
    bool is_before;    /* the time range has not begun: nothing is visited yet */
    struct cn_span_counts counts;

    struct cn_call_batch batch; /* being visited */
    cn_span_fn visit;
    void *arg;
};

bool cn_spans_open(struct cn_spans **out, const struct cn_call_query *query,
                   uint32_t task, struct cn_error *err)
{
    struct cn_spans *spans = cn_alloc(1, sizeof(*spans));
    struct cn_call_query whole = *query;

    /* Calls before the time range: those that are open when it begins are part of it. */
    spans->first_ns = query->range.first_ns;
    spans->is_before = spans->first_ns > 0;
    whole.range.first_ns = 0;
    if (!cn_call_feed_open(&spans->feed, &whole, task, err)) {
        free(spans);
        return false;
    }
    spans->task = task;
    spans->is_on = !query->filter->is_off;
    spans->last_ns = spans->last_recorded_ns = query->rec->tasks[task].first_ns;
    cn_call_stack_init(&spans->stack, query->rec, query->filter, task, false,
                       &spans->is_on);
    *out = spans;
    return true;
}

void cn_spans_close(struct cn_spans *spans)
{
    if (!spans)
        return;
    cn_call_feed_close(&spans->feed);
    cn_call_stack_done(&spans->stack);
    free(spans->open);
    free(spans);
}

static void deliver(struct cn_spans *spans, const struct cn_span *span)
{
    spans->counts.values += cn_span_has_values(span);
    spans->visit(spans->arg, span);
}

/* `call` is NULL if no record gives the begin. */
static void deliver_begin(struct cn_spans *spans, struct open_span *open,
                          const struct cn_call *call)
{
    struct cn_span span;

    open->number = spans->counts.spans++;
    span = (struct cn_span){
        .kind = CN_SPAN_BEGIN,
        .task = spans->task,
        .depth = spans->depth++,
        .function = open->function,
        .address = open->address,
        .number = open->number,
        .time_ns = open->recorded_ns,
        .begin_ns = open->recorded_ns,
        .corrected_ns = open->begin_ns,
        .call = call,
        .batch = &spans->batch,
    };
    deliver(spans, &span);
}

static void begin(struct cn_spans *spans, const struct cn_call_frame *frame,
                  const struct cn_call *call)
{
    struct open_span *open;

    if (spans->count == spans->capacity)
        CN_GROW(spans->open, spans->count, spans->capacity);
    open = &spans->open[spans->count++];
    *open = (struct open_span){
        .address = frame->address,
        .function = frame->function,
        .begin_ns = frame->enter_ns,
        .recorded_ns = cn_call_recorded_ns(&spans->batch, call),
        .is_shown = frame->flags & CN_FRAME_SHOWN,
    };
    if (open->is_shown && !spans->is_before)
        deliver_begin(spans, open, call);
}

/* The time range begins before `call`: so do the calls that are open. */
static void begin_range(struct cn_spans *spans, const struct cn_call *call)
{
    uint64_t since_ns = cn_call_recorded_ns(&spans->batch, call) - spans->first_ns;
    uint64_t first_ns = call->time_ns > since_ns ? call->time_ns - since_ns : 0;

    spans->is_before = false;
    for (size_t i = 0; i < spans->count; i++) {
        struct open_span *open = &spans->open[i];

        open->recorded_ns = spans->first_ns;
        open->begin_ns = first_ns;
        open->child_ns = 0;
        if (open->is_shown)
            deliver_begin(spans, open, NULL);
    }
}

/* End the innermost span; `call` is NULL if no record gives the end. */
static void end(struct cn_spans *spans, uint64_t time_ns, uint64_t recorded_ns,
                const struct cn_call *call)
{
    const struct open_span *open = &spans->open[--spans->count];
    uint64_t total_ns = time_ns > open->begin_ns ? time_ns - open->begin_ns : 0;
    struct cn_span span;

    if (spans->count > 0)
        spans->open[spans->count - 1].child_ns +=
            open->is_shown ? total_ns : open->child_ns;
    if (!open->is_shown || spans->is_before)
        return;
    span = (struct cn_span){
        .kind = CN_SPAN_END,
        .has_begin = true,
        .task = spans->task,
        .depth = --spans->depth,
        .function = open->function,
        .address = open->address,
        .number = open->number,
        .time_ns = recorded_ns > open->recorded_ns ? recorded_ns : open->recorded_ns,
        .begin_ns = open->recorded_ns,
        .corrected_ns = open->begin_ns + total_ns,
        .total_ns = total_ns,
        .self_ns = total_ns > open->child_ns ? total_ns - open->child_ns : 0,
        .call = call,
        .batch = &spans->batch,
    };
    deliver(spans, &span);
}

static void enter(struct cn_spans *spans, const struct cn_call *call)
{
    const struct cn_call_frame *frame =
        cn_call_stack_enter_quick(&spans->stack, call, &spans->batch);
    size_t at = (size_t)(frame - spans->stack.frames);

    while (spans->count > at)
        end(spans, call->time_ns, cn_call_recorded_ns(&spans->batch, call), NULL);
    begin(spans, frame, call);
}

/* A record that is no part of an open span. */
static void visit_record(struct cn_spans *spans, const struct cn_call *call,
                         enum cn_span_kind kind)
{
    bool is_end = kind == CN_SPAN_END;
    uint64_t recorded_ns = cn_call_recorded_ns(&spans->batch, call);
    struct cn_span span = {
        .kind = (uint8_t)kind,
        .task = spans->task,
        .depth = spans->depth,
        .function = is_end ? call->function : CN_NONE,
        .address = call->address,
        .time_ns = is_end || recorded_ns ? recorded_ns : spans->last_recorded_ns,
        .begin_ns = recorded_ns,
        .corrected_ns = is_end || call->time_ns ? call->time_ns : spans->last_ns,
        .call = call,
        .batch = &spans->batch,
    };

    if (spans->is_before)
        return;
    spans->counts.without_begin += is_end;
    spans->counts.events += kind == CN_SPAN_EVENT;
    spans->counts.lost += kind == CN_SPAN_LOST ? call->address : 0;
    deliver(spans, &span);
}

static void leave(struct cn_spans *spans, const struct cn_call *call)
{
    uint64_t recorded_ns = cn_call_recorded_ns(&spans->batch, call);
    struct cn_call_end ended;

    cn_call_stack_leave_quick(&spans->stack, call, &ended);
    size_t count = spans->stack.count + ended.has_time;
    while (spans->count > count)
        end(spans, call->time_ns, recorded_ns, NULL);
    if (ended.has_time)
        end(spans, call->time_ns, recorded_ns, call);
    else if (ended.frame.flags & CN_FRAME_SHOWN)
        visit_record(spans, call, CN_SPAN_END);
}

static void event(struct cn_spans *spans, const struct cn_call *call)
{
    struct cn_call_end ended;

    if (call->address == CN_EVENT_SCHED_IN) {
        if (cn_call_stack_wake(&spans->stack, call, &ended))
            end(spans, call->time_ns, cn_call_recorded_ns(&spans->batch, call), call);
    } else if (cn_call_stack_may_sleep(&spans->stack, call)) {
        begin(spans, cn_call_stack_sleep(&spans->stack, call), call);
    } else if (cn_call_stack_shows_event(&spans->stack, call)) {
        visit_record(spans, call, CN_SPAN_EVENT);
    }
}

enum cn_step cn_spans_next(struct cn_spans *spans, cn_span_fn visit, void *arg,
                           struct cn_error *err)
{
    enum cn_step step = cn_call_feed_next(&spans->feed, &spans->batch, err);

    spans->visit = visit;
    spans->arg = arg;
    for (size_t i = 0; step == CN_ITEM && i < spans->batch.count; i++) {
        const struct cn_call *call = &spans->batch.calls[i];

        if (spans->is_before &&
            cn_call_recorded_ns(&spans->batch, call) >= spans->first_ns)
            begin_range(spans, call);
        if (call->time_ns > spans->last_ns)
            spans->last_ns = call->time_ns;
        if (cn_call_recorded_ns(&spans->batch, call) > spans->last_recorded_ns)
            spans->last_recorded_ns = cn_call_recorded_ns(&spans->batch, call);
        switch ((enum cn_call_kind)call->kind) {
        case CN_CALL_ENTER:
            enter(spans, call);
            break;
        case CN_CALL_EXIT:
            leave(spans, call);
            break;
        case CN_CALL_EVENT:
            event(spans, call);
            break;
        case CN_CALL_LOST:
            visit_record(spans, call, CN_SPAN_LOST);
            break;
        }
    }
    return step;
}

void cn_spans_finish(struct cn_spans *spans, cn_span_fn visit, void *arg)
{
    spans->visit = visit;
    spans->arg = arg;
    while (spans->count > 0)
        end(spans, spans->last_ns, spans->last_recorded_ns, NULL);
}

void cn_spans_count(const struct cn_spans *spans, struct cn_span_counts *counts)
{
    counts->spans += spans->counts.spans;
    counts->events += spans->counts.events;
    counts->lost += spans->counts.lost;
    counts->without_begin += spans->counts.without_begin;
    counts->values += spans->counts.values;
}

bool cn_export_spans(struct cn_export *x, uint32_t task, cn_span_fn visit, void *arg,
                     struct cn_span_counts *counts, struct cn_error *err)
{
    struct cn_spans *spans;
    enum cn_step step;

    if (!cn_spans_open(&spans, x->query, task, err))
        return false;
    do
        step = cn_spans_next(spans, visit, arg, err);
    while (step == CN_ITEM);
    cn_spans_finish(spans, visit, arg);
    cn_spans_count(spans, counts);
    cn_spans_close(spans);
    return step == CN_END;
}

void cn_export_lose_counts(struct cn_export *x, const struct cn_span_counts *counts,
                           bool has_events, bool has_values)
{
    if (!has_events)
        cn_export_lose(x, "events", counts->events);
    if (!has_values)
        cn_export_lose(x, "calls and returns with values", counts->values);
    cn_export_lose(x, "returns from calls that were not recorded", counts->without_begin);
    /* Lost records are written as an event. */
    if (!has_events)
        cn_export_lose(x, "notes that the recorder lost records", counts->lost);
}

const char *cn_span_name(const struct cn_recording *rec, const struct cn_span *span,
                         char *buffer)
{
    return cn_call_name(rec, span->function, span->address, buffer);
}

void cn_span_values(const struct cn_recording *rec, const struct cn_span *span,
                    struct cn_text *out)
{
    struct cn_text raw = {0};
    const char *values;

    cn_recording_print_arguments(rec, span->task, span->batch, span->call, &raw);
    values = cn_text_str(&raw);
    if (span->kind == CN_SPAN_END && strncmp(values, " = ", 3) == 0)
        values += 3;
    cn_text_clear(out);
    cn_utf8_add_printable(out, values);
    cn_text_done(&raw);
}

bool cn_span_event_data(const struct cn_recording *rec, const struct cn_span *span,
                        struct cn_text *out)
{
    struct cn_text raw = {0};
    bool has_data = span->kind == CN_SPAN_EVENT &&
                    cn_recording_print_event(rec, span->batch, span->call, false, &raw);

    cn_text_clear(out);
    cn_utf8_add_printable(out, cn_text_str(&raw));
    cn_text_done(&raw);
    return has_data;
}

bool cn_span_readings(const struct cn_recording *rec, const struct cn_span *span,
                      struct cn_counter_levels **levels, cn_reading_fn add, void *arg)
{
    struct cn_counters counters;
    uint32_t number;
    double value;

    if (span->kind != CN_SPAN_EVENT || !span->call)
        return false;
    if (cn_recording_named_reading(rec, span->batch, span->call, &number, &value)) {
        add(arg, span, CN_COUNTER_COUNT + number, cn_span_event_name(rec, span), value);
        return true;
    }
    if (!cn_event_has_counters(span->address) ||
        !cn_recording_counters(rec, span->batch, span->call, &counters))
        return false;
    if (!*levels)
        *levels = cn_counter_levels_new();
    if (!cn_counter_levels_take(*levels, &counters))
        return false;
    for (unsigned i = 0; i < counters.count; i++)
        add(arg, span, counters.first + i, cn_counter_names[counters.first + i],
            (double)(int64_t)counters.values[i]);
    return true;
}

const char *cn_span_event_name(const struct cn_recording *rec, const struct cn_span *span)
{
    const char *name =
        span->kind == CN_SPAN_LOST ? "lost" : cn_recording_event_name(rec, span->address);

    return name ? name : "event";
}
