#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/name_filter.h"
#include "model/contexts/memory.h"
#include "model/labels/context.h"

enum { NAMED, ANONYMOUS, ANONYMOUS_IN_FILE, ANONYMOUS_NOWHERE };

static int set_up(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("labels", "");
    uint32_t module = cn_memory_database_add_module(m, "/usr/lib/libm.so.6");
    uint32_t file = cn_memory_database_add_file(m, "src/a.c", false);
    const struct cn_function functions[] = {
        [NAMED] = {"solve", module, 0x10, file, 3},
        [ANONYMOUS] = {"", module, 0xab, CN_NONE, 0},
        [ANONYMOUS_IN_FILE] = {"", module, 0xcd, file, 7},
        [ANONYMOUS_NOWHERE] = {"", CN_NONE, 0xef, CN_NONE, 0},
    };

    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
        (void)cn_memory_database_add_function(m, functions[i]);
    *state = cn_memory_database_finish(m);
    return 0;
}

static int tear_down(void **state)
{
    cn_database_close(*state);
    return 0;
}

static void expect(struct cn_database *db, struct cn_context context, const char *label)
{
    struct cn_text text = {0};
    struct cn_error err = {0};

    assert_true(cn_label_context(db, &context, &text, &err));
    assert_string_equal(cn_text_str(&text), label);
    cn_text_done(&text);
}

static struct cn_context function(uint32_t number)
{
    return (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                               .relation = CN_CALL,
                               .has_function = true,
                               .function = number};
}

static void functions_have_names(void **state)
{
    struct cn_context inlined = function(NAMED);

    inlined.relation = CN_INLINED_CALL;
    expect(*state, function(NAMED), "solve");
    expect(*state, inlined, "solve (inlined)");
    expect(*state, (struct cn_context){.kind = CN_CONTEXT_FUNCTION, .relation = CN_CALL},
           "<unknown function>");
}

static void anonymous_functions_say_where_they_are(void **state)
{
    expect(*state, function(ANONYMOUS), "<anonymous at libm.so.6+0xab>");
    expect(*state, function(ANONYMOUS_IN_FILE), "<anonymous at a.c:7>");
    expect(*state, function(ANONYMOUS_NOWHERE), "<anonymous at <unknown module>+0xef>");
}

static void places_inside_functions_say_where_they_are(void **state)
{
    struct cn_context place = {.kind = CN_CONTEXT_LOOP, .has_source = true, .line = 12};

    expect(*state, place, "loop at a.c:12");
    place.kind = CN_CONTEXT_LINE;
    expect(*state, place, "a.c:12");
    place.line = 0;
    expect(*state, place, "a.c");
    place.file = CN_NONE;
    expect(*state, place, "<unknown file>");
    place = (struct cn_context){
        .kind = CN_CONTEXT_INSTRUCTION, .has_point = true, .offset = 0x1a2b};
    expect(*state, place, "libm.so.6+0x1a2b");
    place.kind = CN_CONTEXT_LOOP;
    expect(*state, place, "loop at libm.so.6+0x1a2b");
}

static void entry_points_have_names(void **state)
{
    expect(*state,
           (struct cn_context){.kind = CN_CONTEXT_ENTRY, .entry_name = "main thread"},
           "<main thread>");
}

static void unknown_kinds_show_what_they_carry(void **state)
{
    struct cn_context odd = {.id = 77, .kind = 200};

    expect(*state, odd, "<context 77>");
    odd.has_point = true;
    odd.offset = 1;
    expect(*state, odd, "libm.so.6+0x1");
    odd.has_source = true;
    odd.line = 2;
    expect(*state, odd, "a.c:2");
    odd.has_function = true;
    expect(*state, odd, "solve");
    expect(*state, (struct cn_context){.kind = CN_CONTEXT_LINE}, "<unknown place>");
}

static bool add(struct cn_name_filter *filter, const char *pattern, enum cn_match match)
{
    struct cn_error err = {0};

    return cn_name_filter_add(filter, pattern, match, &err);
}

static void a_glob_matches_whole_names(void **state)
{
    struct cn_name_filter filter = {0};

    (void)state;
    assert_true(cn_name_filter_matches(&filter, "anything"));
    assert_true(add(&filter, "solve*", CN_MATCH_GLOB));
    assert_true(cn_name_filter_matches(&filter, "solve"));
    assert_true(cn_name_filter_matches(&filter, "solve_all/of it"));
    assert_false(cn_name_filter_matches(&filter, "resolve"));
    assert_true(add(&filter, "[mn]ain", CN_MATCH_GLOB));
    assert_true(cn_name_filter_matches(&filter, "nain"));
    assert_true(cn_name_filter_matches(&filter, "solve"));
    assert_false(cn_name_filter_matches(&filter, ""));
    cn_name_filter_done(&filter);
}

static void a_regex_matches_anywhere(void **state)
{
    struct cn_name_filter filter = {0};

    (void)state;
    assert_true(add(&filter, "s(o|a)lve", CN_MATCH_REGEX));
    assert_true(cn_name_filter_matches(&filter, "resolve it"));
    assert_false(cn_name_filter_matches(&filter, "silver"));
    assert_true(add(&filter, "^x$", CN_MATCH_REGEX));
    assert_true(cn_name_filter_matches(&filter, "x"));
    assert_false(cn_name_filter_matches(&filter, "xx"));
    cn_name_filter_done(&filter);
}

static void a_bad_regex_is_refused_with_the_reason(void **state)
{
    struct cn_name_filter filter = {0};
    struct cn_error err = {0};

    (void)state;
    assert_false(cn_name_filter_add(&filter, "a(b", CN_MATCH_REGEX, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_non_null(strstr(err.text, "pattern 'a(b': "));
    assert_int_equal(filter.count, 0);
    assert_true(cn_name_filter_matches(&filter, "anything"));
    cn_name_filter_done(&filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_have_names),
        cmocka_unit_test(anonymous_functions_say_where_they_are),
        cmocka_unit_test(places_inside_functions_say_where_they_are),
        cmocka_unit_test(entry_points_have_names),
        cmocka_unit_test(unknown_kinds_show_what_they_carry),
        cmocka_unit_test(a_glob_matches_whole_names),
        cmocka_unit_test(a_regex_matches_anywhere),
        cmocka_unit_test(a_bad_regex_is_refused_with_the_reason),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
