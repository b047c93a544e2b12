#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/run/progress.h"
#include "base/text.h"
#include "cli/print/terminal.h"
#include "cli/shell/args.h"
#include "cli/shell/command.h"
#include "cli/shell/pager.h"
#include "cli/shell/progress.h"

static const uint64_t SECOND_NS = UINT64_C(1000000000);

static const struct cn_command work = {.name = "work"};

static void assert_bar(const struct cn_bar *bar, uint64_t elapsed_ns, size_t columns,
                       const char *expected)
{
    struct cn_text text = {0};

    cn_bar_print(&text, bar, elapsed_ns, columns);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void draws_what_share_rate_and_time_left(void **state)
{
    struct cn_bar bar = {.what = "reading", .unit = "values", .done = 500, .total = 2000};

    (void)state;
    assert_bar(&bar, 2 * SECOND_NS, 100,
               "reading  [######------------------]  25%  500 of 2.00 k values  250/s  "
               "0:06 left");
    bar.done = 2000;
    assert_bar(&bar, 2 * SECOND_NS, 100,
               "reading  [########################] 100%  2.00 k of 2.00 k values  "
               "1.00 k/s  0:00 left");
    bar.done = 1;
    bar.total = 10000000;
    assert_bar(&bar, SECOND_NS / 1000, 100,
               "reading  [------------------------]   0%  1 of 10.0 M values  1.00 k/s  "
               "2:46:39 left");
}

static void fits_the_terminal(void **state)
{
    struct cn_bar bar = {.what = "reading", .unit = "values", .done = 1, .total = 2};

    (void)state;
    assert_bar(&bar, SECOND_NS, 55,
               "reading  [####----]  50%  1 of 2 values  1/s  0:01 left");
    assert_bar(&bar, SECOND_NS, 54, "reading  50%  1 of 2 values  1/s  0:01 left");
    assert_bar(&bar, SECOND_NS, 12, "reading  50%");
}

static void draws_no_share_of_an_unknown_total(void **state)
{
    struct cn_bar bar = {.what = "reading", .unit = "bytes", .done = 999600};

    (void)state;
    assert_bar(&bar, SECOND_NS, 100, "reading  1.00 M bytes  1.00 M/s");
    bar.done = 5;
    bar.total = 3;
    assert_bar(&bar, 0, 100, "reading  5 bytes  0/s");
}

static void sums_up_finished_work(void **state)
{
    struct cn_bar bar = {
        .what = "reading", .unit = "values", .done = 3000, .total = 3000};
    struct cn_text text = {0};

    (void)state;
    cn_bar_print_finished(&text, &bar, SECOND_NS * 3 / 2);
    assert_string_equal(cn_text_str(&text), "reading: 3000 values in 1.50 s, 2.00 k/s");
    cn_text_done(&text);
}

static void stops_the_work_on_a_signal(void **state)
{
    struct cn_error err = {0};
    struct sigaction action;
    struct cn_args args;
    struct cn_bar bar;

    (void)state;
    assert_true(cn_args_parse(&args, &work, 0, NULL, &err));
    cn_bar_begin(&bar, &args);
    assert_true(cn_progress_report(&bar.progress, "reading", 1, 9, "values", &err));
    assert_int_equal(cn_bar_signal(), 0);
    assert_int_equal(raise(SIGTERM), 0);
    assert_false(cn_progress_report(&bar.progress, "reading", 2, 9, "values", &err));
    assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
    assert_int_equal(cn_bar_signal(), SIGTERM);
    /* The next one kills. */
    assert_int_equal(sigaction(SIGTERM, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_DFL);
    cn_bar_end(&bar);
    cn_args_done(&args);
}

static void leaves_ignored_signals_alone(void **state)
{
    struct cn_error err = {0};
    struct sigaction action;
    struct cn_args args;
    struct cn_bar bar;

    (void)state;
    assert_true(cn_args_parse(&args, &work, 0, NULL, &err));
    assert_true(signal(SIGINT, SIG_IGN) != SIG_ERR);
    cn_bar_begin(&bar, &args);
    assert_int_equal(sigaction(SIGINT, NULL, &action), 0);
    assert_true(action.sa_handler == SIG_IGN);
    cn_bar_end(&bar);
    assert_true(signal(SIGINT, SIG_DFL) == SIG_IGN);
    cn_args_done(&args);
}

static void decides_about_colour(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("NO_COLOR"), 0);
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    assert_true(cn_color_decide(NULL, true));
    assert_true(cn_color_decide("auto", true));
    assert_false(cn_color_decide("auto", false));
    assert_true(cn_color_decide("always", false));
    assert_false(cn_color_decide("never", true));
    assert_int_equal(setenv("TERM", "dumb", 1), 0);
    assert_false(cn_color_decide("auto", true));
    assert_int_equal(setenv("TERM", "xterm", 1), 0);
    assert_int_equal(setenv("NO_COLOR", "", 1), 0);
    assert_true(cn_color_decide("auto", true));
    assert_int_equal(setenv("NO_COLOR", "1", 1), 0);
    assert_false(cn_color_decide("auto", true));
    assert_true(cn_color_decide("always", true));
}

static void chooses_the_pager(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("CAIRN_PAGER"), 0);
    assert_int_equal(unsetenv("PAGER"), 0);
    assert_string_equal(cn_pager_command(), "less");
    assert_int_equal(setenv("PAGER", "more", 1), 0);
    assert_string_equal(cn_pager_command(), "more");
    assert_int_equal(setenv("CAIRN_PAGER", " less -S", 1), 0);
    assert_string_equal(cn_pager_command(), "less -S");
    assert_int_equal(setenv("CAIRN_PAGER", "cat", 1), 0);
    assert_null(cn_pager_command());
    assert_int_equal(setenv("CAIRN_PAGER", "", 1), 0);
    assert_null(cn_pager_command());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_what_share_rate_and_time_left),
        cmocka_unit_test(fits_the_terminal),
        cmocka_unit_test(draws_no_share_of_an_unknown_total),
        cmocka_unit_test(sums_up_finished_work),
        cmocka_unit_test(stops_the_work_on_a_signal),
        cmocka_unit_test(leaves_ignored_signals_alone),
        cmocka_unit_test(decides_about_colour),
        cmocka_unit_test(chooses_the_pager),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
