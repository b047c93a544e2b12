#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/json_reader.h"

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

/* The kinds of all tokens as letters, keys and values in brackets; "!" and the message
 * where it fails. */
static const char *tokens_of(const char *text, struct cn_text *out)
{
    static const char letters[] = "!.{}[]kstTFN";
    struct cn_json_reader reader = cn_json_read(bytes_of(text));
    struct cn_json_token token;
    struct cn_error err = {0};
    enum cn_json_kind kind;

    cn_text_clear(out);
    do {
        kind = cn_json_next(&reader, &token, &err);
        cn_text_char(out, letters[kind]);
        if (kind == CN_JSON_KEY || kind == CN_JSON_STRING || kind == CN_JSON_NUMBER)
            cn_text_printf(out, "(%.*s)", (int)token.text.len,
                           (const char *)token.text.ptr);
    } while (kind > CN_JSON_END);
    cn_text_str_add(out, err.text);
    cn_json_reader_done(&reader);
    return cn_text_str(out);
}

static void reads_every_kind_of_value(void **state)
{
    struct cn_text out = {0};

    (void)state;
    assert_string_equal(
        tokens_of(" {\"a\" : [1, -2.5e3 , true,false,null,{}, []], \"b\":\"x\"}\n", &out),
        "{k(a)[t(1)t(-2.5e3)TFN{}[]]k(b)s(x)}.");
    assert_string_equal(tokens_of("\"\\u00e4\\ud83d\\ude00\\n\\\"\\ud800\"", &out),
                        "s(\xc3\xa4\xf0\x9f\x98\x80\n\"\xef\xbf\xbd).");
    cn_text_done(&out);
}

static void says_what_is_missing_where(void **state)
{
    static const struct {
        const char *text, *tokens;
    } cases[] = {
        {"", "!JSON ends at 0, where a value should be"},
        {"{\"a\" 1}", "{!JSON at 5: byte 0x31 where ':' should be"},
        {"{1}", "{!JSON at 1: byte 0x31 where a key should be"},
        {"[1 2]", "[t(1)!JSON at 3: byte 0x32 where ',' or an end should be"},
        {"[1,]", "[t(1)!JSON at 3: byte 0x5d where a value should be"},
        {"[1}", "[t(1)!JSON at 2: byte 0x7d where ',' or an end should be"},
        {"[] x", "[]!JSON at 3: byte 0x78 where the end should be"},
        {"\"a\\x\"", "!JSON at 3: byte 0x78 where an escape should be"},
        {"\"abc", "!JSON ends at 4, where the rest of a string should be"},
        {"nul", "!JSON at 0: byte 0x6e where a value should be"},
    };
    struct cn_text out = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_string_equal(tokens_of(cases[i].text, &out), cases[i].tokens);
    cn_text_done(&out);
}

static void refuses_deep_nesting(void **state)
{
    char text[CN_JSON_READ_DEPTH_MAX + 2];
    struct cn_text out = {0};

    (void)state;
    memset(text, '[', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_non_null(strstr(tokens_of(text, &out), "JSON at 64 nests deeper than 64"));
    cn_text_done(&out);
}

static void reads_deep_trees_on_demand(void **state)
{
    enum { LEN = 2 * CN_JSON_TREE_DEPTH_MAX };
    char text[LEN];
    struct cn_json_reader reader;
    struct cn_json_token token;
    struct cn_error err = {0};

    (void)state;
    memset(text, '[', CN_JSON_TREE_DEPTH_MAX);
    memset(text + CN_JSON_TREE_DEPTH_MAX, ']', CN_JSON_TREE_DEPTH_MAX);
    reader = cn_json_read_tree((struct cn_bytes){(const uint8_t *)text, LEN});
    assert_int_equal(cn_json_next(&reader, &token, &err), CN_JSON_ARRAY);
    assert_true(cn_json_skip(&reader, CN_JSON_ARRAY, &err));
    assert_int_equal(cn_json_next(&reader, &token, &err), CN_JSON_END);
    memset(text, '[', LEN);
    reader = cn_json_read_tree((struct cn_bytes){(const uint8_t *)text, LEN});
    assert_int_equal(cn_json_next(&reader, &token, &err), CN_JSON_ARRAY);
    assert_false(cn_json_skip(&reader, CN_JSON_ARRAY, &err));
    assert_string_equal(err.text, "JSON at 4096 nests deeper than 4096");
}

static void skips_whole_values(void **state)
{
    struct cn_json_reader reader = cn_json_read(bytes_of("[{\"a\":[[1],{}]},2]"));
    struct cn_json_token token;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_json_expect(&reader, CN_JSON_ARRAY, "an array", &err));
    assert_int_equal(cn_json_next(&reader, &token, &err), CN_JSON_OBJECT);
    assert_true(cn_json_skip(&reader, CN_JSON_OBJECT, &err));
    assert_int_equal(cn_json_next(&reader, &token, &err), CN_JSON_NUMBER);
    assert_true(cn_json_is(&token, "2"));
    cn_json_reader_done(&reader);
}

struct sum {
    struct cn_json_reader reader;
    uint64_t total, last_off;
};

static bool add_member(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct sum *sum = arg;
    uint64_t value;

    if (cn_json_key_is(member, "n"))
        return cn_json_as_u64(member->token.text, &value)
                   ? (sum->total += value, true)
                   : cn_json_fail(&member->token, "a number", err);
    assert_true(member->kind == CN_JSON_STRING || member->token.text.len == 0);
    return cn_json_skip(&sum->reader, member->kind, err);
}

static bool add_object(void *arg, uint64_t off, struct cn_error *err)
{
    struct sum *sum = arg;

    sum->last_off = off;
    return cn_json_read_object(&sum->reader, add_member, sum, err);
}

static bool add_all(struct sum *sum, const char *text, struct cn_error *err)
{
    bool ok;

    *sum = (struct sum){.reader = cn_json_read(bytes_of(text))};
    ok = cn_json_expect(&sum->reader, CN_JSON_ARRAY, "an array", err) &&
         cn_json_read_objects(&sum->reader, add_object, sum, err);
    cn_json_reader_done(&sum->reader);
    return ok;
}

static void reads_objects_member_by_member(void **state)
{
    struct cn_error err = {0};
    struct sum sum;

    (void)state;
    assert_true(add_all(&sum, "[{\"n\":1,\"s\":\"x\"},{},{\"t\":[{}],\"n\":41}]", &err));
    assert_int_equal(sum.total, 42);
    assert_int_equal(sum.last_off, 20);
    assert_false(add_all(&sum, "[{\"n\":\"soon\"}]", &err));
    assert_string_equal(err.text, "JSON at 6: 'soon' is not a number");
    assert_false(add_all(&sum, "[{\"n\":1},2]", &err));
    assert_string_equal(err.text, "JSON at 9: expected an object");
    assert_false(add_all(&sum, "[{\"n\":1,", &err));
}

static void scales_numbers_exactly(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {{"1794700686399055.809", 1794700686399055809},
                 {"0", 0},
                 {"-1.5", -1500},
                 {"2e3", 2000000},
                 {"1E-3", 1},
                 {"0.0009", 0},
                 {"0.1234567890123456789012345", 123},
                 {"12.5", 12500}};
    int64_t value;
    uint64_t whole;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_true(cn_json_as_scaled(bytes_of(cases[i].text), 3, &value));
        assert_true(value == cases[i].value);
    }
    assert_false(cn_json_as_scaled(bytes_of("9999999999999999999"), 3, &value));
    assert_false(cn_json_as_scaled(bytes_of("1e400"), 3, &value));
    assert_false(cn_json_as_scaled(bytes_of("1.2.3"), 3, &value));
    assert_false(cn_json_as_scaled(bytes_of("-"), 3, &value));
    assert_true(cn_json_as_u64(bytes_of("18446744073709551615"), &whole));
    assert_true(whole == UINT64_MAX);
    assert_false(cn_json_as_u64(bytes_of("18446744073709551616"), &whole));
    assert_false(cn_json_as_u64(bytes_of("-1"), &whole));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_kind_of_value),
        cmocka_unit_test(says_what_is_missing_where),
        cmocka_unit_test(refuses_deep_nesting),
        cmocka_unit_test(reads_deep_trees_on_demand),
        cmocka_unit_test(skips_whole_values),
        cmocka_unit_test(reads_objects_member_by_member),
        cmocka_unit_test(scales_numbers_exactly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
