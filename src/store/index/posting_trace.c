#include "store/index/posting_trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "model/traces/links.h"
#include "model/traces/shared.h"
#include "model/traces/span.h"
#include "store/index/row.h"

struct adder {
    struct cn_postings *postings; /* NULL: keys are added to those of `words` */
    const struct cn_trace *trace;
    struct cn_posting_words *words;
    uint32_t row;
    enum cn_posting_kind kind;
};

enum prefix { NO_PREFIX, RESOURCE, SCOPE, EVENT, LINK, LINKS };
static const char *const prefixes[] = {"", "resource", "scope", "event", "link", "links"};

void cn_posting_words_done(struct cn_posting_words *words)
{
    cn_text_done(&words->text);
    cn_map_done(&words->names);
    cn_map_done(&words->shared);
    free(words->keys);
    *words = (struct cn_posting_words){0};
}

/* Forget what was found in words that are no more. */
static void check_words(struct cn_posting_words *words)
{
    if (words->born_ns == words->words->born_ns)
        return;
    words->born_ns = words->words->born_ns;
    cn_map_done(&words->names);
    cn_map_done(&words->shared);
    words->key_count = 0;
}

static void put_key(const struct adder *adder, enum cn_posting_kind kind, uint32_t name,
                    uint32_t word)
{
    struct cn_posting_words *words = adder->words;

    if (adder->postings) {
        cn_postings_add(adder->postings, adder->row, cn_posting_key_of(kind, name, word));
        return;
    }
    CN_PUSH(words->keys, words->key_count, words->key_capacity,
            cn_posting_key_of(CN_POSTING_METHOD, name, word));
}

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
    case CN_WORD_BYTES:
    case CN_WORD_SCALAR:
    case CN_WORD_LIST:
    case CN_WORD_MAP:
    case CN_WORD_RESOURCE:
    case CN_WORD_SCOPE:
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
    put_key(adder, adder->kind, name, word);
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

static uint32_t keyword(struct cn_posting_words *words, const char *name)
{
    cn_text_clear(&words->text);
    cn_text_str_add(&words->text, name);
    return text_word(words, CN_WORD_KEYWORD);
}

/* The name "prefix.key". */
static uint32_t prefixed_name(const struct adder *adder, enum prefix prefix, uint32_t key)
{
    struct cn_trace_value value = {.kind = CN_VALUE_WORD, .word = key};
    uint64_t both = (uint64_t)prefix << 32 | key;
    uint32_t name = cn_map_find(&adder->words->names, both, 0);

    if (name == 0) {
        name = element_name(adder, keyword(adder->words, prefixes[prefix]), &value);
        *cn_map_at(&adder->words->names, both, 0) = name;
    }
    return name;
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

static void add_list(const struct adder *adder, enum prefix prefix, uint32_t first)
{
    for (uint32_t a = first; a != CN_NONE; a = adder->trace->attributes[a].next) {
        uint32_t key = adder->trace->attributes[a].key;

        if (prefix != NO_PREFIX)
            key = prefixed_name(adder, prefix, key);
        add_value(adder, key, &adder->trace->attributes[a].value, 0);
    }
}

static void add_word(const struct adder *adder, const char *name, uint32_t word)
{
    struct cn_trace_value value = {.kind = CN_VALUE_WORD, .word = word};

    if (word != 0)
        add_scalar(adder, keyword(adder->words, name), &value);
}

static void add_text(const struct adder *adder, const char *name, const char *text)
{
    uint32_t key = keyword(adder->words, name);

    cn_text_clear(&adder->words->text);
    cn_text_str_add(&adder->words->text, text);
    put_key(adder, adder->kind, key, text_word(adder->words, CN_WORD_TEXT));
}

static void add_links(const struct adder *adder, const struct cn_trace_span *span)
{
    char trace_id[CN_TRACE_ID_DIGITS + 1], span_id[CN_SPAN_ID_DIGITS + 1];

    for (uint32_t i = 0; i < span->link_count; i++) {
        const struct cn_trace_link *link = &cn_trace_span_links(adder->trace, span)[i];

        (void)snprintf(trace_id, sizeof(trace_id), "%016" PRIx64 "%016" PRIx64,
                       link->trace_high, link->trace_low);
        (void)snprintf(span_id, sizeof(span_id), "%016" PRIx64, link->span_id);
        add_text(adder, "link.trace", trace_id);
        add_text(adder, "link.span", span_id);
        add_list(adder, LINK, link->attributes.first);
        /* As earlier versions named them. */
        add_text(adder, "links.trace", trace_id);
        add_text(adder, "links.span", span_id);
        add_list(adder, LINKS, link->attributes.first);
    }
}

/* Find the keys of a resource or scope, and where they are. */
static uint32_t learn_shared(const struct adder *adder, uint32_t word)
{
    struct cn_posting_words *words = adder->words;
    struct cn_trace trace = {.words = words->words};
    struct cn_trace_shared shared = cn_trace_shared_read(&trace, words->words, word);
    struct adder learner = {.trace = &trace, .words = words};
    /* 0 is no position. */
    size_t at = words->key_count > 0 ? words->key_count : 1;

    CN_GROW_TO(words->keys, at + 1, words->key_capacity);
    words->key_count = at + 1;
    if (cn_word_kind(words->words, word) == CN_WORD_RESOURCE) {
        add_list(&learner, NO_PREFIX, shared.attributes.first);
        add_list(&learner, RESOURCE, shared.attributes.first);
    } else {
        add_word(&learner, "scope.name", shared.name);
        add_word(&learner, "scope.version", shared.version);
        add_list(&learner, SCOPE, shared.attributes.first);
    }
    words->keys[at] = words->key_count - at - 1;
    cn_trace_done(&trace);
    *cn_map_at(&words->shared, word, 0) = (uint32_t)at;
    return (uint32_t)at;
}

/* The keys of a resource or scope, which all its spans have. */
static void add_shared(const struct adder *adder, uint32_t word)
{
    struct cn_posting_words *words = adder->words;

    if (word == 0)
        return;
    uint32_t at = cn_map_find(&words->shared, word, 0);
    if (at == 0)
        at = learn_shared(adder, word);
    for (uint64_t i = 1; i <= words->keys[at]; i++)
        cn_postings_add(adder->postings, adder->row,
                        words->keys[at + i] | cn_posting_key_of(adder->kind, 0, 0));
}

static void add_span(const struct adder *adder, const struct cn_trace_span *span)
{
    const struct cn_trace_event *events = cn_trace_span_events(adder->trace, span);

    if (!span->is_whole)
        return;
    add_shared(adder, span->resource);
    add_shared(adder, span->scope);
    if (span->status != CN_STATUS_UNSET)
        add_text(adder, "status.code", span->status == CN_STATUS_OK ? "ok" : "error");
    add_word(adder, "status.message", span->status_message);
    add_word(adder, "trace_state", span->trace_state);
    for (uint32_t i = 0; i < span->event_count; i++) {
        add_word(adder, events[i].is_annotation ? "annotation" : "event", events[i].name);
        add_list(adder, EVENT, events[i].attributes.first);
    }
    add_links(adder, span);
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

    check_words(words);
    for (uint32_t i = node; i < trace->nodes[node].end; i++) {
        const struct cn_trace_node *call = &trace->nodes[i];

        if (i > node && call->span != CN_NONE &&
            cn_store_span_has_row(trace, &trace->spans[call->span])) {
            i = call->end - 1;
            continue;
        }
        cn_postings_add(postings, row,
                        cn_posting_key_of(CN_POSTING_METHOD, 0, call->method));
        add_list(&adder, NO_PREFIX, call->first_attribute);
        if (call->span != CN_NONE)
            add_span(&adder, &trace->spans[call->span]);
        if (call->exception != 0)
            add_exception(&adder, call->exception);
        adder.kind = CN_POSTING_ATTRIBUTE;
    }
    cn_postings_end_row(postings);
}
