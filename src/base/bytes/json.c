#include "base/bytes/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/utf8.h"

/* One item a line in the outermost array or object keeps the output fit for grep. */
static void before_value(struct cn_json *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0)
        return;
    if (json->has_items[json->depth - 1])
        cn_text_char(json->text, ',');
    if (json->depth == 1)
        cn_text_char(json->text, '\n');
    json->has_items[json->depth - 1] = true;
}

static void open_level(struct cn_json *json, bool is_object)
{
    assert(json->depth < CN_JSON_DEPTH_MAX);
    before_value(json);
    cn_text_char(json->text, is_object ? '{' : '[');
    json->has_items[json->depth] = false;
    json->is_object[json->depth] = is_object;
    json->depth++;
}

void cn_json_object(struct cn_json *json)
{
    open_level(json, true);
}

void cn_json_array(struct cn_json *json)
{
    open_level(json, false);
}

void cn_json_end(struct cn_json *json)
{
    assert(json->depth > 0);
    json->depth--;
    if (json->depth == 0 && json->has_items[0])
        cn_text_char(json->text, '\n');
    cn_text_char(json->text, json->is_object[json->depth] ? '}' : ']');
    if (json->depth == 0)
        cn_text_char(json->text, '\n');
}

/* The length of the beginning that is ASCII and needs no escape. */
static size_t plain_len(const char *str, size_t end)
{
    size_t len = 0;

    while (len < end && (uint8_t)str[len] >= 0x20 && (uint8_t)str[len] < 0x7f &&
           str[len] != '"' && str[len] != '\\')
        len++;
    return len;
}

void cn_json_quote(struct cn_text *text, const char *str)
{
    cn_json_quote_chars(text, str, strlen(str));
}

void cn_json_quote_chars(struct cn_text *text, const char *str, size_t len)
{
    cn_text_char(text, '"');
    while (len > 0) {
        size_t plain = plain_len(str, len), n;

        cn_text_add(text, str, plain);
        str += plain;
        len -= plain;
        if (len == 0)
            break;
        n = cn_utf8_char_len(str, len);
        if (n == 0)
            cn_text_str_add(text, "\xef\xbf\xbd");
        else if (*str == '"' || *str == '\\')
            cn_text_printf(text, "\\%c", *str);
        else if (n == 1 && ((uint8_t)*str < 0x20 || (uint8_t)*str == 0x7f))
            cn_text_printf(text, "\\u%04x", (uint8_t)*str);
        else
            cn_text_add(text, str, n);
        str += n ? n : 1;
        len -= n ? n : 1;
    }
    cn_text_char(text, '"');
}

void cn_json_key(struct cn_json *json, const char *name)
{
    before_value(json);
    cn_json_quote(json->text, name);
    cn_text_str_add(json->text, ": ");
    json->after_key = true;
}

void cn_json_str(struct cn_json *json, const char *value)
{
    before_value(json);
    cn_json_quote(json->text, value);
}

void cn_json_chars(struct cn_json *json, const char *chars, size_t len)
{
    before_value(json);
    cn_json_quote_chars(json->text, chars, len);
}

void cn_json_u64(struct cn_json *json, uint64_t value)
{
    before_value(json);
    cn_text_u64(json->text, value);
}

void cn_json_i64(struct cn_json *json, int64_t value)
{
    before_value(json);
    cn_text_printf(json->text, "%" PRId64, value);
}

/* A number of nanoseconds in seconds, and whole numbers, without a search for the shortest text
 * that means the same: up to 15 digits always do. */
static bool print_decimal(struct cn_text *text, double value)
{
    enum { DECIMALS = 9 };
    static const uint64_t unit = 1000000000;
    char digits[DECIMALS];
    uint64_t scaled, rest;
    size_t len = DECIMALS;

    /* Smaller ones are printed with an exponent, larger ones have more digits. */
    if (!(value >= 1e-4 && value < 1e6))
        return false;
    scaled = (uint64_t)(value * (double)unit + 0.5);
    if ((double)scaled / (double)unit != value)
        return false;
    cn_text_u64(text, scaled / unit);
    rest = scaled % unit;
    for (size_t i = DECIMALS; i-- > 0; rest /= 10)
        digits[i] = (char)('0' + rest % 10);
    while (len > 0 && digits[len - 1] == '0')
        len--;
    if (len > 0)
        cn_text_add(text, ".", 1);
    cn_text_add(text, digits, len);
    return true;
}

void cn_json_number(struct cn_text *text, double value)
{
    char digits[40];

    if (print_decimal(text, value))
        return;
    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    cn_text_str_add(text, digits);
}

void cn_json_f64(struct cn_json *json, double value)
{
    if (!isfinite(value)) {
        cn_json_null(json);
        return;
    }
    before_value(json);
    cn_json_number(json->text, value);
}

void cn_json_bool(struct cn_json *json, bool value)
{
    before_value(json);
    cn_text_str_add(json->text, value ? "true" : "false");
}

void cn_json_null(struct cn_json *json)
{
    before_value(json);
    cn_text_str_add(json->text, "null");
}

void cn_json_raw(struct cn_json *json, const char *chars, size_t len)
{
    before_value(json);
    cn_text_add(json->text, chars, len);
}

void cn_json_add_str(struct cn_json *json, const char *key, const char *value)
{
    cn_json_key(json, key);
    if (value)
        cn_json_str(json, value);
    else
        cn_json_null(json);
}

void cn_json_add_u64(struct cn_json *json, const char *key, uint64_t value)
{
    cn_json_key(json, key);
    cn_json_u64(json, value);
}

void cn_json_add_f64(struct cn_json *json, const char *key, double value)
{
    cn_json_key(json, key);
    cn_json_f64(json, value);
}

void cn_json_add_bool(struct cn_json *json, const char *key, bool value)
{
    cn_json_key(json, key);
    cn_json_bool(json, value);
}

void cn_json_add_object(struct cn_json *json, const char *key)
{
    cn_json_key(json, key);
    cn_json_object(json);
}

void cn_json_add_array(struct cn_json *json, const char *key)
{
    cn_json_key(json, key);
    cn_json_array(json);
}

void cn_json_add_strs(struct cn_json *json, const char *key, const char *const *list,
                      size_t count)
{
    cn_json_add_array(json, key);
    for (size_t i = 0; i < count; i++)
        cn_json_str(json, list[i]);
    cn_json_end(json);
}

void cn_json_id(struct cn_json *json, uint64_t value)
{
    char text[24];

    (void)snprintf(text, sizeof(text), "%" PRIu64, value);
    cn_json_str(json, text);
}

void cn_json_add_id(struct cn_json *json, const char *key, uint64_t value)
{
    cn_json_key(json, key);
    cn_json_id(json, value);
}
