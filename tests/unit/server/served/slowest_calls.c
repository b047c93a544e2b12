/* The slowest calls of a recording: of functions that mostly take less, never waiting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/served/slowest_calls.h"
#include "support/fake_recording.h"

enum { MAIN, WORK, CALLS = 20, LONG = 7, RECORDS = 2 + 4 * CALLS };

/* main() calls work() again and again and waits in it; one call works long and waits long. */
static void record_calls(struct cn_call *calls)
{
    uint64_t time_ns = 10;
    size_t count = 0;

    calls[count++] = (struct cn_call)CN_FAKE_ENTER(time_ns, MAIN, 0);
    for (int i = 0; i < CALLS; i++) {
        uint64_t wait_ns = i == LONG ? 90000 : 100, work_ns = i == LONG ? 5000 : 100;

        calls[count++] = (struct cn_call)CN_FAKE_ENTER(time_ns + 10, WORK, 1);
        calls[count++] = (struct cn_call)CN_FAKE_EVENT(time_ns + 20, CN_EVENT_SCHED_OUT);
        time_ns += 20 + wait_ns;
        calls[count++] = (struct cn_call)CN_FAKE_EVENT(time_ns, CN_EVENT_SCHED_IN);
        time_ns += work_ns;
        calls[count++] = (struct cn_call)CN_FAKE_EXIT(time_ns, WORK, 1);
    }
    calls[count++] = (struct cn_call)CN_FAKE_EXIT(time_ns + 10, MAIN, 0);
}

/* The slowest call, of a recording whose recorder took so long for each call. */
static struct cn_slow_call find_slowest(struct cn_hook_cost cost, bool is_raw)
{
    static const char *const names[] = {"main", "work", NULL};
    struct cn_call calls[RECORDS];
    struct cn_fake_recording fake;
    struct cn_job_group group;
    struct cn_slowest_calls slowest;
    struct cn_slow_call found;
    struct cn_error err = {0};

    record_calls(calls);
    cn_fake_recording_init(&fake, names);
    cn_fake_recording_add(&fake, calls, RECORDS);
    fake.rec.call_cost = cost;
    cn_job_group_init(&group, 1);
    cn_slowest_calls_init(&slowest, &fake.rec, is_raw, &group);
    assert_true(cn_job_finish(&slowest.job, &err));
    assert_int_equal(slowest.count, 1);
    assert_string_equal(slowest.list[0].function, "work");
    assert_int_equal(slowest.list[0].calls, CALLS);
    found = slowest.list[0];
    cn_slowest_calls_done(&slowest);
    cn_job_group_done(&group);
    return found;
}

static void lists_calls_but_no_waiting(void **state)
{
    (void)state;
    assert_int_equal(find_slowest((struct cn_hook_cost){0}, false).duration_ns, 95010);
}

/* Durations are those of the report; what is in time is where it was recorded. */
static void corrects_durations_and_no_beginnings(void **state)
{
    static const struct cn_hook_cost cost = {.call_ps = 8000, .inner_ps = 4000};
    struct cn_slow_call raw = find_slowest(cost, true), found = find_slowest(cost, false);

    (void)state;
    assert_int_equal(raw.duration_ns, 95010);
    assert_int_equal(found.duration_ns, 95010 - 4);
    assert_int_equal(found.begin_ns, raw.begin_ns);
    assert_int_equal(raw.begin_ns, 10 + 7 * 220 + 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_calls_but_no_waiting),
        cmocka_unit_test(corrects_durations_and_no_beginnings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
