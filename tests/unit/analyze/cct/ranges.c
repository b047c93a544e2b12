/* Call paths that begin with the ranges that a program named. */

#include "analyze/cct/ranges.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "analyze/cct/replay.h"
#include "support/fake_recording.h"

enum { MAIN, WORK, STEP, MARK };

struct ranges_test {
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_call_query query;
    struct cn_cct_task task;
};

static void count(struct ranges_test *t, const struct cn_call *calls, size_t call_count,
                  const struct cn_call *ranges, size_t range_count)
{
    static const char *const names[] = {"main", "work", "step", "mark", NULL};
    struct cn_error err;

    cn_fake_recording_init(&t->fake, names);
    cn_fake_recording_add(&t->fake, calls, call_count);
    cn_fake_recording_add(&t->fake, ranges, range_count);
    t->fake.tasks[0].ranges = 1;
    t->fake.tasks[1].is_ranges = t->fake.tasks[1].is_stream = true;
    t->fake.tasks[1].parent = 0;
    cn_call_filter_init(&t->filter, &t->fake.rec);
    t->filter.depth = UINT32_MAX;
    cn_call_filter_ready(&t->filter);
    t->query = (struct cn_call_query){&t->fake.rec, &t->filter, cn_time_always, NULL, 0,
                                      false,        NULL};
    cn_cct_task_init(&t->task, &(struct cn_cct_task_options){.query = &t->query});
    assert_true(cn_cct_task_count(&t->task, NULL, NULL, false, &err));
}

static void done(struct ranges_test *t)
{
    cn_cct_task_done(&t->task);
    cn_call_filter_done(&t->filter);
}

/* Self time and calls of a path, whose keys end with CN_NONE. */
static void assert_costs(const struct ranges_test *t, const uint32_t *keys,
                         uint64_t self_ns, uint64_t calls)
{
    cn_cct_id node = 0;

    for (; *keys != CN_NONE; keys++) {
        node = cn_tree_find(&t->task.tree, node, *keys);
        assert_int_not_equal(node, 0);
    }
    assert_int_equal(cn_cct_costs_at(&t->task.costs, node).self_ns, self_ns);
    assert_int_equal(cn_cct_costs_calls(&t->task.costs, node), calls);
}

static const struct cn_call some_calls[] = {
    CN_FAKE_ENTER(100, MAIN, 0),
    CN_FAKE_ENTER(110, WORK, 1),
    CN_FAKE_EXIT(150, WORK, 1),
    CN_FAKE_EXIT(200, MAIN, 0),
};

static const struct cn_call some_ranges[] = {
    CN_FAKE_ENTER(120, STEP, 0),
    CN_FAKE_ENTER(130, MARK, 1),
    CN_FAKE_EXIT(130 + CN_CCT_MARK_NS, MARK, 1),
    CN_FAKE_EXIT(160, STEP, 0),
};

static void open_calls_are_below_a_range_while_it_is_open(void **state)
{
    struct ranges_test t;

    (void)state;
    count(&t, some_calls, 4, some_ranges, 4);
    assert_costs(&t, (const uint32_t[]){MAIN, CN_NONE}, 10 + 40, 1);
    assert_costs(&t, (const uint32_t[]){MAIN, WORK, CN_NONE}, 10, 0);
    assert_costs(&t, (const uint32_t[]){STEP, CN_NONE}, 0, 0);
    assert_costs(&t, (const uint32_t[]){STEP, MAIN, CN_NONE}, 10, 0);
    assert_costs(&t, (const uint32_t[]){STEP, MAIN, WORK, CN_NONE}, 30, 1);
    assert_int_equal(t.task.tree.count, 1 + 5); /* none of the mark */
    done(&t);
}

static void a_timeline_changes_with_ranges(void **state)
{
    static const uint64_t times[] = {100, 110, 120, 150, 160, 200};
    struct cn_cct_replay replay;
    struct ranges_test t;
    struct cn_sample samples[6];
    struct cn_error err;

    (void)state;
    count(&t, some_calls, 4, some_ranges, 4);
    assert_int_equal(t.task.sample_count, 6);
    assert_true(cn_cct_replay_open(&replay, &t.task, &t.task.tree, 0, &err));
    assert_true(cn_cct_replay_next(&replay, samples, 6, &err));
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(samples[i].time_ns, times[i]);
    assert_int_equal(t.task.tree.links[samples[2].context].key, WORK);
    assert_int_not_equal(samples[2].context, samples[1].context);
    assert_int_equal(samples[5].context, 0);
    cn_cct_replay_close(&replay);
    done(&t);
}

static void calls_that_begin_in_a_range_are_below_it(void **state)
{
    static const struct cn_call calls[] = {
        CN_FAKE_ENTER(100, MAIN, 0),
        CN_FAKE_EXIT(200, MAIN, 0),
        CN_FAKE_ENTER(300, WORK, 0),
        CN_FAKE_EXIT(310, WORK, 0),
    };
    static const struct cn_call ranges[] = {
        CN_FAKE_ENTER(50, STEP, 0),
        CN_FAKE_EXIT(250, STEP, 0),
    };
    struct ranges_test t;

    (void)state;
    count(&t, calls, 4, ranges, 2);
    assert_costs(&t, (const uint32_t[]){STEP, MAIN, CN_NONE}, 100, 1);
    assert_costs(&t, (const uint32_t[]){WORK, CN_NONE}, 10, 1);
    assert_int_equal(t.task.tree.count, 1 + 3);
    done(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(open_calls_are_below_a_range_while_it_is_open),
        cmocka_unit_test(a_timeline_changes_with_ranges),
        cmocka_unit_test(calls_that_begin_in_a_range_are_below_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
