#include "model/traces/json.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes/json.h"
#include "model/traces/trace.h"

static void add_printed(struct cn_json *json, const struct cn_trace *trace,
                        const struct cn_trace_value *value, bool is_string)
{
    struct cn_text text = {0};

    cn_trace_value_print(trace, value, &text);
    if (is_string)
        cn_json_str(json, cn_text_str(&text));
    else
        cn_json_raw(json, cn_text_str(&text), text.len);
    cn_text_done(&text);
}

/* Depth is limited by CN_TRACE_VALUE_DEPTH_MAX. */
static void add_value(struct cn_json *json, const struct cn_trace *trace,
                      const struct cn_trace_value *value, bool is_typed, unsigned depth)
{
    const struct cn_trace_value *items = trace->values + value->list.first;
    struct cn_text key = {0};

    switch (depth < CN_TRACE_VALUE_DEPTH_MAX ? value->kind : CN_VALUE_NULL) {
    case CN_VALUE_NULL:
        cn_json_null(json);
        break;
    case CN_VALUE_WORD:
        add_printed(json, trace, value, true);
        break;
    case CN_VALUE_BOOL:
    case CN_VALUE_INT:
        add_printed(json, trace, value, !is_typed);
        break;
    case CN_VALUE_FLOAT:
        if (is_typed)
            cn_json_f64(json, value->real);
        else
            add_printed(json, trace, value, true);
        break;
    case CN_VALUE_MAP:
        if (is_typed) {
            cn_json_object(json);
            for (uint32_t i = 0; i < value->list.count; i++) {
                cn_text_clear(&key);
                cn_trace_value_print(trace, &items[2 * i], &key);
                cn_json_key(json, cn_text_str(&key));
                add_value(json, trace, &items[2 * i + 1], true, depth + 1);
            }
            cn_json_end(json);
            break;
        }
        __attribute__((fallthrough));
    case CN_VALUE_LIST:
        cn_json_array(json);
        for (uint32_t i = 0;
             i < value->list.count * (value->kind == CN_VALUE_MAP ? 2 : 1); i++)
            add_value(json, trace, &items[i], is_typed, depth + 1);
        cn_json_end(json);
        break;
    }
    cn_text_done(&key);
}

void cn_json_trace_value(struct cn_json *json, const struct cn_trace *trace,
                         const struct cn_trace_value *value, bool is_typed)
{
    add_value(json, trace, value, is_typed, 0);
}

void cn_json_word(struct cn_json *json, const struct cn_words *words, uint32_t word)
{
    struct cn_text text = {0};

    if (word == 0) {
        cn_json_null(json);
        return;
    }
    cn_words_print(words, word, &text);
    cn_json_str(json, cn_text_str(&text));
    cn_text_done(&text);
}

void cn_json_add_word(struct cn_json *json, const char *key, const struct cn_words *words,
                      uint32_t word)
{
    cn_json_key(json, key);
    cn_json_word(json, words, word);
}

void cn_json_add_method(struct cn_json *json, const char *key,
                        const struct cn_words *words, uint32_t method)
{
    struct cn_text name = {0};

    cn_words_print_method_name(words, method, &name);
    cn_json_add_str(json, key, cn_text_str(&name));
    cn_text_done(&name);
}

void cn_json_add_span_id(struct cn_json *json, const char *key, uint64_t id)
{
    char digits[17];

    (void)snprintf(digits, sizeof(digits), "%016" PRIx64, id);
    cn_json_add_str(json, key, id == 0 ? NULL : digits);
}

void cn_json_add_trace_id(struct cn_json *json, const char *key, uint64_t high,
                          uint64_t low)
{
    char digits[33];

    (void)snprintf(digits, sizeof(digits), "%016" PRIx64 "%016" PRIx64, high, low);
    cn_json_add_str(json, key, digits);
}

void cn_json_exceptions(struct cn_json *json, const struct cn_words *words,
                        uint32_t exception)
{
    cn_json_array(json);
    /* A cause has a lower number than the exception it caused, so this ends. */
    for (uint32_t e = exception; e != 0 && cn_word_kind(words, e) == CN_WORD_EXCEPTION;
         e = cn_word_part(words, e, 3)) {
        uint32_t stack = cn_word_part(words, e, 2);

        cn_json_object(json);
        cn_json_add_word(json, "class", words, cn_word_part(words, e, 0));
        cn_json_add_word(json, "message", words, cn_word_part(words, e, 1));
        cn_json_add_array(json, "stack");
        for (size_t i = 0; stack != 0 && i < cn_word_part_count(words, stack); i++)
            cn_json_word(json, words, cn_word_part(words, stack, i));
        cn_json_end(json);
        cn_json_end(json);
    }
    cn_json_end(json);
}
