/* A trace as Jaeger's page expects it. Times are microseconds. */
#include <math.h>
#include <stdio.h>

#include "base/bytes/json.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/exchange/read/traces/spans.h"
#include "model/traces/json.h"
#include "server/compat/common/spans.h"
#include "server/compat/jaeger/jaeger.h"
#include "store/trace/distributed.h"

enum { NS_PER_US = 1000 };

struct jaeger_writing {
    struct cn_json *json;
    const char *trace_id;
    struct cn_names processes; /* as JSON: number N is "pN+1" */
    struct cn_text text;
};

static void begin_tag(struct cn_json *json, const char *key, const char *type)
{
    cn_json_object(json);
    cn_json_add_str(json, "key", key);
    cn_json_add_str(json, "type", type);
    cn_json_key(json, "value");
}

static void add_tag(struct cn_json *json, const char *key, const char *value)
{
    begin_tag(json, key, "string");
    cn_json_str(json, value);
    cn_json_end(json);
}

static void add_word_tag(struct cn_json *json, const char *key,
                         const struct cn_trace *trace, uint32_t word)
{
    if (word == 0)
        return;
    begin_tag(json, key, "string");
    cn_json_word(json, trace->words, word);
    cn_json_end(json);
}

/* JavaScript rounds larger numbers: they are strings. */
static void add_integer(struct cn_json *json, int64_t value)
{
    static const int64_t safe_max = (INT64_C(1) << 53) - 1;
    char digits[24];

    (void)snprintf(digits, sizeof(digits), "%lld", (long long)value);
    if (value > safe_max || value < -safe_max)
        cn_json_str(json, digits);
    else
        cn_json_i64(json, value);
}

/* Lists and maps are texts in JSON. */
static void add_value(struct cn_json *json, struct cn_text *text, const char *key,
                      const struct cn_trace *trace, const struct cn_trace_value *value)
{
    static const char *const types[] = {
        [CN_VALUE_IS_EMPTY] = "string",   [CN_VALUE_IS_TEXT] = "string",
        [CN_VALUE_IS_BOOL] = "bool",      [CN_VALUE_IS_INT] = "int64",
        [CN_VALUE_IS_DOUBLE] = "float64", [CN_VALUE_IS_LIST] = "string",
        [CN_VALUE_IS_MAP] = "string",     [CN_VALUE_IS_BYTES] = "binary",
    };
    enum cn_trace_value_type type = cn_trace_value_type(trace, value);
    struct cn_json inner = {.text = text};

    begin_tag(json, key,
              type == CN_VALUE_IS_DOUBLE && !isfinite(value->real) ? "string"
                                                                   : types[type]);
    cn_text_clear(text);
    if (type == CN_VALUE_IS_BOOL) {
        cn_json_bool(json, value->boolean);
    } else if (type == CN_VALUE_IS_INT) {
        add_integer(json, value->integer);
    } else if (type == CN_VALUE_IS_DOUBLE && isfinite(value->real)) {
        cn_json_f64(json, value->real);
    } else {
        if (type == CN_VALUE_IS_LIST || type == CN_VALUE_IS_MAP)
            cn_json_trace_value(&inner, trace, value, true);
        else if (type != CN_VALUE_IS_EMPTY)
            cn_trace_value_print(trace, value, text);
        cn_json_str(json, cn_text_str(text));
    }
    cn_json_end(json);
}

static void add_list(struct cn_json *json, const struct cn_trace *trace,
                     struct cn_trace_list list, const char *except)
{
    struct cn_text key = {0}, text = {0};

    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next) {
        cn_text_clear(&key);
        cn_words_print(trace->words, trace->attributes[i].key, &key);
        if (!except || strcmp(cn_text_str(&key), except) != 0)
            add_value(json, &text, cn_text_str(&key), trace, &trace->attributes[i].value);
    }
    cn_text_done(&key);
    cn_text_done(&text);
}

static void add_reference(struct cn_json *json, const char *type, const char *trace_id,
                          uint64_t span_id)
{
    cn_json_object(json);
    cn_json_add_str(json, "refType", type);
    cn_json_add_str(json, "traceID", trace_id);
    cn_json_add_span_id(json, "spanID", span_id);
    cn_json_end(json);
}

static void add_references(struct jaeger_writing *w, const struct cn_compat_span *span)
{
    cn_json_add_array(w->json, "references");
    if (span->parent_id != 0)
        add_reference(w->json, "CHILD_OF", w->trace_id, span->parent_id);
    for (uint32_t i = 0; span->span && i < span->span->link_count; i++) {
        const struct cn_trace_link *link =
            &cn_trace_span_links(span->trace, span->span)[i];

        cn_text_clear(&w->text);
        cn_compat_print_trace_id(&w->text, link->trace_high, link->trace_low);
        add_reference(w->json, "FOLLOWS_FROM", cn_text_str(&w->text), link->span_id);
    }
    cn_json_end(w->json);
}

/* What Jaeger has as tags and OpenTelemetry as fields. */
static void add_field_tags(struct cn_json *json, const struct cn_compat_span *span)
{
    const struct cn_trace *trace = span->trace;
    const struct cn_trace_scope *scope =
        span->span ? cn_trace_span_scope(trace, span->span) : NULL;

    if (scope) {
        add_word_tag(json, "otel.scope.name", trace, scope->name);
        add_word_tag(json, "otel.scope.version", trace, scope->version);
    }
    if (span->kind > 0)
        add_tag(json, "span.kind", cn_span_kinds[span->kind]);
    if (span->status != CN_STATUS_UNSET)
        add_tag(json, "otel.status_code", span->status == CN_STATUS_OK ? "OK" : "ERROR");
    if (span->status == CN_STATUS_ERROR) {
        begin_tag(json, "error", "bool");
        cn_json_bool(json, true);
        cn_json_end(json);
    }
    if (!span->span)
        return;
    add_word_tag(json, "otel.status_description", trace, span->span->status_message);
    add_word_tag(json, "w3c.tracestate", trace, span->span->trace_state);
}

static void begin_log(struct cn_json *json, uint64_t time_ns)
{
    cn_json_object(json);
    cn_json_add_u64(json, "timestamp", time_ns / NS_PER_US);
    cn_json_add_array(json, "fields");
}

static void end_log(struct cn_json *json)
{
    cn_json_end(json);
    cn_json_end(json);
}

static void add_logs(struct cn_json *json, const struct cn_compat_span *span)
{
    uint32_t exception = cn_compat_span_exception(span);
    const struct cn_words *words = span->trace->words;

    cn_json_add_array(json, "logs");
    for (uint32_t i = 0; span->span && i < span->span->event_count; i++) {
        const struct cn_trace_event *event =
            &cn_trace_span_events(span->trace, span->span)[i];

        begin_log(json, event->time_ns);
        add_word_tag(json, "event", span->trace, event->name);
        add_list(json, span->trace, event->attributes, NULL);
        end_log(json);
    }
    if (exception != 0) {
        begin_log(json, span->end_ns);
        add_tag(json, "event", "exception");
        add_word_tag(json, "exception.type", span->trace,
                     cn_word_part(words, exception, 0));
        add_word_tag(json, "exception.message", span->trace,
                     cn_word_part(words, exception, 1));
        end_log(json);
    }
    cn_json_end(json);
}

/* The number of the process of a span. The service of agents is that of the span around. */
static uint32_t process_of(struct jaeger_writing *w, const struct cn_compat_span *span)
{
    struct cn_json json = {.text = &w->text};

    cn_text_clear(&w->text);
    cn_json_object(&json);
    cn_json_key(&json, "serviceName");
    if (span->service != 0)
        cn_json_word(&json, span->trace->words, span->service);
    else
        cn_json_str(&json, "unknown");
    cn_json_add_array(&json, "tags");
    if (span->resource)
        add_list(&json, span->trace, span->resource->attributes, "service.name");
    cn_json_end(&json);
    cn_json_end(&json);
    return cn_names_add(&w->processes, cn_text_str(&w->text));
}

static void add_span(void *arg, const struct cn_compat_span *span)
{
    struct jaeger_writing *w = arg;
    struct cn_json *json = w->json;
    char process[16];

    (void)snprintf(process, sizeof(process), "p%u", process_of(w, span) + 1);
    cn_json_object(json);
    cn_json_add_str(json, "traceID", w->trace_id);
    cn_json_add_span_id(json, "spanID", span->id);
    if (span->span && span->span->flags != 0)
        cn_json_add_u64(json, "flags", span->span->flags & 0xff);
    cn_json_add_method(json, "operationName", span->trace->words,
                       span->trace->nodes[span->node].method);
    add_references(w, span);
    cn_json_add_u64(json, "startTime", span->time_ns / NS_PER_US);
    cn_json_add_u64(json, "duration", (span->end_ns - span->time_ns) / NS_PER_US);
    cn_json_add_array(json, "tags");
    add_list(json, span->trace, span->attributes, NULL);
    add_field_tags(json, span);
    cn_json_end(json);
    add_logs(json, span);
    cn_json_add_str(json, "processID", process);
    cn_json_add_str(json, "warnings", NULL);
    cn_json_end(json);
}

void cn_jaeger_trace(struct cn_json *json, const struct cn_trace_set *set)
{
    const struct cn_store_row *row = &set->branches[0].row;
    struct jaeger_writing w = {.json = json};
    struct cn_text id = {0};
    char name[24];

    cn_compat_print_trace_id(&id, row->trace_high, row->trace_low);
    w.trace_id = cn_text_str(&id);
    cn_json_object(json);
    cn_json_add_str(json, "traceID", w.trace_id);
    cn_json_add_array(json, "spans");
    cn_compat_each_span(set, add_span, &w);
    cn_json_end(json);
    cn_json_add_object(json, "processes");
    for (size_t i = 0; i < w.processes.count; i++) {
        (void)snprintf(name, sizeof(name), "p%zu", i + 1);
        cn_json_key(json, name);
        cn_json_raw(json, w.processes.list[i], strlen(w.processes.list[i]));
    }
    cn_json_end(json);
    cn_json_add_str(json, "warnings", NULL);
    cn_json_end(json);
    cn_names_done(&w.processes);
    cn_text_done(&w.text);
    cn_text_done(&id);
}
