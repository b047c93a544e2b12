#include "model/traces/span.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/traces/links.h"
#include "model/traces/shared.h"

uint64_t cn_trace_span_end_ns(const struct cn_trace *trace,
                              const struct cn_trace_span *span)
{
    uint64_t duration_ns = trace->nodes[span->node].duration_ns;

    if (span->has_end)
        return span->end_ns;
    return duration_ns < UINT64_MAX - span->time_ns ? span->time_ns + duration_ns
                                                    : UINT64_MAX;
}

struct cn_bytes cn_trace_span_name(const struct cn_trace *trace,
                                   const struct cn_trace_span *span)
{
    uint32_t method = trace->nodes[span->node].method;

    if (cn_word_kind(trace->words, method) == CN_WORD_METHOD)
        method = cn_word_part(trace->words, method, 1);
    return cn_word_bytes(trace->words, method);
}

const struct cn_trace_resource *cn_trace_span_resource(const struct cn_trace *trace,
                                                       const struct cn_trace_span *span)
{
    for (uint32_t i = 0; span->resource != 0 && i < trace->resource_count; i++)
        if (trace->resources[i].word == span->resource)
            return &trace->resources[i];
    return NULL;
}

const struct cn_trace_scope *cn_trace_span_scope(const struct cn_trace *trace,
                                                 const struct cn_trace_span *span)
{
    for (uint32_t i = 0; span->scope != 0 && i < trace->scope_count; i++)
        if (trace->scopes[i].word == span->scope)
            return &trace->scopes[i];
    return NULL;
}

const struct cn_trace_span *cn_trace_span_around(const struct cn_trace *trace,
                                                 uint32_t node)
{
    while (node != CN_NONE && trace->nodes[node].span == CN_NONE)
        node = trace->nodes[node].parent;
    return node == CN_NONE ? NULL : &trace->spans[trace->nodes[node].span];
}

uint32_t cn_trace_service_of(const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_span *span = cn_trace_span_around(trace, node);

    return !span ? 0 : span->service != 0 ? span->service : span->type;
}

static const struct cn_trace_span *caller_of(const struct cn_trace *trace,
                                             const struct cn_trace_span *span)
{
    return cn_trace_span_around(trace, trace->nodes[span->node].parent);
}

const struct cn_trace_resource *cn_trace_new_resource(const struct cn_trace *trace,
                                                      const struct cn_trace_span *span)
{
    const struct cn_trace_span *caller = caller_of(trace, span);

    return caller && caller->resource == span->resource
               ? NULL
               : cn_trace_span_resource(trace, span);
}

const struct cn_trace_scope *cn_trace_new_scope(const struct cn_trace *trace,
                                                const struct cn_trace_span *span)
{
    const struct cn_trace_span *caller = caller_of(trace, span);

    return caller && caller->scope == span->scope ? NULL
                                                  : cn_trace_span_scope(trace, span);
}

bool cn_trace_event_is_exception(const struct cn_trace *trace,
                                 const struct cn_trace_event *event)
{
    static const char *const keys[] = {"exception.type", "exception.message",
                                       "exception.stacktrace"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (cn_trace_list_find(trace, event->attributes, cn_bytes_of(keys[i])))
            return true;
    return false;
}

const struct cn_trace_value *cn_trace_list_find(const struct cn_trace *trace,
                                                struct cn_trace_list list,
                                                struct cn_bytes key)
{
    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next) {
        struct cn_bytes name = cn_word_bytes(trace->words, trace->attributes[i].key);

        if (name.len == key.len &&
            (key.len == 0 || memcmp(name.ptr, key.ptr, key.len) == 0))
            return &trace->attributes[i].value;
    }
    return NULL;
}

enum cn_trace_value_type cn_trace_value_type(const struct cn_trace *trace,
                                             const struct cn_trace_value *value)
{
    switch (value->kind) {
    case CN_VALUE_BOOL:
        return CN_VALUE_IS_BOOL;
    case CN_VALUE_INT:
        return CN_VALUE_IS_INT;
    case CN_VALUE_FLOAT:
        return CN_VALUE_IS_DOUBLE;
    case CN_VALUE_WORD:
        return cn_word_kind(trace->words, value->word) == CN_WORD_BYTES
                   ? CN_VALUE_IS_BYTES
                   : CN_VALUE_IS_TEXT;
    case CN_VALUE_LIST:
        return CN_VALUE_IS_LIST;
    case CN_VALUE_MAP:
        return CN_VALUE_IS_MAP;
    case CN_VALUE_NULL:
        break;
    }
    return CN_VALUE_IS_EMPTY;
}

struct cn_bytes cn_trace_value_bytes(const struct cn_trace *trace,
                                     const struct cn_trace_value *value)
{
    if (value->kind != CN_VALUE_WORD)
        return (struct cn_bytes){(const uint8_t *)"", 0};
    return cn_word_bytes(trace->words, value->word);
}

static void read_resource(struct cn_trace *trace, const struct cn_trace_span *span)
{
    if (span->resource == 0 || cn_trace_span_resource(trace, span))
        return;
    struct cn_trace_shared shared =
        cn_trace_shared_read(trace, trace->words, span->resource);
    struct cn_trace_resource resource = {
        .word = span->resource,
        .schema_url = shared.schema_url,
        .dropped_attributes = shared.dropped_attributes,
        .attributes = shared.attributes,
    };

    CN_PUSH(trace->resources, trace->resource_count, trace->resource_capacity, resource);
}

static void read_scope(struct cn_trace *trace, const struct cn_trace_span *span)
{
    if (span->scope == 0 || cn_trace_span_scope(trace, span))
        return;
    struct cn_trace_shared shared =
        cn_trace_shared_read(trace, trace->words, span->scope);
    struct cn_trace_scope scope = {
        .word = span->scope,
        .name = shared.name,
        .version = shared.version,
        .schema_url = shared.schema_url,
        .dropped_attributes = shared.dropped_attributes,
        .attributes = shared.attributes,
    };

    CN_PUSH(trace->scopes, trace->scope_count, trace->scope_capacity, scope);
}

static bool is_key(const struct cn_trace *trace, const struct cn_trace_attribute *one,
                   const char *key)
{
    return cn_bytes_equal(cn_word_bytes(trace->words, one->key), key);
}

/* Take what an attribute of an earlier version means; false if it is an attribute. */
static bool take_attribute(struct cn_trace *trace, struct cn_trace_span *span,
                           const struct cn_trace_attribute *one)
{
    bool is_annotation = is_key(trace, one, "annotation");

    if (cn_trace_take_links(trace, span, one))
        return true;
    if (one->value.kind != CN_VALUE_WORD)
        return false;
    if (span->status_message == 0 && is_key(trace, one, "status.message")) {
        span->status_message = one->value.word;
        return true;
    }
    if (!is_annotation && !is_key(trace, one, "event"))
        return false;
    struct cn_trace_event event = {
        .time_ns = span->time_ns,
        .name = one->value.word,
        .is_annotation = is_annotation,
        .attributes = CN_TRACE_EMPTY_LIST,
    };
    if (span->event_count++ == 0)
        span->first_event = trace->event_count;
    CN_PUSH(trace->events, trace->event_count, trace->event_capacity, event);
    return true;
}

static void take_attributes(struct cn_trace *trace, struct cn_trace_span *span)
{
    struct cn_trace_node *node = &trace->nodes[span->node];
    uint32_t *link = &node->first_attribute, last = CN_NONE;

    while (*link != CN_NONE) {
        struct cn_trace_attribute one = trace->attributes[*link];

        if (take_attribute(trace, span, &one)) {
            /* Lists of links have attributes of their own, so the array may have moved. */
            link =
                last == CN_NONE ? &node->first_attribute : &trace->attributes[last].next;
            *link = one.next;
            span->is_whole = true;
        } else {
            last = *link;
            link = &trace->attributes[last].next;
        }
    }
    node->last_attribute = last;
}

void cn_trace_complete(struct cn_trace *trace)
{
    for (uint32_t i = 0; i < trace->span_count; i++) {
        struct cn_trace_span *span = &trace->spans[i];

        if (span->is_whole) {
            read_resource(trace, span);
            read_scope(trace, span);
            continue;
        }
        if (trace->nodes[span->node].flags & CN_TRACE_ERROR)
            span->status = CN_STATUS_ERROR;
        take_attributes(trace, span);
    }
}
