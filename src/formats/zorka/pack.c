/* Records to packed records. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/varint.h"
#include "base/files/compress.h"
#include "base/map.h"
#include "formats/zorka/number_columns.h"
#include "formats/zorka/packed.h"
#include "formats/zorka/packed_format.h"
#include "formats/zorka/record.h"

/* An attribute without its value, and the column of its values. */
struct pack_member {
    uint32_t key, kind;
    uint32_t column;
};

struct pack_shape {
    uint32_t first, count; /* in packer->members */
    uint32_t next;         /* of the same hash; CN_NONE */
};

struct cn_zorka_packer {
    struct cn_compressor *compressor;
    struct cn_trace trace;
    struct cn_number_column fixed[PACKED_COLUMN_COUNT];
    struct cn_number_column *columns; /* of values */
    size_t column_count, column_capacity, column_made;
    struct pack_member *members;
    size_t member_count, member_capacity;
    struct pack_shape *shapes;
    size_t shape_count, shape_capacity;
    struct cn_map by_hash, by_pair; /* shapes; columns */
    uint64_t last_time_ns;          /* of the first span of the record before */
    struct cn_text soft, hard;
    struct cn_zorka_unpacker *check;
    uint8_t *again;
    size_t again_capacity;
};

struct cn_zorka_packer *cn_zorka_packer_new(void)
{
    struct cn_zorka_packer *packer = cn_alloc(1, sizeof(*packer));

    packer->compressor = cn_compressor_new(CN_COMPRESSION_ZSTD, 0);
    packer->check = cn_zorka_unpacker_new();
    return packer;
}

void cn_zorka_packer_free(struct cn_zorka_packer *packer)
{
    if (!packer)
        return;
    cn_compressor_free(packer->compressor);
    cn_zorka_unpacker_free(packer->check);
    cn_trace_done(&packer->trace);
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++)
        cn_number_column_done(&packer->fixed[i]);
    for (size_t i = 0; i < packer->column_made; i++)
        cn_number_column_done(&packer->columns[i]);
    free(packer->columns);
    free(packer->members);
    free(packer->shapes);
    cn_map_done(&packer->by_hash);
    cn_map_done(&packer->by_pair);
    cn_text_done(&packer->soft);
    cn_text_done(&packer->hard);
    free(packer->again);
    free(packer);
}

static void clear(struct cn_zorka_packer *packer)
{
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++)
        packer->fixed[i].count = 0;
    packer->column_count = packer->member_count = packer->shape_count = 0;
    packer->last_time_ns = 0;
    cn_map_done(&packer->by_hash);
    cn_map_done(&packer->by_pair);
    cn_text_clear(&packer->soft);
    cn_text_clear(&packer->hard);
}

static void add(struct cn_zorka_packer *packer, enum packed_column column, uint64_t value)
{
    cn_number_column_add(&packer->fixed[column], value);
}

static void add_signed(struct cn_zorka_packer *packer, enum packed_column column,
                       uint64_t value)
{
    add(packer, column, cn_zigzag(value));
}

static uint32_t column_of(struct cn_zorka_packer *packer, uint32_t key, uint32_t kind)
{
    uint32_t *at = cn_map_at(&packer->by_pair, (uint64_t)kind << 32 | key, CN_NONE);

    if (*at != CN_NONE)
        return *at;
    *at = (uint32_t)packer->column_count;
    CN_GROW(packer->columns, packer->column_count, packer->column_capacity);
    if (packer->column_count == packer->column_made)
        packer->columns[packer->column_made++] = (struct cn_number_column){0};
    packer->columns[packer->column_count].count = 0;
    return (uint32_t)packer->column_count++;
}

static bool is_shape(const struct cn_zorka_packer *packer, const struct pack_shape *shape,
                     struct cn_trace_list list)
{
    const struct cn_trace *trace = &packer->trace;
    uint32_t i = list.first;

    for (uint32_t k = 0; k < shape->count; k++) {
        const struct pack_member *member = &packer->members[shape->first + k];

        if (i == CN_NONE || trace->attributes[i].key != member->key ||
            (uint32_t)trace->attributes[i].value.kind != member->kind)
            return false;
        i = trace->attributes[i].next;
    }
    return i == CN_NONE;
}

static uint32_t shape_of(struct cn_zorka_packer *packer, struct cn_trace_list list)
{
    const struct cn_trace *trace = &packer->trace;
    uint64_t hash = 0;

    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next)
        hash = (hash + trace->attributes[i].key * UINT64_C(8) +
                (uint64_t)trace->attributes[i].value.kind + 1) *
               UINT64_C(0x9e3779b97f4a7c15);
    uint32_t *head = cn_map_at(&packer->by_hash, hash, CN_NONE);
    for (uint32_t shape = *head; shape != CN_NONE; shape = packer->shapes[shape].next)
        if (is_shape(packer, &packer->shapes[shape], list))
            return shape;
    struct pack_shape made = {.first = (uint32_t)packer->member_count, .next = *head};
    *head = (uint32_t)packer->shape_count;
    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next) {
        struct pack_member member = {
            .key = trace->attributes[i].key,
            .kind = (uint32_t)trace->attributes[i].value.kind,
        };

        member.column = column_of(packer, member.key, member.kind);
        CN_PUSH(packer->members, packer->member_count, packer->member_capacity, member);
        made.count++;
    }
    CN_PUSH(packer->shapes, packer->shape_count, packer->shape_capacity, made);
    return (uint32_t)packer->shape_count - 1;
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

/* The elements of a list or map. Values that were read nest at most CN_TRACE_VALUE_DEPTH_MAX deep. */
static void add_nested(struct cn_zorka_packer *packer, const struct cn_trace_value *value)
{
    uint32_t count = value->list.count * (value->kind == CN_VALUE_MAP ? 2 : 1);

    add(packer, NESTED, value->list.count);
    for (uint32_t i = 0; i < count; i++) {
        const struct cn_trace_value *element =
            &packer->trace.values[value->list.first + i];

        add(packer, NESTED, element->kind);
        if (element->kind == CN_VALUE_LIST || element->kind == CN_VALUE_MAP)
            add_nested(packer, element);
        else
            add(packer, NESTED, number_of(element));
    }
}

static void add_attributes(struct cn_zorka_packer *packer, enum packed_column column,
                           struct cn_trace_list list)
{
    const struct cn_trace *trace = &packer->trace;
    uint32_t shape = shape_of(packer, list);
    const struct pack_member *member = packer->members + packer->shapes[shape].first;

    add(packer, column, shape);
    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next, member++) {
        const struct cn_trace_value *value = &trace->attributes[i].value;

        if (value->kind == CN_VALUE_LIST || value->kind == CN_VALUE_MAP)
            add_nested(packer, value);
        else if (value->kind != CN_VALUE_NULL)
            cn_number_column_add(&packer->columns[member->column], number_of(value));
    }
}

static void add_events(struct cn_zorka_packer *packer, const struct cn_trace_span *span)
{
    for (uint32_t i = 0; i < span->event_count; i++) {
        const struct cn_trace_event *event = &packer->trace.events[span->first_event + i];

        add_signed(packer, EVENT_TIME, event->time_ns - span->time_ns);
        add(packer, EVENT_NAME, event->name);
        add(packer, EVENT_DROPPED, event->dropped_attributes);
        add(packer, EVENT_ANNOTATION, event->is_annotation);
        add_attributes(packer, EVENT_SHAPE, event->attributes);
    }
}

static void add_links(struct cn_zorka_packer *packer, const struct cn_trace_span *span)
{
    for (uint32_t i = 0; i < span->link_count; i++) {
        const struct cn_trace_link *link = &packer->trace.links[span->first_link + i];

        add(packer, LINK_HIGH, link->trace_high);
        add(packer, LINK_LOW, link->trace_low);
        add(packer, LINK_SPAN, link->span_id);
        add(packer, LINK_STATE, link->trace_state);
        add(packer, LINK_FLAGS, link->flags);
        add(packer, LINK_DROPPED, link->dropped_attributes);
        add_attributes(packer, LINK_SHAPE, link->attributes);
    }
}

static void add_parent(struct cn_zorka_packer *packer, const struct cn_trace_node *node,
                       const struct cn_trace_span *span)
{
    const struct cn_trace *trace = &packer->trace;
    uint64_t outer =
        node->parent == CN_NONE ? 0 : trace->spans[trace->nodes[node->parent].span].id;

    if (span->parent_id == 0) {
        add(packer, SPAN_PARENT, PACKED_PARENT_NONE);
    } else if (span->parent_id == outer) {
        add(packer, SPAN_PARENT, PACKED_PARENT_OUTER);
    } else {
        add(packer, SPAN_PARENT, PACKED_PARENT_OTHER);
        add(packer, PARENT_ID, span->parent_id);
    }
}

static void add_span(struct cn_zorka_packer *packer, const struct cn_trace_node *node,
                     const struct cn_trace_span *span)
{
    add_signed(packer, SPAN_TIME,
               span->time_ns - packer->trace.spans[0].time_ns - node->start_ns);
    add(packer, SPAN_TYPE, span->type);
    add(packer, SPAN_SERVICE, span->service);
    add(packer, SPAN_ID, span->id);
    add_parent(packer, node, span);
    add(packer, SPAN_STATUS, span->status);
    add(packer, SPAN_MESSAGE, span->status_message);
    add(packer, SPAN_STATE, span->trace_state);
    add(packer, SPAN_FLAGS, span->flags);
    add(packer, SPAN_RESOURCE, span->resource);
    add(packer, SPAN_SCOPE, span->scope);
    add(packer, SPAN_EVENTS, span->event_count);
    add(packer, SPAN_LINKS, span->link_count);
    add(packer, SPAN_DROPPED_ATTRIBUTES, span->dropped_attributes);
    add(packer, SPAN_DROPPED_EVENTS, span->dropped_events);
    add(packer, SPAN_DROPPED_LINKS, span->dropped_links);
    add(packer, SPAN_MORE,
        (span->has_end ? PACKED_HAS_END : 0) |
            (span->has_no_kind ? PACKED_HAS_NO_KIND : 0));
    if (span->has_end)
        add_signed(packer, END_TIME, span->end_ns - span->time_ns);
    add_events(packer, span);
    add_links(packer, span);
}

static void add_node(struct cn_zorka_packer *packer, uint32_t i)
{
    const struct cn_trace *trace = &packer->trace;
    const struct cn_trace_node *node = &trace->nodes[i];
    bool is_first = node->parent == CN_NONE;

    add_attributes(packer, SPAN_SHAPE,
                   (struct cn_trace_list){node->first_attribute, node->last_attribute});
    add(packer, SPAN_UP, is_first ? 0 : i - node->parent);
    add_signed(packer, SPAN_START,
               node->start_ns - (is_first ? 0 : trace->nodes[node->parent].start_ns));
    add(packer, SPAN_DURATION, node->duration_ns);
    add_signed(packer, SPAN_CALLS, node->calls - (node->end - i));
    add(packer, SPAN_MARKS, node->flags);
    add(packer, SPAN_METHOD, node->method);
    add_span(packer, node, &trace->spans[node->span]);
}

static bool can_pack(const struct cn_trace *trace)
{
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct cn_trace_node *node = &trace->nodes[i];

        if (node->span != i || !trace->spans[i].is_whole || node->exception != 0 ||
            node->flags & (CN_TRACE_OPEN | CN_TRACE_CARRIED))
            return false;
    }
    return true;
}

static bool add_record(struct cn_zorka_packer *packer, struct cn_bytes *rest)
{
    struct cn_trace *trace = &packer->trace;
    struct cn_zorka_part part;
    struct cn_bytes record;
    struct cn_error ignored;

    if (cn_zorka_record_is_java(*rest) || !cn_zorka_record_part(*rest, &part, &ignored) ||
        part.record_len == 0 || part.number != 0 || part.part_off != 0 ||
        part.payload_off != 0 || !cn_bytes_slice(*rest, 0, part.record_len, &record) ||
        !cn_bytes_from(*rest, part.record_len, rest) ||
        !cn_zorka_record_decode(record, trace, NULL, &ignored) || !can_pack(trace) ||
        packer->fixed[SPAN_ID].count + trace->node_count > CN_ZORKA_PACKED_SPANS_MAX)
        return false;
    add(packer, RECORD_ID_HIGH, trace->id_high);
    add(packer, RECORD_ID_LOW, trace->id_low);
    add_signed(packer, RECORD_TIME, trace->spans[0].time_ns - packer->last_time_ns);
    add(packer, RECORD_CLOCK, trace->clock_ns);
    add(packer, RECORD_LEN, record.len);
    add(packer, RECORD_SPANS, trace->node_count);
    packer->last_time_ns = trace->spans[0].time_ns;
    for (uint32_t i = 0; i < trace->node_count; i++)
        add_node(packer, i);
    return true;
}

static void put_number(struct cn_text *out, uint64_t value)
{
    uint8_t *at = (uint8_t *)cn_text_room(out, CN_VARINT_LEN_MAX);

    cn_text_advance(out, cn_varint_put(at, value));
}

static void put_columns(struct cn_zorka_packer *packer)
{
    struct cn_text *soft = &packer->soft;

    put_number(soft, packer->shape_count);
    for (size_t i = 0; i < packer->shape_count; i++) {
        const struct pack_shape *shape = &packer->shapes[i];

        put_number(soft, shape->count);
        for (uint32_t k = 0; k < shape->count; k++) {
            put_number(soft, packer->members[shape->first + k].key);
            put_number(soft, packer->members[shape->first + k].kind);
        }
    }
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++)
        cn_number_column_put(&packer->fixed[i], soft, &packer->hard);
    for (size_t i = 0; i < packer->column_count; i++)
        cn_number_column_put(&packer->columns[i], soft, &packer->hard);
}

static bool put_packed(struct cn_zorka_packer *packer, struct cn_text *out)
{
    struct cn_bytes soft = {(const uint8_t *)packer->soft.chars, packer->soft.len};
    size_t bound = cn_compressor_bound(packer->compressor, soft.len), begin = out->len;
    uint8_t *at = (uint8_t *)cn_text_room(out, cn_packed_header_size + bound);
    struct cn_error ignored;
    size_t soft_len;

    if (!cn_compress(packer->compressor, soft, at + cn_packed_header_size, &soft_len,
                     &ignored))
        return false;
    struct cn_packed_header header = {
        .record_count = (uint32_t)packer->fixed[RECORD_LEN].count,
        .nested_count = (uint32_t)packer->fixed[NESTED].count,
        .soft_plain_len = (uint32_t)soft.len,
        .soft_len = (uint32_t)soft_len,
    };
    cn_packed_header_encode(&header, (uint8_t *)out->chars + begin);
    cn_text_advance(out, cn_packed_header_size + soft_len);
    cn_text_add(out, cn_text_str(&packer->hard), packer->hard.len);
    return true;
}

/* What cannot be read back is not packed. */
static bool is_sound(struct cn_zorka_packer *packer, struct cn_bytes packed,
                     struct cn_bytes plain)
{
    struct cn_error ignored;

    CN_GROW_TO(packer->again, plain.len, packer->again_capacity);
    return cn_zorka_unpack_begin(packer->check, packed, plain.len, &ignored) &&
           cn_zorka_unpack_all(packer->check, packer->again, &ignored) &&
           memcmp(packer->again, plain.ptr, plain.len) == 0;
}

bool cn_zorka_pack(struct cn_zorka_packer *packer, struct cn_bytes plain,
                   struct cn_text *out)
{
    struct cn_bytes rest = plain;
    size_t begin = out->len;

    if (plain.len == 0 || plain.len > CN_ZORKA_PACKED_LEN_MAX)
        return false;
    clear(packer);
    while (rest.len > 0)
        if (!add_record(packer, &rest))
            return false;
    put_columns(packer);
    if (put_packed(packer, out) &&
        is_sound(packer,
                 (struct cn_bytes){(const uint8_t *)out->chars + begin, out->len - begin},
                 plain))
        return true;
    out->len = begin;
    return false;
}
