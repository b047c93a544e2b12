/* What is open in a task, rebuilt from its records. */

#include "analyze/calls/stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/fake_recording.h"

enum { MAIN, F, G, EXECV };

static const char *const names[] = {"main", "f", "g", "execv", NULL};

struct fixture {
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_call_stack stack;
    bool is_on;
};

static void set_up(struct fixture *fixture, bool is_fork)
{
    cn_fake_recording_init(&fixture->fake, names);
    cn_fake_recording_add(&fixture->fake, NULL, 0);
    fixture->fake.tasks[0].is_fork = is_fork;
    cn_call_filter_init(&fixture->filter, &fixture->fake.rec);
    cn_call_filter_ready(&fixture->filter);
    fixture->is_on = true;
    cn_call_stack_init(&fixture->stack, &fixture->fake.rec, &fixture->filter, 0, false,
                       &fixture->is_on);
}

static void tear_down(struct fixture *fixture)
{
    cn_call_stack_done(&fixture->stack);
    cn_call_filter_done(&fixture->filter);
}

static struct cn_call_frame *enter(struct fixture *fixture, uint64_t time_ns,
                                   uint32_t function, uint16_t depth)
{
    struct cn_call call = CN_FAKE_ENTER(time_ns, function, depth);
    struct cn_call_batch batch = {.calls = &call, .count = 1};

    return cn_call_stack_enter_quick(&fixture->stack, &call, &batch);
}

static struct cn_call_end leave(struct fixture *fixture, uint64_t time_ns,
                                uint32_t function, uint16_t depth)
{
    struct cn_call call = CN_FAKE_EXIT(time_ns, function, depth);
    struct cn_call_end ended;

    cn_call_stack_leave_quick(&fixture->stack, &call, &ended);
    return ended;
}

static void tells_total_and_self_time(void **state)
{
    struct fixture t;
    struct cn_call_end ended;

    (void)state;
    set_up(&t, false);
    enter(&t, 10, MAIN, 0);
    enter(&t, 20, F, 1);
    ended = leave(&t, 50, F, 1);
    assert_int_equal(ended.total_ns, 30);
    assert_int_equal(ended.self_ns, 30);
    ended = leave(&t, 100, MAIN, 0);
    assert_int_equal(ended.total_ns, 90);
    assert_int_equal(ended.self_ns, 60);
    assert_int_equal(t.stack.count, 0);
    tear_down(&t);
}

static void forgets_calls_that_longjmp_left(void **state)
{
    struct fixture t;
    struct cn_call_end ended;

    (void)state;
    set_up(&t, false);
    enter(&t, 10, MAIN, 0);
    enter(&t, 20, F, 1);
    enter(&t, 30, F, 2);
    enter(&t, 40, F, 3);
    ended = leave(&t, 60, G, 1);
    assert_int_equal(ended.frame.function, G);
    assert_int_equal(ended.frame.address, 0x1000 + 64 * G);
    assert_int_equal(ended.total_ns, 40);
    assert_int_equal(t.stack.count, 1);
    assert_int_equal(t.stack.shown, 1);
    tear_down(&t);
}

static void knows_no_duration_without_an_entry(void **state)
{
    struct fixture t;
    struct cn_call_end ended;

    (void)state;
    set_up(&t, true);
    ended = leave(&t, 60, F, 1);
    assert_false(ended.has_time);
    assert_int_equal(ended.total_ns, 0);
    assert_int_equal(ended.frame.shown_above, 1);
    assert_int_equal(enter(&t, 70, G, 1)->shown_above, 1);
    assert_int_equal(leave(&t, 75, G, 1).total_ns, 5);
    tear_down(&t);
}

static void begins_anew_after_exec(void **state)
{
    struct fixture t;
    struct cn_call event = CN_FAKE_EVENT(80, CN_EVENT_TASK_NAME);

    (void)state;
    set_up(&t, true);
    leave(&t, 60, F, 1);
    assert_true(enter(&t, 70, EXECV, 1)->flags & CN_FRAME_EXEC);
    assert_false(cn_call_stack_shows_event(&t.stack, &event));
    assert_int_equal(enter(&t, 90, MAIN, 0)->shown_above, 0);
    assert_int_equal(t.stack.count, 1);
    assert_true(cn_call_stack_shows_event(&t.stack, &event));
    tear_down(&t);
}

static void takes_sleep_from_the_time_of_a_call(void **state)
{
    struct fixture t;
    struct cn_call out = CN_FAKE_EVENT(20, CN_EVENT_SCHED_OUT_PREEMPT);
    struct cn_call in = CN_FAKE_EVENT(70, CN_EVENT_SCHED_IN);
    struct cn_call_end ended;

    (void)state;
    set_up(&t, false);
    assert_false(cn_call_stack_may_sleep(&t.stack, &out));
    enter(&t, 10, MAIN, 0);
    assert_true(cn_call_stack_may_sleep(&t.stack, &out));
    cn_call_stack_sleep(&t.stack, &out);
    assert_true(cn_call_stack_wake(&t.stack, &in, &ended));
    assert_int_equal(ended.total_ns, 50);
    assert_int_equal(ended.frame.function, cn_call_schedule_id(&t.fake.rec, true));
    assert_false(cn_call_stack_wake(&t.stack, &in, &ended));
    ended = leave(&t, 100, MAIN, 0);
    assert_int_equal(ended.self_ns, 40);
    tear_down(&t);
}

static void follows_depths_beyond_ten_bits(void **state)
{
    struct fixture t;

    (void)state;
    set_up(&t, false);
    t.stack.is_wrapped = true;
    for (uint32_t i = 0; i < 3000; i++)
        enter(&t, i, F, (uint16_t)(i % 1024));
    assert_int_equal(t.stack.count, 3000);
    for (uint32_t i = 3000; i-- > 0;)
        assert_int_equal(leave(&t, 10000, F, (uint16_t)(i % 1024)).total_ns, 10000 - i);
    assert_int_equal(t.stack.count, 0);
    tear_down(&t);
}

static void keeps_calls_apart_when_time_runs_backwards(void **state)
{
    struct fixture t;
    struct cn_call_end ended;

    (void)state;
    set_up(&t, false);
    enter(&t, 100, MAIN, 0);
    enter(&t, 90, F, 1);
    ended = leave(&t, 80, F, 1);
    assert_int_equal(ended.total_ns, 0);
    ended = leave(&t, 70, MAIN, 0);
    assert_int_equal(ended.total_ns, 0);
    assert_int_equal(ended.self_ns, 0);
    tear_down(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_total_and_self_time),
        cmocka_unit_test(forgets_calls_that_longjmp_left),
        cmocka_unit_test(knows_no_duration_without_an_entry),
        cmocka_unit_test(begins_anew_after_exec),
        cmocka_unit_test(takes_sleep_from_the_time_of_a_call),
        cmocka_unit_test(follows_depths_beyond_ten_bits),
        cmocka_unit_test(keeps_calls_apart_when_time_runs_backwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
