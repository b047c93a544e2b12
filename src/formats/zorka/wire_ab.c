/* Calls as agents of 2018 and 2019 sent them, and as the original collector stored them:
 *     c8 9f PROLOG | INFO, { BEGIN | FLAGS | ATTR | EXC | REF | c8 9f ... ff } EPILOG | INFO ff
 * Times are ticks of 2^16 ns. Agents write prologs and epilogs of eight bytes; the collector
 * makes them maps of one entry. */

#include "formats/zorka/reader.h"

enum { TAG = CN_CBOR_TAG << 5, OPEN_ARRAY = CN_CBOR_ARRAY << 5 | CN_CBOR_OPEN };

static uint64_t since_start(struct cn_zorka_reader *reader, uint64_t ticks)
{
    uint64_t clock_ns = ticks << CN_ZORKA_TICK_BITS;
    uint64_t time_ns =
        clock_ns > reader->trace->clock_ns ? clock_ns - reader->trace->clock_ns : 0;

    if (time_ns > reader->last_ns)
        reader->last_ns = time_ns;
    return time_ns;
}

static void set_start(struct cn_zorka_reader *reader, uint64_t ticks)
{
    struct cn_trace *trace = reader->trace;

    if (trace->current == 0)
        trace->clock_ns = ticks << CN_ZORKA_TICK_BITS;
    trace->nodes[trace->current].start_ns = since_start(reader, ticks);
}

/* Until the call is left, its duration holds its end: a Java record has calls and end in maps
 * of their own, in any order. */
static void set_stop(struct cn_zorka_reader *reader, uint64_t ticks)
{
    reader->trace->nodes[reader->trace->current].duration_ns = since_start(reader, ticks);
}

static bool read_u64(struct cn_zorka_reader *reader, bool is_big, uint64_t *first,
                     uint64_t *second, bool *has_second, struct cn_error *err)
{
    struct cn_bytes bytes;

    if (!cn_cbor_byte_string(&reader->in, &bytes) || (bytes.len != 8 && bytes.len != 16))
        return cn_cbor_fail(&reader->in, "8 or 16 bytes of time and number", err);
    *first = is_big ? cn_u64_be_get(bytes.ptr) : cn_u64_get(bytes.ptr);
    *has_second = bytes.len == 16;
    if (*has_second)
        *second = is_big ? cn_u64_be_get(bytes.ptr + 8) : cn_u64_get(bytes.ptr + 8);
    return true;
}

static bool read_prolog(struct cn_zorka_reader *reader, bool is_big, struct cn_error *err)
{
    uint64_t word, second;
    bool has_second;

    if (!read_u64(reader, is_big, &word, &second, &has_second, err) ||
        !cn_zorka_find_method(reader, word >> CN_ZORKA_PROLOG_TIME,
                              &reader->trace->nodes[reader->trace->current].method, err))
        return false;
    set_start(reader, cn_bits(word, 0, CN_ZORKA_PROLOG_TIME));
    return true;
}

static bool read_epilog(struct cn_zorka_reader *reader, bool is_big, struct cn_error *err)
{
    uint64_t word, calls = 0;
    bool has_calls;

    if (!read_u64(reader, is_big, &word, &calls, &has_calls, err))
        return false;
    reader->trace->nodes[reader->trace->current].calls =
        has_calls ? calls : word >> CN_ZORKA_PROLOG_TIME;
    set_stop(reader, cn_bits(word, 0, CN_ZORKA_PROLOG_TIME));
    return true;
}

/* A: [clock, type]; B: [clock, span, parent]. A type is tagged as a string. */
static bool read_begin(struct cn_zorka_reader *reader, struct cn_error *err)
{
    struct cn_trace_span *span;
    uint64_t count, clock_ms;
    int64_t ids[2] = {0};
    uint32_t type = 0;

    if (!cn_zorka_read_array(reader, 1, 3, &count, err))
        return false;
    if (!cn_cbor_uint(&reader->in, &clock_ms) || clock_ms > UINT64_MAX / 1000000)
        return cn_cbor_fail(&reader->in, "the time of a trace", err);
    if (count == 2 && cn_cbor_peek(&reader->in) == (TAG | CN_ZORKA_STRING_REF)) {
        if (!cn_zorka_read_string(reader, CN_WORD_KEYWORD, &type, err))
            return false;
    } else {
        for (uint64_t i = 0; i + 1 < count; i++)
            if (!cn_cbor_int(&reader->in, &ids[i]))
                return cn_cbor_fail(&reader->in, "the id of a span", err);
    }
    span = cn_trace_add_span(reader->trace, clock_ms * 1000000);
    span->type = type;
    span->id = (uint64_t)ids[0];
    span->parent_id = (uint64_t)ids[1];
    return true;
}

static bool apply_info(struct cn_zorka_reader *reader, uint64_t key, int64_t value,
                       struct cn_error *err)
{
    struct cn_trace_node *node = &reader->trace->nodes[reader->trace->current];
    uint64_t number = (uint64_t)value;

    switch (key) {
    case CN_ZTS_TSTAMP:
        if (number > UINT64_MAX / 1000000)
            return cn_cbor_fail(&reader->in, "the time of a trace", err);
        (void)cn_trace_add_span(reader->trace, number * 1000000);
        return true;
    case CN_ZTS_TYPE:
        cn_trace_add_span(reader->trace, 0)->type = (uint32_t)number;
        return true;
    case CN_ZTS_SPAN:
        cn_trace_add_span(reader->trace, 0)->id = number;
        return true;
    case CN_ZTS_PARENT:
        cn_trace_add_span(reader->trace, 0)->parent_id = number;
        return true;
    case CN_ZTS_FLAGS:
        if (number & CN_ZORKA_FLAG_ERROR)
            node->flags |= CN_TRACE_ERROR;
        return true;
    case CN_ZTS_CALLS:
        node->calls = number;
        return true;
    case CN_ZTS_TSTART:
        set_start(reader, number);
        return true;
    case CN_ZTS_TSTOP:
        set_stop(reader, number);
        return true;
    case CN_ZTS_METHOD:
        return cn_zorka_find_method(reader, number, &node->method, err);
    default:
        return true; /* defined, and told by other means */
    }
}

static bool read_info(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint64_t count, key;
    int64_t value;

    if (!cn_cbor_take(&reader->in, CN_CBOR_MAP, &count))
        return cn_cbor_fail(&reader->in, "a map of facts about a call", err);
    for (uint64_t i = 0; i < count; i++) {
        if (!cn_cbor_uint(&reader->in, &key) || !cn_cbor_int(&reader->in, &value))
            return cn_cbor_fail(&reader->in, "a fact about a call", err);
        if (!apply_info(reader, key, value, err))
            return false;
    }
    return true;
}

static bool read_flags(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint64_t flags;

    if (!cn_cbor_uint(&reader->in, &flags))
        return cn_cbor_fail(&reader->in, "flags", err);
    return apply_info(reader, CN_ZTS_FLAGS, (int64_t)flags, err);
}

static bool read_start(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint32_t data_off = (uint32_t)reader->in.off - 1;
    struct cn_trace *trace = reader->trace;

    if (!cn_cbor_byte(&reader->in, OPEN_ARRAY))
        return cn_cbor_fail(&reader->in, "an array without a length", err);
    if (!cn_trace_enter(trace, 0, reader->last_ns, err))
        return cn_fail_in(err, "offset %u", data_off);
    trace->nodes[trace->current].data_off = data_off;
    return true;
}

static void leave(struct cn_zorka_reader *reader)
{
    struct cn_trace_node *node = &reader->trace->nodes[reader->trace->current];
    uint64_t stop_ns = node->duration_ns;

    cn_trace_leave(reader->trace, stop_ns ? stop_ns : reader->last_ns, node->calls);
}

/* Tags above 23 take two bytes. */
static bool read_long_tag(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint64_t tag;

    if (!cn_cbor_take(&reader->in, CN_CBOR_TAG, &tag))
        return cn_cbor_fail(&reader->in, "a part of a trace", err);
    switch (tag) {
    case CN_ZORKA_TRACE_BEGIN:
        return read_begin(reader, err);
    case CN_ZORKA_EXCEPTION:
        return cn_zorka_read_exception(reader, err);
    case CN_ZORKA_EXCEPTION_REF:
        return cn_zorka_read_exception_ref(reader, err);
    default:
        return cn_fail(err, CN_ERR_FORMAT, "offset %zu: unknown tag 0x%llx",
                       reader->in.off, (unsigned long long)tag);
    }
}

static bool read_item(struct cn_zorka_reader *reader, struct cn_error *err)
{
    int byte = cn_cbor_peek(&reader->in);

    reader->in.off++;
    switch (byte) {
    case TAG | CN_ZORKA_TRACE_START:
        return read_start(reader, err);
    case TAG | CN_ZORKA_TRACE_ATTR:
        return cn_zorka_read_attributes(reader, err);
    case TAG | CN_ZORKA_PROLOG_BE:
        return read_prolog(reader, true, err);
    case TAG | CN_ZORKA_PROLOG_LE:
        return read_prolog(reader, false, err);
    case TAG | CN_ZORKA_EPILOG_BE:
        return read_epilog(reader, true, err);
    case TAG | CN_ZORKA_EPILOG_LE:
        return read_epilog(reader, false, err);
    case TAG | CN_ZORKA_TRACE_INFO:
        return read_info(reader, err);
    case TAG | CN_ZORKA_TRACE_FLAGS:
        return read_flags(reader, err);
    case CN_CBOR_BREAK:
        leave(reader);
        return true;
    default:
        reader->in.off--;
        return read_long_tag(reader, err);
    }
}

bool cn_zorka_read_calls_ab(struct cn_zorka_reader *reader, struct cn_error *err)
{
    return cn_zorka_read_calls(reader, CN_ZORKA_TRACE_START, read_start, read_item, err);
}
