/* A task followed call by call: where it is, and when it goes elsewhere. */

#include "analyze/cct/task.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/fake_recording.h"

/* Something happens between sched-out and sched-in: the task still does not run. */
static void events_while_it_does_not_run_are_no_samples(void **state)
{
    static const char *const names[] = {"main", "work", NULL};
    static const struct cn_call calls[] = {
        CN_FAKE_ENTER(100, 0, 0),
        CN_FAKE_ENTER(110, 1, 1),
        CN_FAKE_EVENT(120, CN_EVENT_SCHED_OUT),
        CN_FAKE_EVENT(130, CN_EVENT_WATCH_CPU),
        CN_FAKE_EVENT(140, CN_EVENT_SCHED_IN),
        CN_FAKE_EXIT(150, 1, 1),
        CN_FAKE_EXIT(160, 0, 0),
    };
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_call_query query;
    struct cn_cct_task task;
    struct cn_error err;

    (void)state;
    cn_fake_recording_init(&fake, names);
    cn_fake_recording_add(&fake, calls, sizeof(calls) / sizeof(*calls));
    cn_call_filter_init(&filter, &fake.rec);
    filter.depth = UINT32_MAX;
    cn_call_filter_ready(&filter);
    query =
        (struct cn_call_query){&fake.rec, &filter, cn_time_always, NULL, 0, false, NULL};
    cn_cct_task_init(&task, &(struct cn_cct_task_options){.query = &query});
    assert_true(cn_cct_task_count(&task, NULL, NULL, false, &err));
    assert_int_equal(task.record_count, 7);
    assert_int_equal(task.sample_count, 6);
    cn_cct_task_done(&task);
    cn_call_filter_done(&filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_while_it_does_not_run_are_no_samples),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
