/* Traces to the columns of packed records. */

#include "formats/zorka/columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/zorka/record.h"

struct cn_zorka_columns *cn_zorka_columns_new(void)
{
    struct cn_zorka_columns *columns = cn_alloc(1, sizeof(*columns));

    cn_zorka_columns_clear(columns);
    return columns;
}

void cn_zorka_columns_free(struct cn_zorka_columns *columns)
{
    if (!columns)
        return;
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++)
        cn_number_column_done(&columns->fixed[i]);
    for (size_t i = 0; i < columns->value_made; i++)
        cn_number_column_done(&columns->values[i]);
    free(columns->values);
    free(columns->members);
    free(columns->shapes);
    cn_map_done(&columns->by_hash);
    cn_map_done(&columns->by_pair);
    free(columns);
}

void cn_zorka_columns_clear(struct cn_zorka_columns *columns)
{
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++) {
        cn_number_column_clear(&columns->fixed[i]);
        columns->last_shape[i] = CN_NONE;
    }
    columns->value_count = columns->member_count = columns->shape_count = 0;
    columns->last_time_ns = 0;
    columns->is_partial = false;
    cn_map_done(&columns->by_hash);
    cn_map_done(&columns->by_pair);
}

static void add(struct cn_zorka_columns *columns, enum packed_column column,
                uint64_t value)
{
    cn_number_column_add(&columns->fixed[column], value);
}

static void add_signed(struct cn_zorka_columns *columns, enum packed_column column,
                       uint64_t value)
{
    add(columns, column, cn_zigzag(value));
}

static uint32_t column_of(struct cn_zorka_columns *columns, uint32_t key, uint32_t kind)
{
    uint32_t *at = cn_map_at(&columns->by_pair, (uint64_t)kind << 32 | key, CN_NONE);

    if (*at != CN_NONE)
        return *at;
    *at = (uint32_t)columns->value_count;
    CN_GROW(columns->values, columns->value_count, columns->value_capacity);
    if (columns->value_count == columns->value_made)
        columns->values[columns->value_made++] = (struct cn_number_column){0};
    cn_number_column_clear(&columns->values[columns->value_count]);
    return (uint32_t)columns->value_count++;
}

static bool is_shape(const struct cn_zorka_columns *columns,
                     const struct pack_shape *shape, const struct cn_trace *trace,
                     struct cn_trace_list list)
{
    uint32_t i = list.first;

    for (uint32_t k = 0; k < shape->count; k++) {
        const struct pack_member *member = &columns->members[shape->first + k];

        if (i == CN_NONE || trace->attributes[i].key != member->key ||
            (uint32_t)trace->attributes[i].value.kind != member->kind)
            return false;
        i = trace->attributes[i].next;
    }
    return i == CN_NONE;
}

static uint32_t find_shape(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                           struct cn_trace_list list)
{
    uint64_t hash = 0;

    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next)
        hash = (hash + trace->attributes[i].key * UINT64_C(8) +
                (uint64_t)trace->attributes[i].value.kind + 1) *
               UINT64_C(0x9e3779b97f4a7c15);
    uint32_t *head = cn_map_at(&columns->by_hash, hash, CN_NONE);
    for (uint32_t shape = *head; shape != CN_NONE; shape = columns->shapes[shape].next)
        if (is_shape(columns, &columns->shapes[shape], trace, list))
            return shape;
    struct pack_shape made = {.first = (uint32_t)columns->member_count, .next = *head};
    *head = (uint32_t)columns->shape_count;
    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next) {
        struct pack_member member = {
            .key = trace->attributes[i].key,
            .kind = (uint32_t)trace->attributes[i].value.kind,
        };

        member.column = column_of(columns, member.key, member.kind);
        CN_PUSH(columns->members, columns->member_count, columns->member_capacity,
                member);
        made.count++;
    }
    CN_PUSH(columns->shapes, columns->shape_count, columns->shape_capacity, made);
    return (uint32_t)columns->shape_count - 1;
}

/* Most spans have the attributes of the one before. */
static uint32_t shape_of(struct cn_zorka_columns *columns, enum packed_column column,
                         const struct cn_trace *trace, struct cn_trace_list list)
{
    uint32_t *last = &columns->last_shape[column];

    if (*last == CN_NONE || !is_shape(columns, &columns->shapes[*last], trace, list))
        *last = find_shape(columns, trace, list);
    return *last;
}

static uint64_t number_of(const struct cn_trace_value *value)
{
    uint64_t bits;

    switch (value->kind) {
    case CN_VALUE_BOOL:
        return value->boolean;
    case CN_VALUE_INT:
        return cn_zigzag((uint64_t)value->integer);
    case CN_VALUE_FLOAT:
        memcpy(&bits, &value->real, sizeof(bits));
        return bits;
    case CN_VALUE_WORD:
        return value->word;
    case CN_VALUE_NULL:
    case CN_VALUE_LIST:
    case CN_VALUE_MAP:
    default:
        return 0;
    }
}

/* The elements of a list or map. The depth is limited as in the unpacker. */
static void add_nested(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                       const struct cn_trace_value *value, unsigned depth)
{
    uint32_t count = value->list.count * (value->kind == CN_VALUE_MAP ? 2 : 1);

    if (depth > CN_TRACE_VALUE_DEPTH_MAX) {
        columns->is_partial = true;
        return;
    }
    add(columns, NESTED, value->list.count);
    for (uint32_t i = 0; i < count; i++) {
        const struct cn_trace_value *element = &trace->values[value->list.first + i];

        add(columns, NESTED, element->kind);
        if (element->kind == CN_VALUE_LIST || element->kind == CN_VALUE_MAP)
            add_nested(columns, trace, element, depth + 1);
        else
            add(columns, NESTED, number_of(element));
    }
}

static void add_attributes(struct cn_zorka_columns *columns, enum packed_column column,
                           const struct cn_trace *trace, struct cn_trace_list list)
{
    uint32_t shape = shape_of(columns, column, trace, list);
    const struct pack_member *member = columns->members + columns->shapes[shape].first;

    add(columns, column, shape);
    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next, member++) {
        const struct cn_trace_value *value = &trace->attributes[i].value;

        if (value->kind == CN_VALUE_LIST || value->kind == CN_VALUE_MAP)
            add_nested(columns, trace, value, 1);
        else if (value->kind != CN_VALUE_NULL)
            cn_number_column_add(&columns->values[member->column], number_of(value));
    }
}

static void add_events(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                       const struct cn_trace_span *span)
{
    for (uint32_t i = 0; i < span->event_count; i++) {
        const struct cn_trace_event *event = &trace->events[span->first_event + i];

        add_signed(columns, EVENT_TIME, event->time_ns - span->time_ns);
        add(columns, EVENT_NAME, event->name);
        add(columns, EVENT_DROPPED, event->dropped_attributes);
        add(columns, EVENT_ANNOTATION, event->is_annotation);
        add_attributes(columns, EVENT_SHAPE, trace, event->attributes);
    }
}

static void add_links(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                      const struct cn_trace_span *span)
{
    for (uint32_t i = 0; i < span->link_count; i++) {
        const struct cn_trace_link *link = &trace->links[span->first_link + i];

        add(columns, LINK_HIGH, link->trace_high);
        add(columns, LINK_LOW, link->trace_low);
        add(columns, LINK_SPAN, link->span_id);
        add(columns, LINK_STATE, link->trace_state);
        add(columns, LINK_FLAGS, link->flags);
        add(columns, LINK_DROPPED, link->dropped_attributes);
        add_attributes(columns, LINK_SHAPE, trace, link->attributes);
    }
}

static void add_parent(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                       const struct cn_trace_node *node, const struct cn_trace_span *span)
{
    uint64_t outer =
        node->parent == CN_NONE ? 0 : trace->spans[trace->nodes[node->parent].span].id;

    if (span->parent_id == 0) {
        add(columns, SPAN_PARENT, PACKED_PARENT_NONE);
    } else if (span->parent_id == outer) {
        add(columns, SPAN_PARENT, PACKED_PARENT_OUTER);
    } else {
        add(columns, SPAN_PARENT, PACKED_PARENT_OTHER);
        add(columns, PARENT_ID, span->parent_id);
    }
}

static void add_span(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                     const struct cn_trace_node *node, const struct cn_trace_span *span)
{
    add_signed(columns, SPAN_TIME,
               span->time_ns - trace->spans[0].time_ns - node->start_ns);
    add(columns, SPAN_TYPE, span->type);
    add(columns, SPAN_SERVICE, span->service);
    add(columns, SPAN_ID, span->id);
    add_parent(columns, trace, node, span);
    add(columns, SPAN_STATUS, span->status);
    add(columns, SPAN_MESSAGE, span->status_message);
    add(columns, SPAN_STATE, span->trace_state);
    add(columns, SPAN_FLAGS, span->flags);
    add(columns, SPAN_RESOURCE, span->resource);
    add(columns, SPAN_SCOPE, span->scope);
    add(columns, SPAN_EVENTS, span->event_count);
    add(columns, SPAN_LINKS, span->link_count);
    add(columns, SPAN_DROPPED_ATTRIBUTES, span->dropped_attributes);
    add(columns, SPAN_DROPPED_EVENTS, span->dropped_events);
    add(columns, SPAN_DROPPED_LINKS, span->dropped_links);
    add(columns, SPAN_MORE,
        (span->has_end ? PACKED_HAS_END : 0) |
            (span->has_no_kind ? PACKED_HAS_NO_KIND : 0));
    if (span->has_end)
        add_signed(columns, END_TIME, span->end_ns - span->time_ns);
    add_events(columns, trace, span);
    add_links(columns, trace, span);
}

static void add_node(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                     uint32_t i)
{
    const struct cn_trace_node *node = &trace->nodes[i];
    bool is_first = node->parent == CN_NONE;

    add_attributes(columns, SPAN_SHAPE, trace,
                   (struct cn_trace_list){node->first_attribute, node->last_attribute});
    add(columns, SPAN_UP, is_first ? 0 : i - node->parent);
    add_signed(columns, SPAN_START,
               node->start_ns - (is_first ? 0 : trace->nodes[node->parent].start_ns));
    add(columns, SPAN_DURATION, node->duration_ns);
    add_signed(columns, SPAN_CALLS, node->calls - (node->end - i));
    add(columns, SPAN_MARKS, node->flags);
    add(columns, SPAN_METHOD, node->method);
    add_span(columns, trace, node, &trace->spans[node->span]);
}

/* True if a call is a whole span, and leaving it at its end makes the same call again. */
static bool is_plain(const struct cn_trace *trace, uint32_t i)
{
    const struct cn_trace_node *node = &trace->nodes[i];
    const uint32_t marks =
        CN_TRACE_ERROR | CN_TRACE_LOSSY | CN_TRACE_SENT | CN_TRACE_FAILED;

    return node->span == i && trace->spans[i].is_whole && node->exception == 0 &&
           (node->flags & ~marks) == 0 &&
           node->duration_ns <= UINT64_MAX - node->start_ns;
}

/* True if the calls are in call order: each is below one on the path to the call before it. */
static bool is_in_order(const struct cn_trace *trace)
{
    uint32_t depth = 1;

    for (uint32_t i = 1; i < trace->node_count; i++) {
        uint32_t at = i - 1;

        for (depth++; at != CN_NONE && at != trace->nodes[i].parent; depth--)
            at = trace->nodes[at].parent;
        if (at == CN_NONE || depth > CN_TRACE_DEPTH_MAX)
            return false;
    }
    return true;
}

/* True if ends and errors are those that the calls add up to. Calls are in call order. */
static bool adds_up(const struct cn_trace *trace)
{
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct cn_trace_node *node = &trace->nodes[i];
        uint32_t errors = 0, next = i + 1;

        while (next < trace->node_count && trace->nodes[next].parent == i) {
            errors += trace->nodes[next].errors;
            if (trace->nodes[next].end <= next)
                return false;
            next = trace->nodes[next].end;
        }
        if (node->flags & CN_TRACE_FAILED && errors == 0 &&
            !(node->flags & CN_TRACE_ERROR))
            return false;
        if (node->end != next || node->errors != errors + (node->flags & CN_TRACE_ERROR))
            return false;
    }
    return true;
}

static bool can_add(const struct cn_zorka_columns *columns, const struct cn_trace *trace,
                    const struct cn_zorka_part *part)
{
    if (columns->is_partial || part->number != 0 || part->part_off != 0 ||
        part->payload_off != 0 || trace->resume_ns != 0 || trace->node_count == 0 ||
        trace->node_count != trace->span_count || trace->nodes[0].parent != CN_NONE ||
        trace->node_count > CN_ZORKA_PACKED_SPANS_MAX - columns->fixed[SPAN_ID].count)
        return false;
    for (uint32_t i = 0; i < trace->node_count; i++)
        if (!is_plain(trace, i))
            return false;
    return is_in_order(trace) && adds_up(trace);
}

void cn_zorka_columns_add(struct cn_zorka_columns *columns, const struct cn_trace *trace,
                          const struct cn_zorka_part *part)
{
    if (!can_add(columns, trace, part)) {
        columns->is_partial = true;
        return;
    }
    add(columns, RECORD_ID_HIGH, trace->id_high);
    add(columns, RECORD_ID_LOW, trace->id_low);
    add_signed(columns, RECORD_TIME, trace->spans[0].time_ns - columns->last_time_ns);
    add(columns, RECORD_CLOCK, trace->clock_ns);
    add(columns, RECORD_LEN, part->record_len);
    add(columns, RECORD_SPANS, trace->node_count);
    columns->last_time_ns = trace->spans[0].time_ns;
    for (uint32_t i = 0; i < trace->node_count; i++)
        add_node(columns, trace, i);
}
