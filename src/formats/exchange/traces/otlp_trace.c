#include "formats/exchange/traces/otlp_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/bytes/json.h"
#include "formats/exchange/otlp_format.h"
#include "model/traces/trace.h"
#include "model/traces/trace_links.h"

struct writing {
    struct cn_json *json;
    const struct cn_trace *trace;
    uint64_t begin_ns;
    struct cn_text text;
};

static bool is_text(const struct cn_words *words, uint32_t word, const char *text)
{
    struct cn_bytes bytes = cn_word_bytes(words, word);

    return bytes.len == strlen(text) && memcmp(bytes.ptr, text, bytes.len) == 0;
}

static void add_u64_text(struct cn_json *json, const char *key, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    cn_json_add_str(json, key, text);
}

static void add_id(struct cn_json *json, const char *key, uint64_t id)
{
    char text[CN_SPAN_ID_DIGITS + 1];

    (void)snprintf(text, sizeof(text), "%016" PRIx64, id);
    cn_json_add_str(json, key, text);
}

/* Append a value as an object. Depth is limited by CN_TRACE_VALUE_DEPTH_MAX. */
static void add_value(struct writing *w, const struct cn_trace_value *value,
                      unsigned depth)
{
    const struct cn_trace_value *items = w->trace->values + value->list.first;
    bool is_map = value->kind == CN_VALUE_MAP;

    cn_json_object(w->json);
    switch (depth < CN_TRACE_VALUE_DEPTH_MAX ? value->kind : CN_VALUE_NULL) {
    case CN_VALUE_NULL:
        break;
    case CN_VALUE_BOOL:
        cn_json_add_bool(w->json, "boolValue", value->boolean);
        break;
    case CN_VALUE_FLOAT:
        cn_json_key(w->json, "doubleValue");
        cn_json_f64(w->json, value->real);
        break;
    case CN_VALUE_INT:
    case CN_VALUE_WORD:
        cn_text_clear(&w->text);
        cn_trace_value_print(w->trace, value, &w->text);
        cn_json_add_str(w->json, value->kind == CN_VALUE_INT ? "intValue" : "stringValue",
                        cn_text_str(&w->text));
        break;
    case CN_VALUE_LIST:
    case CN_VALUE_MAP:
        cn_json_key(w->json, is_map ? "kvlistValue" : "arrayValue");
        cn_json_object(w->json);
        cn_json_key(w->json, "values");
        cn_json_array(w->json);
        for (uint32_t i = 0; i < value->list.count; i++) {
            if (!is_map) {
                add_value(w, &items[i], depth + 1);
                continue;
            }
            cn_json_object(w->json);
            cn_text_clear(&w->text);
            cn_trace_value_print(w->trace, &items[2 * i], &w->text);
            cn_json_add_str(w->json, "key", cn_text_str(&w->text));
            cn_json_key(w->json, "value");
            add_value(w, &items[2 * i + 1], depth + 1);
            cn_json_end(w->json);
        }
        cn_json_end(w->json);
        cn_json_end(w->json);
        break;
    }
    cn_json_end(w->json);
}

static void add_attribute(struct writing *w, const struct cn_trace_value *key,
                          const struct cn_trace_value *value)
{
    cn_json_object(w->json);
    cn_text_clear(&w->text);
    cn_trace_value_print(w->trace, key, &w->text);
    cn_json_add_str(w->json, "key", cn_text_str(&w->text));
    cn_json_key(w->json, "value");
    add_value(w, value, 0);
    cn_json_end(w->json);
}

static void add_text_attribute(struct cn_json *json, const char *key, const char *text)
{
    cn_json_object(json);
    cn_json_add_str(json, "key", key);
    cn_json_key(json, "value");
    cn_json_object(json);
    cn_json_add_str(json, "stringValue", text);
    cn_json_end(json);
    cn_json_end(json);
}

/* Attributes that the span has in another form. */
static bool is_elsewhere(const struct writing *w, const struct cn_trace_attribute *one)
{
    const struct cn_words *words = w->trace->words;

    return cn_trace_is_links(w->trace, one) ||
           (one->value.kind == CN_VALUE_WORD &&
            (is_text(words, one->key, "event") ||
             is_text(words, one->key, "status.message") ||
             is_text(words, one->key, "service.name")));
}

static void add_attributes(struct writing *w, uint32_t node)
{
    cn_json_key(w->json, "attributes");
    cn_json_array(w->json);
    for (uint32_t i = w->trace->nodes[node].first_attribute; i != CN_NONE;
         i = w->trace->attributes[i].next) {
        const struct cn_trace_attribute *one = &w->trace->attributes[i];
        struct cn_trace_value key = {.kind = CN_VALUE_WORD, .word = one->key};

        if (!is_elsewhere(w, one))
            add_attribute(w, &key, &one->value);
    }
    cn_json_end(w->json);
}

/* The text of a stack, as cn_stack_text_add() reads it. */
static void print_stack(struct writing *w, uint32_t stack)
{
    const struct cn_words *words = w->trace->words;

    cn_text_clear(&w->text);
    for (size_t i = 0; i < cn_word_part_count(words, stack); i++) {
        uint32_t frame = cn_word_part(words, stack, i);

        cn_text_str_add(&w->text, cn_word_part(words, frame, 0) != 0 ? "\tat " : "");
        cn_words_print(words, frame, &w->text);
        cn_text_char(&w->text, '\n');
    }
}

static void add_exception(struct writing *w, uint32_t exception)
{
    const struct cn_words *words = w->trace->words;
    uint32_t stack = cn_word_part(words, exception, 2);

    cn_json_add_str(w->json, "name", "exception");
    cn_json_key(w->json, "attributes");
    cn_json_array(w->json);
    for (unsigned part = 0; part < 2; part++) {
        if (cn_word_part(words, exception, part) == 0)
            continue;
        cn_text_clear(&w->text);
        cn_words_print(words, cn_word_part(words, exception, part), &w->text);
        add_text_attribute(w->json, part == 0 ? "exception.type" : "exception.message",
                           cn_text_str(&w->text));
    }
    if (stack != 0) {
        print_stack(w, stack);
        add_text_attribute(w->json, "exception.stacktrace", cn_text_str(&w->text));
    }
    cn_json_end(w->json);
}

/* The time of an event is not stored: it is that of the begin of its call. */
static void add_events(struct writing *w, uint32_t node, uint64_t time_ns)
{
    const struct cn_trace *trace = w->trace;
    uint32_t exception = trace->nodes[node].exception;

    cn_json_key(w->json, "events");
    cn_json_array(w->json);
    for (uint32_t i = trace->nodes[node].first_attribute; i != CN_NONE;
         i = trace->attributes[i].next) {
        if (trace->attributes[i].value.kind != CN_VALUE_WORD ||
            !is_text(trace->words, trace->attributes[i].key, "event"))
            continue;
        cn_json_object(w->json);
        add_u64_text(w->json, "timeUnixNano", time_ns);
        cn_text_clear(&w->text);
        cn_trace_value_print(trace, &trace->attributes[i].value, &w->text);
        cn_json_add_str(w->json, "name", cn_text_str(&w->text));
        cn_json_end(w->json);
    }
    if (exception != 0 && cn_word_kind(trace->words, exception) == CN_WORD_EXCEPTION) {
        cn_json_object(w->json);
        add_u64_text(w->json, "timeUnixNano", time_ns);
        add_exception(w, exception);
        cn_json_end(w->json);
    }
    cn_json_end(w->json);
}

static void add_digits(struct cn_json *json, const char *key, struct cn_bytes digits)
{
    char text[CN_TRACE_ID_DIGITS + 1] = "";

    memcpy(text, digits.ptr, digits.len);
    cn_json_add_str(json, key, text);
}

static void add_link(struct writing *w, const struct cn_trace_link *link)
{
    const struct cn_trace_value *key, *value;
    uint32_t at = 0;

    cn_json_object(w->json);
    add_digits(w->json, "traceId", link->trace);
    add_digits(w->json, "spanId", link->span);
    while (cn_trace_link_next(w->trace, link, &at, &key, &value))
        if (cn_trace_link_is_state(w->trace, key)) {
            cn_text_clear(&w->text);
            cn_trace_value_print(w->trace, value, &w->text);
            cn_json_add_str(w->json, "traceState", cn_text_str(&w->text));
        }
    cn_json_key(w->json, "attributes");
    cn_json_array(w->json);
    at = 0;
    while (cn_trace_link_next(w->trace, link, &at, &key, &value))
        if (!cn_trace_link_is_state(w->trace, key))
            add_attribute(w, key, value);
    cn_json_end(w->json);
    cn_json_end(w->json);
}

static void add_links(struct writing *w, uint32_t node)
{
    const struct cn_trace_attribute *links = cn_trace_find_links(w->trace, node);

    if (!links)
        return;
    cn_json_key(w->json, "links");
    cn_json_array(w->json);
    for (uint32_t i = 0; i < links->value.list.count; i++) {
        struct cn_trace_link link = cn_trace_link_at(w->trace, links, i);

        add_link(w, &link);
    }
    cn_json_end(w->json);
}

static void add_status(struct writing *w, uint32_t node)
{
    const struct cn_trace *trace = w->trace;

    cn_json_key(w->json, "status");
    cn_json_object(w->json);
    if (trace->nodes[node].flags & CN_TRACE_ERROR) {
        cn_json_key(w->json, "code");
        cn_json_u64(w->json, CN_OTLP_STATUS_ERROR);
    }
    for (uint32_t i = trace->nodes[node].first_attribute; i != CN_NONE;
         i = trace->attributes[i].next)
        if (trace->attributes[i].value.kind == CN_VALUE_WORD &&
            is_text(trace->words, trace->attributes[i].key, "status.message")) {
            cn_text_clear(&w->text);
            cn_trace_value_print(trace, &trace->attributes[i].value, &w->text);
            cn_json_add_str(w->json, "message", cn_text_str(&w->text));
            break;
        }
    cn_json_end(w->json);
}

static uint64_t span_id(const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_node *call = &trace->nodes[node];
    uint64_t key[4] = {trace->id_high, trace->id_low,
                       trace->span_count > 0 ? trace->spans[0].id : 0, node};

    if (call->span != CN_NONE && trace->spans[call->span].id != 0)
        return trace->spans[call->span].id;
    return XXH3_64bits(key, sizeof(key)) | 1;
}

static uint64_t parent_id(const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_node *call = &trace->nodes[node];

    if (call->span != CN_NONE && trace->spans[call->span].parent_id != 0)
        return trace->spans[call->span].parent_id;
    return call->parent != CN_NONE ? span_id(trace, call->parent) : 0;
}

/* By call: the word of the innermost service around it; 0 if that is unknown. */
static uint32_t *find_services(const struct cn_trace *trace)
{
    uint32_t *services = cn_alloc(trace->node_count, sizeof(*services));

    for (uint32_t i = 0; i < trace->node_count; i++) {
        uint32_t span = trace->nodes[i].span, parent = trace->nodes[i].parent;

        if (span != CN_NONE && trace->spans[span].service != 0)
            services[i] = trace->spans[span].service;
        else if (parent != CN_NONE)
            services[i] = services[parent];
    }
    return services;
}

static uint64_t kind_of(const struct cn_trace *trace, uint32_t node)
{
    static const char *const names[] = {"server", "client", "producer", "consumer"};
    uint32_t span = trace->nodes[node].span;

    for (unsigned i = 0; span != CN_NONE && i < sizeof(names) / sizeof(*names); i++)
        if (trace->spans[span].type != 0 &&
            is_text(trace->words, trace->spans[span].type, names[i]))
            return CN_OTLP_KIND_INTERNAL + 1 + i;
    return CN_OTLP_KIND_INTERNAL;
}

static void add_span(struct writing *w, uint32_t node)
{
    const struct cn_trace *trace = w->trace;
    const struct cn_trace_node *call = &trace->nodes[node];
    uint64_t time_ns = w->begin_ns + call->start_ns;
    char id[CN_TRACE_ID_DIGITS + 1];

    (void)snprintf(id, sizeof(id), "%016" PRIx64 "%016" PRIx64, trace->id_high,
                   trace->id_low);
    cn_json_object(w->json);
    cn_json_add_str(w->json, "traceId", id);
    add_id(w->json, "spanId", span_id(trace, node));
    if (parent_id(trace, node) != 0)
        add_id(w->json, "parentSpanId", parent_id(trace, node));
    cn_text_clear(&w->text);
    cn_words_print_method_name(trace->words, call->method, &w->text);
    cn_json_add_str(w->json, "name", cn_text_str(&w->text));
    cn_json_key(w->json, "kind");
    cn_json_u64(w->json, kind_of(trace, node));
    add_u64_text(w->json, "startTimeUnixNano", time_ns);
    add_u64_text(w->json, "endTimeUnixNano", time_ns + call->duration_ns);
    add_attributes(w, node);
    add_events(w, node, time_ns);
    add_links(w, node);
    add_status(w, node);
    cn_json_end(w->json);
}

static void add_resource(struct writing *w, uint32_t service)
{
    cn_json_key(w->json, "resource");
    cn_json_object(w->json);
    cn_json_key(w->json, "attributes");
    cn_json_array(w->json);
    if (service != 0) {
        cn_text_clear(&w->text);
        cn_words_print(w->trace->words, service, &w->text);
        add_text_attribute(w->json, "service.name", cn_text_str(&w->text));
    }
    cn_json_end(w->json);
    cn_json_end(w->json);
}

/* Consecutive calls of a service share a resource. */
void cn_otlp_json_trace(struct cn_json *json, const struct cn_trace *trace,
                        uint64_t begin_ns)
{
    struct writing w = {.json = json, .trace = trace, .begin_ns = begin_ns};
    uint32_t *services = find_services(trace);

    for (uint32_t node = 0; node < trace->node_count;) {
        uint32_t service = services[node];

        cn_json_object(json);
        add_resource(&w, service);
        cn_json_key(json, "scopeSpans");
        cn_json_array(json);
        cn_json_object(json);
        cn_json_key(json, "spans");
        cn_json_array(json);
        while (node < trace->node_count && services[node] == service)
            add_span(&w, node++);
        cn_json_end(json);
        cn_json_end(json);
        cn_json_end(json);
        cn_json_end(json);
    }
    free(services);
    cn_text_done(&w.text);
}
