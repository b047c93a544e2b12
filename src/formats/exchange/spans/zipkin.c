/* Zipkin's spans, version 2, as JSON: one for each task and for each call. Its times
 * are whole microseconds; the nanoseconds of a duration are kept as a tag. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/bytes/json.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/spans/finished.h"
#include "formats/exchange/spans/span_text.h"
#include "formats/exchange/traces/span_calls.h"

enum { NS_A_US = 1000 };

struct trace {
    uint8_t id[CN_TRACE_ID_LEN];
    char hex[2 * CN_TRACE_ID_LEN + 1]; /* the same */
    uint64_t offset_ns;
};

static void begin_lane(struct cn_lane *lane)
{
    lane->own = cn_finished_new(lane);
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
    const struct trace *trace = lane->arg;
    struct cn_text *text = &lane->text;
    uint64_t duration_ns = call->end_ns - call->begin_ns;

    lane->counts.spans++;
    cn_text_str_add(text, ",\n{\"traceId\":\"");
    cn_text_str_add(text, trace->hex);
    cn_text_char(text, '"');
    cn_trace_add_id(text, "id", call->id);
    if (call->parent_id)
        cn_trace_add_id(text, "parentId", call->parent_id);
    cn_text_str_add(text, ",\"name\":");
    cn_json_quote(text, call->name);
    /* A duration of 0 means "unknown". */
    cn_trace_add_number(text, "timestamp", (call->begin_ns + trace->offset_ns) / NS_A_US);
    cn_trace_add_number(text, "duration",
                        duration_ns < NS_A_US ? 1 : duration_ns / NS_A_US);
    cn_text_str_add(text, ",\"localEndpoint\":{\"serviceName\":");
    cn_json_quote(text, cn_export_program(lane->x->query->rec));
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
    char buffer[CN_CALL_NAME_MAX];

    if (!cn_finished_visit(lane->own, lane, span, &call))
        return;
    call.name = cn_span_name(lane->x->query->rec, span, buffer);
    add_span(lane, &call);
}

static void end_lane(struct cn_lane *lane)
{
    struct cn_finished_call root;

    cn_finished_root(lane->own, lane, &root);
    add_span(lane, &root);
    cn_finished_free(lane->own);
}

static bool write_spans(struct cn_export *x, struct cn_error *err)
{
    static const struct cn_lane_ops ops = {
        .begin = begin_lane, .visit = visit, .end = end_lane, .is_list = true};
    struct trace trace = {.offset_ns = cn_export_clock_offset_ns(x->query->rec)};
    struct cn_lane_counts counts;

    cn_trace_id(x->query, trace.id, trace.hex);
    cn_text_char(&x->text, '[');
    if (!cn_export_lanes(x, &ops, &trace, &counts, err))
        return false;
    cn_text_str_add(&x->text, "\n]\n");
    cn_export_lose_counts(x, &counts, false, true);
    cn_export_lose(x, "times, which were cut to microseconds", counts.spans);
    return true;
}

static bool write_calls(const struct cn_call_query *query, const char *path,
                        const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_spans, false, err);
}

const struct cn_format cn_format_zipkin = {
    .name = "zipkin",
    .summary = "spans of Zipkin, version 2, as JSON: one for each call, with values",
    .holds = "calls",
    .is_file = true,
    .probe = cn_zipkin_probe,
    .open_traces = cn_span_calls_open,
    .write_calls = write_calls,
};
