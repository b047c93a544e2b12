/* OpenTelemetry traces, as protobuf and as JSON. Traces are written as they are. A recording is one
 * trace, with one span for each task and for each call. Spans are written at their end, in chunks that repeat the
 * resource of their task: no message grows with the recording. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/bytes/json.h"
#include "base/bytes/record.h"
#include "formats/exchange/exchange.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/read/traces/span_calls.h"
#include "formats/exchange/read/traces/spans.h"
#include "formats/exchange/write/spans/finished.h"
#include "formats/exchange/write/traces/otlp.h"

enum { CHUNK_LEN = 64 << 10 };

struct otlp_own {
    struct cn_finished *finished;
    struct cn_pb pb;      /* spans of the chunk, */
    struct cn_text spans; /* or the same as JSON */
    struct cn_pb chunk;
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

static void add_span_bytes(struct cn_pb *pb, const struct cn_trace_export *trace,
                           const struct cn_finished_call *call)
{
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

static void add_json_attribute(struct cn_text *text, const char *before, const char *key,
                               const char *value)
{
    cn_text_printf(text, "%s{\"key\":\"%s\",\"value\":{\"stringValue\":", before, key);
    cn_json_quote(text, value);
    cn_text_str_add(text, "}}");
}

static void add_span_json(struct cn_text *text, const struct cn_trace_export *trace,
                          const struct cn_finished_call *call)
{
    bool has_arguments = call->arguments[0], has_result = call->result[0];

    if (text->len > 0)
        cn_text_str_add(text, ",\n");
    cn_trace_export_span(text, trace, call, "spanId", "parentSpanId");
    cn_text_printf(text,
                   ",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64
                   "\",\"endTimeUnixNano\":\"%" PRIu64 "\"",
                   CN_OTLP_KIND_INTERNAL, call->begin_ns + trace->offset_ns,
                   call->end_ns + trace->offset_ns);
    if (has_arguments || has_result)
        cn_text_str_add(text, ",\"attributes\":[");
    if (has_arguments)
        add_json_attribute(text, "", "arguments", call->arguments);
    if (has_result)
        add_json_attribute(text, has_arguments ? "," : "", "result", call->result);
    cn_text_str_add(text, has_arguments || has_result ? "]}" : "}");
}

static void write_bytes(struct cn_writer *writer)
{
    struct otlp_own *own = writer->own;
    struct cn_pb *pb = &own->chunk;
    size_t at, inner, scope;

    cn_pb_clear(pb);
    at = cn_pb_open(pb, cn_otlp_traces_resource_spans);
    inner = cn_pb_open(pb, cn_otlp_resource_spans_resource);
    add_attribute(pb, cn_otlp_resource_attributes, "service.name",
                  cn_export_program(writer->rec), 0);
    add_attribute(pb, cn_otlp_resource_attributes, "process.pid", NULL,
                  writer->task->pid);
    add_attribute(pb, cn_otlp_resource_attributes, "thread.id", NULL, writer->task->tid);
    add_attribute(pb, cn_otlp_resource_attributes, "thread.name", writer->task->name, 0);
    cn_pb_close(pb, inner);
    inner = cn_pb_open(pb, cn_otlp_resource_spans_scope_spans);
    scope = cn_pb_open(pb, cn_otlp_scope_spans_scope);
    cn_pb_str(pb, cn_otlp_scope_name, "cairn");
    cn_pb_str(pb, cn_otlp_scope_version, CN_VERSION);
    cn_pb_close(pb, scope);
    cn_pb_raw(pb, own->pb.bytes, own->pb.len);
    cn_pb_close(pb, inner);
    cn_pb_close(pb, at);
    cn_text_add(&writer->text, (const char *)pb->bytes, pb->len);
    cn_pb_clear(&own->pb);
}

static void write_json(struct cn_writer *writer)
{
    struct otlp_own *own = writer->own;
    struct cn_text *text = &writer->text;

    cn_text_str_add(text, ",\n{\"resource\":{\"attributes\":[");
    add_json_attribute(text, "", "service.name", cn_export_program(writer->rec));
    cn_text_printf(text,
                   ",{\"key\":\"process.pid\",\"value\":{\"intValue\":\"%" PRIu32
                   "\"}},{\"key\":\"thread.id\",\"value\":{\"intValue\":\"%" PRIu32
                   "\"}}",
                   writer->task->pid, writer->task->tid);
    add_json_attribute(text, ",", "thread.name", writer->task->name);
    cn_text_str_add(text, "]},\"scopeSpans\":[{\"scope\":{\"name\":\"cairn\","
                          "\"version\":\"" CN_VERSION "\"},\"spans\":[\n");
    cn_text_add(text, own->spans.chars, own->spans.len);
    cn_text_str_add(text, "]}]}");
    cn_text_clear(&own->spans);
}

/* Add a span, and write the chunk if it is longer than `chunk_len`. */
static void add_span(struct cn_writer *writer, const struct cn_finished_call *call,
                     size_t chunk_len)
{
    const struct cn_trace_export *trace = writer->arg;
    struct otlp_own *own = writer->own;

    if (trace->is_json) {
        add_span_json(&own->spans, trace, call);
        if (own->spans.len > chunk_len)
            write_json(writer);
    } else {
        add_span_bytes(&own->pb, trace, call);
        if (own->pb.len > chunk_len)
            write_bytes(writer);
    }
}

static void begin_writer(struct cn_writer *writer)
{
    struct otlp_own *own = cn_alloc(1, sizeof(*own));

    own->finished = cn_trace_finished_new(writer);
    writer->own = own;
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_writer *writer = arg;
    struct otlp_own *own = writer->own;
    struct cn_finished_call call;

    if (cn_finished_visit(own->finished, span, &call))
        add_span(writer, &call, CHUNK_LEN);
}

static void end_writer(struct cn_writer *writer)
{
    struct otlp_own *own = writer->own;
    struct cn_finished_call root;

    cn_trace_root(own->finished, writer, &root);
    add_span(writer, &root, 0);
    cn_finished_free(own->finished);
    cn_pb_done(&own->pb);
    cn_pb_done(&own->chunk);
    cn_text_done(&own->spans);
    free(own);
}

/* Traces as they are, with their own ids. */
struct otlp_traces {
    struct cn_export *x;
    struct cn_json json;
    struct cn_pb pb;
};

static bool write_trace(void *arg, const struct cn_trace *trace, uint64_t begin_ns,
                        struct cn_error *err)
{
    struct otlp_traces *traces = arg;
    struct cn_export *x = traces->x;

    cn_export_lose(x, "types of spans that are no kinds", cn_trace_other_types(trace));
    if (x->format == &cn_format_otlp_json) {
        cn_otlp_json_trace(&traces->json, trace, begin_ns);
    } else {
        cn_pb_clear(&traces->pb);
        cn_otlp_trace(&traces->pb, trace, begin_ns);
        cn_text_add(&x->text, (const char *)traces->pb.bytes, traces->pb.len);
    }
    return cn_export_flush(x, err);
}

static bool write_traces(struct cn_export *x, struct cn_error *err)
{
    struct otlp_traces traces = {.x = x, .json.text = &x->text};
    bool is_json = x->format == &cn_format_otlp_json, ok;

    if (is_json) {
        cn_json_object(&traces.json);
        cn_json_add_array(&traces.json, "resourceSpans");
    }
    ok = cn_export_walk_traces(x, write_trace, &traces, err);
    if (is_json) {
        cn_json_end(&traces.json);
        cn_json_end(&traces.json);
    }
    cn_pb_done(&traces.pb);
    return ok;
}

static bool write_calls(struct cn_export *x, struct cn_error *err)
{
    bool is_json = x->format == &cn_format_otlp_json;
    struct cn_writer_ops ops = {
        .begin = begin_writer, .visit = visit, .end = end_writer, .is_list = is_json};
    struct cn_trace_export trace;
    struct cn_span_counts counts;

    cn_trace_export_init(&trace, x->query);
    trace.is_json = is_json;
    if (is_json)
        cn_text_str_add(&x->text, "{\"resourceSpans\":[");
    if (!cn_export_writers(x, &ops, &trace, &counts, err))
        return false;
    if (is_json)
        cn_text_str_add(&x->text, "\n]}\n");
    cn_export_lose_counts(x, &counts, false, true);
    return true;
}

const struct cn_format cn_format_otlp = {
    .name = "otlp",
    .summary = "OpenTelemetry traces as protobuf: a span for each call, with values",
    .holds = "calls",
    .is_file = true,
    .probe = cn_otlp_probe,
    .open_traces = cn_span_calls_open,
    .walk_traces = cn_span_traces_walk,
    .export_calls = write_calls,
    .export_traces = write_traces,
};

const struct cn_format cn_format_otlp_json = {
    .name = "otlp-json",
    .summary = "OpenTelemetry traces as JSON",
    .holds = "calls",
    .is_file = true,
    .probe = cn_otlp_json_probe,
    .open_traces = cn_span_calls_open,
    .walk_traces = cn_span_traces_walk,
    .export_calls = write_calls,
    .export_traces = write_traces,
};
