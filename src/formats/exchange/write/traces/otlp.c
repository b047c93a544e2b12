#include "formats/exchange/write/traces/otlp.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/base64.h"
#include "base/bytes/json.h"
#include "base/bytes/record.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/read/traces/spans.h"
#include "formats/exchange/read/traces/stack_text.h"
#include "model/traces/links.h"
#include "model/traces/span.h"

/* What groups calls: those that have the same are in one resource and scope. */
struct otlp_group {
    uint32_t service, resource, scope; /* words */
};

/* One of two outputs, with the same fields. */
struct otlp_writing {
    struct cn_json *json; /* NULL: protobuf */
    bool is_mapped;       /* JSON as Protocol Buffers map it, not as OTLP does */
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

static void add_chars(struct otlp_writing *w, uint32_t field, const char *key,
                      struct cn_bytes text)
{
    if (!w->json) {
        cn_pb_chars(w->pb, field, (const char *)text.ptr, text.len);
        return;
    }
    cn_json_key(w->json, key);
    cn_json_chars(w->json, (const char *)text.ptr, text.len);
}

static void add_number(struct otlp_writing *w, uint32_t field, const char *key,
                       uint64_t value)
{
    if (w->json)
        cn_json_add_u64(w->json, key, value);
    else
        cn_pb_u64(w->pb, field, value);
}

static void add_count(struct otlp_writing *w, uint32_t field, const char *key,
                      uint32_t value)
{
    if (value != 0)
        add_number(w, field, key, value);
}

static void add_flags(struct otlp_writing *w, uint32_t field, uint32_t flags)
{
    if (flags == 0)
        return;
    if (w->json)
        cn_json_add_u64(w->json, "flags", flags);
    else
        cn_pb_fixed32(w->pb, field, flags);
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

    if (high) {
        cn_u64_be_put(bytes, *high);
        len = sizeof(*high);
    }
    cn_u64_be_put(bytes + len, low);
    len += sizeof(low);
    if (w->json && w->is_mapped) {
        cn_text_clear(&w->text);
        cn_base64_add(&w->text, (struct cn_bytes){bytes, len});
        cn_json_add_str(w->json, key, cn_text_str(&w->text));
    } else if (w->json) {
        if (high)
            (void)snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64, *high,
                           low);
        else
            (void)snprintf(digits, sizeof(digits), "%016" PRIx64, low);
        cn_json_add_str(w->json, key, digits);
    } else {
        cn_pb_bytes(w->pb, field, bytes, len);
    }
}

/* A number of an enumeration; as mapped, its name. */
static void add_enum(struct otlp_writing *w, uint32_t field, const char *key,
                     unsigned value, const char *name)
{
    if (w->json && w->is_mapped)
        cn_json_add_str(w->json, key, name);
    else
        add_number(w, field, key, value);
}

static struct cn_bytes printed(const struct otlp_writing *w)
{
    return (struct cn_bytes){(const uint8_t *)cn_text_str(&w->text), w->text.len};
}

static struct cn_bytes print_value(struct otlp_writing *w,
                                   const struct cn_trace_value *value)
{
    cn_text_clear(&w->text);
    cn_trace_value_print(w->trace, value, &w->text);
    return printed(w);
}

static struct cn_bytes print_word(struct otlp_writing *w, uint32_t word)
{
    cn_text_clear(&w->text);
    cn_words_print(w->trace->words, word, &w->text);
    return printed(w);
}

/* A text that is absent if it is empty. */
static void add_word(struct otlp_writing *w, uint32_t field, const char *key,
                     uint32_t word)
{
    if (word != 0)
        add_chars(w, field, key, print_word(w, word));
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
            add_chars(w, cn_otlp_key_value_key, "key", print_value(w, &items[2 * i]));
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

static void add_real(struct otlp_writing *w, double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof(bits));
    if (!w->json)
        cn_pb_fixed64(w->pb, cn_otlp_value_double_value, bits);
    else if (value == 0 && signbit(value)) {
        cn_json_key(w->json, "doubleValue");
        cn_json_raw(w->json, "-0.0", 4); /* many readers take "-0" for a whole number */
    } else if (isfinite(value))
        cn_json_add_f64(w->json, "doubleValue", value);
    else
        cn_json_add_str(w->json, "doubleValue",
                        isnan(value) ? "NaN"
                        : value > 0  ? "Infinity"
                                     : "-Infinity");
}

static void add_text(struct otlp_writing *w, const struct cn_trace_value *value)
{
    struct cn_bytes bytes = cn_trace_value_bytes(w->trace, value);

    if (cn_trace_value_type(w->trace, value) != CN_VALUE_IS_BYTES)
        add_chars(w, cn_otlp_value_string_value, "stringValue", print_value(w, value));
    else if (w->json)
        add_chars(w, 0, "bytesValue", print_value(w, value));
    else
        cn_pb_bytes(w->pb, cn_otlp_value_bytes_value, bytes.ptr, bytes.len);
}

/* The fields of a value. Deeper ones than can be read are written as text. */
static void add_value(struct otlp_writing *w, const struct cn_trace_value *value,
                      unsigned depth)
{
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
        add_real(w, value->real);
        return;
    case CN_VALUE_INT:
        if (w->json)
            add_chars(w, 0, "intValue", print_value(w, value));
        else
            cn_pb_u64(w->pb, cn_otlp_value_int_value, (uint64_t)value->integer);
        return;
    case CN_VALUE_LIST:
    case CN_VALUE_MAP:
        if (depth < CN_OTLP_VALUE_DEPTH_MAX)
            add_items(w, value, depth);
        else
            add_chars(w, cn_otlp_value_string_value, "stringValue",
                      print_value(w, value));
        return;
    case CN_VALUE_WORD:
        add_text(w, value);
        return;
    }
}

static void add_list(struct otlp_writing *w, uint32_t field, struct cn_trace_list list,
                     const char *except)
{
    begin_list(w, "attributes");
    for (uint32_t i = list.first; i != CN_NONE; i = w->trace->attributes[i].next) {
        const struct cn_trace_attribute *one = &w->trace->attributes[i];

        if (except && cn_trace_is_text_of(w->trace, one, except))
            continue;
        begin_message(w, field, NULL);
        add_chars(w, cn_otlp_key_value_key, "key", print_word(w, one->key));
        begin_message(w, cn_otlp_key_value_value, "value");
        add_value(w, &one->value, 0);
        end_message(w);
        end_message(w);
    }
    end_list(w);
}

static void add_text_attribute(struct otlp_writing *w, uint32_t field, const char *key,
                               struct cn_bytes text)
{
    begin_message(w, field, NULL);
    add_str(w, cn_otlp_key_value_key, "key", key);
    begin_message(w, cn_otlp_key_value_value, "value");
    add_chars(w, cn_otlp_value_string_value, "stringValue", text);
    end_message(w);
    end_message(w);
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
                           printed(w));
    end_list(w);
}

static void begin_event(struct otlp_writing *w, uint64_t time_ns)
{
    begin_message(w, cn_otlp_span_events, NULL);
    add_time(w, cn_otlp_event_time_unix_nano, "timeUnixNano", time_ns);
}

/* The exception of a call that no event is. */
static uint32_t exception_of(const struct cn_trace *trace, uint32_t node,
                             const struct cn_trace_span *span)
{
    uint32_t exception = trace->nodes[node].exception;

    for (uint32_t i = 0; exception != 0 && span && i < span->event_count; i++)
        if (cn_trace_event_is_exception(trace, &cn_trace_span_events(trace, span)[i]))
            return 0;
    return cn_word_kind(trace->words, exception) == CN_WORD_EXCEPTION ? exception : 0;
}

static void add_events(struct otlp_writing *w, uint32_t node,
                       const struct cn_trace_span *span, uint64_t time_ns)
{
    uint32_t exception = exception_of(w->trace, node, span);

    begin_list(w, "events");
    for (uint32_t i = 0; span && i < span->event_count; i++) {
        const struct cn_trace_event *event = &cn_trace_span_events(w->trace, span)[i];

        begin_event(w, event->time_ns);
        add_word(w, cn_otlp_event_name, "name", event->name);
        add_list(w, cn_otlp_event_attributes, event->attributes, NULL);
        add_count(w, cn_otlp_event_dropped_attributes_count, "droppedAttributesCount",
                  event->dropped_attributes);
        end_message(w);
    }
    if (exception != 0) {
        begin_event(w, time_ns);
        add_exception(w, exception);
        end_message(w);
    }
    end_list(w);
}

static void add_links(struct otlp_writing *w, const struct cn_trace_span *span)
{
    if (!span || span->link_count == 0)
        return;
    begin_list(w, "links");
    for (uint32_t i = 0; i < span->link_count; i++) {
        const struct cn_trace_link *link = &cn_trace_span_links(w->trace, span)[i];

        begin_message(w, cn_otlp_span_links, NULL);
        add_id(w, cn_otlp_link_trace_id, "traceId", &link->trace_high, link->trace_low);
        add_id(w, cn_otlp_link_span_id, "spanId", NULL, link->span_id);
        add_word(w, cn_otlp_link_trace_state, "traceState", link->trace_state);
        add_list(w, cn_otlp_link_attributes, link->attributes, NULL);
        add_count(w, cn_otlp_link_dropped_attributes_count, "droppedAttributesCount",
                  link->dropped_attributes);
        add_flags(w, cn_otlp_link_flags, link->flags);
        end_message(w);
    }
    end_list(w);
}

static void add_status(struct otlp_writing *w, uint32_t node,
                       const struct cn_trace_span *span)
{
    unsigned status = span                                           ? span->status
                      : w->trace->nodes[node].flags & CN_TRACE_ERROR ? CN_STATUS_ERROR
                                                                     : CN_STATUS_UNSET;

    begin_message(w, cn_otlp_span_status, "status");
    if (span)
        add_word(w, cn_otlp_status_message, "message", span->status_message);
    if (status != CN_STATUS_UNSET)
        add_enum(w, cn_otlp_status_code, "code", status,
                 status == CN_STATUS_OK ? "STATUS_CODE_OK" : "STATUS_CODE_ERROR");
    end_message(w);
}

/* What only spans have, as they were sent. */
static void add_counts(struct otlp_writing *w, const struct cn_trace_span *span)
{
    add_count(w, cn_otlp_span_dropped_attributes_count, "droppedAttributesCount",
              span->dropped_attributes);
    add_count(w, cn_otlp_span_dropped_events_count, "droppedEventsCount",
              span->dropped_events);
    add_count(w, cn_otlp_span_dropped_links_count, "droppedLinksCount",
              span->dropped_links);
    add_flags(w, cn_otlp_span_flags, span->flags);
}

static void add_span(struct otlp_writing *w, uint32_t node)
{
    static const char *const kinds[CN_SPAN_KIND_COUNT] = {
        "SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER",
        "SPAN_KIND_CLIENT",      "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"};
    const struct cn_trace *trace = w->trace;
    unsigned kind = cn_trace_call_kind(trace, node);
    const struct cn_trace_node *call = &trace->nodes[node];
    const struct cn_trace_span *span =
        call->span != CN_NONE ? &trace->spans[call->span] : NULL;
    uint64_t time_ns = span ? span->time_ns : w->begin_ns + call->start_ns;
    uint64_t parent_id = cn_trace_call_parent_id(trace, node);

    begin_message(w, cn_otlp_scope_spans_spans, NULL);
    add_id(w, cn_otlp_span_trace_id, "traceId", &trace->id_high, trace->id_low);
    add_id(w, cn_otlp_span_span_id, "spanId", NULL, cn_trace_call_id(trace, node));
    if (span)
        add_word(w, cn_otlp_span_trace_state, "traceState", span->trace_state);
    if (parent_id != 0)
        add_id(w, cn_otlp_span_parent_span_id, "parentSpanId", NULL, parent_id);
    cn_text_clear(&w->text);
    cn_words_print_method_name(trace->words, call->method, &w->text);
    add_chars(w, cn_otlp_span_name, "name", printed(w));
    add_enum(w, cn_otlp_span_kind, "kind", kind, kinds[kind]);
    add_time(w, cn_otlp_span_start_time_unix_nano, "startTimeUnixNano", time_ns);
    add_time(w, cn_otlp_span_end_time_unix_nano, "endTimeUnixNano",
             span ? cn_trace_span_end_ns(trace, span) : time_ns + call->duration_ns);
    add_list(w, cn_otlp_span_attributes,
             (struct cn_trace_list){call->first_attribute, call->last_attribute},
             span && span->resource != 0 ? NULL : "service.name");
    add_events(w, node, span, time_ns);
    add_links(w, span);
    add_status(w, node, span);
    if (span)
        add_counts(w, span);
    end_message(w);
}

static void add_resource(struct otlp_writing *w, const struct cn_trace_resource *resource,
                         uint32_t service)
{
    begin_message(w, cn_otlp_resource_spans_resource, "resource");
    if (resource) {
        add_list(w, cn_otlp_resource_attributes, resource->attributes, NULL);
        add_count(w, cn_otlp_resource_dropped_attributes_count, "droppedAttributesCount",
                  resource->dropped_attributes);
    } else {
        begin_list(w, "attributes");
        if (service != 0)
            add_text_attribute(w, cn_otlp_resource_attributes, "service.name",
                               print_word(w, service));
        end_list(w);
    }
    end_message(w);
}

static void add_scope(struct otlp_writing *w, const struct cn_trace_scope *scope)
{
    if (!scope)
        return;
    begin_message(w, cn_otlp_scope_spans_scope, "scope");
    add_word(w, cn_otlp_scope_name, "name", scope->name);
    add_word(w, cn_otlp_scope_version, "version", scope->version);
    add_list(w, cn_otlp_scope_attributes, scope->attributes, NULL);
    add_count(w, cn_otlp_scope_dropped_attributes_count, "droppedAttributesCount",
              scope->dropped_attributes);
    end_message(w);
}

static struct otlp_group group_of(const struct cn_trace *trace, const uint32_t *services,
                                  uint32_t node)
{
    uint32_t span = trace->nodes[node].span;
    struct otlp_group group = {.service = services[node]};

    if (span != CN_NONE) {
        group.resource = trace->spans[span].resource;
        group.scope = trace->spans[span].scope;
    }
    return group;
}

static bool is_same(struct otlp_group a, struct otlp_group b)
{
    return a.service == b.service && a.resource == b.resource && a.scope == b.scope;
}

/* The calls from `node` on that are of one group; returns the call after them. */
static uint32_t write_group(struct otlp_writing *w, const uint32_t *services,
                            uint32_t node)
{
    struct otlp_group group = group_of(w->trace, services, node);
    struct cn_trace_span of = {.resource = group.resource, .scope = group.scope};
    const struct cn_trace_resource *resource = cn_trace_span_resource(w->trace, &of);
    const struct cn_trace_scope *scope = cn_trace_span_scope(w->trace, &of);

    begin_message(w, cn_otlp_traces_resource_spans, NULL);
    add_resource(w, resource, group.service);
    begin_list(w, "scopeSpans");
    begin_message(w, cn_otlp_resource_spans_scope_spans, NULL);
    add_scope(w, scope);
    begin_list(w, "spans");
    do
        add_span(w, node++);
    while (node < w->trace->node_count &&
           is_same(group_of(w->trace, services, node), group));
    end_list(w);
    if (scope)
        add_word(w, cn_otlp_scope_spans_schema_url, "schemaUrl", scope->schema_url);
    end_message(w);
    end_list(w);
    if (resource)
        add_word(w, cn_otlp_resource_spans_schema_url, "schemaUrl", resource->schema_url);
    end_message(w);
    return node;
}

static void write_trace(struct otlp_writing *w)
{
    uint32_t *services = cn_trace_call_services(w->trace);

    for (uint32_t node = 0; node < w->trace->node_count;)
        node = write_group(w, services, node);
    free(services);
    cn_text_done(&w->text);
}

void cn_otlp_json_trace(struct cn_json *json, const struct cn_trace *trace,
                        uint64_t begin_ns)
{
    struct otlp_writing w = {.json = json, .trace = trace, .begin_ns = begin_ns};

    write_trace(&w);
}

void cn_otlp_mapped_trace(struct cn_json *json, const struct cn_trace *trace,
                          uint64_t begin_ns)
{
    struct otlp_writing w = {
        .json = json, .is_mapped = true, .trace = trace, .begin_ns = begin_ns};

    write_trace(&w);
}

void cn_otlp_trace(struct cn_pb *pb, const struct cn_trace *trace, uint64_t begin_ns)
{
    struct otlp_writing w = {.pb = pb, .trace = trace, .begin_ns = begin_ns};

    write_trace(&w);
}
