/* OpenTelemetry traces, as protobuf and as JSON: a trace for the recording, a span for
 * each task and for each call. Spans are written when they end, in pieces that name
 * their task again: no message grows with the recording. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/json.h"
#include "base/bytes/record.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/spans/finished.h"
#include "formats/exchange/spans/span_text.h"
#include "formats/exchange/traces/span_calls.h"

enum { PIECE_LEN = 64 << 10 };

/* What all lanes share. */
struct trace {
    uint8_t id[CN_TRACE_ID_LEN];
    char hex[2 * CN_TRACE_ID_LEN + 1]; /* the same */
    uint64_t offset_ns;                /* to the epoch */
    bool is_json;
};

struct own {
    struct cn_finished *finished;
    struct cn_pb pb;      /* spans of the piece, */
    struct cn_text spans; /* or the same as JSON */
    struct cn_pb piece;
};

static void add_attribute(struct cn_pb *pb, uint32_t field, const char *key,
                          const char *str, uint64_t number)
{
    size_t at = cn_pb_open(pb, field), inner;

    cn_pb_str(pb, cn_otlp_key_value_key, key);
    inner = cn_pb_open(pb, cn_otlp_key_value_value);
    if (str)
        cn_pb_str(pb, cn_otlp_value_string_value, str);
    else
        cn_pb_u64(pb, cn_otlp_value_int_value, number);
    cn_pb_close(pb, inner);
    cn_pb_close(pb, at);
}

static void add_span_bytes(struct own *own, const struct trace *trace,
                           const struct cn_finished_call *call)
{
    struct cn_pb *pb = &own->pb;
    size_t at = cn_pb_open(pb, cn_otlp_scope_spans_spans);
    uint8_t id[8];

    cn_pb_bytes(pb, cn_otlp_span_trace_id, trace->id, sizeof(trace->id));
    cn_u64_be_put(id, call->id);
    cn_pb_bytes(pb, cn_otlp_span_span_id, id, sizeof(id));
    if (call->parent_id) {
        cn_u64_be_put(id, call->parent_id);
        cn_pb_bytes(pb, cn_otlp_span_parent_span_id, id, sizeof(id));
    }
    cn_pb_str(pb, cn_otlp_span_name, call->name);
    cn_pb_u64(pb, cn_otlp_span_kind, CN_OTLP_KIND_INTERNAL);
    cn_pb_fixed64(pb, cn_otlp_span_start_time_unix_nano,
                  call->begin_ns + trace->offset_ns);
    cn_pb_fixed64(pb, cn_otlp_span_end_time_unix_nano, call->end_ns + trace->offset_ns);
    if (call->arguments[0])
        add_attribute(pb, cn_otlp_span_attributes, "arguments", call->arguments, 0);
    if (call->result[0])
        add_attribute(pb, cn_otlp_span_attributes, "result", call->result, 0);
    cn_pb_close(pb, at);
}

static void add_json_attribute(struct cn_text *text, const char **separator,
                               const char *key, const char *value)
{
    cn_text_printf(text, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", *separator,
                   key);
    cn_json_quote(text, value);
    cn_text_str_add(text, "}}");
    *separator = ",";
}

static void add_span_json(struct own *own, const struct trace *trace,
                          const struct cn_finished_call *call)
{
    struct cn_text *text = &own->spans;
    const char *separator = "";

    cn_text_str_add(text, text->len > 0 ? ",\n{\"traceId\":\"" : "{\"traceId\":\"");
    cn_text_str_add(text, trace->hex);
    cn_text_char(text, '"');
    cn_trace_add_id(text, "spanId", call->id);
    if (call->parent_id)
        cn_trace_add_id(text, "parentSpanId", call->parent_id);
    cn_text_str_add(text, ",\"name\":");
    cn_json_quote(text, call->name);
    cn_text_printf(text,
                   ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64
                   "\",\"endTimeUnixNano\":\"%" PRIu64 "\"",
                   CN_OTLP_KIND_INTERNAL, call->begin_ns + trace->offset_ns,
                   call->end_ns + trace->offset_ns);
    if (call->arguments[0] || call->result[0]) {
        cn_text_str_add(text, ",\"attributes\":[");
        if (call->arguments[0])
            add_json_attribute(text, &separator, "arguments", call->arguments);
        if (call->result[0])
            add_json_attribute(text, &separator, "result", call->result);
        cn_text_char(text, ']');
    }
    cn_text_char(text, '}');
}

static void write_bytes(struct cn_lane *lane)
{
    struct own *own = lane->own;
    struct cn_pb *pb = &own->piece;
    size_t at, inner, scope;

    cn_pb_clear(pb);
    at = cn_pb_open(pb, cn_otlp_traces_resource_spans);
    inner = cn_pb_open(pb, cn_otlp_resource_spans_resource);
    add_attribute(pb, cn_otlp_resource_attributes, "service.name",
                  cn_export_program(lane->x->query->rec), 0);
    add_attribute(pb, cn_otlp_resource_attributes, "process.pid", NULL, lane->task->pid);
    add_attribute(pb, cn_otlp_resource_attributes, "thread.id", NULL, lane->task->tid);
    add_attribute(pb, cn_otlp_resource_attributes, "thread.name", lane->task->name, 0);
    cn_pb_close(pb, inner);
    inner = cn_pb_open(pb, cn_otlp_resource_spans_scope_spans);
    scope = cn_pb_open(pb, cn_otlp_scope_spans_scope);
    cn_pb_str(pb, cn_otlp_scope_name, "cairn");
    cn_pb_str(pb, cn_otlp_scope_version, CN_VERSION);
    cn_pb_close(pb, scope);
    cn_pb_raw(pb, own->pb.bytes, own->pb.len);
    cn_pb_close(pb, inner);
    cn_pb_close(pb, at);
    cn_text_add(&lane->text, (const char *)pb->bytes, pb->len);
    cn_pb_clear(&own->pb);
}

static void write_json(struct cn_lane *lane)
{
    struct own *own = lane->own;
    struct cn_text *text = &lane->text;

    cn_text_str_add(text, ",\n{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
                          "\"value\":{\"stringValue\":");
    cn_json_quote(text, cn_export_program(lane->x->query->rec));
    cn_text_printf(text,
                   "}},{\"key\":\"process.pid\",\"value\":{\"intValue\":\"%" PRIu32
                   "\"}},{\"key\":\"thread.id\",\"value\":{\"intValue\":\"%" PRIu32
                   "\"}},{\"key\":\"thread.name\",\"value\":{\"stringValue\":",
                   lane->task->pid, lane->task->tid);
    cn_json_quote(text, lane->task->name);
    cn_text_str_add(text, "}}]},\"scopeSpans\":[{\"scope\":{\"name\":\"cairn\","
                          "\"version\":\"" CN_VERSION "\"},\"spans\":[\n");
    cn_text_add(text, own->spans.chars, own->spans.len);
    cn_text_str_add(text, "]}]}");
    cn_text_clear(&own->spans);
}

static void begin_lane(struct cn_lane *lane)
{
    struct own *own = cn_alloc(1, sizeof(*own));

    own->finished = cn_finished_new(lane);
    lane->own = own;
}

static void add_span(struct cn_lane *lane, const struct cn_finished_call *call)
{
    const struct trace *trace = lane->arg;
    struct own *own = lane->own;

    lane->counts.spans++;
    if (trace->is_json)
        add_span_json(own, trace, call);
    else
        add_span_bytes(own, trace, call);
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_lane *lane = arg;
    const struct trace *trace = lane->arg;
    struct own *own = lane->own;
    struct cn_finished_call call;
    char buffer[CN_CALL_NAME_MAX];

    if (!cn_finished_visit(own->finished, lane, span, &call))
        return;
    call.name = cn_span_name(lane->x->query->rec, span, buffer);
    add_span(lane, &call);
    if (trace->is_json && own->spans.len > PIECE_LEN)
        write_json(lane);
    else if (!trace->is_json && own->pb.len > PIECE_LEN)
        write_bytes(lane);
}

static void end_lane(struct cn_lane *lane)
{
    const struct trace *trace = lane->arg;
    struct own *own = lane->own;
    struct cn_finished_call root;

    cn_finished_root(own->finished, lane, &root);
    add_span(lane, &root);
    if (trace->is_json)
        write_json(lane);
    else
        write_bytes(lane);
    cn_finished_free(own->finished);
    cn_pb_done(&own->pb);
    cn_pb_done(&own->piece);
    cn_text_done(&own->spans);
    free(own);
}

static bool write_traces(struct cn_export *x, bool is_json, struct cn_error *err)
{
    struct cn_lane_ops ops = {
        .begin = begin_lane, .visit = visit, .end = end_lane, .is_list = is_json};
    struct trace trace = {.is_json = is_json,
                          .offset_ns = cn_export_clock_offset_ns(x->query->rec)};
    struct cn_lane_counts counts;

    cn_trace_id(x->query, trace.id, trace.hex);
    if (is_json)
        cn_text_str_add(&x->text, "{\"resourceSpans\":[");
    if (!cn_export_lanes(x, &ops, &trace, &counts, err))
        return false;
    if (is_json)
        cn_text_str_add(&x->text, "\n]}\n");
    cn_export_lose_counts(x, &counts, false, true);
    return true;
}

static bool write_protobuf_traces(struct cn_export *x, struct cn_error *err)
{
    return write_traces(x, false, err);
}

static bool write_json_traces(struct cn_export *x, struct cn_error *err)
{
    return write_traces(x, true, err);
}

static bool write_protobuf_calls(const struct cn_call_query *query, const char *path,
                                 const struct cn_write_options *options,
                                 struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_protobuf_traces, false, err);
}

static bool write_json_calls(const struct cn_call_query *query, const char *path,
                             const struct cn_write_options *options, struct cn_error *err)
{
    return cn_export_calls(query, path, options, write_json_traces, false, err);
}

const struct cn_format cn_format_otlp = {
    .name = "otlp",
    .summary = "traces of OpenTelemetry as protobuf: a span for each call, with values",
    .holds = "calls",
    .is_file = true,
    .probe = cn_otlp_probe,
    .open_traces = cn_span_calls_open,
    .write_calls = write_protobuf_calls,
};

const struct cn_format cn_format_otlp_json = {
    .name = "otlp-json",
    .summary = "traces of OpenTelemetry as JSON",
    .holds = "calls",
    .is_file = true,
    .probe = cn_otlp_json_probe,
    .open_traces = cn_span_calls_open,
    .write_calls = write_json_calls,
};
