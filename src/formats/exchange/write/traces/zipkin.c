#include "formats/exchange/write/traces/zipkin.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/json.h"
#include "formats/exchange/read/traces/spans.h"
#include "formats/exchange/read/traces/stack_text.h"
#include "model/traces/json.h"
#include "model/traces/links.h"
#include "model/traces/span.h"

enum { NS_PER_US = 1000 };

struct zipkin_writing {
    struct cn_json *json;
    const struct cn_trace *trace;
    struct cn_zipkin_losses *losses;
    struct cn_text text;
};

/* Members of endpoints, which cn_zipkin_read() stores as attributes. */
static const char local[] = "localEndpoint.", remote[] = "remoteEndpoint.";

static bool has_prefix(const struct zipkin_writing *w,
                       const struct cn_trace_attribute *one, const char *prefix)
{
    struct cn_bytes key = cn_word_bytes(w->trace->words, one->key);

    return one->value.kind == CN_VALUE_WORD && key.len > strlen(prefix) &&
           memcmp(key.ptr, prefix, strlen(prefix)) == 0;
}

/* Attributes that the span has in another form. */
static bool is_elsewhere(const struct zipkin_writing *w,
                         const struct cn_trace_attribute *one)
{
    return has_prefix(w, one, local) || has_prefix(w, one, remote) ||
           cn_trace_is_text_of(w->trace, one, "service.name");
}

/* True if a list has an attribute with the same key before this one. */
static bool is_repeated(const struct zipkin_writing *w, uint32_t first,
                        uint32_t attribute)
{
    const struct cn_trace_attribute *list = w->trace->attributes;
    uint32_t i = first;

    while (i != CN_NONE && i != attribute && list[i].key != list[attribute].key)
        i = list[i].next;
    return i != CN_NONE && i != attribute;
}

static void add_word(struct zipkin_writing *w, const char *key, uint32_t word)
{
    cn_text_clear(&w->text);
    cn_words_print(w->trace->words, word, &w->text);
    cn_json_add_str(w->json, key, cn_text_str(&w->text));
}

static void add_value(struct zipkin_writing *w, const struct cn_trace_value *value)
{
    cn_text_clear(&w->text);
    cn_trace_value_print(w->trace, value, &w->text);
    cn_json_str(w->json, cn_text_str(&w->text));
}

/* "TRACE|SPAN|state|{attributes as JSON}|dropped attributes" */
static void add_link(struct zipkin_writing *w, const struct cn_trace_link *link,
                     uint32_t number)
{
    struct cn_text text = {0}, attributes = {0};
    struct cn_json json = {.text = &attributes};
    char key[32];

    (void)snprintf(key, sizeof(key), "otlp.link.%" PRIu32, number);
    cn_text_printf(&text, "%016" PRIx64 "%016" PRIx64 "|%016" PRIx64 "|",
                   link->trace_high, link->trace_low, link->span_id);
    cn_words_print(w->trace->words, link->trace_state, &text);
    cn_text_char(&text, '|');
    cn_json_trace_list(&json, w->trace, &link->attributes, true);
    for (size_t i = 0; i < attributes.len; i++)
        if (attributes.chars[i] != '\n') /* between members */
            cn_text_char(&text, attributes.chars[i]);
    cn_text_printf(&text, "|%" PRIu32, link->dropped_attributes);
    cn_json_add_str(w->json, key, cn_text_str(&text));
    cn_text_done(&text);
    cn_text_done(&attributes);
}

static void add_exception(struct zipkin_writing *w, uint32_t exception)
{
    const struct cn_words *words = w->trace->words;

    w->losses->exceptions++;
    if (cn_word_part(words, exception, 0) != 0)
        add_word(w, "exception.type", cn_word_part(words, exception, 0));
    if (cn_word_part(words, exception, 1) != 0)
        add_word(w, "exception.message", cn_word_part(words, exception, 1));
    cn_text_clear(&w->text);
    cn_stack_text_print(words, exception, &w->text);
    if (w->text.len > 0)
        cn_json_add_str(w->json, "exception.stacktrace", cn_text_str(&w->text));
}

/* Attributes from `from` on, of a span whose own begin at `first`. `has_error` becomes true if one
 * says that the span failed. */
static void add_list(struct zipkin_writing *w, uint32_t from, uint32_t first,
                     bool *has_error)
{
    const struct cn_trace *trace = w->trace;

    for (uint32_t i = from; i != CN_NONE; i = trace->attributes[i].next) {
        const struct cn_trace_attribute *one = &trace->attributes[i];

        if (is_elsewhere(w, one))
            continue;
        if (is_repeated(w, from, i) || (from != first && is_repeated(w, first, i))) {
            w->losses->repeated++;
            continue;
        }
        *has_error = *has_error || cn_word_is(trace->words, one->key, "error");
        w->losses->typed += cn_trace_value_type(trace, &one->value) != CN_VALUE_IS_TEXT;
        cn_text_clear(&w->text);
        cn_words_print(trace->words, one->key, &w->text);
        cn_json_key(w->json, cn_text_str(&w->text));
        add_value(w, &one->value);
    }
}

/* What else a span has, after the tags that are read as attributes: so it is written again in the
 * same order. */
static void add_span_tags(struct zipkin_writing *w, const struct cn_trace_span *span)
{
    const struct cn_trace_scope *scope = cn_trace_span_scope(w->trace, span);

    w->losses->rest += (scope && scope->name != 0) ||
                       (span->trace_state | span->flags | span->dropped_attributes |
                        span->dropped_events | span->dropped_links) != 0;
    if (span->status_message != 0)
        add_word(w, "status.message", span->status_message);
    for (uint32_t i = 0; i < span->link_count; i++)
        add_link(w, &cn_trace_span_links(w->trace, span)[i], i);
}

static void add_tags(struct zipkin_writing *w, uint32_t node)
{
    const struct cn_trace *trace = w->trace;
    const struct cn_trace_node *call = &trace->nodes[node];
    const struct cn_trace_span *span =
        call->span != CN_NONE ? &trace->spans[call->span] : NULL;
    const struct cn_trace_resource *resource =
        span ? cn_trace_span_resource(trace, span) : NULL;
    bool has_error = false;

    cn_json_add_object(w->json, "tags");
    add_list(w, call->first_attribute, call->first_attribute, &has_error);
    if (resource)
        add_list(w, resource->attributes.first, call->first_attribute, &has_error);
    if (call->exception != 0 &&
        cn_word_kind(trace->words, call->exception) == CN_WORD_EXCEPTION)
        add_exception(w, call->exception);
    if (call->flags & CN_TRACE_ERROR && !has_error)
        cn_json_add_str(w->json, "error", "true");
    if (span)
        add_span_tags(w, span);
    cn_json_end(w->json);
}

/* Events are annotations, unless they are the exception, which is written as tags. */
static void add_annotations(struct zipkin_writing *w, uint32_t node)
{
    const struct cn_trace *trace = w->trace;
    const struct cn_trace_span *span = trace->nodes[node].span != CN_NONE
                                           ? &trace->spans[trace->nodes[node].span]
                                           : NULL;

    cn_json_add_array(w->json, "annotations");
    for (uint32_t i = 0; span && i < span->event_count; i++) {
        const struct cn_trace_event *event = &cn_trace_span_events(trace, span)[i];

        if (cn_trace_event_is_exception(trace, event))
            continue;
        w->losses->event_attributes += event->attributes.first != CN_NONE;
        cn_json_object(w->json);
        cn_json_add_u64(w->json, "timestamp", event->time_ns / NS_PER_US);
        add_word(w, "value", event->name);
        cn_json_end(w->json);
    }
    cn_json_end(w->json);
}

/* A port is a number. */
static void add_port(struct zipkin_writing *w, const struct cn_trace_value *value)
{
    cn_text_clear(&w->text);
    cn_trace_value_print(w->trace, value, &w->text);
    cn_json_u64(w->json, strtoul(cn_text_str(&w->text), NULL, 10));
}

/* `prefix` is that of its attributes: its name and a dot. */
static void add_endpoint(struct zipkin_writing *w, uint32_t node, const char *prefix,
                         uint32_t service)
{
    const struct cn_trace *trace = w->trace;
    char name[sizeof(remote)] = "";
    bool is_port;

    memcpy(name, prefix, strlen(prefix) - 1);
    cn_json_add_object(w->json, name);
    if (service != 0)
        add_word(w, "serviceName", service);
    for (uint32_t i = trace->nodes[node].first_attribute; i != CN_NONE;
         i = trace->attributes[i].next) {
        const struct cn_trace_attribute *one = &trace->attributes[i];

        if (!has_prefix(w, one, prefix) ||
            is_repeated(w, trace->nodes[node].first_attribute, i))
            continue;
        cn_text_clear(&w->text);
        cn_words_print(trace->words, one->key, &w->text);
        is_port = strcmp(cn_text_str(&w->text) + strlen(prefix), "port") == 0;
        cn_json_key(w->json, cn_text_str(&w->text) + strlen(prefix));
        if (is_port)
            add_port(w, &one->value);
        else
            add_value(w, &one->value);
    }
    cn_json_end(w->json);
}

static bool has_endpoint(const struct zipkin_writing *w, uint32_t node,
                         const char *prefix)
{
    uint32_t i = w->trace->nodes[node].first_attribute;

    while (i != CN_NONE && !has_prefix(w, &w->trace->attributes[i], prefix))
        i = w->trace->attributes[i].next;
    return i != CN_NONE;
}

static void add_id(struct cn_json *json, const char *key, uint64_t id)
{
    char digits[CN_SPAN_ID_DIGITS + 1];

    (void)snprintf(digits, sizeof(digits), "%016" PRIx64, id);
    cn_json_add_str(json, key, digits);
}

static void add_ids(struct zipkin_writing *w, uint32_t node)
{
    const struct cn_trace *trace = w->trace;
    uint32_t parent = trace->nodes[node].parent;
    uint64_t id = cn_trace_call_id(trace, node);
    uint64_t parent_id = cn_trace_call_parent_id(trace, node);
    char digits[CN_TRACE_ID_DIGITS + 1];

    (void)snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64, trace->id_high,
                   trace->id_low);
    cn_json_add_str(w->json, "traceId", digits);
    add_id(w->json, "id", id);
    if (parent_id != 0 && parent_id != id)
        add_id(w->json, "parentId", parent_id);
    if (parent != CN_NONE && cn_trace_call_id(trace, parent) == id)
        cn_json_add_bool(w->json, "shared", true);
}

/* A duration of 0 means "unknown". */
static void add_times(struct zipkin_writing *w, uint64_t time_ns, uint64_t duration_ns)
{
    w->losses->times += time_ns % NS_PER_US != 0 || duration_ns % NS_PER_US != 0;
    cn_json_add_u64(w->json, "timestamp", time_ns / NS_PER_US);
    if (duration_ns > 0)
        cn_json_add_u64(w->json, "duration",
                        duration_ns < NS_PER_US ? 1 : duration_ns / NS_PER_US);
}

static void add_kind(struct zipkin_writing *w, uint32_t node)
{
    const char *kind = cn_span_kinds[cn_trace_call_kind(w->trace, node)];

    if (cn_trace_call_kind(w->trace, node) <= CN_SPAN_INTERNAL)
        return;
    cn_text_clear(&w->text);
    for (; *kind; kind++)
        cn_text_char(&w->text, (char)toupper(*kind));
    cn_json_add_str(w->json, "kind", cn_text_str(&w->text));
}

static void add_span(struct zipkin_writing *w, uint32_t node, uint64_t begin_ns,
                     uint32_t service)
{
    const struct cn_trace *trace = w->trace;
    uint64_t time_ns = begin_ns + trace->nodes[node].start_ns;

    cn_json_object(w->json);
    add_ids(w, node);
    cn_text_clear(&w->text);
    cn_words_print_method_name(trace->words, trace->nodes[node].method, &w->text);
    cn_json_add_str(w->json, "name", cn_text_str(&w->text));
    add_kind(w, node);
    add_times(w, time_ns, trace->nodes[node].duration_ns);
    if (service != 0 || has_endpoint(w, node, local))
        add_endpoint(w, node, local, service);
    if (has_endpoint(w, node, remote))
        add_endpoint(w, node, remote, 0);
    add_annotations(w, node);
    add_tags(w, node);
    cn_json_end(w->json);
}

void cn_zipkin_trace(struct cn_json *json, const struct cn_trace *trace,
                     uint64_t begin_ns, struct cn_zipkin_losses *losses)
{
    struct zipkin_writing w = {.json = json, .trace = trace, .losses = losses};
    uint32_t *services = cn_trace_call_services(trace);

    for (uint32_t node = 0; node < trace->node_count; node++)
        add_span(&w, node, begin_ns, services[node]);
    losses->types += cn_trace_other_types(trace);
    free(services);
    cn_text_done(&w.text);
}
