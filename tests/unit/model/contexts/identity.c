/* Identity tuples: printing them, and selecting threads by them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/contexts/identity.h"

static const char *const names[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
static const struct cn_kinds kinds = {names, 4};

static const struct cn_identity_tuple tuple = {
    .count = 3,
    .ids =
        {
            {.kind = 1, .is_physical = true, .logical = 0, .physical = 0x7f0101},
            {.kind = 2, .logical = 3, .physical = 3},
            {.kind = 3, .logical = 12, .physical = 12},
        },
};

static bool matches(const char *text, uint32_t index)
{
    struct cn_thread_filter filter;
    struct cn_error err = {0};
    bool result;

    if (!cn_thread_filter_parse(&filter, text, &kinds, &err))
        fail_msg("%s", err.text);
    result = cn_thread_filter_matches(&filter, index, &tuple);
    cn_thread_filter_done(&filter);
    return result;
}

static void check_refused(const char *text, const char *expected)
{
    struct cn_thread_filter filter;
    struct cn_error err = {0};

    assert_false(cn_thread_filter_parse(&filter, text, &kinds, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, expected);
}

static void prints_kinds_and_numbers(void **state)
{
    struct cn_text text = {0};
    const struct cn_identity_tuple odd = {.count = 1, .ids = {{.kind = 9, .logical = 1}}};

    (void)state;
    cn_identity_print(&tuple, &kinds, &text);
    assert_string_equal(cn_text_str(&text), "NODE 0x7f0101 RANK 3 THREAD 12");
    cn_text_clear(&text);
    cn_identity_print(&odd, &kinds, &text);
    assert_string_equal(cn_text_str(&text), "KIND9 1");
    cn_text_done(&text);
}

static void selects_by_kind(void **state)
{
    (void)state;
    assert_true(matches("RANK 3", 0));
    assert_true(matches("rank 0-3,7 THREAD 12", 0));
    assert_true(matches("RANK=0-3 thread=12", 0));
    assert_true(matches("RANK = 1, 2 , 3", 0));
    assert_true(matches("NODE 0x7f0101", 0));
    assert_true(matches("NODE 0", 0));
    assert_false(matches("NODE 1", 0));
    assert_false(matches("RANK 4-9", 0));
    assert_false(matches("RANK 3 THREAD 0", 0));
    assert_false(matches("SUMMARY 0", 0));
}

static void selects_by_profile_index(void **state)
{
    (void)state;
    assert_true(matches("5-8", 6));
    assert_false(matches("5-8", 9));
    assert_true(matches("1,0x10", 16));
    assert_true(matches("6 RANK 3", 6));
    assert_false(matches("6 RANK 3", 7));
}

static void names_what_it_refuses(void **state)
{
    (void)state;
    check_refused("", "thread selection '': the selection of threads is empty");
    check_refused("FOO 1", "thread selection 'FOO 1': unknown kind of thread id 'FOO'; "
                           "there are: SUMMARY, NODE, RANK, THREAD");
    check_refused("RANK", "thread selection 'RANK': no number after 'RANK'");
    check_refused("RANK x", "thread selection 'RANK x': "
                            "'x' is not a number or a range of numbers");
    check_refused("RANK 3-1",
                  "thread selection 'RANK 3-1': range '3-1' ends before it begins");
    check_refused("RANK 1-", "thread selection 'RANK 1-': "
                             "'' is not a number or a range of numbers");
    check_refused("RANK 1a", "thread selection 'RANK 1a': "
                             "'1a' is not a number or a range of numbers");
    check_refused("RANK 99999999999999999999",
                  "thread selection 'RANK 99999999999999999999': "
                  "number '99999999999999999999' is too large");
    check_refused("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17",
                  "thread selection '1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17': "
                  "more than 16 terms select threads");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_kinds_and_numbers),
        cmocka_unit_test(selects_by_kind),
        cmocka_unit_test(selects_by_profile_index),
        cmocka_unit_test(names_what_it_refuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
