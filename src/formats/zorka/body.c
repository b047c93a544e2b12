#include "formats/zorka/body.h"

#include <string.h>

void cn_zorka_body_begin(struct cn_zorka_body *body, struct cn_zorka_session *session,
                         struct cn_bytes bytes)
{
    *body =
        (struct cn_zorka_body){.reader = {.in = {.bytes = bytes}, .session = session}};
}

void cn_zorka_body_done(struct cn_zorka_body *body)
{
    cn_zorka_reader_done(&body->reader);
}

bool cn_zorka_body_probe(struct cn_bytes bytes)
{
    if (bytes.len < 2)
        return false;
    uint8_t first = bytes.ptr[0];
    uint8_t second = bytes.ptr[1];
    switch (first) {
    case CN_ZORKA_TAG | CN_ZORKA_STRING_DEF:
        return second == (CN_ZORKA_ARRAY | 2) || second == (CN_ZORKA_ARRAY | 3);
    case CN_ZORKA_TAG | CN_ZORKA_METHOD_DEF:
        return second == (CN_ZORKA_ARRAY | 4);
    case CN_ZORKA_TAG | CN_ZORKA_C_TRACE_START:
        return second == CN_ZORKA_OPEN_ARRAY || second == (CN_ZORKA_ARRAY | 2);
    case CN_ZORKA_TAG | CN_ZORKA_TRACE_START:
        return second == CN_ZORKA_OPEN_ARRAY;
    default:
        return false;
    }
}

static bool read_id(struct cn_zorka_reader *reader, uint32_t *out, struct cn_error *err)
{
    uint64_t id;

    (void)cn_cbor_byte(&reader->in, CN_ZORKA_TAG | CN_ZORKA_STRING_REF);
    if (!cn_cbor_uint(&reader->in, &id) || id > CN_ZORKA_ID_MAX)
        return cn_cbor_fail(&reader->in, "the id of a symbol", err);
    *out = (uint32_t)id;
    return true;
}

/* C: [id, text]; A, B: [id, text, kind], whose kind follows from its use. */
static bool read_string_def(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint64_t count, kind;
    struct cn_bytes text;
    uint32_t id;

    if (!cn_zorka_read_array(reader, 2, 3, &count, err) || !read_id(reader, &id, err))
        return false;
    if (!cn_cbor_text(&reader->in, &text))
        return cn_cbor_fail(&reader->in, "the text of a symbol", err);
    if (count == 3 && !cn_cbor_uint(&reader->in, &kind))
        return cn_cbor_fail(&reader->in, "the kind of a symbol", err);
    if (text.len > CN_WORD_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "offset %zu: a symbol of %zu bytes, at most %d are allowed",
                       reader->in.off, text.len, CN_WORD_LEN_MAX);
    cn_zorka_session_add_string(reader->session, id, text);
    return true;
}

static bool read_method_def(struct cn_zorka_reader *reader, struct cn_error *err)
{
    uint32_t id, parts[3];
    uint64_t count;

    if (!cn_zorka_read_array(reader, 4, 4, &count, err) || !read_id(reader, &id, err) ||
        !read_id(reader, &parts[0], err) || !read_id(reader, &parts[1], err) ||
        !read_id(reader, &parts[2], err))
        return false;
    return cn_zorka_session_add_method(reader->session, id, parts) ||
           cn_fail(err, CN_ERR_NOT_FOUND,
                   "offset %zu: method %u uses a string that was never sent",
                   reader->in.off, id);
}

/* Enter the calls that earlier parts of the trace left open. */
static bool enter_again(struct cn_zorka_reader *reader, const struct cn_zorka_open *open,
                        struct cn_error *err)
{
    struct cn_trace *trace = reader->trace;

    trace->clock_ns = open->clock_ns;
    trace->part = open->part;
    trace->resume_ns = reader->last_ns = open->resume_ns;
    for (uint32_t i = 0; i < open->depth; i++) {
        if (!cn_trace_enter(trace, 0, open->starts_ns[i], err))
            return false;
        cn_trace_mark(trace, CN_TRACE_CARRIED);
    }
    return true;
}

static enum cn_step read_trace(struct cn_zorka_body *body, struct cn_words *words,
                               struct cn_trace *out, struct cn_error *err)
{
    struct cn_zorka_reader *reader = &body->reader;
    int first = cn_cbor_peek(&reader->in);
    bool is_wire_c = first >= (CN_ZORKA_TAG | CN_ZORKA_C_TRACE_START) &&
                     first < (CN_ZORKA_TAG | CN_ZORKA_TRACE_START);

    cn_trace_clear(out);
    out->words = words;
    reader->trace = out;
    reader->words = words;
    reader->last_ns = 0;
    cn_map_done(&reader->exceptions);
    cn_zorka_session_target(reader->session, words);
    if (body->resume && !enter_again(reader, body->resume, err))
        return CN_FAIL;
    body->resume = NULL;
    return (is_wire_c ? cn_zorka_read_calls_c(reader, err)
                      : cn_zorka_read_calls_ab(reader, err))
               ? CN_ITEM
               : CN_FAIL;
}

static bool is_trace(const struct cn_zorka_body *body)
{
    const struct cn_cbor *in = &body->reader.in;
    struct cn_bytes two;

    if (body->resume)
        return true;
    return cn_bytes_slice(in->bytes, in->off, 2, &two) &&
           two.ptr[1] == CN_ZORKA_OPEN_ARRAY &&
           (two.ptr[0] == (CN_ZORKA_TAG | CN_ZORKA_TRACE_START) ||
            two.ptr[0] == (CN_ZORKA_TAG | CN_ZORKA_C_TRACE_START));
}

enum cn_step cn_zorka_body_next(struct cn_zorka_body *body, struct cn_words *words,
                                struct cn_trace *out, struct cn_error *err)
{
    struct cn_zorka_reader *reader = &body->reader;

    while (!cn_cbor_is_at_end(&reader->in)) {
        bool ok;

        if (is_trace(body))
            return read_trace(body, words, out, err);
        if (cn_cbor_byte(&reader->in, CN_ZORKA_TAG | CN_ZORKA_STRING_DEF))
            ok = read_string_def(reader, err);
        else if (cn_cbor_byte(&reader->in, CN_ZORKA_TAG | CN_ZORKA_METHOD_DEF))
            ok = read_method_def(reader, err);
        else if (cn_cbor_byte(&reader->in, CN_ZORKA_TAG | CN_ZORKA_AGENT_ATTR))
            ok = cn_cbor_skip(&reader->in, err);
        else
            ok = cn_cbor_fail(&reader->in, "a symbol or a trace", err);
        if (!ok)
            return CN_FAIL;
        body->symbol_count++;
    }
    return CN_END;
}

/* Skip the head of an item and, of a string, its bytes. `depth` counts items without a length.
 * Elements of other arrays and maps are the next items. */
static inline bool skip_head(struct cn_bytes bytes, size_t *off, int64_t *depth)
{
    static const uint8_t number_len[32] = {[24] = 1, [25] = 2, [26] = 4, [27] = 8};
    const uint8_t *at = bytes.ptr + *off;
    uint8_t head = at[0], major = head >> 5, info = head & 31;
    size_t len = 1U + number_len[info];

    if (len > bytes.len - *off)
        return false;
    *off += len;
    if (info == CN_CBOR_OPEN) {
        *depth += head == CN_CBOR_BREAK ? -1 : 1;
    } else if (major == CN_CBOR_BYTES || major == CN_CBOR_TEXT) {
        uint64_t value = info;

        if (len > 1)
            value = 0;
        for (size_t i = 1; i < len; i++)
            value = value << 8 | at[i];
        if (value > bytes.len - *off)
            return false;
        *off += (size_t)value;
    }
    return true;
}

static bool is_symbol(uint8_t head)
{
    return head == (CN_ZORKA_TAG | CN_ZORKA_STRING_DEF) ||
           head == (CN_ZORKA_TAG | CN_ZORKA_METHOD_DEF);
}

/* The first symbol from `off` on that is not inside a trace, or the end. The open calls that a
 * body continues end with breaks. */
static size_t find_symbol(struct cn_bytes bytes, size_t off)
{
    int64_t depth = 0;

    while (off < bytes.len && (depth > 0 || !is_symbol(bytes.ptr[off])))
        if (!skip_head(bytes, &off, &depth))
            return bytes.len;
    return off;
}

/* True if a byte is followed by the head of an array, in an item or not. */
static bool has_array_after(struct cn_bytes bytes, uint8_t byte)
{
    const uint8_t *end = bytes.ptr + bytes.len, *at = bytes.ptr;

    while (at < end && (at = memchr(at, byte, (size_t)(end - at))) && ++at < end)
        if (at[0] >> 5 == CN_CBOR_ARRAY)
            return true;
    return false;
}

/* Most bodies have no bytes that look like a symbol. */
bool cn_zorka_body_has_symbols(struct cn_bytes bytes)
{
    return (has_array_after(bytes, CN_ZORKA_TAG | CN_ZORKA_STRING_DEF) ||
            has_array_after(bytes, CN_ZORKA_TAG | CN_ZORKA_METHOD_DEF)) &&
           find_symbol(bytes, 0) < bytes.len;
}

void cn_zorka_body_read_symbols(struct cn_zorka_body *body)
{
    struct cn_cbor *in = &body->reader.in;
    struct cn_error ignored;
    bool ok = true;

    while (ok && (in->off = find_symbol(in->bytes, in->off)) < in->bytes.len) {
        bool is_string = cn_cbor_byte(in, CN_ZORKA_TAG | CN_ZORKA_STRING_DEF);

        in->off += !is_string;
        ok = is_string ? read_string_def(&body->reader, &ignored)
                       : read_method_def(&body->reader, &ignored);
        body->symbol_count++;
    }
}

void cn_zorka_open_set(struct cn_zorka_open *open, const struct cn_trace *trace)
{
    const struct cn_trace_node *current = &trace->nodes[trace->current];
    uint32_t node = trace->current;

    open->clock_ns = trace->clock_ns;
    open->resume_ns =
        current->flags & CN_TRACE_CARRIED ? trace->resume_ns : current->start_ns;
    for (uint32_t i = trace->current + 1; i < trace->node_count; i++)
        if (trace->nodes[i].parent == trace->current)
            open->resume_ns = trace->nodes[i].start_ns + trace->nodes[i].duration_ns;
    open->part = trace->part + 1;
    open->depth = trace->depth;
    for (uint32_t i = trace->depth; i > 0; i--) {
        open->starts_ns[i - 1] = trace->nodes[node].start_ns;
        node = trace->nodes[node].parent;
    }
}

/* The agent's clock at the start of a body that begins with a call. */
static bool first_start_ns(struct cn_bytes body, uint64_t *clock_ns)
{
    struct cn_cbor in = {.bytes = body};
    struct cn_bytes prolog;

    if (cn_cbor_byte(&in, CN_ZORKA_TAG | CN_ZORKA_C_TRACE_START))
        return cn_cbor_byte(&in, CN_ZORKA_OPEN_ARRAY) && cn_cbor_uint(&in, clock_ns);
    if (!cn_cbor_byte(&in, CN_ZORKA_TAG | CN_ZORKA_TRACE_START) ||
        !cn_cbor_byte(&in, CN_ZORKA_OPEN_ARRAY))
        return false;
    bool is_big = cn_cbor_peek(&in) == (CN_ZORKA_TAG | CN_ZORKA_PROLOG_BE);
    if ((!is_big && cn_cbor_peek(&in) != (CN_ZORKA_TAG | CN_ZORKA_PROLOG_LE)))
        return false;
    in.off++;
    if (!cn_cbor_byte_string(&in, &prolog) || prolog.len < 8)
        return false;
    *clock_ns = cn_bits(is_big ? cn_u64_be_get(prolog.ptr) : cn_u64_get(prolog.ptr), 0,
                        CN_ZORKA_PROLOG_TIME)
                << CN_ZORKA_TICK_BITS;
    return true;
}

bool cn_zorka_open_continues(const struct cn_zorka_open *open, struct cn_bytes body)
{
    uint64_t clock_ns;

    if (first_start_ns(body, &clock_ns))
        return clock_ns != open->clock_ns;
    return !cn_zorka_body_probe(body);
}
