/* Zipkin spans, version 2, as JSON: one for each task and for each call. Times are whole
 * microseconds; a tag has the duration in nanoseconds. */

#include <inttypes.h>

#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/spans/finished.h"
#include "formats/exchange/traces/span_calls.h"

enum { NS_PER_US = 1000 };

static void begin_lane(struct cn_lane *lane)
{
    lane->own = cn_trace_finished_new(lane);
}

static void add_number(struct cn_text *text, const char *key, uint64_t value)
{
    cn_text_str_add(text, key);
    cn_text_advance(text, cn_digits_put(cn_text_room(text, CN_DIGITS_MAX), value));
}

static void add_tag(struct cn_text *text, const char *key, const char *value)
{
    if (!value[0])
        return;
    cn_text_printf(text, ",\"%s\":", key);
    cn_json_quote(text, value);
}

static void add_span(struct cn_lane *lane, const struct cn_finished_call *call)
{
    const struct cn_trace_export *trace = lane->arg;
    struct cn_text *text = &lane->text;
    uint64_t duration_ns = call->end_ns - call->begin_ns;

    cn_text_str_add(text, ",\n");
    cn_trace_export_span(text, trace, call, "id", "parentId");
    add_number(text, ",\"timestamp\":", (call->begin_ns + trace->offset_ns) / NS_PER_US);
    /* A duration of 0 means "unknown". */
    add_number(text,
               ",\"duration\":", duration_ns < NS_PER_US ? 1 : duration_ns / NS_PER_US);
    cn_text_str_add(text, ",\"localEndpoint\":{\"serviceName\":");
    cn_json_quote(text, cn_export_program(lane->rec));
    cn_text_printf(text,
                   "},\"tags\":{\"pid\":\"%" PRIu32 "\",\"tid\":\"%" PRIu32
                   "\",\"duration_ns\":\"%" PRIu64 "\"",
                   lane->task->pid, lane->task->tid, duration_ns);
    add_tag(text, "arguments", call->arguments);
    add_tag(text, "result", call->result);
    cn_text_str_add(text, "}}");
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_lane *lane = arg;
    struct cn_finished_call call;

    if (cn_finished_visit(lane->own, span, &call))
        add_span(lane, &call);
}

static void end_lane(struct cn_lane *lane)
{
    struct cn_finished_call root;

    cn_trace_root(lane->own, lane, &root);
    add_span(lane, &root);
    cn_finished_free(lane->own);
}

static bool write_spans(struct cn_export *x, struct cn_error *err)
{
    static const struct cn_lane_ops ops = {
        .begin = begin_lane, .visit = visit, .end = end_lane, .is_list = true};
    struct cn_trace_export trace;
    struct cn_span_counts counts;

    cn_trace_export_init(&trace, x->query);
    cn_text_char(&x->text, '[');
    if (!cn_export_lanes(x, &ops, &trace, &counts, err))
        return false;
    cn_text_str_add(&x->text, "\n]\n");
    cn_export_lose_counts(x, &counts, false, true);
    cn_export_lose(x, "times (cut to microseconds)", counts.spans + x->query->task_count);
    return true;
}

const struct cn_format cn_format_zipkin = {
    .name = "zipkin",
    .summary = "Zipkin spans, version 2, as JSON: one for each call, with values",
    .holds = "calls",
    .is_file = true,
    .probe = cn_zipkin_probe,
    .open_traces = cn_span_calls_open,
    .export_calls = CN_NOT_IN_ENGINE(write_spans),
};
