#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/bytes/json.h"

static void expect(struct cn_text *text, const char *want)
{
    assert_string_equal(cn_text_str(text), want);
    cn_text_done(text);
}

static void an_array_holds_one_item_a_line(void **state)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    cn_json_array(&json);
    for (uint64_t i = 1; i <= 2; i++) {
        cn_json_object(&json);
        cn_json_key(&json, "calls");
        cn_json_u64(&json, i);
        cn_json_key(&json, "ok");
        cn_json_bool(&json, i == 1);
        cn_json_end(&json);
    }
    cn_json_end(&json);
    expect(&text, "[\n{\"calls\": 1,\"ok\": true},\n{\"calls\": 2,\"ok\": false}\n]\n");
}

static void empty_ones_stay_on_one_line(void **state)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    cn_json_array(&json);
    cn_json_end(&json);
    cn_json_object(&json);
    cn_json_end(&json);
    expect(&text, "[]\n{}\n");
}

static void levels_nest(void **state)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    cn_json_object(&json);
    cn_json_key(&json, "a");
    cn_json_array(&json);
    cn_json_array(&json);
    cn_json_end(&json);
    cn_json_u64(&json, 1);
    cn_json_null(&json);
    cn_json_end(&json);
    cn_json_key(&json, "b");
    cn_json_str(&json, "c");
    cn_json_end(&json);
    expect(&text, "{\n\"a\": [[],1,null],\n\"b\": \"c\"\n}\n");
}

static void reaches_the_depth_it_promises(void **state)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    for (int i = 0; i < CN_JSON_DEPTH_MAX; i++)
        cn_json_array(&json);
    for (int i = 0; i < CN_JSON_DEPTH_MAX; i++)
        cn_json_end(&json);
    assert_int_equal(json.depth, 0);
    cn_text_done(&text);
}

static void strings_are_quoted(void **state)
{
    static const char *const cases[][2] = {
        {"plain", "\"plain\""},
        {"say \"hi\" \\", "\"say \\\"hi\\\" \\\\\""},
        {"a\nb\x1b\x7f", "\"a\\u000ab\\u001b\\u007f\""},
        {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
        {"\xff!", "\"\xef\xbf\xbd!\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
        {"", "\"\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_text text = {0};
        struct cn_json json = {.text = &text};

        cn_json_str(&json, cases[i][0]);
        expect(&text, cases[i][1]);
    }
}

static void members_begin_with_their_keys(void **state)
{
    static const char *const names[] = {"x", "y"};
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    cn_json_object(&json);
    cn_json_add_object(&json, "o");
    cn_json_add_array(&json, "a");
    cn_json_u64(&json, 1);
    cn_json_end(&json);
    cn_json_end(&json);
    cn_json_add_strs(&json, "s", names, 2);
    cn_json_end(&json);
    expect(&text, "{\n\"o\": {\"a\": [1]},\n\"s\": [\"x\",\"y\"]\n}\n");
}

static void keys_are_quoted_too(void **state)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    cn_json_object(&json);
    cn_json_key(&json, "a\"b");
    cn_json_null(&json);
    cn_json_end(&json);
    expect(&text, "{\n\"a\\\"b\": null\n}\n");
}

static void numbers_are_short_and_read_back_the_same(void **state)
{
    static const double values[] = {0, -0.0, 1, 0.1, 1.0 / 3, 1e300, 5e-324, -2.5, 1e15};

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct cn_text text = {0};
        struct cn_json json = {.text = &text};

        cn_json_f64(&json, values[i]);
        assert_true(strtod(cn_text_str(&text), NULL) == values[i]);
        assert_true(text.len <= 24);
        cn_text_done(&text);
    }
}

/* The fewest digits of 15 to 17 that mean the same. */
static void expect_shortest(double value)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};
    char digits[40];

    for (int precision = 15; precision <= 17; precision++) {
        (void)snprintf(digits, sizeof(digits), "%.*g", precision, value);
        if (strtod(digits, NULL) == value)
            break;
    }
    cn_json_f64(&json, value);
    expect(&text, digits);
}

static void nanoseconds_in_seconds_are_printed_as_any_number(void **state)
{
    static const double edges[] = {
        1e-4,     1e-9,     0.00009999,       999999.999999999,
        999999.5, 1e6,      1000000.25,       0.5,
        123,      1.0 / 64, 0.1 + 0.2,        249.995998276,
        -0.25,    100000,   123456.000000001, 99999.99999999999};
    uint64_t random = 1;

    (void)state;
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
        expect_shortest(edges[i]);
        expect_shortest(nextafter(edges[i], INFINITY));
        expect_shortest(nextafter(edges[i], 0));
    }
    for (unsigned i = 0; i < 20000; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
        expect_shortest((double)(random >> 14 >> i % 48) / 1e9);
        expect_shortest((double)(random >> 14 >> i % 48) * 1e-9);
    }
}

static void a_tenth_is_not_drawn_out(void **state)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    cn_json_f64(&json, 0.1);
    expect(&text, "0.1");
}

static void what_is_not_a_number_is_null(void **state)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    cn_json_array(&json);
    cn_json_f64(&json, (double)NAN);
    cn_json_f64(&json, (double)INFINITY);
    cn_json_f64(&json, -(double)INFINITY);
    cn_json_end(&json);
    expect(&text, "[\nnull,\nnull,\nnull\n]\n");
}

static void the_text_may_be_emptied_between_items(void **state)
{
    struct cn_text text = {0};
    struct cn_json json = {.text = &text};

    (void)state;
    cn_json_array(&json);
    cn_json_u64(&json, UINT64_MAX);
    cn_text_clear(&text);
    cn_json_u64(&json, 2);
    assert_string_equal(cn_text_str(&text), ",\n2");
    cn_json_end(&json);
    expect(&text, ",\n2\n]\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_holds_one_item_a_line),
        cmocka_unit_test(empty_ones_stay_on_one_line),
        cmocka_unit_test(levels_nest),
        cmocka_unit_test(reaches_the_depth_it_promises),
        cmocka_unit_test(strings_are_quoted),
        cmocka_unit_test(members_begin_with_their_keys),
        cmocka_unit_test(keys_are_quoted_too),
        cmocka_unit_test(numbers_are_short_and_read_back_the_same),
        cmocka_unit_test(nanoseconds_in_seconds_are_printed_as_any_number),
        cmocka_unit_test(a_tenth_is_not_drawn_out),
        cmocka_unit_test(what_is_not_a_number_is_null),
        cmocka_unit_test(the_text_may_be_emptied_between_items),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
