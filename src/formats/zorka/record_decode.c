/* Records of both dialects to traces. */

#include "formats/zorka/format.h"
#include "formats/zorka/reader.h"
#include "formats/zorka/record.h"

/* One map of method call info. Missing fields are 0. */
struct decoded_info {
    uint64_t id_high, id_low;
    uint64_t numbers[CN_ZTS_TSTAMP_NS + 1];
    int64_t start, stop; /* ticks, signed */
    bool has_id, has_span, has_calls;
    size_t rest_off; /* of what else a span has; 0: nothing */
};

struct decoding {
    struct cn_zorka_reader reader;
    uint64_t tick_ns;
    uint64_t
        left[CN_TRACE_DEPTH_MAX]; /* by open call: items; UINT64_MAX: until a break */
    uint64_t cursor_ns[CN_TRACE_DEPTH_MAX]; /* the event that the next time counts from */
};

static bool read_field(struct cn_cbor *in, uint64_t key, struct decoded_info *out)
{
    struct cn_bytes id;

    switch (key) {
    case CN_ZTS_TRACE_ID:
        if (!cn_cbor_byte_string(in, &id) || id.len != 16)
            return false;
        out->id_high = cn_u64_be_get(id.ptr);
        out->id_low = cn_u64_be_get(id.ptr + 8);
        out->has_id = true;
        return true;
    case CN_ZTS_TSTART:
        return cn_cbor_int(in, &out->start);
    case CN_ZTS_TSTOP:
        return cn_cbor_int(in, &out->stop);
    case CN_ZTS_TSTAMP:
        out->has_span = true;
        return cn_cbor_uint(in, &out->numbers[key]);
    case CN_ZTS_CALLS:
        out->has_calls = true;
        return cn_cbor_uint(in, &out->numbers[key]);
    default:
        return cn_cbor_uint(in, &out->numbers[key]);
    }
}

static bool read_info(struct cn_cbor *in, struct decoded_info *out, struct cn_error *err)
{
    uint64_t count, key;

    *out = (struct decoded_info){0};
    if (!cn_cbor_take(in, CN_CBOR_MAP, &count))
        return cn_cbor_fail(in, "a map of method call info", err);
    for (uint64_t i = 0; i < count; i++) {
        if (!cn_cbor_uint(in, &key))
            return cn_cbor_fail(in, "a key of method call info", err);
        if (key > CN_ZTS_TSTAMP_NS) {
            if (key == CN_ZTS_SPAN_REST)
                out->rest_off = in->off;
            if (!cn_cbor_skip(in, err))
                return false;
            continue;
        }
        if (!read_field(in, key, out))
            return cn_cbor_fail(in, "a value of method call info", err);
    }
    return true;
}

static uint64_t after(uint64_t time_ns, int64_t ticks, uint64_t tick_ns)
{
    uint64_t step = (ticks < 0 ? -(uint64_t)ticks : (uint64_t)ticks) * tick_ns;

    if (ticks >= 0)
        return time_ns + step;
    return step < time_ns ? time_ns - step : 0;
}

static bool apply_span(struct decoding *d, const struct decoded_info *info,
                       struct cn_error *err)
{
    const uint64_t *n = info->numbers;

    if (n[CN_ZTS_TSTAMP] > UINT64_MAX / 1000000 ||
        n[CN_ZTS_TSTAMP] * 1000000 > UINT64_MAX - n[CN_ZTS_TSTAMP_NS] % 1000000)
        return cn_fail(err, CN_ERR_FORMAT, "offset %zu: a time of %llu ms",
                       d->reader.in.off, (unsigned long long)n[CN_ZTS_TSTAMP]);
    if (n[CN_ZTS_TYPE] > UINT32_MAX || n[CN_ZTS_SERVICE] > UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "offset %zu: a word above 2^32",
                       d->reader.in.off);
    struct cn_trace_span *span = cn_trace_add_span(
        d->reader.trace, n[CN_ZTS_TSTAMP] * 1000000 + n[CN_ZTS_TSTAMP_NS] % 1000000);
    span->type = (uint32_t)n[CN_ZTS_TYPE];
    span->service = (uint32_t)n[CN_ZTS_SERVICE];
    span->id = n[CN_ZTS_SPAN];
    span->parent_id = n[CN_ZTS_PARENT];
    if (info->rest_off == 0)
        return true;
    struct cn_cbor after = d->reader.in;
    d->reader.in.off = info->rest_off;
    bool ok = cn_zorka_read_span_rest(&d->reader, err);
    d->reader.in = after;
    return ok;
}

/* The first map of a call has its start; any map may have its end, which counts from events
 * that are not known yet: until the call is left, duration_ns contains the ticks. */
static bool apply_info(struct decoding *d, const struct decoded_info *info, bool is_first,
                       struct cn_error *err)
{
    struct cn_trace *trace = d->reader.trace;
    struct cn_trace_node *node = &trace->nodes[trace->current];
    uint32_t level = trace->depth - 1;

    if (info->numbers[CN_ZTS_METHOD] > UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "offset %zu: method word %llu",
                       d->reader.in.off,
                       (unsigned long long)info->numbers[CN_ZTS_METHOD]);
    if (is_first) {
        if (info->numbers[CN_ZTS_TICK] != 0)
            d->tick_ns = info->numbers[CN_ZTS_TICK];
        if (level == 0)
            trace->clock_ns = after(0, info->start, d->tick_ns);
        else
            node->start_ns = after(d->cursor_ns[level - 1], info->start, d->tick_ns);
        d->cursor_ns[level] = node->start_ns;
        node->method = (uint32_t)info->numbers[CN_ZTS_METHOD];
    }
    if (info->stop != 0)
        node->duration_ns = (uint64_t)info->stop;
    if (info->has_calls)
        node->calls = info->numbers[CN_ZTS_CALLS];
    node->flags |= (uint32_t)info->numbers[CN_ZTS_FLAGS] &
                   (CN_TRACE_ERROR | CN_TRACE_LOSSY | CN_TRACE_SENT | CN_TRACE_FAILED);
    return !info->has_span || apply_span(d, info, err);
}

static bool enter(struct decoding *d, struct cn_error *err)
{
    struct cn_zorka_reader *reader = &d->reader;
    size_t data_off = reader->in.off;
    struct cn_trace *trace = reader->trace;
    struct cn_cbor_head head;
    struct decoded_info info;

    if (!cn_cbor_byte(&reader->in, CN_ZORKA_TAG | CN_ZTS_TRACE) ||
        !cn_cbor_next(&reader->in, &head) || head.kind != CN_CBOR_ARRAY)
        return cn_cbor_fail(&reader->in, "the record of a call", err);
    if (!cn_cbor_byte(&reader->in, CN_ZORKA_TAG | CN_ZTS_INFO))
        return cn_cbor_fail(&reader->in, "method call info", err);
    if (!read_info(&reader->in, &info, err) ||
        !cn_zorka_enter(reader, 0, 0, data_off, err))
        return false;
    trace->nodes[trace->current].calls = UINT64_MAX;
    if (info.has_id) {
        trace->id_high = info.id_high;
        trace->id_low = info.id_low;
    }
    d->left[trace->depth - 1] = head.info == CN_CBOR_OPEN ? UINT64_MAX
                                : head.value == 0         ? 0
                                                          : head.value - 1;
    return apply_info(d, &info, true, err);
}

static void leave(struct decoding *d)
{
    struct cn_trace *trace = d->reader.trace;
    struct cn_trace_node *node = &trace->nodes[trace->current];
    uint32_t level = trace->depth - 1;
    uint64_t end_ns = after(d->cursor_ns[level], (int64_t)node->duration_ns, d->tick_ns);
    uint64_t calls = node->calls;

    if (calls == UINT64_MAX)
        calls = trace->node_count - trace->current;
    cn_trace_leave(trace, end_ns, calls);
    if (level > 0)
        d->cursor_ns[level - 1] = end_ns;
}

static bool read_item(struct decoding *d, struct cn_error *err)
{
    struct cn_zorka_reader *reader = &d->reader;
    struct decoded_info info;
    uint64_t tag;

    if (cn_cbor_peek(&reader->in) == (CN_ZORKA_TAG | CN_ZTS_TRACE))
        return enter(d, err);
    if (!cn_cbor_take(&reader->in, CN_CBOR_TAG, &tag))
        return cn_cbor_fail(&reader->in, "a part of a record", err);
    switch (tag) {
    case CN_ZTS_INFO:
        return read_info(&reader->in, &info, err) && apply_info(d, &info, false, err);
    case CN_ZTS_ATTRIBUTES:
        return cn_zorka_read_attributes(reader, err);
    case CN_ZORKA_EXCEPTION_REF:
        return cn_zorka_read_exception_ref(reader, err);
    default:
        return cn_fail(err, CN_ERR_FORMAT, "offset %zu: unknown tag 0x%llx",
                       reader->in.off, (unsigned long long)tag);
    }
}

static bool decode_spec(struct decoding *d, struct cn_error *err)
{
    struct cn_trace *trace = d->reader.trace;

    d->tick_ns = 1;
    if (!enter(d, err))
        return false;
    while (trace->current != CN_NONE) {
        uint64_t *left = &d->left[trace->depth - 1];

        if (*left == 0 ||
            (*left == UINT64_MAX && cn_cbor_byte(&d->reader.in, CN_CBOR_BREAK))) {
            leave(d);
            continue;
        }
        if (*left == UINT64_MAX && cn_cbor_is_at_end(&d->reader.in))
            break;
        if (*left != UINT64_MAX)
            --*left;
        if (!read_item(d, err))
            return false;
    }
    if (trace->current == CN_NONE)
        return true;
    for (uint32_t i = trace->current; i != CN_NONE; i = trace->nodes[i].parent) {
        trace->nodes[i].duration_ns = 0;
        trace->nodes[i].calls = trace->node_count - i;
    }
    cn_trace_settle(trace);
    return true;
}

bool cn_zorka_record_is_java(struct cn_bytes bytes)
{
    struct cn_cbor in = {.bytes = bytes};
    struct cn_cbor_head head;

    if (!cn_cbor_byte(&in, CN_ZORKA_TAG | CN_ZTS_TRACE))
        return false;
    return cn_cbor_next(&in, &head) && cn_cbor_peek(&in) != (CN_ZORKA_TAG | CN_ZTS_INFO);
}

bool cn_zorka_record_decode(struct cn_bytes bytes, struct cn_trace *out, size_t *taken,
                            struct cn_error *err)
{
    bool is_java = cn_zorka_record_is_java(bytes);
    struct decoding d;
    bool ok;

    d.reader = (struct cn_zorka_reader){.in = {.bytes = bytes}, .trace = out};
    cn_trace_clear(out);
    ok = is_java ? cn_zorka_read_calls_ab(&d.reader, err) : decode_spec(&d, err);
    if (ok && is_java)
        cn_trace_settle(out);
    if (ok && taken)
        *taken = d.reader.in.off;
    else if (ok && !cn_cbor_is_at_end(&d.reader.in))
        ok = cn_cbor_fail(&d.reader.in, "the end of the record", err);
    cn_zorka_reader_done(&d.reader);
    return ok;
}

bool cn_zorka_record_part(struct cn_bytes bytes, struct cn_zorka_part *out,
                          struct cn_error *err)
{
    struct cn_cbor in = {.bytes = bytes};
    struct cn_cbor_head head;
    struct decoded_info info;
    bool is_first = cn_cbor_byte(&in, CN_ZORKA_TAG | CN_ZTS_TRACE);

    if (is_first && (!cn_cbor_next(&in, &head) || head.kind != CN_CBOR_ARRAY))
        return cn_cbor_fail(&in, "the record of a trace", err);
    if (is_first && cn_cbor_peek(&in) != (CN_ZORKA_TAG | CN_ZTS_INFO)) {
        *out = (struct cn_zorka_part){.part_len = (uint32_t)bytes.len,
                                      .record_len = bytes.len};
        return true;
    }
    if (!cn_cbor_byte(&in, CN_ZORKA_TAG | CN_ZTS_INFO))
        return cn_cbor_fail(&in, "the record of a trace", err);
    if (!read_info(&in, &info, err))
        return false;
    size_t payload_off = is_first ? 0 : in.off;
    if (!info.has_id || info.numbers[CN_ZTS_CH_LEN] > bytes.len - payload_off ||
        info.numbers[CN_ZTS_CH_NUM] > UINT32_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "a record without an id, or of %llu bytes where %zu are left",
                       (unsigned long long)info.numbers[CN_ZTS_CH_LEN],
                       bytes.len - payload_off);
    *out = (struct cn_zorka_part){
        .id_high = info.id_high,
        .id_low = info.id_low,
        .number = (uint32_t)info.numbers[CN_ZTS_CH_NUM],
        .part_off = info.numbers[CN_ZTS_CH_OFFS],
        .part_len = (uint32_t)info.numbers[CN_ZTS_CH_LEN],
        .payload_off = payload_off,
        .record_len = payload_off + (size_t)info.numbers[CN_ZTS_CH_LEN],
    };
    return true;
}
