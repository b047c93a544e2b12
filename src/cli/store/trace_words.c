#include "cli/store/trace_words.h"

const char *cn_trace_word(struct cn_text *text, const struct cn_words *words,
                          uint32_t word)
{
    cn_text_clear(text);
    cn_words_print(words, word, text);
    return cn_text_str(text);
}

const char *cn_trace_method(struct cn_text *text, const struct cn_trace *trace,
                            uint32_t node)
{
    cn_text_clear(text);
    cn_words_print_method_name(trace->words, trace->nodes[node].method, text);
    return cn_text_str(text);
}

/* Depth is limited by CN_TRACE_VALUE_DEPTH_MAX. */
static void add_value(struct cn_text *text, const struct cn_trace *trace,
                      const struct cn_trace_value *value, unsigned depth)
{
    const struct cn_trace_value *items;
    bool is_map = value->kind == CN_VALUE_MAP;

    if (value->kind == CN_VALUE_WORD) {
        cn_words_print(trace->words, value->word, text);
        return;
    }
    if (!is_map && value->kind != CN_VALUE_LIST) {
        cn_trace_value_print(value, text);
        return;
    }
    if (depth == CN_TRACE_VALUE_DEPTH_MAX) {
        cn_text_str_add(text, "...");
        return;
    }
    items = trace->values + value->list.first;
    cn_text_char(text, is_map ? '{' : '[');
    for (uint32_t i = 0; i < value->list.count; i++) {
        cn_text_str_add(text, i > 0 ? ", " : "");
        add_value(text, trace, &items[is_map ? 2 * i : i], depth + 1);
        if (is_map) {
            cn_text_str_add(text, ": ");
            add_value(text, trace, &items[2 * i + 1], depth + 1);
        }
    }
    cn_text_char(text, is_map ? '}' : ']');
}

void cn_trace_value_add(struct cn_text *text, const struct cn_trace *trace,
                        const struct cn_trace_value *value)
{
    add_value(text, trace, value, 0);
}
