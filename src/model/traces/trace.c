#include "model/traces/trace.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"

void cn_trace_clear(struct cn_trace *trace)
{
    trace->id_high = trace->id_low = trace->clock_ns = 0;
    trace->part = 0;
    trace->resume_ns = 0;
    trace->node_count = trace->attribute_count = 0;
    trace->value_count = trace->span_count = 0;
    trace->event_count = trace->link_count = 0;
    trace->resource_count = trace->scope_count = 0;
    trace->current = CN_NONE;
    trace->depth = 0;
}

void cn_trace_done(struct cn_trace *trace)
{
    free(trace->nodes);
    free(trace->attributes);
    free(trace->values);
    free(trace->spans);
    free(trace->events);
    free(trace->links);
    free(trace->resources);
    free(trace->scopes);
    *trace = (struct cn_trace){0};
}

bool cn_trace_enter(struct cn_trace *trace, uint32_t method, uint64_t start_ns,
                    struct cn_error *err)
{
    if (trace->node_count > 0 && trace->current == CN_NONE)
        return cn_fail(err, CN_ERR_FORMAT, "a second outermost call");
    if (trace->depth >= CN_TRACE_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "calls nest more than %d deep",
                       CN_TRACE_DEPTH_MAX);
    if (trace->node_count == CN_NONE - 1)
        return cn_fail(err, CN_ERR_LIMIT, "more than %u calls", trace->node_count);
    CN_GROW(trace->nodes, trace->node_count, trace->node_capacity);
    trace->nodes[trace->node_count] = (struct cn_trace_node){
        .start_ns = start_ns,
        .method = method,
        .parent = trace->node_count ? trace->current : CN_NONE,
        .first_attribute = CN_NONE,
        .last_attribute = CN_NONE,
        .span = CN_NONE,
        .flags = CN_TRACE_OPEN,
    };
    trace->current = trace->node_count++;
    trace->depth++;
    return true;
}

void cn_trace_leave(struct cn_trace *trace, uint64_t end_ns, uint64_t calls)
{
    struct cn_trace_node *node = &trace->nodes[trace->current];

    assert(trace->depth > 0);
    node->duration_ns = end_ns > node->start_ns ? end_ns - node->start_ns : 0;
    node->calls = calls;
    node->end = trace->node_count;
    node->flags &= ~(uint32_t)CN_TRACE_OPEN;
    if (node->flags & CN_TRACE_FAILED && node->errors == 0)
        node->flags |= CN_TRACE_ERROR;
    if (node->flags & CN_TRACE_ERROR)
        node->errors++;
    if (node->parent != CN_NONE)
        trace->nodes[node->parent].errors += node->errors;
    trace->current = node->parent;
    trace->depth--;
}

void cn_trace_list_add(struct cn_trace *trace, struct cn_trace_list *list, uint32_t key,
                       struct cn_trace_value value)
{
    CN_GROW(trace->attributes, trace->attribute_count, trace->attribute_capacity);
    trace->attributes[trace->attribute_count] = (struct cn_trace_attribute){
        .key = key,
        .next = CN_NONE,
        .value = value,
    };
    if (list->last == CN_NONE)
        list->first = trace->attribute_count;
    else
        trace->attributes[list->last].next = trace->attribute_count;
    list->last = trace->attribute_count++;
}

void cn_trace_add_attribute_to(struct cn_trace *trace, uint32_t at, uint32_t key,
                               struct cn_trace_value value)
{
    struct cn_trace_node *node = &trace->nodes[at];
    struct cn_trace_list list = {node->first_attribute, node->last_attribute};

    cn_trace_list_add(trace, &list, key, value);
    node->first_attribute = list.first;
    node->last_attribute = list.last;
}

void cn_trace_add_attribute(struct cn_trace *trace, uint32_t key,
                            struct cn_trace_value value)
{
    cn_trace_add_attribute_to(trace, trace->current, key, value);
}

uint32_t cn_trace_add_values(struct cn_trace *trace, const struct cn_trace_value *values,
                             uint32_t count)
{
    uint32_t first = trace->value_count;

    for (uint32_t i = 0; i < count; i++) {
        CN_PUSH(trace->values, trace->value_count, trace->value_capacity, values[i]);
    }
    return first;
}

void cn_trace_throw(struct cn_trace *trace, uint32_t exception)
{
    trace->nodes[trace->current].exception = exception;
    trace->nodes[trace->current].flags |= CN_TRACE_ERROR;
}

void cn_trace_mark(struct cn_trace *trace, uint32_t flags)
{
    trace->nodes[trace->current].flags |= flags;
}

struct cn_trace_span *cn_trace_add_span(struct cn_trace *trace, uint64_t time_ns)
{
    struct cn_trace_node *node = &trace->nodes[trace->current];

    if (node->span != CN_NONE) {
        if (time_ns != 0)
            trace->spans[node->span].time_ns = time_ns;
        return &trace->spans[node->span];
    }
    CN_GROW(trace->spans, trace->span_count, trace->span_capacity);
    node->span = trace->span_count;
    trace->spans[trace->span_count] =
        (struct cn_trace_span){.node = trace->current, .time_ns = time_ns};
    return &trace->spans[trace->span_count++];
}

struct cn_trace_event *cn_trace_add_event(struct cn_trace *trace)
{
    struct cn_trace_span *span = &trace->spans[trace->nodes[trace->current].span];

    CN_GROW(trace->events, trace->event_count, trace->event_capacity);
    if (span->event_count++ == 0)
        span->first_event = trace->event_count;
    trace->events[trace->event_count] =
        (struct cn_trace_event){.attributes = CN_TRACE_EMPTY_LIST};
    return &trace->events[trace->event_count++];
}

struct cn_trace_link *cn_trace_add_link(struct cn_trace *trace)
{
    struct cn_trace_span *span = &trace->spans[trace->nodes[trace->current].span];

    CN_GROW(trace->links, trace->link_count, trace->link_capacity);
    if (span->link_count++ == 0)
        span->first_link = trace->link_count;
    trace->links[trace->link_count] =
        (struct cn_trace_link){.attributes = CN_TRACE_EMPTY_LIST};
    return &trace->links[trace->link_count++];
}

void cn_trace_settle(struct cn_trace *trace)
{
    uint64_t latest_ns = 0;

    if (trace->current == CN_NONE || trace->node_count == 0)
        return;
    for (uint32_t i = 0; i < trace->node_count; i++) {
        uint64_t end_ns = trace->nodes[i].start_ns + trace->nodes[i].duration_ns;

        latest_ns = end_ns > latest_ns ? end_ns : latest_ns;
    }
    while (trace->current != CN_NONE) {
        uint32_t node = trace->current;

        cn_trace_leave(trace, latest_ns, trace->nodes[node].calls);
        trace->nodes[node].flags |= CN_TRACE_OPEN;
    }
}

const struct cn_trace_value *cn_trace_find_attribute(const struct cn_trace *trace,
                                                     uint32_t node, uint32_t key)
{
    uint32_t i = trace->nodes[node].first_attribute;

    while (i != CN_NONE && trace->attributes[i].key != key)
        i = trace->attributes[i].next;
    return i == CN_NONE ? NULL : &trace->attributes[i].value;
}

/* Depth is limited by CN_TRACE_VALUE_DEPTH_MAX. */
static void print_value(const struct cn_trace *trace, const struct cn_trace_value *value,
                        unsigned depth, struct cn_text *out)
{
    bool is_map = value->kind == CN_VALUE_MAP;

    switch (value->kind) {
    case CN_VALUE_BOOL:
        cn_text_str_add(out, value->boolean ? "true" : "false");
        break;
    case CN_VALUE_INT:
        cn_text_printf(out, "%" PRId64, value->integer);
        break;
    case CN_VALUE_FLOAT:
        cn_text_printf(out, "%.17g", value->real);
        break;
    case CN_VALUE_NULL:
        cn_text_str_add(out, "null");
        break;
    case CN_VALUE_WORD:
        cn_words_print(trace->words, value->word, out);
        break;
    case CN_VALUE_LIST:
    case CN_VALUE_MAP:
        if (depth == CN_TRACE_VALUE_DEPTH_MAX) {
            cn_text_str_add(out, "...");
            break;
        }
        cn_text_char(out, is_map ? '{' : '[');
        for (uint32_t i = 0; i < value->list.count * (is_map ? 2 : 1); i++) {
            cn_text_str_add(out, i == 0 ? "" : is_map && i % 2 != 0 ? ": " : ", ");
            print_value(trace, &trace->values[value->list.first + i], depth + 1, out);
        }
        cn_text_char(out, is_map ? '}' : ']');
        break;
    }
}

void cn_trace_value_print(const struct cn_trace *trace,
                          const struct cn_trace_value *value, struct cn_text *out)
{
    print_value(trace, value, 0, out);
}

void cn_self_time_take(struct cn_self_time *self, uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t from_ns = begin_ns > self->at_ns ? begin_ns : self->at_ns;
    uint64_t to_ns = end_ns < self->end_ns ? end_ns : self->end_ns;

    if (to_ns <= from_ns)
        return;
    self->ns -= to_ns - from_ns;
    self->at_ns = to_ns;
}

uint64_t cn_trace_self_ns(const struct cn_trace *trace, uint32_t node)
{
    const struct cn_trace_node *call = &trace->nodes[node];
    struct cn_self_time self = {.at_ns = call->start_ns, .ns = call->duration_ns};

    self.end_ns = cn_trace_end_ns(call);
    for (uint32_t i = node + 1; i < call->end; i = trace->nodes[i].end)
        cn_self_time_take(&self, trace->nodes[i].start_ns,
                          cn_trace_end_ns(&trace->nodes[i]));
    return self.ns;
}
