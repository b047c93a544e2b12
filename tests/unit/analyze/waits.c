/* Waiting is a state of the context that waits: sums per context, and what views show. */

#include "analyze/waits.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cct/calls_to_database.h"
#include "analyze/views/costs.h"
#include "base/alloc.h"
#include "model/contexts/walk.h"
#include "support/fake_recording.h"

static const char *const names[] = {"main", "work", "leaf", NULL};

/* The second task waits outside of all calls, which counts nowhere, and in a call whose caller
 * it never leaves. */
static const struct cn_call first_calls[] = {
    CN_FAKE_ENTER(100, 0, 0),
    CN_FAKE_ENTER(110, 1, 1),
    CN_FAKE_EVENT(120, CN_EVENT_SCHED_OUT),
    CN_FAKE_EVENT(150, CN_EVENT_SCHED_IN),
    CN_FAKE_ENTER(151, 2, 2),
    CN_FAKE_EXIT(155, 2, 2),
    CN_FAKE_EVENT(156, CN_EVENT_SCHED_OUT_PREEMPT),
    CN_FAKE_EVENT(158, CN_EVENT_SCHED_IN),
    CN_FAKE_EXIT(160, 1, 1),
    CN_FAKE_EVENT(170, CN_EVENT_SCHED_OUT_PREEMPT),
    CN_FAKE_EVENT(180, CN_EVENT_SCHED_IN),
    CN_FAKE_EXIT(200, 0, 0),
};
static const struct cn_call second_calls[] = {
    CN_FAKE_EVENT(1000, CN_EVENT_SCHED_OUT),
    CN_FAKE_EVENT(1500, CN_EVENT_SCHED_IN),
    CN_FAKE_ENTER(1600, 1, 0),
    CN_FAKE_ENTER(1610, 2, 1),
    CN_FAKE_EVENT(1620, CN_EVENT_SCHED_OUT),
    CN_FAKE_EVENT(1720, CN_EVENT_SCHED_IN),
    CN_FAKE_EXIT(1730, 2, 1),
    CN_FAKE_ENTER(1730, 2, 1),
    CN_FAKE_EXIT(1740, 2, 1),
};
/* No scheduler events: where it waited is unknown. */
static const struct cn_call plain_calls[] = {
    CN_FAKE_ENTER(100, 0, 0),
    CN_FAKE_EXIT(200, 0, 0),
};

struct subject {
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_database *db;
    struct cn_calls_result result;
};

static void analyse(struct subject *s, uint32_t task_count, uint64_t min_time_ns)
{
    static const uint32_t tasks[] = {0, 1};
    struct cn_calls_options options = {.workers = 1,
                                       .folder = ".",
                                       .has_all_statistics = true,
                                       .without_timelines = true,
                                       .min_time_ns = min_time_ns};
    struct cn_call_query query;
    struct cn_error err = {0};

    for (uint32_t i = 0; i < task_count; i++)
        s->fake.tasks[i].data_len = 16 * s->fake.fake_tasks[i].count;
    cn_call_filter_init(&s->filter, &s->fake.rec);
    s->filter.depth = UINT32_MAX;
    cn_call_filter_ready(&s->filter);
    query = (struct cn_call_query){
        &s->fake.rec, &s->filter, cn_time_always, tasks, task_count, false, NULL};
    if (!cn_calls_to_database(&s->db, &query, 1, &options, &s->result, &err))
        fail_msg("%s", err.text);
}

static struct subject *open_waiting(uint64_t min_time_ns)
{
    struct subject *s = cn_alloc(1, sizeof(*s));

    cn_fake_recording_init(&s->fake, names);
    cn_fake_recording_add(&s->fake, first_calls,
                          sizeof(first_calls) / sizeof(*first_calls));
    cn_fake_recording_add(&s->fake, second_calls,
                          sizeof(second_calls) / sizeof(*second_calls));
    analyse(s, 2, min_time_ns);
    return s;
}

static void close_subject(struct subject *s)
{
    cn_calls_result_done(&s->result);
    cn_database_close(s->db);
    cn_call_filter_done(&s->filter);
    free(s);
}

enum { TIME, CPU, BLOCKED, PREEMPTED, METRICS };

/* Total and self of all four metrics in ns, by metric and side. */
static void values_of(struct cn_database *db, uint32_t context, long long out[METRICS][2])
{
    static const char *const metrics[METRICS] = {
        CN_TIME_NAME, CN_CPU_TIME_NAME, CN_BLOCKED_TIME_NAME, CN_PREEMPTED_TIME_NAME};
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    double values[METRICS * 2];
    struct cn_error err;

    cn_costs_init(costs, db);
    for (int i = 0; i < METRICS * 2; i++) {
        struct cn_cost_request request = {.metric = metrics[i / 2],
                                          .side = (enum cn_cost_side)(i % 2),
                                          .profile = CN_NONE};

        assert_true(cn_costs_add(costs, &request, &err));
    }
    assert_true(cn_costs_ready(costs, &err));
    assert_true(cn_costs_of_context(costs, context, values, &err));
    for (int i = 0; i < METRICS * 2; i++)
        out[i / 2][i % 2] = isnan(values[i]) ? 0 : llround(values[i] * 1e9);
    cn_costs_done(costs);
    free(costs);
}

/* What each context is to have: total and self of time, then of its states. */
struct expected {
    const char *path;
    long long ns[METRICS][2];
};

static void check_contexts(struct cn_database *db, const struct expected *expected,
                           size_t count)
{
    struct cn_text path = {0};
    size_t found = 0;
    struct cn_walk walk;
    enum cn_walk_event event;
    const struct cn_context *c;
    struct cn_error err;

    assert_true(cn_walk_begin(&walk, db, &err));
    while (cn_walk_next(&walk, &event, &c, &err) == CN_ITEM) {
        long long ns[METRICS][2];
        struct cn_function f = {.name = "<entry>"};
        size_t i = 0;

        if (event == CN_WALK_LEAVE)
            continue;
        if (c->has_function)
            assert_true(cn_database_function(db, c->function, &f, &err));
        cn_text_clear(&path);
        cn_text_printf(&path, "%zu %s", (size_t)walk.depth, f.name);
        values_of(db, c->id, ns);
        for (int side = 0; side < 2; side++)
            assert_int_equal(ns[TIME][side],
                             ns[CPU][side] + ns[BLOCKED][side] + ns[PREEMPTED][side]);
        while (i < count && (strcmp(expected[i].path, cn_text_str(&path)) != 0 ||
                             memcmp(expected[i].ns, ns, sizeof(ns)) != 0))
            i++;
        if (i == count)
            fail_msg("%s: time %lld %lld cpu %lld %lld blocked %lld %lld pre-empted %lld "
                     "%lld",
                     cn_text_str(&path), ns[0][0], ns[0][1], ns[1][0], ns[1][1], ns[2][0],
                     ns[2][1], ns[3][0], ns[3][1]);
        found++;
    }
    cn_walk_done(&walk);
    cn_text_done(&path);
    assert_int_equal(found, count);
}

static void the_time_of_every_context_is_that_of_its_states(void **state)
{
    static const struct expected expected[] = {
        {"1 <entry>", {{240, 0}, {98, 0}, {130, 0}, {12, 0}}},
        {"2 main", {{100, 50}, {58, 40}, {30, 0}, {12, 10}}},
        {"3 work", {{50, 46}, {18, 14}, {30, 30}, {2, 2}}},
        {"4 leaf", {{4, 4}, {4, 4}, {0, 0}, {0, 0}}},
        {"2 work", {{140, 10}, {40, 10}, {100, 0}, {0, 0}}},
        {"3 leaf", {{130, 130}, {30, 30}, {100, 100}, {0, 0}}},
    };
    struct subject *s = open_waiting(0);

    (void)state;
    check_contexts(s->db, expected, sizeof(expected) / sizeof(*expected));
    close_subject(s);
}

/* What is left out counts for its caller, in its state. */
static void short_contexts_leave_their_waiting(void **state)
{
    static const struct expected expected[] = {
        {"1 <entry>", {{240, 0}, {98, 0}, {130, 0}, {12, 0}}},
        {"2 main", {{100, 100}, {58, 58}, {30, 30}, {12, 12}}},
        {"2 work", {{140, 10}, {40, 10}, {100, 0}, {0, 0}}},
        {"3 leaf", {{130, 130}, {30, 30}, {100, 100}, {0, 0}}},
    };
    struct subject *s = open_waiting(60);

    (void)state;
    check_contexts(s->db, expected, sizeof(expected) / sizeof(*expected));
    close_subject(s);
}

/* The metrics that a view shows by default, joined. */
static void check_defaults(struct cn_database *db, bool counts_waits,
                           const char *expected)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    const char *defaults[CN_COST_DEFAULT_MAX];
    struct cn_text shown = {0};
    struct cn_error err;
    size_t count;

    cn_costs_init(costs, db);
    costs->counts_waits = counts_waits;
    count = cn_costs_default_metrics(costs, defaults);
    for (size_t i = 0; i < count; i++) {
        struct cn_cost_request request = {.metric = defaults[i], .profile = CN_NONE};

        assert_true(cn_costs_add(costs, &request, &err));
        cn_text_printf(&shown, "%s%s", i ? ", " : "", costs->columns[i].metric);
    }
    assert_string_equal(cn_text_str(&shown), expected);
    cn_text_done(&shown);
    cn_costs_done(costs);
    free(costs);
}

static void views_show_running_time_unless_waits_count(void **state)
{
    struct subject *s = open_waiting(0);
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_cost_states states;
    struct cn_error err;

    (void)state;
    check_defaults(s->db, false, "cpu time (sec)");
    check_defaults(s->db, true, "time (sec), blocked time (sec), pre-empted time (sec)");
    cn_costs_init(costs, s->db);
    assert_true(cn_costs_states(costs, &states, &err));
    assert_int_equal(llround(states.time_s * 1e9), 240);
    assert_int_equal(llround(states.cpu_s * 1e9), 98);
    assert_int_equal(llround(states.wait_s[CN_WAIT_BLOCKED] * 1e9), 130);
    assert_int_equal(llround(states.wait_s[CN_WAIT_PREEMPTED] * 1e9), 12);
    assert_true(cn_costs_select(costs, "1", &err));
    assert_true(cn_costs_states(costs, &states, &err));
    assert_int_equal(llround(states.time_s * 1e9), 100);
    assert_int_equal(llround(states.cpu_s * 1e9), 58);
    cn_costs_done(costs);
    free(costs);
    close_subject(s);
}

static void without_scheduler_events_the_states_are_unknown(void **state)
{
    struct subject *s = cn_alloc(1, sizeof(*s));
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_cost_states states;
    struct cn_error err;

    (void)state;
    cn_fake_recording_init(&s->fake, names);
    cn_fake_recording_add(&s->fake, plain_calls,
                          sizeof(plain_calls) / sizeof(*plain_calls));
    analyse(s, 1, 0);
    assert_false(cn_metrics_have_waits(&s->db->metrics));
    check_defaults(s->db, false, "time (sec)");
    check_defaults(s->db, true, "time (sec)");
    cn_costs_init(costs, s->db);
    assert_false(cn_costs_states(costs, &states, &err));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    cn_costs_done(costs);
    free(costs);
    close_subject(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_time_of_every_context_is_that_of_its_states),
        cmocka_unit_test(short_contexts_leave_their_waiting),
        cmocka_unit_test(views_show_running_time_unless_waits_count),
        cmocka_unit_test(without_scheduler_events_the_states_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
