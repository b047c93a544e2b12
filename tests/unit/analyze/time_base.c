/* What the times of databases are. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/recorder_cost.h"
#include "analyze/time_base.h"
#include "analyze/waits.h"
#include "base/text.h"
#include "model/contexts/memory.h"

enum { METRIC_MAX = 5 };

static struct cn_database *make(const char *const *metrics, struct cn_hook_cost cost)
{
    struct cn_memory_database *m;
    struct cn_text text = {0};

    cn_recorder_cost_print(&text, cost);
    m = cn_memory_database_new("t", cn_text_str(&text));
    cn_text_done(&text);
    cn_memory_database_add_usual_scopes(m);
    for (size_t i = 0; i < METRIC_MAX && metrics[i]; i++)
        (void)cn_memory_database_add_usual_metric(m, metrics[i]);
    return cn_memory_database_finish(m);
}

static void names_the_base_of_metrics(void **state)
{
    static const char *const by_state[METRIC_MAX] = {
        CN_TIME_NAME, CN_CPU_TIME_NAME, CN_BLOCKED_TIME_NAME, CN_PREEMPTED_TIME_NAME,
        CN_CALLS_NAME};
    static const struct cn_hook_cost cost = {50000, 21900}, no_cost = {0};
    static const struct {
        const char *metrics[METRIC_MAX];
        struct cn_hook_cost cost;
        const char *metric, *name; /* NULL: it is no time */
        const char *timeline;
    } cases[] = {
        {{NULL},
         cost,
         CN_CPU_TIME_NAME,
         "corrected running time",
         "recorded running time"},
        {{NULL},
         cost,
         CN_TIME_NAME,
         "corrected time with waiting",
         "recorded running time"},
        {{NULL},
         cost,
         CN_BLOCKED_TIME_NAME,
         "corrected waiting time",
         "recorded running time"},
        {{NULL}, cost, CN_CALLS_NAME, NULL, "recorded running time"},
        {{NULL},
         no_cost,
         CN_CPU_TIME_NAME,
         "recorded running time",
         "recorded running time"},
        {{CN_TIME_NAME, CN_CALLS_NAME},
         no_cost,
         CN_TIME_NAME,
         "recorded time with waiting",
         "recorded time with waiting"},
        {{CN_TIME_NAME, CN_CALLS_NAME},
         cost,
         CN_TIME_NAME,
         "corrected time with waiting",
         "recorded time with waiting"},
        {{"CPUTIME (sec)"}, no_cost, "CPUTIME (sec)", "measured time", "measured time"},
        {{"cycles"}, no_cost, "cycles", NULL, "measured time"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_database *db =
            make(cases[i].metrics[0] ? cases[i].metrics : by_state, cases[i].cost);
        struct cn_time_base base;

        if (cn_time_base_of(db, cases[i].metric, &base))
            assert_string_equal(cn_time_base_name(base), cases[i].name);
        else
            assert_null(cases[i].name);
        assert_string_equal(cn_time_base_name(cn_time_base_of_timeline(db)),
                            cases[i].timeline);
        assert_int_equal(cn_time_resolution_ns(db), cases[i].cost.inner_ps / 1000);
        cn_database_close(db);
    }
}

static void calls_of_a_raw_query_are_as_recorded(void **state)
{
    struct cn_recording rec = {.call_cost = {40000, 20000},
                               .libcall_cost = {50000, 23900}};

    (void)state;
    assert_string_equal(cn_time_base_name(cn_time_base_of_calls(&rec, false)),
                        "corrected time with waiting");
    assert_string_equal(cn_time_base_name(cn_time_base_of_calls(&rec, true)),
                        "recorded time with waiting");
    assert_int_equal(cn_time_resolution_of_calls(&rec, false), 23);
    assert_int_equal(cn_time_resolution_of_calls(&rec, true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_the_base_of_metrics),
        cmocka_unit_test(calls_of_a_raw_query_are_as_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
