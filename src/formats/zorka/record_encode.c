/* Traces to records.
 *
 * Spec dialect: a call is an array of known length: its info map, its attributes, its
 * exception, its nested calls. Times count from the event before (the start of the outer call,
 * or the end of the call before), because small numbers compress well. An open call is an array
 * without a length, which a later part ends.
 *
 * Java dialect, as the original collector writes it: an array without a length, and a map of
 * one entry for every fact. */

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/zorka/reader.h"
#include "formats/zorka/record.h"

enum {
    PLAIN_CALL_MAX = 64, /* bytes of a call without attributes, span and part */
    HEAD_MAX = 256,      /* bytes of any info map */
    SKIP_NODES_MIN = CN_ZTS_SKIP_MIN / 16,
};

struct cn_zorka_shape {
    uint64_t cursor_ns;   /* the next nested start counts from here */
    uint64_t last_end_ns; /* its own end counts from here */
    uint32_t children;
};

/* A call with something to write at its end. */
struct cn_zorka_pending {
    uint32_t node;
    size_t skip_at;  /* offset of SKIP, to be filled in; 0: none */
    size_t body_off; /* SKIP counts from here */
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

/* The largest of three units that divides all times. */
static uint64_t choose_tick(const struct cn_trace *trace)
{
    uint64_t bits = trace->clock_ns | trace->resume_ns;
    bool is_micro = trace->clock_ns % 1000 == 0 && trace->resume_ns % 1000 == 0;

    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct cn_trace_node *node = &trace->nodes[i];

        bits |= node->start_ns | node->duration_ns;
        is_micro =
            is_micro && node->start_ns % 1000 == 0 && node->duration_ns % 1000 == 0;
    }
    if ((bits & ((1 << CN_ZORKA_TICK_BITS) - 1)) == 0)
        return 1 << CN_ZORKA_TICK_BITS;
    return is_micro ? 1000 : 1;
}

static void measure(struct cn_zorka_encoder *encoder, const struct cn_trace *trace)
{
    if (!encoder->pending)
        encoder->pending = cn_alloc(CN_TRACE_DEPTH_MAX + 1, sizeof(*encoder->pending));
    CN_GROW_TO(encoder->shapes, trace->node_count, encoder->capacity);
    struct cn_zorka_shape *shapes = encoder->shapes;
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

/* Returns the offset of CH_LEN, to be filled in. */
static size_t put_part(struct encoding *e, uint64_t part_off, unsigned *count)
{
    cn_cbor_raw(e->out, CN_ZTS_TRACE_ID);
    cn_cbor_raw_head(e->out, CN_CBOR_BYTES, 16);
    cn_u64_be_put(e->out->bytes + e->out->len, e->trace->id_high);
    cn_u64_be_put(e->out->bytes + e->out->len + 8, e->trace->id_low);
    e->out->len += 16;
    ++*count;
    put_number(e, CN_ZTS_CH_NUM, e->trace->part, count);
    put_number(e, CN_ZTS_CH_OFFS, part_off, count);
    cn_cbor_raw(e->out, CN_ZTS_CH_LEN);
    size_t at = cn_cbor_raw_u32(e->out, 0);
    ++*count;
    return at;
}

/* The head of a call's array. */
static void put_array(struct encoding *e, const struct cn_trace_node *node,
                      uint32_t children)
{
    uint64_t count = (uint64_t)1 + (node->first_attribute != CN_NONE) +
                     (node->exception != 0) + children;

    cn_cbor_raw(e->out, CN_ZORKA_TAG | CN_ZTS_TRACE);
    if (node->flags & CN_TRACE_OPEN)
        cn_cbor_raw(e->out, CN_ZORKA_OPEN_ARRAY);
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

/* The info of a call with a span, a part or a SKIP; returns the offset of CH_LEN, or 0. */
static size_t put_info(struct encoding *e, uint32_t i, uint64_t part_off)
{
    const struct cn_trace_node *node = &e->trace->nodes[i];
    bool is_large = node->end - i >= SKIP_NODES_MIN && !(node->flags & CN_TRACE_OPEN);
    size_t map_at, len_at = 0, skip_at = 0;
    unsigned count = 0;

    cn_cbor_raw(e->out, CN_ZORKA_TAG | CN_ZTS_INFO);
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
    if (node->span != CN_NONE && e->trace->spans[node->span].is_whole) {
        cn_cbor_raw(e->out, CN_ZTS_SPAN_REST);
        cn_zorka_put_span_rest(e->out, e->trace, &e->trace->spans[node->span]);
        cn_cbor_room(e->out, PLAIN_CALL_MAX);
        count++;
    }
    if (is_large) {
        cn_cbor_raw(e->out, CN_ZTS_SKIP);
        skip_at = cn_cbor_raw_u32(e->out, 0);
        count++;
    }
    e->out->bytes[map_at] = (uint8_t)(CN_ZORKA_MAP | count);
    if (is_large)
        push_pending(e, i, skip_at);
    return len_at;
}

static void put_node(struct encoding *e, uint32_t i)
{
    struct cn_trace_node *node = &e->trace->nodes[i];
    unsigned count = 0;
    size_t map_at;

    cn_cbor_room(e->out, PLAIN_CALL_MAX + HEAD_MAX);
    node->data_off = (uint32_t)(e->out->len - e->begin_off);
    put_array(e, node, e->shapes[i].children);
    if (node->span == CN_NONE && node->end - i < SKIP_NODES_MIN) {
        cn_cbor_raw(e->out, CN_ZORKA_TAG | CN_ZTS_INFO);
        map_at = e->out->len++;
        put_call_fields(e, i, &count);
        e->out->bytes[map_at] = (uint8_t)(CN_ZORKA_MAP | count);
    } else {
        (void)put_info(e, i, 0);
    }
    if (node->first_attribute != CN_NONE)
        cn_zorka_put_attributes(e->out, e->trace, node, CN_ZTS_ATTRIBUTES);
    put_exception(e, node);
    if (node->parent != CN_NONE)
        e->shapes[node->parent].cursor_ns = end_ns(node);
}

/* What this part adds to a call of an earlier part, and its end. */
static void finish_carried(struct encoding *e, const struct cn_trace_node *node,
                           uint32_t i)
{
    unsigned count = 0;

    cn_zorka_put_attributes(e->out, e->trace, node, CN_ZTS_ATTRIBUTES);
    put_exception(e, node);
    if (node->flags & CN_TRACE_OPEN)
        return;
    cn_cbor_room(e->out, PLAIN_CALL_MAX);
    cn_cbor_raw(e->out, CN_ZORKA_TAG | CN_ZTS_INFO);
    size_t map_at = e->out->len++;
    put_ticks(e, CN_ZTS_TSTOP, end_ns(node), e->shapes[i].last_end_ns, &count);
    put_number(e, CN_ZTS_CALLS, node->calls, &count);
    put_optional(e, CN_ZTS_FLAGS, stored_flags(node), &count);
    e->out->bytes[map_at] = (uint8_t)(CN_ZORKA_MAP | count);
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

/* The head of the record: the outermost call in the first part, only a map in later ones. */
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
    cn_cbor_raw(e->out, CN_ZORKA_TAG | CN_ZTS_INFO);
    map_at = e->out->len++;
    len_at = put_part(e, part_off, &count);
    if (e->tick_ns > 1)
        put_number(e, CN_ZTS_TICK, e->tick_ns, &count);
    put_number(e, CN_ZTS_RECS, e->trace->node_count, &count);
    e->out->bytes[map_at] = (uint8_t)(CN_ZORKA_MAP | count);
    push_pending(e, 0, 0);
    return len_at;
}

void cn_zorka_record_encode(struct cn_zorka_encoder *encoder, struct cn_trace *trace,
                            uint64_t part_off, struct cn_cbor_out *out,
                            struct cn_zorka_part *part)
{
    struct encoding e = {.trace = trace, .out = out, .begin_off = out->len};

    measure(encoder, trace);
    e.shapes = encoder->shapes;
    e.pending = encoder->pending;
    e.tick_ns = choose_tick(trace);
    size_t len_at = put_head(&e, part_off);
    size_t payload_off =
        trace->nodes[0].flags & CN_TRACE_CARRIED ? out->len : e.begin_off;
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

static void put_fact(struct cn_cbor_out *out, unsigned key, int64_t value)
{
    cn_cbor_put(out, CN_CBOR_TAG, CN_ZORKA_TRACE_INFO);
    cn_cbor_put(out, CN_CBOR_MAP, 1);
    cn_cbor_put(out, CN_CBOR_UINT, key);
    cn_cbor_put_int(out, value);
}

static int64_t java_ticks(const struct cn_trace *trace, uint64_t time_ns)
{
    return (int64_t)((trace->clock_ns + time_ns) >> CN_ZORKA_TICK_BITS);
}

static void put_java_span(struct cn_cbor_out *out, const struct cn_trace_span *span)
{
    put_fact(out, CN_ZTS_TSTAMP, (int64_t)(span->time_ns / 1000000));
    if (span->type != 0)
        put_fact(out, CN_ZTS_TYPE, span->type);
    if (span->id != 0)
        put_fact(out, CN_ZTS_SPAN, (int64_t)span->id);
    if (span->parent_id != 0)
        put_fact(out, CN_ZTS_PARENT, (int64_t)span->parent_id);
}

static void put_java_start(struct cn_cbor_out *out, const struct cn_trace *trace,
                           const struct cn_trace_node *node)
{
    cn_cbor_put(out, CN_CBOR_TAG, CN_ZORKA_TRACE_START);
    cn_cbor_put_byte(out, CN_ZORKA_OPEN_ARRAY);
    put_fact(out, CN_ZTS_TSTART, java_ticks(trace, node->start_ns));
    put_fact(out, CN_ZTS_METHOD, node->method);
    if (node->span != CN_NONE)
        put_java_span(out, &trace->spans[node->span]);
    if (node->flags & CN_TRACE_ERROR)
        put_fact(out, CN_ZTS_FLAGS, CN_ZORKA_FLAG_ERROR);
    cn_zorka_put_attributes(out, trace, node, CN_ZORKA_TRACE_ATTR);
}

static void put_java_stop(struct cn_cbor_out *out, const struct cn_trace *trace,
                          const struct cn_trace_node *node)
{
    if (node->exception != 0) {
        cn_cbor_put(out, CN_CBOR_TAG, CN_ZORKA_EXCEPTION_REF);
        cn_cbor_put(out, CN_CBOR_UINT, node->exception);
    }
    put_fact(out, CN_ZTS_TSTOP, java_ticks(trace, node->start_ns + node->duration_ns));
    put_fact(out, CN_ZTS_CALLS, (int64_t)node->calls);
    cn_cbor_put_byte(out, CN_CBOR_BREAK);
}

void cn_zorka_record_encode_java(struct cn_trace *trace, struct cn_cbor_out *out)
{
    size_t begin_off = out->len;
    uint32_t open = CN_NONE;

    for (uint32_t i = 0; i < trace->node_count; i++) {
        while (open != trace->nodes[i].parent) {
            put_java_stop(out, trace, &trace->nodes[open]);
            open = trace->nodes[open].parent;
        }
        trace->nodes[i].data_off = (uint32_t)(out->len - begin_off);
        put_java_start(out, trace, &trace->nodes[i]);
        open = i;
    }
    for (; open != CN_NONE; open = trace->nodes[open].parent)
        put_java_stop(out, trace, &trace->nodes[open]);
}
