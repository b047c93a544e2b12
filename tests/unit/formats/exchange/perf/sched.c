/* Where threads ran and which woke which, from tracepoints and from samples. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/exchange/perf/perf.h"
#include "formats/exchange/perf/sched.h"
#include "model/contexts/database.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"
#include "support/imported.h"
#include "support/perf_inputs.h"

static struct cn_database *opened(bool has_switches)
{
    size_t len;
    uint8_t *bytes = cn_test_perf_processors(has_switches, &len);
    struct cn_database *db = cn_imported(cn_perf_read, (struct cn_bytes){bytes, len});

    free(bytes);
    return db;
}

static void check_runs(const struct cn_thread_runs *runs,
                       const struct cn_thread_run *wanted, size_t count)
{
    assert_int_equal(runs->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(runs->list[i].begin_ns, wanted[i].begin_ns);
        assert_int_equal(runs->list[i].end_ns, wanted[i].end_ns);
        assert_int_equal(runs->list[i].processor, wanted[i].processor);
    }
}

/* A sample says that its thread ran for a tick; a few ns more between two are no gap. */
static void a_clock_shows_where_threads_ran(void **state)
{
    static const struct cn_thread_run first[] = {{1000, 3100, 0}, {8000, 9000, 1}},
                                      second[] = {{1500, 2500, 1}};
    struct cn_database *db = opened(false);

    (void)state;
    assert_null(db->states); /* the switches of one thread are not all */
    check_runs(&db->runs[1], first, 2);
    check_runs(&db->runs[2], second, 1);
    cn_database_close(db);
}

static void switches_of_all_threads_show_it_exactly(void **state)
{
    static const struct cn_thread_run first[] = {{2000, 3300, 0}, {3400, 3500, 0}},
                                      second[] = {{2500, 3300, 1},
                                                  {3300, 3400, 0},
                                                  {3500, 9000, 0}};
    static const enum cn_task_state states[] = {CN_TASK_RUNNING, CN_TASK_BLOCKED,
                                                CN_TASK_RUNNING, CN_TASK_PREEMPTED,
                                                CN_TASK_RUNNING, CN_TASK_UNKNOWN};
    struct cn_database *db = opened(true);

    (void)state;
    check_runs(&db->runs[1], first, 2);
    check_runs(&db->runs[2], second, 3);
    assert_int_equal(db->states[1].count, sizeof(states) / sizeof(*states));
    for (size_t i = 0; i < db->states[1].count; i++)
        assert_int_equal(db->states[1].list[i].state, states[i]);
    cn_database_close(db);
}

static void a_wake_up_leads_from_one_thread_to_another(void **state)
{
    struct cn_database *db = opened(false);

    (void)state;
    assert_int_equal(db->wakeups.count, 1);
    assert_int_equal(db->wakeups.list[0].time_ns, 3200);
    assert_int_equal(db->wakeups.list[0].from, 1);
    assert_int_equal(db->wakeups.list[0].to, 2);
    assert_int_equal(db->wakeups.list[0].source, CN_WOKEN_BY_THREAD);
    cn_database_close(db);
}

/* With switches, a wait has the context of the switch, and a wake-up that of its sample; the sample
 * itself is no part of the timeline, but a value of the thread that ran. */
static void a_wake_up_has_the_context_in_which_it_happened(void **state)
{
    struct cn_database *db = opened(true);
    struct cn_timeline timeline;
    struct cn_error err = {0};
    struct cn_sample sample;

    (void)state;
    assert_int_equal(db->wakeups.count, 1);
    assert_int_not_equal(db->wakeups.list[0].context, 0);
    assert_int_equal(db->states[1].list[1].state, CN_TASK_BLOCKED);
    assert_int_not_equal(db->states[1].list[1].context, 0);
    assert_int_equal(db->states[1].list[0].context, 0);
    assert_true(cn_timeline_open(db, 1, &timeline, &err));
    for (uint64_t i = 0; i < timeline.count; i++) {
        assert_true(cn_timeline_read(db, &timeline, i, 1, &sample, &err));
        assert_int_not_equal(sample.time_ns, 3200);
    }
    cn_database_close(db);
}

static void fields_that_are_cut_or_of_another_layout_are_refused(void **state)
{
    uint8_t raw[64] = {0};
    struct cn_perf_sched sched;

    (void)state;
    raw[4] = 7;
    raw[24] = 7;
    for (size_t len = 0; len < 64; len++)
        assert_false(cn_perf_sched_decode(CN_PERF_SCHED_SWITCH,
                                          (struct cn_bytes){raw, len}, &sched));
    assert_true(
        cn_perf_sched_decode(CN_PERF_SCHED_SWITCH, (struct cn_bytes){raw, 64}, &sched));
    raw[24] = 8; /* another thread than the one in which it happened */
    assert_false(
        cn_perf_sched_decode(CN_PERF_SCHED_SWITCH, (struct cn_bytes){raw, 64}, &sched));
    assert_true(
        cn_perf_sched_decode(CN_PERF_SCHED_WAKE, (struct cn_bytes){raw, 36}, &sched));
    assert_int_equal(sched.to, 8);
    assert_false(sched.is_from_interrupt);
    raw[2] = 0x08;
    assert_true(
        cn_perf_sched_decode(CN_PERF_SCHED_WAKE, (struct cn_bytes){raw, 36}, &sched));
    assert_true(sched.is_from_interrupt);
    assert_true(sched.is_from_hardware);
    raw[2] = 0x10;
    assert_true(
        cn_perf_sched_decode(CN_PERF_SCHED_WAKE, (struct cn_bytes){raw, 36}, &sched));
    assert_true(sched.is_from_interrupt);
    assert_false(sched.is_from_hardware);
    for (size_t i = 8; i < 24; i++)
        raw[i] = 'x'; /* a name without an end */
    assert_false(
        cn_perf_sched_decode(CN_PERF_SCHED_WAKE, (struct cn_bytes){raw, 36}, &sched));
    assert_int_equal(cn_perf_sched_named("sched:sched_wakeup"), CN_PERF_NOT_SCHED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clock_shows_where_threads_ran),
        cmocka_unit_test(switches_of_all_threads_show_it_exactly),
        cmocka_unit_test(a_wake_up_leads_from_one_thread_to_another),
        cmocka_unit_test(a_wake_up_has_the_context_in_which_it_happened),
        cmocka_unit_test(fields_that_are_cut_or_of_another_layout_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
