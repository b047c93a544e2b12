#include "model/traces/links.h"

#include <string.h>

#include "base/bytes/digits.h"
#include "base/bytes/json.h"
#include "base/text.h"
#include "model/traces/json.h"
#include "model/traces/trace.h"

static bool is_word(const struct cn_trace *trace, const struct cn_trace_value *value,
                    const char *text)
{
    if (value->kind != CN_VALUE_WORD)
        return false;
    struct cn_bytes bytes = cn_word_bytes(trace->words, value->word);
    return bytes.len == strlen(text) && memcmp(bytes.ptr, text, bytes.len) == 0;
}

/* The digits of an id in a map; empty if it has none. */
static struct cn_bytes id_in(const struct cn_trace *trace,
                             const struct cn_trace_value *map, const char *key,
                             size_t len)
{
    const struct cn_trace_value *items = trace->values + map->list.first;

    for (uint32_t i = 0; i < map->list.count; i++) {
        const struct cn_trace_value *value = &items[2 * i + 1];

        if (!is_word(trace, &items[2 * i], key) || value->kind != CN_VALUE_WORD)
            continue;
        struct cn_bytes id = cn_word_bytes(trace->words, value->word);
        if (id.len == len && cn_hex_is(id.ptr, len))
            return id;
    }
    return (struct cn_bytes){0};
}

static struct cn_trace_link link_of(const struct cn_trace *trace,
                                    const struct cn_trace_value *map)
{
    return (struct cn_trace_link){
        .trace = id_in(trace, map, CN_TRACE_LINK_TRACE, CN_TRACE_ID_DIGITS),
        .span = id_in(trace, map, CN_TRACE_LINK_SPAN, CN_SPAN_ID_DIGITS),
        .items = trace->values + map->list.first,
        .count = map->list.count,
    };
}

bool cn_trace_is_links(const struct cn_trace *trace,
                       const struct cn_trace_attribute *attribute)
{
    struct cn_bytes key = cn_word_bytes(trace->words, attribute->key);
    const struct cn_trace_value *value = &attribute->value;

    if (value->kind != CN_VALUE_LIST || value->list.count == 0 ||
        key.len != strlen(CN_TRACE_LINKS) ||
        memcmp(key.ptr, CN_TRACE_LINKS, key.len) != 0)
        return false;
    for (uint32_t i = 0; i < value->list.count; i++) {
        const struct cn_trace_value *map = &trace->values[value->list.first + i];

        if (map->kind != CN_VALUE_MAP)
            return false;
        struct cn_trace_link link = link_of(trace, map);
        if (link.trace.len == 0 || link.span.len == 0)
            return false;
    }
    return true;
}

const struct cn_trace_attribute *cn_trace_find_links(const struct cn_trace *trace,
                                                     uint32_t node)
{
    for (uint32_t i = trace->nodes[node].first_attribute; i != CN_NONE;
         i = trace->attributes[i].next)
        if (cn_trace_is_links(trace, &trace->attributes[i]))
            return &trace->attributes[i];
    return NULL;
}

struct cn_trace_link cn_trace_link_at(const struct cn_trace *trace,
                                      const struct cn_trace_attribute *links, uint32_t i)
{
    return link_of(trace, &trace->values[links->value.list.first + i]);
}

bool cn_trace_link_next(const struct cn_trace *trace, const struct cn_trace_link *link,
                        uint32_t *at, const struct cn_trace_value **key,
                        const struct cn_trace_value **value)
{
    while (*at < link->count) {
        *key = &link->items[2 * *at];
        *value = *key + 1;
        ++*at;
        if (!is_word(trace, *key, CN_TRACE_LINK_TRACE) &&
            !is_word(trace, *key, CN_TRACE_LINK_SPAN))
            return true;
    }
    return false;
}

bool cn_trace_link_is_state(const struct cn_trace *trace,
                            const struct cn_trace_value *key)
{
    return is_word(trace, key, CN_TRACE_LINK_STATE);
}

void cn_trace_link_print(const struct cn_trace *trace, const struct cn_trace_link *link,
                         struct cn_text *out)
{
    const struct cn_trace_value *key, *value;
    const char *before = " (";
    uint32_t at = 0;

    cn_text_add(out, (const char *)link->trace.ptr, link->trace.len);
    cn_text_char(out, '/');
    cn_text_add(out, (const char *)link->span.ptr, link->span.len);
    while (cn_trace_link_next(trace, link, &at, &key, &value)) {
        cn_text_str_add(out, before);
        cn_trace_value_print(trace, key, out);
        cn_text_str_add(out, " = ");
        cn_trace_value_print(trace, value, out);
        before = ", ";
    }
    cn_text_str_add(out, *before == ',' ? ")" : "");
}

static void add_id(struct cn_json *json, const char *key, struct cn_bytes id)
{
    char text[CN_TRACE_ID_DIGITS + 1] = "";

    memcpy(text, id.ptr, id.len);
    cn_json_add_str(json, key, text);
}

static void add_attributes(struct cn_json *json, const struct cn_trace *trace,
                           const struct cn_trace_link *link, bool is_typed)
{
    const struct cn_trace_value *key, *value;
    struct cn_text text = {0};
    uint32_t at = 0;

    cn_json_key(json, "attributes");
    (is_typed ? cn_json_object : cn_json_array)(json);
    while (cn_trace_link_next(trace, link, &at, &key, &value)) {
        cn_text_clear(&text);
        cn_trace_value_print(trace, key, &text);
        if (is_typed) {
            cn_json_key(json, cn_text_str(&text));
            cn_json_trace_value(json, trace, value, true);
            continue;
        }
        cn_json_array(json);
        cn_json_str(json, cn_text_str(&text));
        cn_json_trace_value(json, trace, value, false);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_text_done(&text);
}

void cn_json_trace_links(struct cn_json *json, const struct cn_trace *trace,
                         const struct cn_trace_attribute *links, bool is_typed)
{
    cn_json_array(json);
    for (uint32_t i = 0; i < links->value.list.count; i++) {
        struct cn_trace_link link = cn_trace_link_at(trace, links, i);

        cn_json_object(json);
        add_id(json, is_typed ? "trace_id" : "trace", link.trace);
        add_id(json, is_typed ? "span_id" : "span", link.span);
        add_attributes(json, trace, &link, is_typed);
        cn_json_end(json);
    }
    cn_json_end(json);
}
