#include "formats/exchange/write/traces/otlp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/json.h"
#include "base/bytes/record.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/read/traces/span_set.h"
#include "formats/exchange/read/traces/spans.h"
#include "formats/exchange/read/traces/stack_text.h"
#include "model/traces/links.h"
#include "model/traces/trace.h"

/* Deeper values are written as text. */
enum { VALUE_DEPTH_MAX = 5 };

/* One of two outputs, with the same fields. */
struct otlp_writing {
    struct cn_json *json; /* NULL: protobuf */
    struct cn_pb *pb;
    size_t open[CN_PB_DEPTH_MAX]; /* messages of protobuf */
    unsigned depth;
    const struct cn_trace *trace;
    uint64_t begin_ns;
    struct cn_text text;
};

/* A field that is repeated: in JSON a list. */
static void begin_list(struct otlp_writing *w, const char *key)
{
    if (!w->json)
        return;
    cn_json_add_array(w->json, key);
}

static void end_list(struct otlp_writing *w)
{
    if (w->json)
        cn_json_end(w->json);
}

/* A message; `key` is NULL in a list. */
static void begin_message(struct otlp_writing *w, uint32_t field, const char *key)
{
    if (!w->json) {
        w->open[w->depth++] = cn_pb_open(w->pb, field);
        return;
    }
    if (key)
        cn_json_key(w->json, key);
    cn_json_object(w->json);
}

static void end_message(struct otlp_writing *w)
{
    if (w->json)
        cn_json_end(w->json);
    else
        cn_pb_close(w->pb, w->open[--w->depth]);
}

static void add_str(struct otlp_writing *w, uint32_t field, const char *key,
                    const char *text)
{
    if (w->json)
        cn_json_add_str(w->json, key, text);
    else
        cn_pb_str(w->pb, field, text);
}

static void add_number(struct otlp_writing *w, uint32_t field, const char *key,
                       uint64_t value)
{
    if (w->json)
        cn_json_add_u64(w->json, key, value);
    else
        cn_pb_u64(w->pb, field, value);
}

static void add_time(struct otlp_writing *w, uint32_t field, const char *key, uint64_t ns)
{
    if (w->json)
        cn_json_add_id(w->json, key, ns);
    else
        cn_pb_fixed64(w->pb, field, ns);
}

/* The id of a trace, or of a span if `high` is NULL. */
static void add_id(struct otlp_writing *w, uint32_t field, const char *key,
                   const uint64_t *high, uint64_t low)
{
    char digits[CN_TRACE_ID_DIGITS + 1];
    uint8_t bytes[CN_TRACE_ID_DIGITS / 2];
    size_t len = 0;

    if (w->json) {
        if (high)
            (void)snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64, *high,
                           low);
        else
            (void)snprintf(digits, sizeof(digits), "%016" PRIx64, low);
        cn_json_add_str(w->json, key, digits);
        return;
    }
    if (high) {
        cn_u64_be_put(bytes, *high);
        len = sizeof(*high);
    }
    cn_u64_be_put(bytes + len, low);
    cn_pb_bytes(w->pb, field, bytes, len + sizeof(low));
}

static const char *print_value(struct otlp_writing *w, const struct cn_trace_value *value)
{
    cn_text_clear(&w->text);
    cn_trace_value_print(w->trace, value, &w->text);
    return cn_text_str(&w->text);
}

static const char *print_word(struct otlp_writing *w, uint32_t word)
{
    cn_text_clear(&w->text);
    cn_words_print(w->trace->words, word, &w->text);
    return cn_text_str(&w->text);
}

static void add_value(struct otlp_writing *w, const struct cn_trace_value *value,
                      unsigned depth);

static void add_items(struct otlp_writing *w, const struct cn_trace_value *value,
                      unsigned depth)
{
    const struct cn_trace_value *items = w->trace->values + value->list.first;
    bool is_map = value->kind == CN_VALUE_MAP;

    begin_message(w, is_map ? cn_otlp_value_kvlist_value : cn_otlp_value_array_value,
                  is_map ? "kvlistValue" : "arrayValue");
    begin_list(w, "values");
    for (uint32_t i = 0; i < value->list.count; i++) {
        begin_message(w, cn_otlp_array_values, NULL);
        if (is_map) {
            add_str(w, cn_otlp_key_value_key, "key", print_value(w, &items[2 * i]));
            begin_message(w, cn_otlp_key_value_value, "value");
            add_value(w, &items[2 * i + 1], depth + 1);
            end_message(w);
        } else {
            add_value(w, &items[i], depth + 1);
        }
        end_message(w);
    }
    end_list(w);
    end_message(w);
}

/* The fields of a value. */
static void add_value(struct otlp_writing *w, const struct cn_trace_value *value,
                      unsigned depth)
{
    uint64_t bits;

    switch (value->kind) {
    case CN_VALUE_NULL:
        return;
    case CN_VALUE_BOOL:
        if (w->json)
            cn_json_add_bool(w->json, "boolValue", value->boolean);
        else
            cn_pb_u64(w->pb, cn_otlp_value_bool_value, value->boolean);
        return;
    case CN_VALUE_FLOAT:
        memcpy(&bits, &value->real, sizeof(bits));
        if (w->json)
            cn_json_add_f64(w->json, "doubleValue", value->real);
        else
            cn_pb_fixed64(w->pb, cn_otlp_value_double_value, bits);
        return;
    case CN_VALUE_INT:
        if (w->json)
            cn_json_add_str(w->json, "intValue", print_value(w, value));
        else
            cn_pb_u64(w->pb, cn_otlp_value_int_value, (uint64_t)value->integer);
        return;
    case CN_VALUE_LIST:
    case CN_VALUE_MAP:
        if (depth < VALUE_DEPTH_MAX) {
            add_items(w, value, depth);
            return;
        }
        break;
    case CN_VALUE_WORD:
        break;
    }
    add_str(w, cn_otlp_value_string_value, "stringValue", print_value(w, value));
}

static void add_attribute(struct otlp_writing *w, uint32_t field,
                          const struct cn_trace_value *key,
                          const struct cn_trace_value *value)
{
    begin_message(w, field, NULL);
    add_str(w, cn_otlp_key_value_key, "key", print_value(w, key));
    begin_message(w, cn_otlp_key_value_value, "value");
    add_value(w, value, 0);
    end_message(w);
    end_message(w);
}

static void add_text_attribute(struct otlp_writing *w, uint32_t field, const char *key,
                               const char *text)
{
    begin_message(w, field, NULL);
    add_str(w, cn_otlp_key_value_key, "key", key);
    begin_message(w, cn_otlp_key_value_value, "value");
    add_str(w, cn_otlp_value_string_value, "stringValue", text);
    end_message(w);
    end_message(w);
}

/* Attributes that the span has in another form. */
static bool is_elsewhere(const struct otlp_writing *w,
                         const struct cn_trace_attribute *one)
{
    return cn_trace_is_links(w->trace, one) || cn_trace_is_event(w->trace, one) ||
           cn_trace_is_text_of(w->trace, one, "status.message") ||
           cn_trace_is_text_of(w->trace, one, "service.name");
}

static void add_attributes(struct otlp_writing *w, uint32_t node)
{
    begin_list(w, "attributes");
    for (uint32_t i = w->trace->nodes[node].first_attribute; i != CN_NONE;
         i = w->trace->attributes[i].next) {
        const struct cn_trace_attribute *one = &w->trace->attributes[i];
        struct cn_trace_value key = {.kind = CN_VALUE_WORD, .word = one->key};

        if (!is_elsewhere(w, one))
            add_attribute(w, cn_otlp_span_attributes, &key, &one->value);
    }
    end_list(w);
}

static void add_exception(struct otlp_writing *w, uint32_t exception)
{
    static const char *const keys[] = {"exception.type", "exception.message"};
    const struct cn_words *words = w->trace->words;

    add_str(w, cn_otlp_event_name, "name", "exception");
    begin_list(w, "attributes");
    for (unsigned part = 0; part < 2; part++) {
        uint32_t word = cn_word_part(words, exception, part);

        if (word != 0)
            add_text_attribute(w, cn_otlp_event_attributes, keys[part],
                               print_word(w, word));
    }
    cn_text_clear(&w->text);
    cn_stack_text_print(words, exception, &w->text);
    if (w->text.len > 0)
        add_text_attribute(w, cn_otlp_event_attributes, "exception.stacktrace",
                           cn_text_str(&w->text));
    end_list(w);
}

/* The time of an event is not stored: it is that of the begin of its call. */
static void begin_event(struct otlp_writing *w, uint64_t time_ns)
{
    begin_message(w, cn_otlp_span_events, NULL);
    add_time(w, cn_otlp_event_time_unix_nano, "timeUnixNano", time_ns);
}

static void add_events(struct otlp_writing *w, uint32_t node, uint64_t time_ns)
{
    const struct cn_trace *trace = w->trace;
    uint32_t exception = trace->nodes[node].exception;

    begin_list(w, "events");
    for (uint32_t i = trace->nodes[node].first_attribute; i != CN_NONE;
         i = trace->attributes[i].next) {
        if (!cn_trace_is_event(trace, &trace->attributes[i]))
            continue;
        begin_event(w, time_ns);
        add_str(w, cn_otlp_event_name, "name",
                print_value(w, &trace->attributes[i].value));
        end_message(w);
    }
    if (exception != 0 && cn_word_kind(trace->words, exception) == CN_WORD_EXCEPTION) {
        begin_event(w, time_ns);
        add_exception(w, exception);
        end_message(w);
    }
    end_list(w);
}

static void add_link(struct otlp_writing *w, const struct cn_trace_link *link)
{
    const struct cn_trace_value *key, *value;
    uint64_t high = 0, low = 0, none, span = 0;
    uint32_t at = 0;

    (void)cn_span_id_parse(link->trace, &high, &low);
    (void)cn_span_id_parse(link->span, &none, &span);
    begin_message(w, cn_otlp_span_links, NULL);
    add_id(w, cn_otlp_link_trace_id, "traceId", &high, low);
    add_id(w, cn_otlp_link_span_id, "spanId", NULL, span);
    while (cn_trace_link_next(w->trace, link, &at, &key, &value))
        if (cn_trace_link_is_state(w->trace, key))
            add_str(w, cn_otlp_link_trace_state, "traceState", print_value(w, value));
    begin_list(w, "attributes");
    at = 0;
    while (cn_trace_link_next(w->trace, link, &at, &key, &value))
        if (!cn_trace_link_is_state(w->trace, key))
            add_attribute(w, cn_otlp_link_attributes, key, value);
    end_list(w);
    end_message(w);
}

static void add_links(struct otlp_writing *w, uint32_t node)
{
    const struct cn_trace_attribute *links = cn_trace_find_links(w->trace, node);

    if (!links)
        return;
    begin_list(w, "links");
    for (uint32_t i = 0; i < links->value.list.count; i++) {
        struct cn_trace_link link = cn_trace_link_at(w->trace, links, i);

        add_link(w, &link);
    }
    end_list(w);
}

static void add_status(struct otlp_writing *w, uint32_t node)
{
    const struct cn_trace *trace = w->trace;

    begin_message(w, cn_otlp_span_status, "status");
    if (trace->nodes[node].flags & CN_TRACE_ERROR)
        add_number(w, cn_otlp_status_code, "code", CN_OTLP_STATUS_ERROR);
    for (uint32_t i = trace->nodes[node].first_attribute; i != CN_NONE;
         i = trace->attributes[i].next)
        if (cn_trace_is_text_of(trace, &trace->attributes[i], "status.message")) {
            add_str(w, cn_otlp_status_message, "message",
                    print_value(w, &trace->attributes[i].value));
            break;
        }
    end_message(w);
}

static void add_span(struct otlp_writing *w, uint32_t node)
{
    const struct cn_trace *trace = w->trace;
    const struct cn_trace_node *call = &trace->nodes[node];
    uint64_t time_ns = w->begin_ns + call->start_ns;
    uint64_t parent_id = cn_trace_call_parent_id(trace, node);

    begin_message(w, cn_otlp_scope_spans_spans, NULL);
    add_id(w, cn_otlp_span_trace_id, "traceId", &trace->id_high, trace->id_low);
    add_id(w, cn_otlp_span_span_id, "spanId", NULL, cn_trace_call_id(trace, node));
    if (parent_id != 0)
        add_id(w, cn_otlp_span_parent_span_id, "parentSpanId", NULL, parent_id);
    cn_text_clear(&w->text);
    cn_words_print_method_name(trace->words, call->method, &w->text);
    add_str(w, cn_otlp_span_name, "name", cn_text_str(&w->text));
    add_number(w, cn_otlp_span_kind, "kind", cn_trace_call_kind(trace, node));
    add_time(w, cn_otlp_span_start_time_unix_nano, "startTimeUnixNano", time_ns);
    add_time(w, cn_otlp_span_end_time_unix_nano, "endTimeUnixNano",
             time_ns + call->duration_ns);
    add_attributes(w, node);
    add_events(w, node, time_ns);
    add_links(w, node);
    add_status(w, node);
    end_message(w);
}

static void add_resource(struct otlp_writing *w, uint32_t service)
{
    begin_message(w, cn_otlp_resource_spans_resource, "resource");
    begin_list(w, "attributes");
    if (service != 0)
        add_text_attribute(w, cn_otlp_resource_attributes, "service.name",
                           print_word(w, service));
    end_list(w);
    end_message(w);
}

/* Consecutive calls of a service share a resource. */
static void write_trace(struct otlp_writing *w)
{
    uint32_t *services = cn_trace_call_services(w->trace);

    for (uint32_t node = 0; node < w->trace->node_count;) {
        uint32_t service = services[node];

        begin_message(w, cn_otlp_traces_resource_spans, NULL);
        add_resource(w, service);
        begin_list(w, "scopeSpans");
        begin_message(w, cn_otlp_resource_spans_scope_spans, NULL);
        begin_list(w, "spans");
        while (node < w->trace->node_count && services[node] == service)
            add_span(w, node++);
        end_list(w);
        end_message(w);
        end_list(w);
        end_message(w);
    }
    free(services);
    cn_text_done(&w->text);
}

void cn_otlp_json_trace(struct cn_json *json, const struct cn_trace *trace,
                        uint64_t begin_ns)
{
    struct otlp_writing w = {.json = json, .trace = trace, .begin_ns = begin_ns};

    write_trace(&w);
}

void cn_otlp_trace(struct cn_pb *pb, const struct cn_trace *trace, uint64_t begin_ns)
{
    struct otlp_writing w = {.pb = pb, .trace = trace, .begin_ns = begin_ns};

    write_trace(&w);
}
