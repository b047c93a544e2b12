/* Strings, attribute values and spans, as all generations write them. */

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/zorka/reader.h"

void cn_zorka_reader_done(struct cn_zorka_reader *reader)
{
    cn_map_done(&reader->exceptions);
    free(reader->scratch);
    *reader = (struct cn_zorka_reader){0};
}

bool cn_zorka_unknown(const struct cn_zorka_reader *reader, const char *what, uint64_t id,
                      struct cn_error *err)
{
    return cn_fail(err, CN_ERR_NOT_FOUND, "offset %zu: %s %llu was never sent",
                   reader->in.off, what, (unsigned long long)id);
}

bool cn_zorka_find_method(struct cn_zorka_reader *reader, uint64_t id, uint32_t *word,
                          struct cn_error *err)
{
    *word = (uint32_t)id;
    return (reader->session ? cn_zorka_session_method(reader->session, id, word)
                            : id <= UINT32_MAX) ||
           cn_zorka_unknown(reader, "method", id, err);
}

static bool add_text(struct cn_zorka_reader *reader, struct cn_bytes text,
                     enum cn_word_kind kind, uint32_t *word, struct cn_error *err)
{
    if (!reader->words)
        return cn_fail(err, CN_ERR_FORMAT,
                       "offset %zu: expected a reference to a string, found a string",
                       reader->in.off);
    if (text.len > CN_WORD_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "offset %zu: a string of %zu bytes, at most %d are allowed",
                       reader->in.off, text.len, CN_WORD_LEN_MAX);
    *word = cn_words_add(reader->words, kind, text);
    return true;
}

bool cn_zorka_read_string(struct cn_zorka_reader *reader, enum cn_word_kind kind,
                          uint32_t *word, struct cn_error *err)
{
    struct cn_bytes text;
    uint64_t id;

    (void)cn_cbor_byte(&reader->in, CN_ZORKA_TAG | CN_ZORKA_STRING_REF);
    if (cn_cbor_uint(&reader->in, &id)) {
        *word = (uint32_t)id;
        return (reader->session ? cn_zorka_session_string(reader->session, id, kind, word)
                                : id <= UINT32_MAX) ||
               cn_zorka_unknown(reader, "string", id, err);
    }
    if (cn_cbor_text(&reader->in, &text))
        return add_text(reader, text, kind, word, err);
    if (cn_cbor_byte(&reader->in, CN_ZORKA_NULL)) {
        *word = 0;
        return true;
    }
    return cn_cbor_fail(&reader->in, "a string", err);
}

bool cn_zorka_read_array(struct cn_zorka_reader *reader, uint64_t min, uint64_t max,
                         uint64_t *count, struct cn_error *err)
{
    struct cn_cbor at = reader->in;
    uint64_t n;

    if (!cn_cbor_take(&at, CN_CBOR_ARRAY, &n))
        return cn_cbor_fail(&reader->in, "an array", err);
    if (n < min || n > max)
        return cn_fail(err, CN_ERR_FORMAT,
                       "offset %zu: an array of %llu elements, %llu to %llu are allowed",
                       reader->in.off, (unsigned long long)n, (unsigned long long)min,
                       (unsigned long long)max);
    reader->in = at;
    *count = n;
    return true;
}

/* A list or map being read: its elements are on top of the scratch values. */
struct values_level {
    size_t base;
    uint64_t left; /* elements to come; UINT64_MAX: until a break */
    enum cn_trace_value_kind kind;
};

static void push(struct cn_zorka_reader *reader, struct cn_trace_value value)
{
    CN_PUSH(reader->scratch, reader->scratch_count, reader->scratch_capacity, value);
}

static bool open_level(struct cn_zorka_reader *reader, const struct cn_cbor_head *head,
                       struct values_level levels[], unsigned *depth,
                       struct cn_error *err)
{
    bool is_map = head->kind == CN_CBOR_MAP;
    uint64_t per_element = is_map ? 2 : 1;

    if (*depth == CN_TRACE_VALUE_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "offset %zu: values nest more than %d deep",
                       reader->in.off, CN_TRACE_VALUE_DEPTH_MAX);
    /* Every element takes at least a byte. */
    if (head->info != CN_CBOR_OPEN &&
        head->value > (reader->in.bytes.len - reader->in.off) / per_element)
        return cn_fail(err, CN_ERR_FORMAT,
                       "offset %zu: %llu elements in the last %zu bytes", reader->in.off,
                       (unsigned long long)head->value,
                       reader->in.bytes.len - reader->in.off);
    levels[(*depth)++] = (struct values_level){
        .base = reader->scratch_count,
        .left = head->info == CN_CBOR_OPEN ? UINT64_MAX : head->value * per_element,
        .kind = is_map ? CN_VALUE_MAP : CN_VALUE_LIST,
    };
    return true;
}

static void close_level(struct cn_zorka_reader *reader, const struct values_level *level)
{
    uint32_t count = (uint32_t)(reader->scratch_count - level->base);
    struct cn_trace_value value = {.kind = level->kind};

    if (level->kind == CN_VALUE_MAP)
        count -= count % 2;
    value.list.count = level->kind == CN_VALUE_MAP ? count / 2 : count;
    value.list.first = cn_trace_add_values(
        reader->trace, count > 0 ? reader->scratch + level->base : NULL, count);
    reader->scratch_count = level->base;
    push(reader, value);
}

/* A value without elements, whose `head` was taken at `at`. */
static bool read_plain(struct cn_zorka_reader *reader, const struct cn_cbor_head *head,
                       struct cn_cbor at, struct cn_error *err)
{
    struct cn_trace_value value = {.kind = CN_VALUE_NULL};
    struct cn_bytes text;

    switch (head->kind) {
    case CN_CBOR_UINT:
        value = (struct cn_trace_value){.kind = CN_VALUE_INT,
                                        .integer = (int64_t)head->value};
        break;
    case CN_CBOR_NEGATIVE:
        value = (struct cn_trace_value){.kind = CN_VALUE_INT,
                                        .integer = (int64_t)~head->value};
        break;
    case CN_CBOR_BYTES:
    case CN_CBOR_TEXT:
        reader->in = at;
        value.kind = CN_VALUE_WORD;
        if (!cn_cbor_text(&reader->in, &text) && !cn_cbor_byte_string(&reader->in, &text))
            return cn_cbor_fail(&reader->in, "a string inside the data", err);
        if (!add_text(reader, text, CN_WORD_TEXT, &value.word, err))
            return false;
        break;
    case CN_CBOR_SIMPLE:
        if (head->info == CN_CBOR_FALSE || head->info == CN_CBOR_TRUE)
            value = (struct cn_trace_value){.kind = CN_VALUE_BOOL,
                                            .boolean = head->info == CN_CBOR_TRUE};
        else if (head->info >= CN_CBOR_HALF && head->info <= CN_CBOR_DOUBLE)
            value = (struct cn_trace_value){.kind = CN_VALUE_FLOAT,
                                            .real = cn_cbor_real(head)};
        else if (head->info == CN_CBOR_OPEN)
            return cn_cbor_fail(&at, "a value", err);
        break;
    case CN_CBOR_ARRAY:
    case CN_CBOR_MAP:
    case CN_CBOR_TAG:
    default:
        return cn_cbor_fail(&at, "a value", err);
    }
    push(reader, value);
    return true;
}

static bool read_element(struct cn_zorka_reader *reader, struct values_level levels[],
                         unsigned *depth, struct cn_error *err)
{
    struct cn_trace_value value = {.kind = CN_VALUE_WORD};
    struct cn_cbor at = reader->in;
    struct cn_cbor_head head;

    if (cn_cbor_peek(&at) == (CN_ZORKA_TAG | CN_ZORKA_STRING_REF)) {
        if (!cn_zorka_read_string(reader, CN_WORD_TEXT, &value.word, err))
            return false;
        push(reader, value);
        return true;
    }
    if (!cn_cbor_next(&reader->in, &head))
        return cn_cbor_fail(&at, "a value", err);
    if (head.kind == CN_CBOR_ARRAY || head.kind == CN_CBOR_MAP)
        return open_level(reader, &head, levels, depth, err);
    return read_plain(reader, &head, at, err);
}

bool cn_zorka_read_value(struct cn_zorka_reader *reader, struct cn_trace_value *out,
                         struct cn_error *err)
{
    struct values_level levels[CN_TRACE_VALUE_DEPTH_MAX];
    unsigned depth = 0;

    reader->scratch_count = 0;
    do {
        struct values_level *top = depth ? &levels[depth - 1] : NULL;

        if (top && (top->left == 0 || (top->left == UINT64_MAX &&
                                       cn_cbor_byte(&reader->in, CN_CBOR_BREAK)))) {
            close_level(reader, top);
            depth--;
            continue;
        }
        if (top && top->left != UINT64_MAX)
            top->left--;
        if (!read_element(reader, levels, &depth, err))
            return false;
    } while (depth > 0);
    *out = reader->scratch[0];
    return true;
}

bool cn_zorka_read_attributes(struct cn_zorka_reader *reader, struct cn_error *err)
{
    struct cn_trace_node *node = &reader->trace->nodes[reader->trace->current];
    struct cn_trace_list list = {node->first_attribute, node->last_attribute};
    bool ok = cn_zorka_read_list(reader, &list, err);

    node->first_attribute = list.first;
    node->last_attribute = list.last;
    return ok;
}

bool cn_zorka_read_list(struct cn_zorka_reader *reader, struct cn_trace_list *list,
                        struct cn_error *err)
{
    struct cn_cbor_head head;
    struct cn_cbor at = reader->in;

    if (!cn_cbor_next(&reader->in, &head) || head.kind != CN_CBOR_MAP)
        return cn_cbor_fail(&at, "a map of attributes", err);
    for (uint64_t i = 0; head.info == CN_CBOR_OPEN || i < head.value; i++) {
        struct cn_trace_value value;
        uint32_t key;

        if (head.info == CN_CBOR_OPEN && cn_cbor_byte(&reader->in, CN_CBOR_BREAK))
            break;
        if (!cn_zorka_read_string(reader, CN_WORD_KEYWORD, &key, err) ||
            !cn_zorka_read_value(reader, &value, err))
            return false;
        cn_trace_list_add(reader->trace, list, key, value);
    }
    return true;
}

bool cn_zorka_read_span(struct cn_zorka_reader *reader, bool is_wire_c,
                        struct cn_error *err)
{
    uint64_t count, clock_ms;
    int64_t ids[2] = {0};
    uint32_t type = 0;

    if (!cn_zorka_read_array(reader, is_wire_c ? 2 : 1, is_wire_c ? 4 : 3, &count, err))
        return false;
    if (!cn_cbor_uint(&reader->in, &clock_ms) || clock_ms > UINT64_MAX / 1000000)
        return cn_cbor_fail(&reader->in, "the time of a trace", err);
    bool has_type = is_wire_c || (count == 2 && cn_cbor_peek(&reader->in) ==
                                                    (CN_ZORKA_TAG | CN_ZORKA_STRING_REF));
    if (has_type && !cn_zorka_read_string(reader, CN_WORD_KEYWORD, &type, err))
        return false;
    for (uint64_t i = 0; i + 1 + has_type < count; i++)
        if (!cn_cbor_int(&reader->in, &ids[i]))
            return cn_cbor_fail(&reader->in, "the id of a span", err);
    struct cn_trace_span *span = cn_trace_add_span(reader->trace, clock_ms * 1000000);
    span->type = type;
    span->id = (uint64_t)ids[0];
    span->parent_id = (uint64_t)ids[1];
    return true;
}

static void put_word(struct cn_cbor_out *out, uint32_t word)
{
    cn_cbor_put(out, CN_CBOR_TAG, CN_ZORKA_STRING_REF);
    cn_cbor_put(out, CN_CBOR_UINT, word);
}

/* A value without elements, or the head of one with elements. */
static void put_head(struct cn_cbor_out *out, const struct cn_trace_value *value)
{
    switch (value->kind) {
    case CN_VALUE_BOOL:
        cn_cbor_put(out, CN_CBOR_SIMPLE, value->boolean ? CN_CBOR_TRUE : CN_CBOR_FALSE);
        break;
    case CN_VALUE_INT:
        cn_cbor_put_int(out, value->integer);
        break;
    case CN_VALUE_FLOAT:
        cn_cbor_put_real(out, value->real);
        break;
    case CN_VALUE_WORD:
        put_word(out, value->word);
        break;
    case CN_VALUE_LIST:
        cn_cbor_put(out, CN_CBOR_ARRAY, value->list.count);
        break;
    case CN_VALUE_MAP:
        cn_cbor_put(out, CN_CBOR_MAP, value->list.count);
        break;
    case CN_VALUE_NULL:
    default:
        cn_cbor_put(out, CN_CBOR_SIMPLE, CN_CBOR_NULL);
        break;
    }
}

static void put_value(struct cn_cbor_out *out, const struct cn_trace *trace,
                      const struct cn_trace_value *value)
{
    struct {
        uint32_t at, end; /* in trace->values */
    } levels[CN_TRACE_VALUE_DEPTH_MAX + 1];
    unsigned depth = 0;

    for (;;) {
        put_head(out, value);
        if ((value->kind == CN_VALUE_LIST || value->kind == CN_VALUE_MAP) &&
            depth <= CN_TRACE_VALUE_DEPTH_MAX) {
            uint32_t per_element = value->kind == CN_VALUE_MAP ? 2 : 1;

            levels[depth].at = value->list.first;
            levels[depth++].end = value->list.first + value->list.count * per_element;
        }
        while (depth > 0 && levels[depth - 1].at == levels[depth - 1].end)
            depth--;
        if (depth == 0)
            return;
        value = &trace->values[levels[depth - 1].at++];
    }
}

void cn_zorka_put_list(struct cn_cbor_out *out, const struct cn_trace *trace,
                       struct cn_trace_list list)
{
    uint64_t count = 0;

    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next)
        count++;
    cn_cbor_put(out, CN_CBOR_MAP, count);
    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next) {
        put_word(out, trace->attributes[i].key);
        put_value(out, trace, &trace->attributes[i].value);
    }
}

void cn_zorka_put_attributes(struct cn_cbor_out *out, const struct cn_trace *trace,
                             const struct cn_trace_node *node, unsigned tag)
{
    if (node->first_attribute == CN_NONE)
        return;
    cn_cbor_put(out, CN_CBOR_TAG, tag);
    cn_zorka_put_list(
        out, trace, (struct cn_trace_list){node->first_attribute, node->last_attribute});
}
