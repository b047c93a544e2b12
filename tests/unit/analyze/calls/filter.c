/* Filters and triggers: what is shown, and what is refused. */

#include "analyze/calls/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/calls/replay.h"
#include "base/text.h"
#include "support/fake_recording.h"

enum { MAIN, A, B, C };

static const char *const names[] = {"main", "a", "b", "c", NULL};

/* main { a { b { c } b { c } } c } */
static const struct cn_call calls[] = {
    CN_FAKE_ENTER(10, MAIN, 0), CN_FAKE_ENTER(20, A, 1),    CN_FAKE_ENTER(30, B, 2),
    CN_FAKE_ENTER(40, C, 3),    CN_FAKE_EXIT(45, C, 3),     CN_FAKE_EXIT(60, B, 2),
    CN_FAKE_ENTER(70, B, 2),    CN_FAKE_ENTER(72, C, 3),    CN_FAKE_EXIT(73, C, 3),
    CN_FAKE_EXIT(75, B, 2),     CN_FAKE_EXIT(90, A, 1),     CN_FAKE_ENTER(92, C, 1),
    CN_FAKE_EXIT(99, C, 1),     CN_FAKE_EXIT(100, MAIN, 0),
};

/* Lines as "depth name", leaf calls with a ';', ends left out. */
static bool add_line(void *arg, const struct cn_replay_line *line)
{
    struct cn_text *text = arg;

    if (line->kind == CN_REPLAY_OPEN || line->kind == CN_REPLAY_LEAF)
        cn_text_printf(text, "%u%s%s ", line->depth, names[line->function],
                       line->kind == CN_REPLAY_LEAF ? ";" : "");
    if (line->kind == CN_REPLAY_BACKTRACE)
        cn_text_printf(text, "<%s ", names[line->function]);
    return true;
}

static void check_lines(struct cn_call_filter *filter, struct cn_fake_recording *fake,
                        const char *expected)
{
    static const uint32_t tasks[] = {0};
    struct cn_call_query query = {.rec = &fake->rec,
                                  .filter = filter,
                                  .range = cn_time_always,
                                  .tasks = tasks,
                                  .task_count = 1};
    struct cn_replay_options options = {0};
    struct cn_call_replay replay;
    struct cn_text text = {0};
    struct cn_error err;

    cn_call_filter_ready(filter);
    assert_true(cn_call_replay_run(&replay, &query, &options, add_line, &text, &err));
    assert_string_equal(cn_text_str(&text), expected);
    cn_call_replay_done(&replay);
    cn_text_done(&text);
    cn_call_filter_done(filter);
}

static void set_up(struct cn_fake_recording *fake, struct cn_call_filter *filter)
{
    cn_fake_recording_init(fake, names);
    cn_fake_recording_add(fake, calls, sizeof(calls) / sizeof(calls[0]));
    cn_call_filter_init(filter, &fake->rec);
}

static void check(enum cn_filter_kind kind, const char *spec, const char *expected)
{
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_error err;

    set_up(&fake, &filter);
    assert_true(cn_call_filter_add(&filter, kind, spec, CN_MATCH_REGEX, &err));
    check_lines(&filter, &fake, expected);
}

static void shows_what_each_filter_lets_through(void **state)
{
    (void)state;
    check(CN_FILTER_ONLY, "b", "0b 1c; 0b 1c; ");
    check(CN_FILTER_ONLY, "^[ac]$", "0a 1b 2c; 1b 2c; 0c; ");
    check(CN_FILTER_NOT, "b", "0main 1a; 1c; ");
    check(CN_FILTER_HIDE, "b", "0main 1a 2c; 2c; 1c; ");
    check(CN_FILTER_CALLER, "b", "0main 1a 2b; 2b; ");
    check(CN_FILTER_TRIGGER, "a@depth=1", "0main 1a; 1c; ");
    check(CN_FILTER_TRIGGER, "b@time=10ns", "0main 1a 2b; 1c; ");
    check(CN_FILTER_TRIGGER, "b@trace_off", "0main 1a ");
    check(CN_FILTER_TRIGGER, "b@notrace", "0main 1a; 1c; ");
    check(CN_FILTER_TRIGGER, "a@hide,depth=1", "0main 1b; 1b; 1c; ");
    check(CN_FILTER_TRIGGER, "b@backtrace",
          "0main 1a <main <a 2b 3c; <main <a 2b 3c; 1c; ");
}

static void finds_functions_in_modules_only(void **state)
{
    (void)state;
    check(CN_FILTER_ONLY, "b@fake", "0b 1c; 0b 1c; ");
    check(CN_FILTER_HIDE, "b@other", "0main 1a 2b 3c; 2b 3c; 1c; ");
    check(CN_FILTER_HIDE, "b@plt", "0main 1a 2b 3c; 2b 3c; 1c; ");
}

static void shows_calls_that_last(void **state)
{
    struct cn_fake_recording fake;
    struct cn_call_filter filter;

    (void)state;
    set_up(&fake, &filter);
    filter.time_ns = 6;
    check_lines(&filter, &fake, "0main 1a 2b; 1c; ");
    set_up(&fake, &filter);
    filter.time_ns = 1000;
    check_lines(&filter, &fake, "");
}

static void limits_depth_and_size(void **state)
{
    struct cn_fake_recording fake;
    struct cn_call_filter filter;

    (void)state;
    set_up(&fake, &filter);
    filter.depth = 2;
    check_lines(&filter, &fake, "0main 1a; 1c; ");
    set_up(&fake, &filter);
    fake.functions[B].size = 8;
    filter.size_min = 9;
    check_lines(&filter, &fake, "0main 1a 2c; 2c; 1c; ");
}

struct added {
    enum cn_filter_kind kind;
    const char *spec;
};

/* Add several filters, up to one without a spec. */
static void check_all(const struct added *added, bool is_off, uint64_t time_ns,
                      const char *expected)
{
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_error err;

    set_up(&fake, &filter);
    filter.is_off = is_off;
    filter.time_ns = time_ns;
    for (; added->spec; added++)
        assert_true(
            cn_call_filter_add(&filter, added->kind, added->spec, CN_MATCH_REGEX, &err));
    check_lines(&filter, &fake, expected);
}

static void of_filter_and_notrace_the_last_one_counts(void **state)
{
    static const struct added chosen[] = {{CN_FILTER_ONLY, "a"},
                                          {CN_FILTER_NOT, "^[bc]$"},
                                          {CN_FILTER_ONLY, "^[bc]$"},
                                          {0}};
    static const struct added left_out[] = {
        {CN_FILTER_ONLY, "^[abc]$"}, {CN_FILTER_NOT, "b"}, {0}};

    (void)state;
    check_all(chosen, false, 0, "0a 1b 2c; 1b 2c; 0c; ");
    check_all(left_out, false, 0, "0a; 0c; ");
}

static void no_trigger_acts_where_nothing_is_shown(void **state)
{
    static const struct added inside[] = {
        {CN_FILTER_NOT, "b"}, {CN_FILTER_TRIGGER, "c@trace_off"}, {0}};
    static const struct added outside[] = {
        {CN_FILTER_ONLY, "b"}, {CN_FILTER_TRIGGER, "a@trace_on"}, {0}};

    (void)state;
    check_all(inside, false, 0, "0main 1a; ");
    check_all(outside, true, 0, "");
}

static void a_trigger_changes_limits_inside_a_function(void **state)
{
    static const struct added shorter[] = {{CN_FILTER_TRIGGER, "b@time=0"}, {0}};
    static const struct added larger[] = {{CN_FILTER_TRIGGER, "b@size=1000000"}, {0}};
    static const struct added on[] = {{CN_FILTER_TRIGGER, "b@trace_on"}, {0}};

    (void)state;
    check_all(shorter, false, 50, "0main 1a 2b 3c; 2b 3c; ");
    check_all(larger, false, 0, "0main 1a; 1c; ");
    check_all(on, true, 0, "2b 3c; 2b 3c; 1c; ");
}

static void shows_short_calls_that_a_trigger_wants(void **state)
{
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_error err;

    (void)state;
    set_up(&fake, &filter);
    filter.time_ns = 20;
    assert_true(
        cn_call_filter_add(&filter, CN_FILTER_TRIGGER, "c@trace", CN_MATCH_GLOB, &err));
    check_lines(&filter, &fake, "0main 1a 2b 3c; 2b 3c; 1c; ");
}

static void says_what_is_wrong_with_a_trigger(void **state)
{
    static const struct {
        const char *spec, *message;
    } bad[] = {
        {"a", "'a': no action: expected FUNC@ACTION"},
        {"a@depth=x", "'a@depth=x': depth 'x' is not a number up to 65535"},
        {"a@depth=65536", "'a@depth=65536': depth '65536' is not a number up to 65535"},
        {"a@time=5parsecs", "'a@time=5parsecs': 'parsecs' in duration '5parsecs' "
                            "is not one of ns, us, ms, s, m, h, d, w"},
        {"a@if:arg0>1,hide", "'a@if:arg0>1,hide': condition 'arg0>1': no such argument"},
        {"a@if:arg1~1,hide", "'a@if:arg1~1,hide': condition 'arg1~1': expected one of == "
                             "!= < <= > >= &"},
    };
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_error err;

    (void)state;
    set_up(&fake, &filter);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(cn_call_filter_add(&filter, CN_FILTER_TRIGGER, bad[i].spec,
                                        CN_MATCH_REGEX, &err));
        assert_int_equal(err.kind, CN_ERR_USAGE);
        assert_string_equal(err.text, bad[i].message);
    }
    assert_false(cn_call_filter_add(&filter, CN_FILTER_ONLY, "a[", CN_MATCH_REGEX, &err));
    /* Actions of recording are skipped, and named. */
    assert_true(
        cn_call_filter_add(&filter, CN_FILTER_TRIGGER, "a@finish", CN_MATCH_REGEX, &err));
    assert_string_equal(filter.idle, "finish");
    assert_true(cn_call_filter_add(&filter, CN_FILTER_TRIGGER, "a@read=proc/statm,hide",
                                   CN_MATCH_REGEX, &err));
    assert_string_equal(filter.idle, "read=proc/statm");
    assert_true(
        cn_call_filter_add(&filter, CN_FILTER_TRIGGER, "a@hide", CN_MATCH_REGEX, &err));
    assert_null(filter.idle);
    cn_call_filter_done(&filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_what_each_filter_lets_through),
        cmocka_unit_test(finds_functions_in_modules_only),
        cmocka_unit_test(shows_calls_that_last),
        cmocka_unit_test(limits_depth_and_size),
        cmocka_unit_test(of_filter_and_notrace_the_last_one_counts),
        cmocka_unit_test(no_trigger_acts_where_nothing_is_shown),
        cmocka_unit_test(a_trigger_changes_limits_inside_a_function),
        cmocka_unit_test(shows_short_calls_that_a_trigger_wants),
        cmocka_unit_test(says_what_is_wrong_with_a_trigger),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
