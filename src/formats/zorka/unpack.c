/* Packed records to records. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/varint.h"
#include "base/files/compress.h"
#include "formats/zorka/columns.h"
#include "formats/zorka/unpacker.h"

struct cn_zorka_unpacker *cn_zorka_unpacker_new(void)
{
    struct cn_zorka_unpacker *unpacker = cn_alloc(1, sizeof(*unpacker));

    unpacker->decompressor = cn_decompressor_new();
    return unpacker;
}

void cn_zorka_unpacker_free(struct cn_zorka_unpacker *unpacker)
{
    if (!unpacker)
        return;
    cn_decompressor_free(unpacker->decompressor);
    free(unpacker->soft);
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++)
        cn_number_column_done(&unpacker->fixed[i].numbers);
    for (size_t i = 0; i < unpacker->column_made; i++)
        cn_number_column_done(&unpacker->columns[i].numbers);
    free(unpacker->columns);
    free(unpacker->members);
    free(unpacker->shapes);
    cn_map_done(&unpacker->by_pair);
    cn_trace_done(&unpacker->trace);
    free(unpacker->scratch);
    cn_zorka_encoder_done(&unpacker->encoder);
    cn_cbor_out_done(&unpacker->out);
    free(unpacker);
}

static uint32_t take_u32(struct cn_zorka_unpacker *unpacker, enum packed_column column)
{
    return (uint32_t)cn_unpack_take(unpacker, column);
}

static uint64_t take_signed(struct cn_zorka_unpacker *unpacker, enum packed_column column)
{
    return cn_unzigzag(cn_unpack_take(unpacker, column));
}

static uint32_t column_of(struct cn_zorka_unpacker *unpacker, uint32_t key, uint32_t kind)
{
    uint32_t *at = cn_map_at(&unpacker->by_pair, (uint64_t)kind << 32 | key, CN_NONE);

    if (*at != CN_NONE)
        return *at;
    *at = (uint32_t)unpacker->column_count;
    CN_GROW(unpacker->columns, unpacker->column_count, unpacker->column_capacity);
    if (unpacker->column_count == unpacker->column_made)
        unpacker->columns[unpacker->column_made++] = (struct unpack_column){0};
    unpacker->columns[unpacker->column_count].count = 0;
    return (uint32_t)unpacker->column_count++;
}

static bool take_shape(struct cn_zorka_unpacker *unpacker, struct cn_bytes *soft)
{
    struct unpack_shape shape = {.first = (uint32_t)unpacker->member_count};
    uint64_t count, key, kind;

    if (!cn_varint_take(soft, &count) || count > soft->len)
        return false;
    shape.count = (uint32_t)count;
    for (uint64_t i = 0; i < count; i++) {
        if (!cn_varint_take(soft, &key) || !cn_varint_take(soft, &kind) ||
            key > UINT32_MAX || kind > CN_VALUE_MAP)
            return false;
        struct unpack_member member = {(uint32_t)key, (uint32_t)kind, 0};
        member.column = column_of(unpacker, member.key, member.kind);
        CN_PUSH(unpacker->members, unpacker->member_count, unpacker->member_capacity,
                member);
    }
    CN_PUSH(unpacker->shapes, unpacker->shape_count, unpacker->shape_capacity, shape);
    return true;
}

static bool take_shapes(struct cn_zorka_unpacker *unpacker, struct cn_bytes *soft)
{
    uint64_t count;

    unpacker->shape_count = unpacker->member_count = unpacker->column_count = 0;
    cn_map_done(&unpacker->by_pair);
    if (!cn_varint_take(soft, &count) || count > soft->len)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!take_shape(unpacker, soft))
            return false;
    return true;
}

/* The sum of a column; above `max`, any number above it. */
static uint64_t sum_of(const struct unpack_column *column, uint64_t max)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < column->count && sum <= max; i++)
        sum = cn_unpack_value_at(column, i) > max ? max + 1
                                                  : sum + cn_unpack_value_at(column, i);
    return sum;
}

static size_t count_of(const struct unpack_column *column, uint64_t value, uint64_t mask)
{
    size_t count = 0;

    for (size_t i = 0; i < column->count; i++)
        count += (cn_unpack_value_at(column, i) & mask) == value;
    return count;
}

static bool count_values(struct cn_zorka_unpacker *unpacker, enum packed_column shapes,
                         size_t *total)
{
    const struct unpack_column *column = &unpacker->fixed[shapes];

    for (size_t i = 0; i < column->count; i++) {
        uint64_t number = cn_unpack_value_at(column, i);

        if (number >= unpacker->shape_count)
            return false;
        const struct unpack_shape *shape = &unpacker->shapes[number];
        *total += shape->count;
        if (*total > unpacker->plain_len)
            return false;
        for (uint32_t k = 0; k < shape->count; k++) {
            const struct unpack_member *member = &unpacker->members[shape->first + k];

            unpacker->columns[member->column].count += member->kind != CN_VALUE_NULL &&
                                                       member->kind != CN_VALUE_LIST &&
                                                       member->kind != CN_VALUE_MAP;
        }
    }
    return true;
}

static bool take_column(struct unpack_column *column, struct cn_number_input *in,
                        struct cn_error *err)
{
    column->at = 0;
    return cn_number_column_take(&column->numbers, column->count, &column->is_same, in,
                                 err);
}

/* How many values a column has: known from columns before it. UINT64_MAX: too many. */
static uint64_t fixed_count(const struct cn_zorka_unpacker *unpacker,
                            enum packed_column column)
{
    const struct unpack_column *fixed = unpacker->fixed;
    uint64_t count;

    if (column <= RECORD_SPANS)
        return unpacker->record_count;
    if (column == SPAN_SHAPE) {
        count = sum_of(&fixed[RECORD_SPANS], CN_ZORKA_PACKED_SPANS_MAX);
        return count <= CN_ZORKA_PACKED_SPANS_MAX ? count : UINT64_MAX;
    }
    if (column <= SPAN_MORE)
        return fixed[SPAN_SHAPE].count;
    if (column == PARENT_ID)
        return count_of(&fixed[SPAN_PARENT], PACKED_PARENT_OTHER, UINT64_MAX);
    if (column == END_TIME)
        return count_of(&fixed[SPAN_MORE], PACKED_HAS_END, PACKED_HAS_END);
    if (column == NESTED)
        return unpacker->nested_count;
    count = sum_of(&fixed[column <= EVENT_SHAPE ? SPAN_EVENTS : SPAN_LINKS],
                   unpacker->plain_len);
    return count <= unpacker->plain_len ? count : UINT64_MAX;
}

/* `packed` is where the bytes begin that `in` is of. */
static bool take_columns(struct cn_zorka_unpacker *unpacker, const uint8_t *packed,
                         struct cn_number_input *in, struct cn_error *err)
{
    size_t total = 0;

    for (unsigned i = 0; i < PACKED_COLUMN_COUNT; i++) {
        uint64_t count = fixed_count(unpacker, (enum packed_column)i);

        if (count == UINT64_MAX)
            return cn_zorka_unpack_fail("too many spans, events or links", err);
        unpacker->fixed[i].count = (size_t)count;
        unpacker->fixed[i].hard_off = (size_t)(in->hard.ptr - packed);
        if (!take_column(&unpacker->fixed[i], in, err))
            return false;
    }
    if (!count_values(unpacker, SPAN_SHAPE, &total) ||
        !count_values(unpacker, EVENT_SHAPE, &total) ||
        !count_values(unpacker, LINK_SHAPE, &total))
        return cn_zorka_unpack_fail("attributes that do not exist, or too many", err);
    for (size_t i = 0; i < unpacker->column_count; i++)
        if (!take_column(&unpacker->columns[i], in, err))
            return false;
    return true;
}

static void rewind_to_first(struct cn_zorka_unpacker *unpacker)
{
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++)
        unpacker->fixed[i].at = 0;
    for (size_t i = 0; i < unpacker->column_count; i++)
        unpacker->columns[i].at = 0;
    unpacker->record = 0;
    unpacker->off = 0;
    unpacker->time_ns = 0;
    unpacker->has_out = unpacker->is_short = false;
}

void cn_zorka_unpack_places(const struct cn_zorka_unpacker *unpacker,
                            struct cn_zorka_place places[CN_ZORKA_PLACES])
{
    static const enum packed_column columns[CN_ZORKA_PLACES] = {
        [CN_ZORKA_TRACE_HIGH] = RECORD_ID_HIGH,
        [CN_ZORKA_TRACE_LOW] = RECORD_ID_LOW,
        [CN_ZORKA_SPAN_IDS] = SPAN_ID,
        [CN_ZORKA_DURATIONS] = SPAN_DURATION,
    };

    for (unsigned i = 0; i < CN_ZORKA_PLACES; i++) {
        const struct unpack_column *column = &unpacker->fixed[columns[i]];

        places[i] = (struct cn_zorka_place){
            .off = column->hard_off,
            .count = column->count,
            .lowest = column->numbers.lowest,
            .bits = unpacker->record_count > 0 ? column->numbers.bits : 0,
        };
    }
}

bool cn_zorka_unpack_begin(struct cn_zorka_unpacker *unpacker, struct cn_bytes packed,
                           size_t plain_len, struct cn_error *err)
{
    struct cn_packed_header header;
    struct cn_bytes stored, soft;
    struct cn_number_input in;

    unpacker->plain_len = plain_len;
    unpacker->record_count = 0;
    unpacker->has_out = false;
    if (plain_len > CN_ZORKA_PACKED_LEN_MAX ||
        !cn_packed_header_decode(packed, &header) ||
        header.record_count > CN_ZORKA_PACKED_SPANS_MAX ||
        header.nested_count > plain_len ||
        header.soft_plain_len > 8 * (uint64_t)CN_ZORKA_PACKED_LEN_MAX)
        return cn_zorka_unpack_fail("the header is damaged", err);
    if (!cn_bytes_slice(packed, cn_packed_header_size, header.soft_len, &stored) ||
        !cn_bytes_from(packed, cn_packed_header_size + (uint64_t)header.soft_len,
                       &in.hard))
        return cn_zorka_unpack_fail("they are truncated", err);
    CN_GROW_TO(unpacker->soft, (size_t)header.soft_plain_len + 1,
               unpacker->soft_capacity);
    if (!cn_decompress(unpacker->decompressor, CN_COMPRESSION_ZSTD, stored,
                       unpacker->soft, header.soft_plain_len, err))
        return false;
    soft = (struct cn_bytes){unpacker->soft, header.soft_plain_len};
    if (!take_shapes(unpacker, &soft))
        return cn_zorka_unpack_fail("their attributes are damaged", err);
    in.soft = soft;
    unpacker->record_count = header.record_count;
    unpacker->nested_count = header.nested_count;
    if (!take_columns(unpacker, packed.ptr, &in, err)) {
        unpacker->record_count = 0;
        return false;
    }
    rewind_to_first(unpacker);
    return true;
}

static bool has_shapes(const struct cn_zorka_unpacker *unpacker,
                       const struct cn_zorka_columns *columns)
{
    if (unpacker->shape_count != columns->shape_count ||
        unpacker->member_count != columns->member_count)
        return false;
    for (size_t i = 0; i < columns->shape_count; i++)
        if (unpacker->shapes[i].first != columns->shapes[i].first ||
            unpacker->shapes[i].count != columns->shapes[i].count)
            return false;
    for (size_t i = 0; i < columns->member_count; i++)
        if (unpacker->members[i].key != columns->members[i].key ||
            unpacker->members[i].kind != columns->members[i].kind ||
            unpacker->members[i].column != columns->members[i].column)
            return false;
    return true;
}

static bool has_column(const struct unpack_column *column,
                       const struct cn_number_column *other)
{
    return cn_number_column_equals(&column->numbers, column->is_same, other);
}

bool cn_zorka_unpacker_has(const struct cn_zorka_unpacker *unpacker,
                           const struct cn_zorka_columns *columns)
{
    if (!has_shapes(unpacker, columns) || unpacker->column_count != columns->value_count)
        return false;
    for (size_t i = 0; i < PACKED_COLUMN_COUNT; i++)
        if (!has_column(&unpacker->fixed[i], &columns->fixed[i]))
            return false;
    for (size_t i = 0; i < columns->value_count; i++)
        if (!has_column(&unpacker->columns[i], &columns->values[i]))
            return false;
    return true;
}

static void push(struct cn_zorka_unpacker *unpacker, struct cn_trace_value value)
{
    CN_PUSH(unpacker->scratch, unpacker->scratch_count, unpacker->scratch_capacity,
            value);
}

/* A list or map from NESTED; `depth` is limited. */
static struct cn_trace_value take_nested(struct cn_zorka_unpacker *unpacker,
                                         enum cn_trace_value_kind kind, unsigned depth)
{
    uint64_t count = cn_unpack_take(unpacker, NESTED);
    uint64_t elements = kind == CN_VALUE_MAP ? count * 2 : count;
    size_t base = unpacker->scratch_count;
    struct cn_trace_value value = {.kind = kind};

    if (count > unpacker->nested_count || depth > CN_TRACE_VALUE_DEPTH_MAX)
        unpacker->is_short = true;
    for (uint64_t i = 0; i < elements && !unpacker->is_short; i++) {
        uint64_t inner = cn_unpack_take(unpacker, NESTED);

        if (inner == CN_VALUE_LIST || inner == CN_VALUE_MAP) {
            struct cn_trace_value nested =
                take_nested(unpacker, (enum cn_trace_value_kind)inner, depth + 1);

            push(unpacker, nested);
            continue;
        }
        if (inner > CN_VALUE_MAP)
            unpacker->is_short = true;
        else
            push(unpacker, cn_unpack_value((enum cn_trace_value_kind)inner,
                                           cn_unpack_take(unpacker, NESTED)));
    }
    if (unpacker->is_short)
        return (struct cn_trace_value){.kind = CN_VALUE_NULL};
    value.list.count = (uint32_t)count;
    value.list.first = cn_trace_add_values(&unpacker->trace,
                                           elements > 0 ? unpacker->scratch + base : NULL,
                                           (uint32_t)elements);
    unpacker->scratch_count = base;
    return value;
}

static struct cn_trace_list take_attributes(struct cn_zorka_unpacker *unpacker,
                                            enum packed_column column)
{
    struct cn_trace_list list = CN_TRACE_EMPTY_LIST;
    uint64_t number = cn_unpack_take(unpacker, column);

    if (number >= unpacker->shape_count)
        return list;
    struct unpack_shape shape = unpacker->shapes[number];
    for (uint32_t i = 0; i < shape.count && !unpacker->is_short; i++) {
        const struct unpack_member *member = &unpacker->members[shape.first + i];
        enum cn_trace_value_kind kind = (enum cn_trace_value_kind)member->kind;
        struct cn_trace_value value = {.kind = CN_VALUE_NULL};

        if (kind == CN_VALUE_LIST || kind == CN_VALUE_MAP)
            value = take_nested(unpacker, kind, 1);
        else if (kind != CN_VALUE_NULL)
            value = cn_unpack_value(
                kind, cn_unpack_take_from(unpacker, &unpacker->columns[member->column]));
        cn_trace_list_add(&unpacker->trace, &list, member->key, value);
    }
    return list;
}

static void take_events(struct cn_zorka_unpacker *unpacker, uint64_t count,
                        uint64_t span_time_ns)
{
    for (uint64_t i = 0; i < count && !unpacker->is_short; i++) {
        uint64_t time_ns = span_time_ns + take_signed(unpacker, EVENT_TIME);
        uint32_t name = take_u32(unpacker, EVENT_NAME);
        uint32_t dropped = take_u32(unpacker, EVENT_DROPPED);
        bool is_annotation = cn_unpack_take(unpacker, EVENT_ANNOTATION) != 0;
        struct cn_trace_list attributes = take_attributes(unpacker, EVENT_SHAPE);

        *cn_trace_add_event(&unpacker->trace) = (struct cn_trace_event){
            .time_ns = time_ns,
            .name = name,
            .dropped_attributes = dropped,
            .is_annotation = is_annotation,
            .attributes = attributes,
        };
    }
}

static void take_links(struct cn_zorka_unpacker *unpacker, uint64_t count)
{
    for (uint64_t i = 0; i < count && !unpacker->is_short; i++) {
        struct cn_trace_link link = {
            .trace_high = cn_unpack_take(unpacker, LINK_HIGH),
            .trace_low = cn_unpack_take(unpacker, LINK_LOW),
            .span_id = cn_unpack_take(unpacker, LINK_SPAN),
            .trace_state = take_u32(unpacker, LINK_STATE),
            .flags = take_u32(unpacker, LINK_FLAGS),
            .dropped_attributes = take_u32(unpacker, LINK_DROPPED),
        };

        link.attributes = take_attributes(unpacker, LINK_SHAPE);
        *cn_trace_add_link(&unpacker->trace) = link;
    }
}

static uint64_t take_parent(struct cn_zorka_unpacker *unpacker, uint32_t parent)
{
    const struct cn_trace *trace = &unpacker->trace;

    switch (cn_unpack_take(unpacker, SPAN_PARENT)) {
    case PACKED_PARENT_OUTER:
        return parent == CN_NONE ? 0 : trace->spans[parent].id;
    case PACKED_PARENT_OTHER:
        return cn_unpack_take(unpacker, PARENT_ID);
    default:
        return 0;
    }
}

/* The span of node `i`, which was just entered. */
static void take_span(struct cn_zorka_unpacker *unpacker, uint32_t i)
{
    struct cn_trace *trace = &unpacker->trace;
    const struct cn_trace_node *node = &trace->nodes[i];
    uint64_t from_ns = i == 0 ? unpacker->time_ns : trace->spans[0].time_ns;
    uint64_t time_ns = from_ns + node->start_ns + take_signed(unpacker, SPAN_TIME);
    struct cn_trace_span *span = cn_trace_add_span(trace, time_ns);

    span->time_ns = time_ns;
    span->is_whole = true;
    span->type = take_u32(unpacker, SPAN_TYPE);
    span->service = take_u32(unpacker, SPAN_SERVICE);
    span->id = cn_unpack_take(unpacker, SPAN_ID);
    span->parent_id = take_parent(unpacker, node->parent);
    span->status = (uint8_t)cn_unpack_take(unpacker, SPAN_STATUS);
    span->status_message = take_u32(unpacker, SPAN_MESSAGE);
    span->trace_state = take_u32(unpacker, SPAN_STATE);
    span->flags = take_u32(unpacker, SPAN_FLAGS);
    span->resource = take_u32(unpacker, SPAN_RESOURCE);
    span->scope = take_u32(unpacker, SPAN_SCOPE);
    uint64_t events = cn_unpack_take(unpacker, SPAN_EVENTS),
             links = cn_unpack_take(unpacker, SPAN_LINKS);
    span->dropped_attributes = take_u32(unpacker, SPAN_DROPPED_ATTRIBUTES);
    span->dropped_events = take_u32(unpacker, SPAN_DROPPED_EVENTS);
    span->dropped_links = take_u32(unpacker, SPAN_DROPPED_LINKS);
    uint64_t more = cn_unpack_take(unpacker, SPAN_MORE);
    span->has_no_kind = more & PACKED_HAS_NO_KIND;
    span->has_end = more & PACKED_HAS_END;
    if (span->has_end)
        span->end_ns = time_ns + take_signed(unpacker, END_TIME);
    take_events(unpacker, events, time_ns);
    take_links(unpacker, links);
}

/* A node has the numbers for its end while it is open. */
static void leave(struct cn_trace *trace)
{
    uint32_t i = trace->current;
    const struct cn_trace_node *node = &trace->nodes[i];

    cn_trace_leave(trace, node->start_ns + node->duration_ns,
                   node->calls + (trace->node_count - i));
}

static bool take_node(struct cn_zorka_unpacker *unpacker, uint32_t i,
                      struct cn_error *err)
{
    struct cn_trace *trace = &unpacker->trace;
    uint64_t up = cn_unpack_take(unpacker, SPAN_UP);

    if (i == 0 ? up != 0 : up == 0 || up > i)
        return cn_zorka_unpack_fail("a span has no parent", err);
    while (i > 0 && trace->current != CN_NONE && trace->current != i - (uint32_t)up)
        leave(trace);
    uint64_t from_ns =
        i == 0 || trace->current == CN_NONE ? 0 : trace->nodes[trace->current].start_ns;
    uint64_t start_ns = from_ns + take_signed(unpacker, SPAN_START);
    uint32_t method = take_u32(unpacker, SPAN_METHOD);
    if (!cn_trace_enter(trace, method, start_ns, err))
        return false;
    struct cn_trace_node *node = &trace->nodes[i];
    node->duration_ns = cn_unpack_take(unpacker, SPAN_DURATION);
    node->calls = take_signed(unpacker, SPAN_CALLS);
    cn_trace_mark(trace,
                  take_u32(unpacker, SPAN_MARKS) & (CN_TRACE_ERROR | CN_TRACE_LOSSY |
                                                    CN_TRACE_SENT | CN_TRACE_FAILED));
    struct cn_trace_list list = take_attributes(unpacker, SPAN_SHAPE);
    trace->nodes[i].first_attribute = list.first;
    trace->nodes[i].last_attribute = list.last;
    take_span(unpacker, i);
    return true;
}

/* The next record, into unpacker->out. */
static bool take_record(struct cn_zorka_unpacker *unpacker, struct cn_error *err)
{
    struct cn_trace *trace = &unpacker->trace;
    struct cn_zorka_part part;

    unpacker->has_out = false;
    cn_trace_clear(trace);
    trace->id_high = cn_unpack_take(unpacker, RECORD_ID_HIGH);
    trace->id_low = cn_unpack_take(unpacker, RECORD_ID_LOW);
    unpacker->time_ns += take_signed(unpacker, RECORD_TIME);
    trace->clock_ns = cn_unpack_take(unpacker, RECORD_CLOCK);
    uint64_t len = cn_unpack_take(unpacker, RECORD_LEN),
             spans = cn_unpack_take(unpacker, RECORD_SPANS);
    unpacker->scratch_count = 0;
    for (uint32_t i = 0; i < spans && !unpacker->is_short; i++)
        if (!take_node(unpacker, i, err))
            return false;
    if (unpacker->is_short || spans == 0)
        return cn_zorka_unpack_fail("a column is too short", err);
    while (trace->current != CN_NONE)
        leave(trace);
    unpacker->out.len = 0;
    cn_zorka_record_encode(&unpacker->encoder, trace, 0, &unpacker->out, &part);
    if (part.record_len != len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "packed records: a record of %zu bytes instead of %" PRIu64,
                       part.record_len, len);
    unpacker->has_out = true;
    unpacker->out_off = unpacker->off;
    unpacker->out_span = unpacker->fixed[SPAN_UP].at - (size_t)spans;
    unpacker->off += part.record_len;
    unpacker->record++;
    return true;
}

/* Make the record that has byte `off` of the plain records or, if `is_span`, span number `off`. */
static bool seek(struct cn_zorka_unpacker *unpacker, size_t off, bool is_span,
                 struct cn_error *err)
{
    const struct unpack_column *lens =
        &unpacker->fixed[is_span ? RECORD_SPANS : RECORD_LEN];
    const size_t *next = is_span ? &unpacker->fixed[SPAN_UP].at : &unpacker->off;
    size_t first = is_span ? unpacker->out_span : unpacker->out_off;

    if (off < (unpacker->has_out ? first : *next))
        rewind_to_first(unpacker);
    while (!unpacker->has_out || off >= *next) {
        if (unpacker->record == unpacker->record_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "packed records: %s %zu is beyond the last",
                           is_span ? "span" : "byte", off);
        bool is_here = off < *next + cn_unpack_value_at(lens, unpacker->record);

        unpacker->has_out = false;
        if (is_here ? !take_record(unpacker, err)
                    : !cn_zorka_unpacker_skip(unpacker, err)) {
            unpacker->record_count = 0;
            rewind_to_first(unpacker);
            return false;
        }
    }
    return true;
}

bool cn_zorka_unpack_at(struct cn_zorka_unpacker *unpacker, size_t off,
                        struct cn_bytes *record, size_t *record_off, struct cn_error *err)
{
    if (!seek(unpacker, off, false, err))
        return false;
    *record = (struct cn_bytes){unpacker->out.bytes, unpacker->out.len};
    *record_off = unpacker->out_off;
    return true;
}

bool cn_zorka_unpack_span(struct cn_zorka_unpacker *unpacker, uint32_t number,
                          struct cn_bytes *span, struct cn_error *err)
{
    if (!seek(unpacker, number, true, err))
        return false;
    uint32_t off = unpacker->trace.nodes[number - unpacker->out_span].data_off;

    return cn_bytes_from((struct cn_bytes){unpacker->out.bytes, unpacker->out.len}, off,
                         span) ||
           cn_zorka_unpack_fail("a span is outside of its record", err);
}

bool cn_zorka_unpack_all(struct cn_zorka_unpacker *unpacker, uint8_t *plain,
                         struct cn_error *err)
{
    rewind_to_first(unpacker);
    while (unpacker->record < unpacker->record_count) {
        size_t off = unpacker->off;

        if (!take_record(unpacker, err))
            return false;
        if (unpacker->out.len > unpacker->plain_len - off)
            return cn_zorka_unpack_fail("they are longer than their chunk says", err);
        memcpy(plain + off, unpacker->out.bytes, unpacker->out.len);
    }
    return unpacker->off == unpacker->plain_len ||
           cn_zorka_unpack_fail("they are shorter than their chunk says", err);
}
