/* Which values of a function are recorded: what the launcher and the reader agree about. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "formats/uftrace/text/value_rules.h"

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

static void add(struct cn_uft_value_rules *rules, const char *text, enum cn_match match)
{
    struct cn_error err = {0};

    assert_true(cn_uft_value_rules_add(rules, bytes_of(text), match, &err));
    cn_uft_value_rules_sort(rules);
}

/* The specs of the arguments of a function, joined by commas. */
static const char *specs_of(const struct cn_uft_values *values,
                            struct cn_uft_value_function function)
{
    static char text[256];
    struct cn_arena arena = {0};
    struct cn_uft_enums enums = {0};
    struct cn_uft_spec_parser parser = {8, &arena, &enums};
    struct cn_uft_specs specs = {.count = 0};
    size_t len = 0;

    text[0] = '\0';
    cn_uft_values_find(values, &function, false, &parser, &specs);
    for (size_t i = 0; i < specs.count; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? "," : "",
                                specs.list[i].text);
    cn_uft_enums_done(&enums);
    cn_arena_done(&arena);
    return text;
}

static struct cn_uft_value_function named(const char *name)
{
    return (struct cn_uft_value_function){.name = name, .module = "a.out", .type = 'T'};
}

static void values_are_in_the_order_of_the_rules(void **state)
{
    struct cn_uft_values values = {0};

    (void)state;
    add(&values.requested[0], "a.*@arg3", CN_MATCH_REGEX);
    add(&values.requested[0], "abc@arg2", CN_MATCH_REGEX);
    add(&values.requested[0], "b@arg1", CN_MATCH_REGEX);
    add(&values.requested[0], "abc@arg1", CN_MATCH_REGEX);
    assert_string_equal(specs_of(&values, named("abc")), "arg3,arg2,arg1");
    assert_string_equal(specs_of(&values, named("b")), "arg1");
    assert_string_equal(specs_of(&values, named("c")), "");
    cn_uft_values_done(&values);
}

static void a_name_replaces_what_a_pattern_said(void **state)
{
    struct cn_uft_values values = {0};

    (void)state;
    add(&values.requested[0], "f@arg1/s", CN_MATCH_GLOB);
    add(&values.requested[0], "f*@arg1/x,arg2", CN_MATCH_GLOB);
    assert_string_equal(specs_of(&values, named("f")), "arg1/s,arg2");
    add(&values.requested[0], "f@arg2/p", CN_MATCH_GLOB);
    assert_string_equal(specs_of(&values, named("f")), "arg1/s,arg2/p");
    assert_string_equal(specs_of(&values, named("fg")), "arg1/x,arg2");
    cn_uft_values_done(&values);
}

static void names_are_demangled_and_words_may_name_a_module(void **state)
{
    struct cn_uft_values values = {0};
    struct cn_uft_value_function call = {.name = "f", .module = "a.out", .type = 'P'};

    (void)state;
    add(&values.requested[0], "_ZN3net7receiveEi@arg1", CN_MATCH_REGEX);
    add(&values.requested[0], "f@plt,arg1", CN_MATCH_REGEX);
    add(&values.requested[0], "g@libfoo.so,arg1,depth=1", CN_MATCH_REGEX);
    assert_string_equal(specs_of(&values, named("net::receive")), "arg1");
    assert_string_equal(specs_of(&values, named("f")), "");
    assert_string_equal(specs_of(&values, call), "arg1");
    call.name = "g";
    assert_string_equal(specs_of(&values, call), "");
    call.module = "libfoo.so.1";
    assert_string_equal(specs_of(&values, call), "arg1");
    cn_uft_values_done(&values);
}

static void debug_information_comes_before_well_known_functions(void **state)
{
    struct cn_uft_values values = {.is_automatic = true};
    struct cn_uft_value_function call = {.name = "strlen", .module = "a", .type = 'P'};

    (void)state;
    add(&values.known[0], "strlen@arg1/s", CN_MATCH_NAME);
    add(&values.known[0], "operator+@arg1", CN_MATCH_NAME);
    assert_string_equal(specs_of(&values, call), "arg1/s");
    assert_string_equal(specs_of(&values, named("strlen")), "arg1/s");
    assert_string_equal(specs_of(&values, named("operator+")), "arg1");
    values.knows_libcalls_only = true;
    assert_string_equal(specs_of(&values, call), "arg1/s");
    assert_string_equal(specs_of(&values, named("strlen")), "");
    call.debug[0] = bytes_of("arg1/p,arg2/d32");
    assert_string_equal(specs_of(&values, call), "arg1/p,arg2/d32");
    values.is_automatic = false;
    assert_string_equal(specs_of(&values, call), "");
    add(&values.requested[0], "strlen", CN_MATCH_REGEX);
    assert_string_equal(specs_of(&values, call), "arg1/p,arg2/d32");
    cn_uft_values_done(&values);
}

static void refuses_what_a_reader_would_not_take(void **state)
{
    static const char *const bad[] = {"", "@arg1", "a(@arg1", "(a{100}){100}@arg1"};
    struct cn_uft_values values = {0};
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(cn_uft_value_rules_add(&values.requested[0], bytes_of(bad[i]),
                                            CN_MATCH_REGEX, &err));
    assert_int_equal(values.requested[0].count, 0);
    for (int i = 0; i < 256; i++)
        add(&values.requested[0], "x*@arg1", CN_MATCH_GLOB);
    assert_false(cn_uft_value_rules_add(&values.requested[0], bytes_of("y*@arg1"),
                                        CN_MATCH_GLOB, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    cn_uft_values_done(&values);
    assert_true(cn_uft_specs_check(bytes_of("arg1/s,libc.so"), false, &err));
    assert_false(cn_uft_specs_check(bytes_of("retval"), false, &err));
    assert_false(cn_uft_specs_check(bytes_of("depth=1"), false, &err));
    assert_true(cn_uft_specs_check(bytes_of("retval/s"), true, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_in_the_order_of_the_rules),
        cmocka_unit_test(a_name_replaces_what_a_pattern_said),
        cmocka_unit_test(names_are_demangled_and_words_may_name_a_module),
        cmocka_unit_test(debug_information_comes_before_well_known_functions),
        cmocka_unit_test(refuses_what_a_reader_would_not_take),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
