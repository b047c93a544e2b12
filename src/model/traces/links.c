#include "model/traces/links.h"

#include <inttypes.h>

#include "base/alloc.h"
#include "base/bytes/json.h"
#include "base/text.h"
#include "model/traces/json.h"
#include "model/traces/span.h"

static const char links_key[] = "links", trace_key[] = "trace", span_key[] = "span",
                  state_key[] = "trace_state";

bool cn_span_id_parse(struct cn_bytes text, uint64_t *high, uint64_t *low)
{
    uint64_t halves[2] = {0};

    if (text.len == 0 || text.len > CN_TRACE_ID_DIGITS)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        uint8_t c = text.ptr[i] | 0x20;
        uint64_t digit = c >= '0' && c <= '9'   ? (uint64_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint64_t)(c - 'a' + 10)
                                                : 16;

        if (digit == 16)
            return false;
        halves[0] = halves[0] << 4 | halves[1] >> 60;
        halves[1] = halves[1] << 4 | digit;
    }
    *high = halves[0];
    *low = halves[1];
    return true;
}

static bool is_text(const struct cn_trace *trace, const struct cn_trace_value *value,
                    const char *text)
{
    return value->kind == CN_VALUE_WORD &&
           cn_bytes_equal(cn_word_bytes(trace->words, value->word), text);
}

/* The id in a map; false if it has none. */
static bool find_id(const struct cn_trace *trace, const struct cn_trace_value *map,
                    const char *key, size_t len, uint64_t *high, uint64_t *low)
{
    for (uint32_t i = 0; i < map->list.count; i++) {
        const struct cn_trace_value *item = &trace->values[map->list.first + 2 * i];

        if (!is_text(trace, item, key) || item[1].kind != CN_VALUE_WORD)
            continue;
        struct cn_bytes id = cn_word_bytes(trace->words, item[1].word);
        if (id.len == len && cn_span_id_parse(id, high, low))
            return true;
    }
    return false;
}

static bool read_link(const struct cn_trace *trace, const struct cn_trace_value *map,
                      struct cn_trace_link *out)
{
    uint64_t none;

    *out = (struct cn_trace_link){.attributes = CN_TRACE_EMPTY_LIST};
    return map->kind == CN_VALUE_MAP &&
           find_id(trace, map, trace_key, CN_TRACE_ID_DIGITS, &out->trace_high,
                   &out->trace_low) &&
           find_id(trace, map, span_key, CN_SPAN_ID_DIGITS, &none, &out->span_id);
}

static void read_link_attributes(struct cn_trace *trace, const struct cn_trace_value *map,
                                 struct cn_trace_link *link)
{
    for (uint32_t i = 0; i < map->list.count; i++) {
        struct cn_trace_value key = trace->values[map->list.first + 2 * i];
        struct cn_trace_value value = trace->values[map->list.first + 2 * i + 1];

        if (key.kind != CN_VALUE_WORD || is_text(trace, &key, trace_key) ||
            is_text(trace, &key, span_key))
            continue;
        if (is_text(trace, &key, state_key) && value.kind == CN_VALUE_WORD)
            link->trace_state = value.word;
        else
            cn_trace_list_add(trace, &link->attributes, key.word, value);
    }
}

bool cn_trace_take_links(struct cn_trace *trace, struct cn_trace_span *span,
                         const struct cn_trace_attribute *attribute)
{
    const struct cn_trace_value *value = &attribute->value;
    struct cn_trace_link link;

    if (value->kind != CN_VALUE_LIST || value->list.count == 0 ||
        !cn_bytes_equal(cn_word_bytes(trace->words, attribute->key), links_key))
        return false;
    for (uint32_t i = 0; i < value->list.count; i++)
        if (!read_link(trace, &trace->values[value->list.first + i], &link))
            return false;
    for (uint32_t i = 0; i < value->list.count; i++) {
        struct cn_trace_value map = trace->values[value->list.first + i];

        (void)read_link(trace, &map, &link);
        read_link_attributes(trace, &map, &link);
        if (span->link_count++ == 0)
            span->first_link = trace->link_count;
        CN_PUSH(trace->links, trace->link_count, trace->link_capacity, link);
    }
    return true;
}

/* Append " (key = value" or ", key = value". */
static void begin_fact(struct cn_text *out, bool *is_first, const char *key)
{
    cn_text_str_add(out, *is_first ? " (" : ", ");
    *is_first = false;
    if (key)
        cn_text_printf(out, "%s = ", key);
}

static void print_list(const struct cn_trace *trace, struct cn_trace_list list,
                       uint32_t dropped, bool is_first, struct cn_text *out)
{
    for (uint32_t i = list.first; i != CN_NONE; i = trace->attributes[i].next) {
        begin_fact(out, &is_first, NULL);
        cn_words_print(trace->words, trace->attributes[i].key, out);
        cn_text_str_add(out, " = ");
        cn_trace_value_print(trace, &trace->attributes[i].value, out);
    }
    if (dropped > 0) {
        begin_fact(out, &is_first, NULL);
        cn_text_printf(out, "%" PRIu32 " dropped", dropped);
    }
    cn_text_str_add(out, is_first ? "" : ")");
}

void cn_trace_link_print(const struct cn_trace *trace, const struct cn_trace_link *link,
                         struct cn_text *out)
{
    bool is_first = true;

    cn_text_printf(out, "%016" PRIx64 "%016" PRIx64 "/%016" PRIx64, link->trace_high,
                   link->trace_low, link->span_id);
    if (link->trace_state != 0) {
        begin_fact(out, &is_first, state_key);
        cn_words_print(trace->words, link->trace_state, out);
    }
    print_list(trace, link->attributes, link->dropped_attributes, is_first, out);
}

void cn_trace_event_print(const struct cn_trace *trace,
                          const struct cn_trace_event *event, struct cn_text *out)
{
    cn_words_print(trace->words, event->name, out);
    print_list(trace, event->attributes, event->dropped_attributes, true, out);
}

/* The next attribute with this key from `a` on; CN_NONE. */
static uint32_t next_of(const struct cn_trace *trace, uint32_t a, uint32_t key)
{
    while (a != CN_NONE && trace->attributes[a].key != key)
        a = trace->attributes[a].next;
    return a;
}

static void add_values(struct cn_json *json, const struct cn_trace *trace, uint32_t a)
{
    uint32_t key = trace->attributes[a].key;
    bool is_list = next_of(trace, trace->attributes[a].next, key) != CN_NONE;

    if (is_list)
        cn_json_array(json);
    for (; a != CN_NONE; a = next_of(trace, trace->attributes[a].next, key))
        cn_json_trace_value(json, trace, &trace->attributes[a].value, true);
    if (is_list)
        cn_json_end(json);
}

void cn_json_add_attributes(struct cn_json *json, const struct cn_trace *trace,
                            uint32_t first)
{
    struct cn_text key = {0};

    for (uint32_t a = first; a != CN_NONE; a = trace->attributes[a].next) {
        if (next_of(trace, first, trace->attributes[a].key) != a)
            continue;
        cn_text_clear(&key);
        cn_words_print(trace->words, trace->attributes[a].key, &key);
        cn_json_key(json, cn_text_str(&key));
        add_values(json, trace, a);
    }
    cn_text_done(&key);
}

void cn_json_trace_list(struct cn_json *json, const struct cn_trace *trace,
                        const struct cn_trace_list *list, bool is_typed)
{
    (is_typed ? cn_json_object : cn_json_array)(json);
    if (is_typed)
        cn_json_add_attributes(json, trace, list->first);
    for (uint32_t i = list->first; !is_typed && i != CN_NONE;
         i = trace->attributes[i].next) {
        cn_json_array(json);
        cn_json_word(json, trace->words, trace->attributes[i].key);
        cn_json_trace_value(json, trace, &trace->attributes[i].value, false);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static void add_optional(struct cn_json *json, const char *key, uint64_t value)
{
    if (value != 0)
        cn_json_add_u64(json, key, value);
}

static void add_rest(struct cn_json *json, const struct cn_trace *trace, uint32_t dropped,
                     const struct cn_trace_list *attributes, bool is_typed)
{
    add_optional(json, is_typed ? "dropped_attributes" : "dropped", dropped);
    cn_json_key(json, "attributes");
    cn_json_trace_list(json, trace, attributes, is_typed);
    cn_json_end(json);
}

void cn_json_trace_links(struct cn_json *json, const struct cn_trace *trace,
                         const struct cn_trace_span *span, bool is_typed)
{
    const struct cn_trace_link *links = cn_trace_span_links(trace, span);

    cn_json_array(json);
    for (uint32_t i = 0; i < span->link_count; i++) {
        const struct cn_trace_link *link = &links[i];

        cn_json_object(json);
        cn_json_add_trace_id(json, is_typed ? "trace_id" : "trace", link->trace_high,
                             link->trace_low);
        cn_json_add_span_id(json, is_typed ? "span_id" : "span", link->span_id);
        if (link->trace_state != 0)
            cn_json_add_word(json, is_typed ? state_key : "state", trace->words,
                             link->trace_state);
        add_optional(json, "flags", link->flags);
        add_rest(json, trace, link->dropped_attributes, &link->attributes, is_typed);
    }
    cn_json_end(json);
}

void cn_json_trace_events(struct cn_json *json, const struct cn_trace *trace,
                          const struct cn_trace_span *span, bool is_typed)
{
    const struct cn_trace_event *events = cn_trace_span_events(trace, span);

    cn_json_array(json);
    for (uint32_t i = 0; i < span->event_count; i++) {
        const struct cn_trace_event *event = &events[i];

        cn_json_object(json);
        if (is_typed)
            cn_json_add_u64(json, "time_ns", event->time_ns);
        else
            cn_json_add_id(json, "time", event->time_ns);
        cn_json_key(json, "name");
        if (event->name == 0)
            cn_json_str(json, "");
        else
            cn_json_word(json, trace->words, event->name);
        add_rest(json, trace, event->dropped_attributes, &event->attributes, is_typed);
    }
    cn_json_end(json);
}
