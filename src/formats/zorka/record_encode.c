/* Traces become records of the spec dialect.
 *
 * A call is an array of known length: its info map, its attributes, its exception, the calls
 * in it. Times count from the event before (the start of the call around it, or the end of
 * the call before it), because small numbers compress well. A call that is still open has
 * an array without a length, which a later part ends. */

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/zorka/format.h"
#include "formats/zorka/record.h"
#include "formats/zorka/values.h"

enum {
    TAG = CN_CBOR_TAG << 5,
    MAP = CN_CBOR_MAP << 5,
    PLAIN_CALL_MAX = 64, /* bytes of a call without attributes, span and part */
    HEAD_MAX = 256,      /* bytes of any info map */
    SKIP_NODES_MIN = CN_ZTS_SKIP_MIN / 16,
};

struct cn_zorka_shape {
    uint64_t cursor_ns;   /* event that the next nested start counts from */
    uint64_t last_end_ns; /* event that its own end counts from */
    uint32_t children;
};

/* A call that needs something done where it ends. */
struct cn_zorka_pending {
    uint32_t node;
    size_t skip_at;  /* where SKIP is filled in; 0: none */
    size_t body_off; /* what SKIP counts from */
};

struct encoding {
    const struct cn_trace *trace;
    struct cn_zorka_shape *shapes;
    struct cn_cbor_out *out;
    size_t begin_off;
    uint64_t tick_ns;
    struct cn_zorka_pending *pending;
    unsigned pending_count;
};

static uint64_t end_ns(const struct cn_trace_node *node)
{
    return node->start_ns + node->duration_ns;
}

static bool is_whole(uint64_t value, uint64_t tick_ns)
{
    return value % tick_ns == 0;
}

/* The largest of three units that all times are a multiple of. */
static uint64_t choose_tick(const struct cn_trace *trace)
{
    uint64_t bits = trace->clock_ns | trace->resume_ns;
    bool is_micro = is_whole(trace->clock_ns, 1000) && is_whole(trace->resume_ns, 1000);

    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct cn_trace_node *node = &trace->nodes[i];

        bits |= node->start_ns | node->duration_ns;
        is_micro = is_micro && is_whole(node->start_ns, 1000) &&
                   is_whole(node->duration_ns, 1000);
    }
    if ((bits & ((1 << CN_ZORKA_TICK_BITS) - 1)) == 0)
        return 1 << CN_ZORKA_TICK_BITS;
    return is_micro ? 1000 : 1;
}

static void measure(struct cn_zorka_encoder *encoder, const struct cn_trace *trace)
{
    struct cn_zorka_shape *shapes;

    if (!encoder->pending)
        encoder->pending = cn_alloc(CN_TRACE_DEPTH_MAX + 1, sizeof(*encoder->pending));
    if (trace->node_count > encoder->capacity) {
        encoder->capacity = trace->node_count * (size_t)2;
        encoder->shapes =
            cn_realloc(encoder->shapes, encoder->capacity, sizeof(*encoder->shapes));
    }
    shapes = encoder->shapes;
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct cn_trace_node *node = &trace->nodes[i];
        uint64_t from_ns =
            node->flags & CN_TRACE_CARRIED ? trace->resume_ns : node->start_ns;

        shapes[i] = (struct cn_zorka_shape){from_ns, from_ns, 0};
        if (node->parent != CN_NONE) {
            shapes[node->parent].children++;
            shapes[node->parent].last_end_ns = end_ns(node);
        }
    }
}

static void put_ticks(struct encoding *e, uint8_t key, uint64_t later, uint64_t earlier,
                      unsigned *count)
{
    uint64_t ticks = later - earlier;
    bool is_negative = later < earlier;

    if (ticks == 0)
        return;
    if (is_negative)
        ticks = earlier - later;
    if (e->tick_ns > 1)
        ticks /= e->tick_ns;
    cn_cbor_raw(e->out, key);
    cn_cbor_raw_head(e->out, is_negative ? CN_CBOR_NEGATIVE : CN_CBOR_UINT,
                     is_negative ? ticks - 1 : ticks);
    ++*count;
}

static void put_number(struct encoding *e, uint8_t key, uint64_t value, unsigned *count)
{
    cn_cbor_raw(e->out, key);
    cn_cbor_raw_head(e->out, CN_CBOR_UINT, value);
    ++*count;
}

static void put_optional(struct encoding *e, uint8_t key, uint64_t value, unsigned *count)
{
    if (value != 0)
        put_number(e, key, value, count);
}

static uint32_t stored_flags(const struct cn_trace_node *node)
{
    uint32_t flags = node->flags & ~(uint32_t)(CN_TRACE_OPEN | CN_TRACE_CARRIED);

    return node->exception ? flags & ~(uint32_t)CN_TRACE_ERROR : flags;
}

static void put_span(struct encoding *e, const struct cn_trace_span *span,
                     unsigned *count)
{
    put_number(e, CN_ZTS_TSTAMP, span->time_ns / 1000000, count);
    put_optional(e, CN_ZTS_TYPE, span->type, count);
    put_optional(e, CN_ZTS_PARENT, span->parent_id, count);
    put_optional(e, CN_ZTS_SPAN, span->id, count);
    put_optional(e, CN_ZTS_SERVICE, span->service, count);
    put_optional(e, CN_ZTS_TSTAMP_NS, span->time_ns % 1000000, count);
    if (e->tick_ns > 1)
        put_number(e, CN_ZTS_TICK, e->tick_ns, count);
}

/* Returns where CH_LEN is to be filled in. */
static size_t put_part(struct encoding *e, uint64_t part_off, unsigned *count)
{
    size_t at;

    cn_cbor_raw(e->out, CN_ZTS_TRACE_ID);
    cn_cbor_raw_head(e->out, CN_CBOR_BYTES, 16);
    cn_u64_be_put(e->out->bytes + e->out->len, e->trace->id_high);
    cn_u64_be_put(e->out->bytes + e->out->len + 8, e->trace->id_low);
    e->out->len += 16;
    ++*count;
    put_number(e, CN_ZTS_CH_NUM, e->trace->part, count);
    put_number(e, CN_ZTS_CH_OFFS, part_off, count);
    cn_cbor_raw(e->out, CN_ZTS_CH_LEN);
    at = cn_cbor_raw_u32(e->out, 0);
    ++*count;
    return at;
}

/* The head of an array of `count` items, or of one without a length. */
static void put_array(struct encoding *e, const struct cn_trace_node *node,
                      uint32_t children)
{
    uint64_t count = (uint64_t)1 + (node->first_attribute != CN_NONE) +
                     (node->exception != 0) + children;

    cn_cbor_raw(e->out, TAG | CN_ZTS_TRACE);
    if (node->flags & CN_TRACE_OPEN)
        cn_cbor_raw(e->out, CN_CBOR_ARRAY << 5 | CN_CBOR_OPEN);
    else
        cn_cbor_raw_head(e->out, CN_CBOR_ARRAY, count);
}

static void put_exception(struct encoding *e, const struct cn_trace_node *node)
{
    if (node->exception == 0)
        return;
    cn_cbor_put(e->out, CN_CBOR_TAG, CN_ZORKA_EXCEPTION_REF);
    cn_cbor_put(e->out, CN_CBOR_UINT, node->exception);
}

static void push_pending(struct encoding *e, uint32_t node, size_t skip_at)
{
    e->pending[e->pending_count++] =
        (struct cn_zorka_pending){node, skip_at, e->out->len};
}

/* The fields that every call has. */
static void put_call_fields(struct encoding *e, uint32_t i, unsigned *count)
{
    const struct cn_trace_node *node = &e->trace->nodes[i];
    uint64_t from_ns = node->parent == CN_NONE ? 0 : e->shapes[node->parent].cursor_ns;

    put_number(e, CN_ZTS_METHOD, node->method, count);
    if (node->parent == CN_NONE)
        put_ticks(e, CN_ZTS_TSTART, e->trace->clock_ns, 0, count);
    else
        put_ticks(e, CN_ZTS_TSTART, node->start_ns, from_ns, count);
    if (!(node->flags & CN_TRACE_OPEN)) {
        put_ticks(e, CN_ZTS_TSTOP, end_ns(node), e->shapes[i].last_end_ns, count);
        if (node->calls != node->end - i)
            put_number(e, CN_ZTS_CALLS, node->calls, count);
    }
    put_optional(e, CN_ZTS_FLAGS, stored_flags(node), count);
}

/* A call with a span, a part or a SKIP; returns where CH_LEN goes, or 0. */
static size_t put_info(struct encoding *e, uint32_t i, uint64_t part_off)
{
    const struct cn_trace_node *node = &e->trace->nodes[i];
    bool is_large = node->end - i >= SKIP_NODES_MIN && !(node->flags & CN_TRACE_OPEN);
    size_t map_at, len_at = 0, skip_at = 0;
    unsigned count = 0;

    cn_cbor_raw(e->out, TAG | CN_ZTS_INFO);
    map_at = e->out->len++;
    if (i == 0)
        len_at = put_part(e, part_off, &count);
    if (node->span != CN_NONE)
        put_span(e, &e->trace->spans[node->span], &count);
    if (i == 0 || is_large || node->span != CN_NONE) {
        put_optional(e, CN_ZTS_DURATION, node->duration_ns / e->tick_ns, &count);
        put_number(e, CN_ZTS_RECS, node->end - i, &count);
        put_optional(e, CN_ZTS_ERRORS, node->errors, &count);
    }
    put_call_fields(e, i, &count);
    if (is_large) {
        cn_cbor_raw(e->out, CN_ZTS_SKIP);
        skip_at = cn_cbor_raw_u32(e->out, 0);
        count++;
    }
    e->out->bytes[map_at] = (uint8_t)(MAP | count);
    if (is_large)
        push_pending(e, i, skip_at);
    return len_at;
}

static void put_plain_call(struct encoding *e, uint32_t i)
{
    size_t map_at;
    unsigned count = 0;

    cn_cbor_raw(e->out, TAG | CN_ZTS_INFO);
    map_at = e->out->len++;
    put_call_fields(e, i, &count);
    e->out->bytes[map_at] = (uint8_t)(MAP | count);
}

static void put_node(struct encoding *e, uint32_t i)
{
    struct cn_trace_node *node = &e->trace->nodes[i];

    cn_cbor_room(e->out, PLAIN_CALL_MAX + HEAD_MAX);
    node->data_off = (uint32_t)(e->out->len - e->begin_off);
    put_array(e, node, e->shapes[i].children);
    if (node->span == CN_NONE && node->end - i < SKIP_NODES_MIN)
        put_plain_call(e, i);
    else
        (void)put_info(e, i, 0);
    if (node->first_attribute != CN_NONE)
        cn_zorka_put_attributes(e->out, e->trace, node, CN_ZTS_ATTRIBUTES);
    put_exception(e, node);
    if (node->parent != CN_NONE)
        e->shapes[node->parent].cursor_ns = end_ns(node);
}

/* What a call of an earlier part got in this one, and its end. */
static void finish_carried(struct encoding *e, const struct cn_trace_node *node,
                           uint32_t i)
{
    unsigned count = 0;
    size_t map_at;

    cn_zorka_put_attributes(e->out, e->trace, node, CN_ZTS_ATTRIBUTES);
    put_exception(e, node);
    if (node->flags & CN_TRACE_OPEN)
        return;
    cn_cbor_room(e->out, PLAIN_CALL_MAX);
    cn_cbor_raw(e->out, TAG | CN_ZTS_INFO);
    map_at = e->out->len++;
    put_ticks(e, CN_ZTS_TSTOP, end_ns(node), e->shapes[i].last_end_ns, &count);
    put_number(e, CN_ZTS_CALLS, node->calls, &count);
    put_optional(e, CN_ZTS_FLAGS, stored_flags(node), &count);
    e->out->bytes[map_at] = (uint8_t)(MAP | count);
    cn_cbor_raw(e->out, CN_CBOR_BREAK);
    if (node->parent != CN_NONE)
        e->shapes[node->parent].cursor_ns = end_ns(node);
}

static void finish_until(struct encoding *e, uint32_t next)
{
    while (e->pending_count > 0) {
        const struct cn_zorka_pending *top = &e->pending[e->pending_count - 1];
        const struct cn_trace_node *node = &e->trace->nodes[top->node];

        if (node->end > next)
            break;
        if (node->flags & CN_TRACE_CARRIED)
            finish_carried(e, node, top->node);
        if (top->skip_at != 0)
            cn_u32_be_put(e->out->bytes + top->skip_at,
                          (uint32_t)(e->out->len - top->body_off));
        e->pending_count--;
    }
}

/* The head of the record: of the first part the first call, of others a map alone. */
static size_t put_head(struct encoding *e, uint64_t part_off)
{
    struct cn_trace_node *first = &e->trace->nodes[0];
    unsigned count = 0;
    size_t map_at, len_at;

    cn_cbor_room(e->out, PLAIN_CALL_MAX + HEAD_MAX);
    first->data_off = 0;
    if (!(first->flags & CN_TRACE_CARRIED)) {
        put_array(e, first, e->shapes[0].children);
        len_at = put_info(e, 0, part_off);
        cn_zorka_put_attributes(e->out, e->trace, first, CN_ZTS_ATTRIBUTES);
        put_exception(e, first);
        return len_at;
    }
    cn_cbor_raw(e->out, TAG | CN_ZTS_INFO);
    map_at = e->out->len++;
    len_at = put_part(e, part_off, &count);
    if (e->tick_ns > 1)
        put_number(e, CN_ZTS_TICK, e->tick_ns, &count);
    put_number(e, CN_ZTS_RECS, e->trace->node_count, &count);
    e->out->bytes[map_at] = (uint8_t)(MAP | count);
    push_pending(e, 0, 0);
    return len_at;
}

void cn_zorka_record_encode(struct cn_zorka_encoder *encoder, struct cn_trace *trace,
                            uint64_t part_off, struct cn_cbor_out *out,
                            struct cn_zorka_part *part)
{
    struct encoding e = {.trace = trace, .out = out, .begin_off = out->len};
    size_t len_at, payload_off;

    measure(encoder, trace);
    e.shapes = encoder->shapes;
    e.pending = encoder->pending;
    e.tick_ns = choose_tick(trace);
    len_at = put_head(&e, part_off);
    payload_off = trace->nodes[0].flags & CN_TRACE_CARRIED ? out->len : e.begin_off;
    for (uint32_t i = 1; i < trace->node_count; i++) {
        finish_until(&e, i);
        if (trace->nodes[i].flags & CN_TRACE_CARRIED)
            push_pending(&e, i, 0);
        else
            put_node(&e, i);
    }
    finish_until(&e, trace->node_count);
    *part = (struct cn_zorka_part){
        .id_high = trace->id_high,
        .id_low = trace->id_low,
        .number = trace->part,
        .part_off = part_off,
        .part_len = (uint32_t)(out->len - payload_off),
        .payload_off = payload_off - e.begin_off,
        .record_len = out->len - e.begin_off,
    };
    cn_u32_be_put(out->bytes + len_at, part->part_len);
}

void cn_zorka_encoder_done(struct cn_zorka_encoder *encoder)
{
    free(encoder->shapes);
    free(encoder->pending);
    *encoder = (struct cn_zorka_encoder){0};
}
