#include "model/traces/copy.h"

#include <string.h>

#include "base/alloc.h"

static struct cn_trace_value copy_value(struct cn_trace *to, const struct cn_trace *from,
                                        struct cn_trace_value value, unsigned depth)
{
    uint32_t count = value.list.count, first = to->value_count;

    if (value.kind != CN_VALUE_LIST && value.kind != CN_VALUE_MAP)
        return value;
    if (depth == CN_TRACE_VALUE_DEPTH_MAX)
        return (struct cn_trace_value){.kind = CN_VALUE_NULL};
    count *= value.kind == CN_VALUE_MAP ? 2 : 1;
    CN_GROW_TO(to->values, first + count, to->value_capacity);
    to->value_count += count;
    for (uint32_t i = 0; i < count; i++) {
        struct cn_trace_value element =
            copy_value(to, from, from->values[value.list.first + i], depth + 1);

        to->values[first + i] = element; /* after the array has moved */
    }
    value.list.first = first;
    return value;
}

/* Elements follow each other in the copy. */
static struct cn_trace_list copy_list(struct cn_trace *to, const struct cn_trace *from,
                                      uint32_t at)
{
    struct cn_trace_list list = CN_TRACE_EMPTY_LIST;

    if (at == CN_NONE)
        return list;
    list.first = to->attribute_count;
    for (; at != CN_NONE; at = from->attributes[at].next) {
        struct cn_trace_value value = from->attributes[at].value;

        if (value.kind == CN_VALUE_LIST || value.kind == CN_VALUE_MAP)
            value = copy_value(to, from, value, 0);
        list.last = to->attribute_count;
        CN_PUSH(to->attributes, to->attribute_count, to->attribute_capacity,
                (struct cn_trace_attribute){.key = from->attributes[at].key,
                                            .next = list.last + 1,
                                            .value = value});
    }
    to->attributes[list.last].next = CN_NONE;
    return list;
}

static void copy_events(struct cn_trace *to, const struct cn_trace *from,
                        struct cn_trace_span *span)
{
    uint32_t first = span->first_event;

    span->first_event = to->event_count;
    for (uint32_t i = 0; i < span->event_count; i++) {
        struct cn_trace_event event = from->events[first + i];

        event.attributes = copy_list(to, from, event.attributes.first);
        CN_PUSH(to->events, to->event_count, to->event_capacity, event);
    }
}

static void copy_links(struct cn_trace *to, const struct cn_trace *from,
                       struct cn_trace_span *span)
{
    uint32_t first = span->first_link;

    span->first_link = to->link_count;
    for (uint32_t i = 0; i < span->link_count; i++) {
        struct cn_trace_link link = from->links[first + i];

        link.attributes = copy_list(to, from, link.attributes.first);
        CN_PUSH(to->links, to->link_count, to->link_capacity, link);
    }
}

void cn_trace_copy(struct cn_trace *to, const struct cn_trace *from)
{
    cn_trace_clear(to);
    to->words = from->words;
    to->id_high = from->id_high;
    to->id_low = from->id_low;
    to->clock_ns = from->clock_ns;
    to->part = from->part;
    to->resume_ns = from->resume_ns;
    to->current = from->current;
    to->depth = from->depth;
    CN_GROW_TO(to->nodes, from->node_count, to->node_capacity);
    CN_GROW_TO(to->spans, from->span_count, to->span_capacity);
    for (uint32_t i = 0; i < from->node_count; i++) {
        struct cn_trace_node *node = &to->nodes[i];

        *node = from->nodes[i];
        struct cn_trace_list list = copy_list(to, from, node->first_attribute);
        node->first_attribute = list.first;
        node->last_attribute = list.last;
    }
    for (uint32_t i = 0; i < from->span_count; i++) {
        to->spans[i] = from->spans[i];
        copy_events(to, from, &to->spans[i]);
        copy_links(to, from, &to->spans[i]);
    }
    to->node_count = from->node_count;
    to->span_count = from->span_count;
}
