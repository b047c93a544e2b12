#include "formats/exchange/read/traces/span_links.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/json_reader.h"
#include "formats/exchange/read/traces/span_set.h"
#include "model/traces/links.h"

void cn_span_set_link_begin(struct cn_span_set *set)
{
    set->is_loose = true;
    set->first_loose = set->attribute_count;
    set->link = (struct cn_set_link){0};
}

void cn_span_set_link_state(struct cn_span_set *set, struct cn_bytes state)
{
    if (state.len > 0)
        cn_span_set_attribute(
            set, cn_words_add_str(&set->words, CN_WORD_KEYWORD, CN_TRACE_LINK_STATE),
            cn_span_set_text(set, state));
}

static struct cn_trace_value word_value(uint32_t word)
{
    return (struct cn_trace_value){.kind = CN_VALUE_WORD, .word = word};
}

static void add_item(struct cn_span_set *set, size_t first, uint32_t key,
                     struct cn_trace_value value)
{
    cn_span_set_list_add(set, first, word_value(key));
    cn_span_set_list_add(set, first, value);
}

static void add_text(struct cn_span_set *set, size_t first, const char *key,
                     const char *text)
{
    struct cn_trace_value value =
        word_value(cn_words_add_str(&set->words, CN_WORD_TEXT, text));

    add_item(set, first, cn_words_add_str(&set->words, CN_WORD_KEYWORD, key), value);
}

void cn_span_set_link_end(struct cn_span_set *set)
{
    const struct cn_set_link *link = &set->link;
    char trace[CN_TRACE_ID_DIGITS + 1], span[CN_SPAN_ID_DIGITS + 1];
    size_t first = set->value_count;
    struct cn_trace_value map;

    set->is_loose = false;
    if ((link->trace_high | link->trace_low) != 0 && link->id != 0) {
        (void)snprintf(trace, sizeof(trace), "%016" PRIx64 "%016" PRIx64,
                       link->trace_high, link->trace_low);
        (void)snprintf(span, sizeof(span), "%016" PRIx64, link->id);
        add_text(set, first, CN_TRACE_LINK_TRACE, trace);
        add_text(set, first, CN_TRACE_LINK_SPAN, span);
        for (size_t i = set->first_loose; i < set->attribute_count; i++)
            add_item(set, first, set->attributes[i].key, set->attributes[i].value);
        map = cn_span_set_list(set, first);
        map.kind = CN_VALUE_MAP;
        map.list.count /= 2;
        CN_PUSH(set->links, set->link_count, set->link_capacity, map);
    }
    set->attribute_count = set->first_loose;
}

void cn_span_set_add_links(struct cn_span_set *set)
{
    size_t first = set->value_count;

    if (set->link_count == 0)
        return;
    for (size_t i = 0; i < set->link_count; i++)
        cn_span_set_list_add(set, first, set->links[i]);
    set->link_count = 0;
    cn_span_set_attribute(set,
                          cn_words_add_str(&set->words, CN_WORD_KEYWORD, CN_TRACE_LINKS),
                          cn_span_set_list(set, first));
}

/* Attributes that are not texts, numbers and truth values are left out. */
static void read_tag_attributes(struct cn_span_set *set, struct cn_bytes text)
{
    struct cn_json_reader json = cn_json_read(text);
    struct cn_json_token token;
    struct cn_error ignored;
    enum cn_json_kind kind = cn_json_next(&json, &token, &ignored);

    if (kind == CN_JSON_OBJECT)
        while ((kind = cn_json_next(&json, &token, &ignored)) == CN_JSON_KEY) {
            uint32_t key = cn_span_set_keyword(set, token.text);

            kind = cn_json_next(&json, &token, &ignored);
            if (kind == CN_JSON_STRING || kind == CN_JSON_NUMBER)
                cn_span_set_attribute(set, key, cn_span_set_text(set, token.text));
            else if (kind == CN_JSON_TRUE || kind == CN_JSON_FALSE)
                cn_span_set_attribute(
                    set, key,
                    (struct cn_trace_value){.kind = CN_VALUE_BOOL,
                                            .boolean = kind == CN_JSON_TRUE});
            else if (!cn_json_skip(&json, kind, &ignored))
                break;
        }
    cn_json_reader_done(&json);
}

bool cn_span_set_link_tag(struct cn_span_set *set, struct cn_bytes text)
{
    struct cn_bytes trace, span, state;
    struct cn_set_link link;
    uint64_t ignored;

    if (!cn_bytes_take_until(&text, '|', &trace) ||
        !cn_bytes_take_until(&text, '|', &span) ||
        !cn_bytes_take_until(&text, '|', &state) ||
        !cn_span_id_parse(trace, &link.trace_high, &link.trace_low) ||
        !cn_span_id_parse(span, &ignored, &link.id))
        return false;
    cn_span_set_link_begin(set);
    set->link = link;
    cn_span_set_link_state(set, state);
    while (text.len > 0 && text.ptr[text.len - 1] != '|')
        text.len--;
    if (text.len > 0)
        read_tag_attributes(set, (struct cn_bytes){text.ptr, text.len - 1});
    cn_span_set_link_end(set);
    return true;
}
