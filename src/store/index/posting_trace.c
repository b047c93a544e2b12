#include "store/index/posting_trace.h"

#include "model/traces/trace.h"
#include "store/index/row.h"

struct adder {
    struct cn_postings *postings;
    const struct cn_trace *trace;
    struct cn_posting_words *words;
    uint32_t row;
    enum cn_posting_kind kind;
};

static uint32_t text_word(struct cn_posting_words *words, enum cn_word_kind kind)
{
    struct cn_bytes bytes = {(const uint8_t *)cn_text_str(&words->text), words->text.len};
    uint32_t id;

    if (words->extra == words->words)
        return cn_words_add(words->extra, kind, bytes);
    id = cn_words_find(words->words, kind, bytes);
    if (id == 0 && bytes.len > 0)
        id = words->words->count + cn_words_add(words->extra, kind, bytes);
    return id;
}

static bool is_plain(const struct cn_words *words, uint32_t word)
{
    switch (cn_word_kind(words, word)) {
    case CN_WORD_TEXT:
    case CN_WORD_KEYWORD:
    case CN_WORD_CLASS:
    case CN_WORD_METHOD_NAME:
    case CN_WORD_UUID:
    case CN_WORD_SIGNATURE:
        return true;
    case CN_WORD_VALUE:
    case CN_WORD_PAIR:
    case CN_WORD_METHOD:
    case CN_WORD_EXCEPTION:
    case CN_WORD_STACK:
    case CN_WORD_FRAME:
    case CN_WORD_AGENT:
    case CN_WORD_LOST:
        return false;
    }
    return false;
}

static void add_scalar(const struct adder *adder, uint32_t name,
                       const struct cn_trace_value *value)
{
    struct cn_posting_words *words = adder->words;
    uint32_t word;

    if (value->kind == CN_VALUE_WORD && is_plain(words->words, value->word)) {
        word = value->word;
    } else {
        cn_text_clear(&words->text);
        cn_trace_value_print(adder->trace, value, &words->text);
        word = text_word(words, CN_WORD_TEXT);
    }
    cn_postings_add(adder->postings, adder->row,
                    cn_posting_key_of(adder->kind, name, word));
}

/* The name of an element of a map: "map.key". */
static uint32_t element_name(const struct adder *adder, uint32_t name,
                             const struct cn_trace_value *key)
{
    struct cn_text joined = {0};

    if (name <= adder->words->words->count)
        cn_words_print(adder->words->words, name, &joined);
    else
        cn_words_print(adder->words->extra, name - adder->words->words->count, &joined);
    cn_text_char(&joined, '.');
    if (key->kind != CN_VALUE_LIST && key->kind != CN_VALUE_MAP)
        cn_trace_value_print(adder->trace, key, &joined);
    cn_text_clear(&adder->words->text);
    cn_text_add(&adder->words->text, cn_text_str(&joined), joined.len);
    uint32_t word = text_word(adder->words, CN_WORD_KEYWORD);
    cn_text_done(&joined);
    return word;
}

/* Depth is limited by CN_TRACE_VALUE_DEPTH_MAX. */
static void add_value(const struct adder *adder, uint32_t name,
                      const struct cn_trace_value *value, unsigned depth)
{
    const struct cn_trace_value *items;

    if (value->kind != CN_VALUE_LIST && value->kind != CN_VALUE_MAP) {
        add_scalar(adder, name, value);
        return;
    }
    if (depth == CN_TRACE_VALUE_DEPTH_MAX)
        return;
    items = adder->trace->values + value->list.first;
    for (uint32_t i = 0; i < value->list.count; i++) {
        if (value->kind == CN_VALUE_LIST)
            add_value(adder, name, &items[i], depth + 1);
        else
            add_value(adder, element_name(adder, name, &items[2 * i]), &items[2 * i + 1],
                      depth + 1);
    }
}

static void add_exception(const struct adder *adder, uint32_t exception)
{
    const struct cn_words *words = adder->words->words;

    /* A cause has a lower number than the exception it caused, so this ends. */
    while (exception != 0 && cn_word_kind(words, exception) == CN_WORD_EXCEPTION) {
        uint32_t message = cn_word_part(words, exception, 1);

        cn_postings_add(adder->postings, adder->row,
                        cn_posting_key_of(CN_POSTING_EXCEPTION_CLASS, 0,
                                          cn_word_part(words, exception, 0)));
        if (message != 0)
            cn_postings_add(adder->postings, adder->row,
                            cn_posting_key_of(CN_POSTING_EXCEPTION_MESSAGE, 0, message));
        exception = cn_word_part(words, exception, 3);
    }
}

void cn_postings_add_trace(struct cn_postings *postings, uint32_t row,
                           const struct cn_trace *trace, uint32_t node,
                           struct cn_posting_words *words)
{
    struct adder adder = {
        .postings = postings,
        .trace = trace,
        .words = words,
        .row = row,
        .kind = CN_POSTING_ROOT_ATTRIBUTE,
    };

    for (uint32_t i = node; i < trace->nodes[node].end; i++) {
        const struct cn_trace_node *call = &trace->nodes[i];

        if (i > node && call->span != CN_NONE &&
            cn_store_span_has_row(trace, &trace->spans[call->span])) {
            i = call->end - 1;
            continue;
        }
        cn_postings_add_method(postings, row, call->method);
        for (uint32_t a = call->first_attribute; a != CN_NONE;
             a = trace->attributes[a].next)
            add_value(&adder, trace->attributes[a].key, &trace->attributes[a].value, 0);
        if (call->exception != 0)
            add_exception(&adder, call->exception);
        adder.kind = CN_POSTING_ATTRIBUTE;
    }
    cn_postings_end_row(postings);
}
