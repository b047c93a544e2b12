/* Calls as agents of 2018 and 2019 sent them, and as the original collector stored them:
 *     c8 9f PROLOG | INFO, { BEGIN | FLAGS | ATTR | EXC | REF | c8 9f ... ff } EPILOG | INFO ff
 * Times are ticks of 2^16 ns. Agents write prologs and epilogs of eight bytes; the collector
 * writes them as maps of one entry. */

#include "formats/zorka/reader.h"

static void set_start(struct cn_zorka_reader *reader, uint64_t ticks)
{
    struct cn_trace *trace = reader->trace;

    if (trace->current == 0)
        trace->clock_ns = ticks << CN_ZORKA_TICK_BITS;
    trace->nodes[trace->current].start_ns =
        cn_zorka_since_start(reader, ticks << CN_ZORKA_TICK_BITS);
}

/* Until the call is left, duration_ns is its end: a Java record has calls and end in separate
 * maps, in any order. */
static void set_stop(struct cn_zorka_reader *reader, uint64_t ticks)
{
    reader->trace->nodes[reader->trace->current].duration_ns =
        cn_zorka_since_start(reader, ticks << CN_ZORKA_TICK_BITS);
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
        return true; /* derived from the calls */
    }
}

static bool read_info(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint64_t count, key;
    int64_t value;

    if (!cn_cbor_take(&reader->in, CN_CBOR_MAP, &count))
        return cn_cbor_fail(&reader->in, "a map of call info", err);
    for (uint64_t i = 0; i < count; i++) {
        if (!cn_cbor_uint(&reader->in, &key) || !cn_cbor_int(&reader->in, &value))
            return cn_cbor_fail(&reader->in, "a key and a value of call info", err);
        if (!apply_info(reader, key, value, err))
            return false;
    }
    return true;
}

static bool read_start(struct cn_zorka_reader *reader, struct cn_error *err)
{
    size_t data_off = reader->in.off - 1;

    return cn_cbor_byte(&reader->in, CN_ZORKA_OPEN_ARRAY)
               ? cn_zorka_enter(reader, 0, reader->last_ns, data_off, err)
               : cn_cbor_fail(&reader->in, "an array without a length", err);
}

/* Tags above 23 take two bytes. */
static bool read_long_tag(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint64_t tag;

    if (!cn_cbor_take(&reader->in, CN_CBOR_TAG, &tag))
        return cn_cbor_fail(&reader->in, "a part of a trace", err);
    switch (tag) {
    case CN_ZORKA_TRACE_BEGIN:
        return cn_zorka_read_span(reader, false, err);
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
    const struct cn_trace_node *node = &reader->trace->nodes[reader->trace->current];
    int byte = cn_cbor_peek(&reader->in);
    uint64_t flags;

    reader->in.off++;
    switch (byte) {
    case CN_ZORKA_TAG | CN_ZORKA_TRACE_START:
        return read_start(reader, err);
    case CN_ZORKA_TAG | CN_ZORKA_TRACE_ATTR:
        return cn_zorka_read_attributes(reader, err);
    case CN_ZORKA_TAG | CN_ZORKA_PROLOG_BE:
        return read_prolog(reader, true, err);
    case CN_ZORKA_TAG | CN_ZORKA_PROLOG_LE:
        return read_prolog(reader, false, err);
    case CN_ZORKA_TAG | CN_ZORKA_EPILOG_BE:
        return read_epilog(reader, true, err);
    case CN_ZORKA_TAG | CN_ZORKA_EPILOG_LE:
        return read_epilog(reader, false, err);
    case CN_ZORKA_TAG | CN_ZORKA_TRACE_INFO:
        return read_info(reader, err);
    case CN_ZORKA_TAG | CN_ZORKA_TRACE_FLAGS:
        return cn_cbor_uint(&reader->in, &flags)
                   ? apply_info(reader, CN_ZTS_FLAGS, (int64_t)flags, err)
                   : cn_cbor_fail(&reader->in, "flags", err);
    case CN_CBOR_BREAK:
        cn_trace_leave(reader->trace,
                       node->duration_ns ? node->duration_ns : reader->last_ns,
                       node->calls);
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
