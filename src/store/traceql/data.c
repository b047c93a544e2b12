#include "store/traceql/data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/traces/span.h"

/* Bytes are the text that the index has of them. */
static struct cn_tql_value text_of(const struct cn_trace *trace,
                                   const struct cn_trace_value *value,
                                   struct cn_arena *arena)
{
    struct cn_text text = {0};

    cn_trace_value_print(trace, value, &text);
    const char *copy = cn_arena_copy(arena, cn_text_str(&text), text.len);
    struct cn_tql_value printed =
        cn_tql_text((struct cn_bytes){(const uint8_t *)copy, text.len});
    cn_text_done(&text);
    return printed;
}

static struct cn_tql_value scalar_of(const struct cn_trace *trace,
                                     const struct cn_trace_value *value,
                                     struct cn_arena *arena)
{
    switch (cn_trace_value_type(trace, value)) {
    case CN_VALUE_IS_BOOL:
        return cn_tql_bool(value->boolean);
    case CN_VALUE_IS_INT:
        return cn_tql_int(value->integer);
    case CN_VALUE_IS_DOUBLE:
        return cn_tql_float(value->real);
    case CN_VALUE_IS_TEXT:
        return cn_tql_text(cn_trace_value_bytes(trace, value));
    case CN_VALUE_IS_BYTES:
        return text_of(trace, value, arena);
    case CN_VALUE_IS_EMPTY:
    case CN_VALUE_IS_LIST:
    case CN_VALUE_IS_MAP:
        break;
    }
    return cn_tql_nil();
}

struct cn_tql_value cn_tql_data_value(const struct cn_words *words,
                                      const struct cn_trace_value *value,
                                      struct cn_arena *arena)
{
    struct cn_trace trace = {.words = words};

    return scalar_of(&trace, value, arena);
}

/* Values that are found one after the other. */
struct several {
    struct cn_tql_value *list;
    uint32_t count;
    size_t capacity;
    bool is_list; /* one of them is an element of a list */
};

static void add_value(struct several *several, struct cn_tql_value value)
{
    if (value.type != CN_TQL_NIL)
        CN_PUSH(several->list, several->count, several->capacity, value);
}

/* One value, a list of them, or nil. `is_any`: they are those of several events or links. */
static struct cn_tql_value take_several(struct several *several, bool is_any,
                                        struct cn_arena *arena)
{
    struct cn_tql_value value = {
        .type = CN_TQL_LIST, .is_any = is_any, .count = several->count};

    if (several->count == 0)
        return cn_tql_nil();
    value.list = cn_arena_dup(arena, several->list, several->count, sizeof(value));
    free(several->list);
    return several->count == 1 && !several->is_list ? value.list[0] : value;
}

/* Add the scalars of a value that have the rest of a name, as the index names them: elements of a list
 * have the name of the list, those of a map "map.key". The depth is limited. */
static void collect(const struct cn_trace *trace, const struct cn_trace_value *value,
                    const char *rest, unsigned depth, struct cn_arena *arena,
                    struct several *out)
{
    const struct cn_trace_value *items = trace->values + value->list.first;

    if (value->kind != CN_VALUE_LIST && value->kind != CN_VALUE_MAP) {
        if (!*rest)
            add_value(out, scalar_of(trace, value, arena));
        return;
    }
    out->is_list |= value->kind == CN_VALUE_LIST;
    for (uint32_t i = 0; depth < CN_TRACE_VALUE_DEPTH_MAX && i < value->list.count; i++) {
        struct cn_bytes key;

        if (value->kind == CN_VALUE_LIST) {
            collect(trace, &items[i], rest, depth + 1, arena, out);
            continue;
        }
        key = cn_word_bytes(trace->words, items[2 * i].word);
        if (items[2 * i].kind != CN_VALUE_WORD || key.len == 0 ||
            strncmp(rest, (const char *)key.ptr, key.len) != 0)
            continue;
        if (!rest[key.len] || rest[key.len] == '.')
            collect(trace, &items[2 * i + 1], rest + key.len + (rest[key.len] == '.'),
                    depth + 1, arena, out);
    }
}

static void collect_attribute(const struct cn_trace *trace,
                              const struct cn_trace_attribute *attribute,
                              const char *name, struct cn_arena *arena,
                              struct several *out)
{
    struct cn_bytes key = cn_word_bytes(trace->words, attribute->key);

    if (strncmp(name, (const char *)key.ptr, key.len) == 0 &&
        (!name[key.len] || (name[key.len] == '.' && key.len > 0)))
        collect(trace, &attribute->value, name + key.len + (name[key.len] == '.'), 0,
                arena, out);
}

static struct cn_tql_value value_of(const struct cn_trace *trace,
                                    const struct cn_trace_value *value,
                                    struct cn_arena *arena)
{
    struct several several = {0};

    collect(trace, value, "", 0, arena, &several);
    return take_several(&several, false, arena);
}

static struct cn_tql_value find_in(const struct cn_trace *trace,
                                   struct cn_trace_list list, const char *name,
                                   struct cn_arena *arena)
{
    struct several several = {0};

    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next)
        collect_attribute(trace, &trace->attributes[i], name, arena, &several);
    return take_several(&several, false, arena);
}

static struct cn_tql_value of_events(const struct cn_trace *trace,
                                     const struct cn_trace_span *span,
                                     const struct cn_tql_field *field,
                                     struct cn_arena *arena)
{
    const struct cn_trace_event *events = cn_trace_span_events(trace, span);
    struct several several = {0};

    for (uint32_t i = 0; i < span->event_count; i++) {
        const struct cn_trace_event *event = &events[i];

        if (field->intrinsic == CN_TQL_I_EVENT_NAME)
            add_value(&several, cn_tql_text(cn_word_bytes(trace->words, event->name)));
        else if (field->intrinsic == CN_TQL_I_EVENT_TIME)
            add_value(&several,
                      cn_tql_duration((int64_t)(event->time_ns - span->time_ns)));
        else
            add_value(&several, find_in(trace, event->attributes, field->name, arena));
    }
    return take_several(&several, true, arena);
}

static struct cn_tql_value of_links(const struct cn_trace *trace,
                                    const struct cn_trace_span *span,
                                    const struct cn_tql_field *field,
                                    struct cn_arena *arena)
{
    const struct cn_trace_link *links = cn_trace_span_links(trace, span);
    struct several several = {0};

    for (uint32_t i = 0; i < span->link_count; i++) {
        const struct cn_trace_link *link = &links[i];

        if (field->intrinsic == CN_TQL_I_LINK_TRACE)
            add_value(&several, cn_tql_text(cn_bytes_of(
                                    cn_arena_printf(arena, "%016" PRIx64 "%016" PRIx64,
                                                    link->trace_high, link->trace_low))));
        else if (field->intrinsic == CN_TQL_I_LINK_SPAN)
            add_value(&several, cn_tql_text(cn_bytes_of(cn_arena_printf(
                                    arena, "%016" PRIx64, link->span_id))));
        else
            add_value(&several, find_in(trace, link->attributes, field->name, arena));
    }
    return take_several(&several, true, arena);
}

static struct cn_tql_value of_scope(const struct cn_trace *trace,
                                    const struct cn_trace_span *span,
                                    const struct cn_tql_field *field,
                                    struct cn_arena *arena)
{
    const struct cn_trace_scope *scope = cn_trace_span_scope(trace, span);
    uint32_t word;

    if (!scope)
        return cn_tql_nil();
    if (field->intrinsic == CN_TQL_NO_INTRINSIC)
        return find_in(trace, scope->attributes, field->name, arena);
    word = field->intrinsic == CN_TQL_I_SCOPE_NAME ? scope->name : scope->version;
    return word ? cn_tql_text(cn_word_bytes(trace->words, word)) : cn_tql_nil();
}

static struct cn_tql_value of_attribute(const struct cn_trace *trace,
                                        const struct cn_trace_span *span,
                                        const struct cn_tql_field *field,
                                        enum cn_tql_scope scope, struct cn_arena *arena)
{
    const struct cn_trace_resource *resource;

    switch (scope) {
    case CN_TQL_OF_SPAN:
        return find_in(trace, cn_trace_span_attributes(trace, span), field->name, arena);
    case CN_TQL_OF_RESOURCE:
        resource = cn_trace_span_resource(trace, span);
        return resource ? find_in(trace, resource->attributes, field->name, arena)
                        : cn_tql_nil();
    case CN_TQL_OF_EVENT:
        return of_events(trace, span, field, arena);
    case CN_TQL_OF_LINK:
        return of_links(trace, span, field, arena);
    case CN_TQL_OF_INSTRUMENTATION:
        return of_scope(trace, span, field, arena);
    case CN_TQL_UNSCOPED:
        break;
    }
    return cn_tql_nil();
}

static struct cn_tql_value find_attribute(const struct cn_trace *trace,
                                          const struct cn_trace_span *span,
                                          const struct cn_tql_field *field,
                                          struct cn_arena *arena)
{
    struct cn_tql_value value = cn_tql_nil();

    if (field->scope != CN_TQL_UNSCOPED)
        return of_attribute(trace, span, field, field->scope, arena);
    for (enum cn_tql_scope scope = CN_TQL_OF_SPAN;
         scope <= CN_TQL_OF_INSTRUMENTATION && value.type == CN_TQL_NIL; scope++)
        value = of_attribute(trace, span, field, scope, arena);
    return value;
}

struct cn_tql_value cn_tql_data_field(const struct cn_trace *trace, uint32_t number,
                                      const struct cn_tql_field *field,
                                      struct cn_arena *arena)
{
    const struct cn_trace_span *span = &trace->spans[number];

    switch ((unsigned)field->intrinsic) {
    case CN_TQL_NO_INTRINSIC:
        return find_attribute(trace, span, field, arena);
    case CN_TQL_I_STATUS:
        return (struct cn_tql_value){.type = CN_TQL_STATUS, .integer = span->status};
    case CN_TQL_I_STATUS_MESSAGE:
        return cn_tql_text(cn_word_bytes(trace->words, span->status_message));
    case CN_TQL_I_EVENT_NAME:
    case CN_TQL_I_EVENT_TIME:
        return of_events(trace, span, field, arena);
    case CN_TQL_I_LINK_TRACE:
    case CN_TQL_I_LINK_SPAN:
        return of_links(trace, span, field, arena);
    case CN_TQL_I_SCOPE_NAME:
    case CN_TQL_I_SCOPE_VERSION:
        return of_scope(trace, span, field, arena);
    default:
        return cn_tql_nil();
    }
}

static void visit_list(const struct cn_trace *trace, struct cn_trace_list list,
                       const char *scope, struct cn_arena *arena, cn_tql_data_visit visit,
                       void *arg)
{
    struct cn_text name = {0};

    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next) {
        const struct cn_trace_attribute *attribute = &trace->attributes[i];
        struct cn_tql_value value = value_of(trace, &attribute->value, arena);

        cn_text_clear(&name);
        cn_text_str_add(&name, scope);
        cn_words_print(trace->words, attribute->key, &name);
        /* That one is known of spans without a resource, too: it is not read here. */
        if (value.type != CN_TQL_NIL &&
            strcmp(cn_text_str(&name), "resource.service.name") != 0)
            visit(arg, cn_text_str(&name), &value);
    }
    cn_text_done(&name);
}

void cn_tql_data_each(const struct cn_trace *trace, uint32_t number,
                      struct cn_arena *arena, cn_tql_data_visit visit, void *arg)
{
    const struct cn_trace_span *span = &trace->spans[number];
    const struct cn_trace_resource *resource = cn_trace_span_resource(trace, span);
    const struct cn_trace_scope *scope = cn_trace_span_scope(trace, span);
    const struct cn_trace_event *events = cn_trace_span_events(trace, span);

    visit_list(trace, cn_trace_span_attributes(trace, span), "span.", arena, visit, arg);
    if (resource)
        visit_list(trace, resource->attributes, "resource.", arena, visit, arg);
    if (scope)
        visit_list(trace, scope->attributes, "instrumentation.", arena, visit, arg);
    for (uint32_t i = 0; i < span->event_count; i++)
        visit_list(trace, events[i].attributes, "event.", arena, visit, arg);
}
