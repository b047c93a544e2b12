/* Calls as agents since 2020 send them:
 *     c3 9f START, MID, { c5 BEGIN | c6 ATTR | c7 EXC | c8 REF | c3 9f ... ff } c4 END ff
 * Times are nanoseconds of the agent's clock. */

#include "formats/zorka/reader.h"

static bool read_start(struct cn_zorka_reader *reader, struct cn_error *err)
{
    struct cn_trace *trace = reader->trace;
    size_t data_off = reader->in.off - 1;
    uint64_t clock_ns, method_id;
    uint32_t method;

    if (!cn_cbor_byte(&reader->in, CN_ZORKA_OPEN_ARRAY))
        return cn_cbor_fail(&reader->in, "an array without a length", err);
    if (!cn_cbor_uint(&reader->in, &clock_ns))
        return cn_cbor_fail(&reader->in, "the start of a call", err);
    if (!cn_cbor_uint(&reader->in, &method_id))
        return cn_cbor_fail(&reader->in, "the id of a method", err);
    if (!cn_zorka_find_method(reader, method_id, &method, err))
        return false;
    if (trace->node_count == 0)
        trace->clock_ns = clock_ns;
    return cn_zorka_enter(reader, method, cn_zorka_since_start(reader, clock_ns),
                          data_off, err);
}

/* Every call repeats the flags of its span; only those of the call that begins it count. */
static void apply_flags(struct cn_trace *trace, uint64_t flags)
{
    uint32_t marks = 0;

    if (trace->nodes[trace->current].span == CN_NONE)
        return;
    if (flags & CN_ZORKA_C_FLAG_ERROR)
        marks |= CN_TRACE_FAILED;
    if (flags & CN_ZORKA_C_FLAG_OVERFLOW)
        marks |= CN_TRACE_LOSSY;
    if (flags & CN_ZORKA_C_FLAG_SENT && trace->current != 0)
        marks |= CN_TRACE_SENT;
    cn_trace_mark(trace, marks);
}

static bool read_end(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint64_t count, clock_ns, calls, flags = 0;

    if (!cn_zorka_read_array(reader, 2, 3, &count, err))
        return false;
    if (!cn_cbor_uint(&reader->in, &clock_ns) || !cn_cbor_uint(&reader->in, &calls) ||
        (count == 3 && !cn_cbor_uint(&reader->in, &flags)))
        return cn_cbor_fail(&reader->in, "a number at the end of a call", err);
    if (!cn_cbor_byte(&reader->in, CN_CBOR_BREAK))
        return cn_cbor_fail(&reader->in, "the end of a call", err);
    apply_flags(reader->trace, flags);
    cn_trace_leave(reader->trace, cn_zorka_since_start(reader, clock_ns), calls);
    return true;
}

/* The innermost open call that begins a span of this type, else the innermost call. Calls of
 * earlier parts are stored already. */
static uint32_t find_span(const struct cn_trace *trace, uint32_t type)
{
    for (uint32_t node = trace->current;
         node != CN_NONE && !(trace->nodes[node].flags & CN_TRACE_CARRIED);
         node = trace->nodes[node].parent)
        if (trace->nodes[node].span != CN_NONE &&
            trace->spans[trace->nodes[node].span].type == type)
            return node;
    return trace->current;
}

static bool read_attribute(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint32_t node = reader->trace->current, type, key;
    struct cn_trace_value value;
    uint64_t count;

    if (!cn_zorka_read_array(reader, 2, 3, &count, err))
        return false;
    if (count == 3) {
        if (!cn_zorka_read_string(reader, CN_WORD_KEYWORD, &type, err))
            return false;
        node = find_span(reader->trace, type);
    }
    if (!cn_zorka_read_string(reader, CN_WORD_KEYWORD, &key, err) ||
        !cn_zorka_read_value(reader, &value, err))
        return false;
    cn_trace_add_attribute_to(reader->trace, node, key, value);
    return true;
}

static bool read_item(struct cn_zorka_reader *reader, struct cn_error *err)
{
    int byte = cn_cbor_peek(&reader->in);

    reader->in.off++;
    switch (byte) {
    case CN_ZORKA_TAG | CN_ZORKA_C_TRACE_START:
        return read_start(reader, err);
    case CN_ZORKA_TAG | CN_ZORKA_C_TRACE_END:
        return read_end(reader, err);
    case CN_ZORKA_TAG | CN_ZORKA_C_TRACE_BEGIN:
        return cn_zorka_read_span(reader, true, err);
    case CN_ZORKA_TAG | CN_ZORKA_C_TRACE_ATTR:
        return read_attribute(reader, err);
    case CN_ZORKA_TAG | CN_ZORKA_C_EXCEPTION:
        return cn_zorka_read_exception(reader, err);
    case CN_ZORKA_TAG | CN_ZORKA_C_EXCEPTION_REF:
        return cn_zorka_read_exception_ref(reader, err);
    case CN_CBOR_BREAK:
        cn_trace_leave(reader->trace, reader->last_ns, 1);
        return true;
    default:
        reader->in.off--;
        return cn_cbor_fail(&reader->in, "a part of a trace", err);
    }
}

bool cn_zorka_read_calls_c(struct cn_zorka_reader *reader, struct cn_error *err)
{
    return cn_zorka_read_calls(reader, CN_ZORKA_C_TRACE_START, read_start, read_item,
                               err);
}
