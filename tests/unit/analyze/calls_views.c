/* Reports, graphs and merged streams of several tasks.
 * Label: threads. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/calls/graph.h"
#include "analyze/calls/report.h"
#include "analyze/calls/tasks.h"
#include "support/fake_recording.h"
#include "support/random_calls.h"
#include "support/same_views.h"

enum { MAIN, F, FORK, G };

static const char *const names[] = {"main", "f", "fork", "g", NULL};

/* F and G are instances of a template. */
static const char *const equal_names[] = {"main", "f", "fork", "f", NULL};

/* f calls itself; main is still open at the end. */
static const struct cn_call first[] = {
    CN_FAKE_ENTER(10, MAIN, 0),   CN_FAKE_ENTER(20, F, 1),
    CN_FAKE_ENTER(30, F, 2),      CN_FAKE_EXIT(40, F, 2),
    CN_FAKE_EXIT(60, F, 1),       CN_FAKE_ENTER(70, FORK, 1),
    CN_FAKE_EXIT(90, FORK, 1),    CN_FAKE_ENTER(95, CN_NONE, 1),
    CN_FAKE_EXIT(97, CN_NONE, 1),
};
/* Forked by the first, at 80. */
static const struct cn_call second[] = {
    CN_FAKE_EXIT(85, FORK, 1),
    CN_FAKE_ENTER(100, G, 1),
    CN_FAKE_EXIT(120, G, 1),
};

struct fixture {
    struct cn_fake_recording fake;
    struct cn_call_filter filter;
    struct cn_call_query query;
    uint32_t tasks[CN_FAKE_TASKS_MAX];
};

static void set_up_named(struct fixture *t, const char *const *function_names)
{
    cn_fake_recording_init(&t->fake, function_names);
    cn_fake_recording_add(&t->fake, first, sizeof(first) / sizeof(first[0]));
    cn_fake_recording_add(&t->fake, second, sizeof(second) / sizeof(second[0]));
    t->fake.tasks[1].is_fork = true;
    t->fake.tasks[1].parent = 0;
    t->fake.tasks[1].time_ns = 80;
    cn_call_filter_init(&t->filter, &t->fake.rec);
    cn_call_filter_ready(&t->filter);
    for (uint32_t i = 0; i < CN_FAKE_TASKS_MAX; i++)
        t->tasks[i] = i;
    t->query = (struct cn_call_query){.rec = &t->fake.rec,
                                      .filter = &t->filter,
                                      .range = cn_time_always,
                                      .tasks = t->tasks,
                                      .task_count = 2};
}

static void set_up(struct fixture *t)
{
    set_up_named(t, names);
}

static const struct cn_call_row *row_of(const struct cn_call_report *report,
                                        const char *name)
{
    for (size_t i = 0; i < report->row_count; i++)
        if (strcmp(report->rows[i].name, name) == 0)
            return &report->rows[i];
    fail_msg("no row %s", name);
    return NULL;
}

static void reports_the_same_on_any_number_of_workers(void **state)
{
    static struct cn_bucket_calls buckets[CN_BUCKET_COUNT];
    struct cn_call_report_options options = {.with_squares = true,
                                             .with_histograms = true};
    struct fixture t;

    (void)state;
    set_up(&t);
    for (unsigned workers = 1; workers <= 4; workers++) {
        struct cn_call_report report;
        const struct cn_call_row *row;
        struct cn_error err;

        assert_true(cn_call_report_build(&report, &t.query, workers, options, &err));
        assert_int_equal(report.row_count, 5);
        row = row_of(&report, "f");
        assert_int_equal(row->cost.calls, 2);
        assert_int_equal(row->cost.total_ns, 40); /* of the outer one */
        assert_int_equal(row->cost.total.sum_ns, 50);
        assert_int_equal(row->cost.self.sum_ns, 40);
        assert_int_equal(row->cost.total_squares.low, 40 * 40 + 10 * 10);
        assert_int_equal(cn_histogram_list(row->totals, buckets), 2);
        row = row_of(&report, "main"); /* ends with its task */
        assert_int_equal(row->cost.total_ns, 87);
        assert_int_equal(row_of(&report, "fork")->cost.calls, 2);
        assert_int_equal(row_of(&report, "fork")->cost.total.min_ns, 0);
        (void)row_of(&report, "<4000000fc0>");
        cn_call_report_done(&report);
    }
    cn_call_filter_done(&t.filter);
}

/* Calls of one name inside each other are recursion. */
static void counts_nested_calls_of_one_name_once(void **state)
{
    static const struct cn_call calls[] = {
        CN_FAKE_ENTER(10, G, 0), CN_FAKE_ENTER(20, F, 1), CN_FAKE_ENTER(30, G, 2),
        CN_FAKE_EXIT(40, G, 2),  CN_FAKE_EXIT(60, F, 1),  CN_FAKE_EXIT(70, G, 0),
        CN_FAKE_ENTER(80, F, 0), CN_FAKE_EXIT(85, F, 0),
    };
    struct cn_call_report_options options = {.with_moments = true};
    struct cn_call_report report;
    const struct cn_call_row *row;
    struct cn_error err;
    struct fixture t;

    (void)state;
    set_up_named(&t, equal_names);
    t.fake.rec.task_count = 0;
    cn_fake_recording_add(&t.fake, calls, sizeof(calls) / sizeof(calls[0]));
    t.query.task_count = 1;
    assert_true(cn_call_report_build(&report, &t.query, 1, options, &err));
    assert_int_equal(report.row_count, 1);
    row = row_of(&report, "f");
    assert_int_equal(row->cost.calls, 4);
    assert_int_equal(row->cost.total_ns, 60 + 5);
    assert_int_equal(row->cost.total.sum_ns, 60 + 40 + 10 + 5);
    assert_int_equal(row->cost.self.sum_ns, 65);
    assert_int_equal(row->moments->list[CN_MOMENT_TOTAL_MAX].begin_ns, 10);
    assert_int_equal(row->moments->list[CN_MOMENT_TOTAL_MAX].task, 0);
    cn_call_report_done(&report);
    cn_call_filter_done(&t.filter);
}

static void goes_on_after_a_damaged_task(void **state)
{
    struct cn_call_report_options options = {0};
    struct cn_call_report report;
    struct cn_call_tasks tasks;
    struct cn_error err;
    struct fixture t;

    (void)state;
    set_up(&t);
    t.fake.fake_tasks[0].is_damaged = true;
    assert_true(cn_call_report_build(&report, &t.query, 2, options, &err));
    assert_int_equal(report.damages.count, 1);
    assert_int_equal(report.damages.list[0].task, 0);
    assert_string_equal(report.damages.list[0].err.text, "damaged");
    assert_int_equal(row_of(&report, "f")->cost.calls, 2);
    assert_int_equal(row_of(&report, "g")->cost.calls, 1);
    cn_call_report_done(&report);
    cn_call_tasks_build(&tasks, &t.query, 2);
    assert_int_equal(tasks.damages.count, 1);
    assert_int_equal(tasks.list[1].total_ns, 20);
    cn_call_tasks_done(&tasks);
    cn_call_filter_done(&t.filter);
}

static const struct cn_call_graph_options together = {0}, apart = {.is_apart = true};

static const struct cn_graph_node *child_of(const struct cn_call_tree *tree,
                                            uint32_t parent, uint32_t id)
{
    for (uint32_t at = cn_call_tree_first(tree, parent); at;
         at = cn_call_tree_next(tree, at))
        if (cn_call_tree_id(tree, at) == id)
            return &tree->nodes[at];
    fail_msg("no child %u", id);
    return NULL;
}

static void puts_a_forked_task_below_its_parents_calls(void **state)
{
    struct cn_call_graph graph;
    struct cn_error err;
    struct fixture t;

    (void)state;
    set_up(&t);
    for (unsigned workers = 1; workers <= 2; workers++) {
        const struct cn_graph_node *main_node, *g;
        uint32_t session;

        assert_true(cn_call_graph_build(&graph, &t.query, workers, together, &err));
        session = cn_call_tree_first(&graph.tree, 0);
        main_node = child_of(&graph.tree, session, MAIN);
        assert_int_equal(main_node->total_ns, 87);
        g = child_of(&graph.tree, (uint32_t)(main_node - graph.tree.nodes), G);
        assert_int_equal(g->total_ns, 20);
        cn_call_graph_done(&graph);
    }
    assert_true(cn_call_graph_build(&graph, &t.query, 2, apart, &err));
    assert_int_equal(child_of(&graph.tree, cn_call_tree_first(&graph.tree, 0), G)->calls,
                     1);
    cn_call_graph_done(&graph);
    cn_call_filter_done(&t.filter);
}

static void cuts_out_the_graph_of_a_function(void **state)
{
    struct cn_call_graph graph;
    struct cn_call_subgraph sub;
    struct cn_error err;
    struct fixture t;
    uint32_t session;

    (void)state;
    set_up(&t);
    assert_true(cn_call_graph_build(&graph, &t.query, 2, apart, &err));
    session = cn_call_tree_first(&graph.tree, 0);
    assert_true(cn_call_subgraph_build(&sub, &graph.tree, session, "f"));
    assert_int_equal(sub.backtrace_count, 1);
    assert_int_equal(sub.backtraces[0].calls, 1);
    assert_int_equal(child_of(&sub.tree, 0, F)->total_ns, 40);
    assert_int_equal(child_of(&sub.tree, cn_call_tree_first(&sub.tree, 0), F)->total_ns,
                     10);
    cn_call_subgraph_done(&sub);
    assert_false(cn_call_subgraph_build(&sub, &graph.tree, session, "nobody"));
    cn_call_graph_done(&graph);
    cn_call_filter_done(&t.filter);
}

/* 64 tasks whose calls alternate, with a loss in each, which has no time. */
static void merges_many_tasks_by_time(void **state)
{
    enum { TASKS = 64, CALLS = 40 };
    static struct cn_call all[TASKS][CALLS];
    struct cn_merged_call next;
    struct cn_call_merge merge;
    struct cn_error err;
    struct fixture t;
    uint64_t last_ns = 0;
    size_t count = 0;

    (void)state;
    set_up(&t);
    t.fake.rec.task_count = 0;
    for (uint32_t i = 0; i < TASKS; i++) {
        for (uint32_t k = 0; k < CALLS; k++)
            all[i][k] = (struct cn_call)CN_FAKE_ENTER(1 + k * TASKS + (i * 37) % TASKS, F,
                                                      (uint16_t)k);
        all[i][7] = (struct cn_call)CN_FAKE_LOST(5);
        cn_fake_recording_add(&t.fake, all[i], CALLS);
    }
    t.fake.fake_tasks[5].is_damaged = true;
    t.query.task_count = TASKS;
    assert_true(cn_call_merge_open(&merge, &t.query, &err));
    for (; cn_call_merge_next(&merge, &next); count++) {
        if (next.call->kind == CN_CALL_LOST)
            continue;
        assert_true(next.call->time_ns > last_ns);
        last_ns = next.call->time_ns;
    }
    assert_int_equal(count, TASKS * CALLS);
    assert_int_equal(merge.damages.count, 1);
    cn_call_merge_close(&merge);
    cn_call_filter_done(&t.filter);
}

enum { ODD_CALLS = 300, DEPTH_MAX = 1300, DEPTH_MODULUS = 1024 };

/* Calls that mostly nest, of few functions, so that they recur. */
struct making {
    struct cn_call *calls;
    size_t count;
    uint64_t random, time_ns;
    uint32_t open[DEPTH_MAX];
    unsigned depth, depth_max;
    unsigned entries;  /* per 100 calls */
    unsigned oddities; /* per 1000 calls */
};

static unsigned below(struct making *m, unsigned limit)
{
    return (unsigned)(cn_random_next(&m->random) % limit);
}

static void put(struct making *m, struct cn_call call)
{
    m->calls[m->count++] = call;
}

static uint32_t some_function(struct making *m)
{
    static const uint32_t functions[] = {MAIN, F, F, FORK, G, G, CN_NONE};

    return functions[below(m, sizeof(functions) / sizeof(functions[0]))];
}

/* Longjmp, lost records, a time that runs backwards, an exit of something else, waits. */
static void put_oddity(struct making *m)
{
    switch (below(m, 7)) {
    case 0:
        m->depth = below(m, m->depth + 1);
        break;
    case 1:
        put(m, (struct cn_call)CN_FAKE_LOST(1 + below(m, 9)));
        break;
    case 2:
        m->time_ns -= below(m, 30);
        break;
    case 3:
        put(m, (struct cn_call)CN_FAKE_EXIT(m->time_ns, some_function(m),
                                            (uint16_t)below(m, m->depth_max) %
                                                DEPTH_MODULUS));
        break;
    case 4:
        put(m, (struct cn_call)CN_FAKE_EVENT(m->time_ns, CN_EVENT_SCHED_IN));
        break;
    default:
        put(m, (struct cn_call)CN_FAKE_EVENT(m->time_ns, CN_EVENT_SCHED_OUT));
        m->time_ns += below(m, 100);
        if (below(m, 4) > 0)
            put(m, (struct cn_call)CN_FAKE_EVENT(m->time_ns, CN_EVENT_SCHED_IN));
    }
}

static void put_call(struct making *m)
{
    bool is_entry =
        m->depth == 0 || (m->depth < m->depth_max && below(m, 100) < m->entries);
    uint32_t function = is_entry ? some_function(m) : m->open[m->depth - 1];
    uint16_t depth = (uint16_t)(m->depth - !is_entry) % DEPTH_MODULUS;

    m->time_ns += below(m, 4) * below(m, 40); /* often at the same time */
    if (is_entry) {
        m->open[m->depth] = function;
        put(m, (struct cn_call)CN_FAKE_ENTER(m->time_ns, function, depth));
        m->depth++;
    } else {
        m->depth--;
        put(m, (struct cn_call)CN_FAKE_EXIT(m->time_ns, function, depth));
    }
}

static void make_calls(struct cn_call *calls, size_t count, uint64_t seed,
                       unsigned oddities, unsigned depth_max)
{
    struct making m = {.calls = calls,
                       .random = seed,
                       .time_ns = 1000,
                       .oddities = oddities,
                       .depth_max = depth_max};

    m.entries = 90;
    while (m.depth + 50 < depth_max)
        put_call(&m);
    m.entries = 51;
    while (m.count + 2 < count)
        if (below(&m, 1000) < m.oddities)
            put_oddity(&m);
        else
            put_call(&m);
    while (m.count < count)
        put_call(&m);
}

static void views_in_parts_are_those_of_the_whole(void **state)
{
    enum { ROUNDS = 16, TASKS = 3 };
    static struct cn_call all[TASKS][ODD_CALLS];

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t cost_ps = round % 3 * UINT64_C(9000);
        struct fixture t;

        set_up_named(&t, round % 4 < 2 ? names : equal_names);
        t.fake.rec.task_count = 0;
        t.fake.rec.call_cost = (struct cn_hook_cost){cost_ps, cost_ps / 3};
        t.fake.rec.libcall_cost = t.fake.rec.call_cost;
        for (uint32_t i = 0; i < TASKS; i++) {
            make_calls(all[i], ODD_CALLS, round * TASKS + i, round % 4 * 10, 12);
            /* The last one begins inside calls of its parent. */
            cn_fake_recording_add(&t.fake, all[i] + i / 2 * 50, ODD_CALLS - i / 2 * 50);
        }
        t.fake.tasks[2].is_fork = true;
        t.fake.tasks[2].parent = round % 2;
        t.fake.tasks[2].time_ns = 1000 + 800 * round;
        t.fake.fake_tasks[0].is_disordered = round % 3 == 0;
        t.fake.fake_tasks[1].is_damaged = round % 5 == 0;
        t.query.task_count = TASKS;
        for (unsigned len = 1; len < 100; len += 1 + len / 2)
            cn_assert_same_views(&t.query, 1 + len % 4, UINT64_C(16) * len);
        cn_call_filter_done(&t.filter);
    }
}

/* g is called after f, at an earlier time, which its part alone does not show. */
static void views_in_parts_are_right_when_time_runs_backwards(void **state)
{
    static const struct cn_call calls[] = {
        CN_FAKE_ENTER(1000, MAIN, 0), CN_FAKE_ENTER(1500, F, 1),
        CN_FAKE_EXIT(1600, F, 1),     CN_FAKE_ENTER(1700, F, 1),
        CN_FAKE_EXIT(1200, F, 1),     CN_FAKE_ENTER(1250, G, 1),
        CN_FAKE_EXIT(1260, G, 1),     CN_FAKE_ENTER(1750, FORK, 1),
        CN_FAKE_EXIT(1760, FORK, 1),
    };
    struct fixture t;

    (void)state;
    set_up(&t);
    t.fake.rec.task_count = 0;
    cn_fake_recording_add(&t.fake, calls, sizeof(calls) / sizeof(calls[0]));
    t.query.task_count = 1;
    cn_assert_same_views(&t.query, 2, UINT64_C(16) * 4);
    cn_call_filter_done(&t.filter);
}

/* Depths are recorded modulo 1024. */
static void deep_calls_in_parts_are_those_of_the_whole(void **state)
{
    enum { COUNT = 12000 };
    static struct cn_call calls[COUNT];
    struct fixture t;

    (void)state;
    set_up(&t);
    t.fake.rec.task_count = 0;
    t.fake.rec.max_stack = UINT16_MAX;
    t.fake.batch_len = 100;
    make_calls(calls, COUNT, 1, 1, DEPTH_MAX);
    cn_fake_recording_add(&t.fake, calls, COUNT);
    t.query.task_count = 1;
    cn_assert_same_views(&t.query, 2, UINT64_C(16) * 100);
    cn_assert_same_views(&t.query, 3, UINT64_C(16) * 777);
    cn_call_filter_done(&t.filter);
}

struct watch {
    bool is_stopped;
    unsigned reports;
};

static bool count_report(void *arg, const char *what, uint64_t done, uint64_t total,
                         const char *unit)
{
    struct watch *watch = arg;

    (void)what;
    (void)unit;
    assert_true(done <= total);
    watch->reports++;
    return true;
}

static bool is_stopped(void *arg)
{
    return ((const struct watch *)arg)->is_stopped;
}

static void reports_progress_and_stops(void **state)
{
    for (unsigned i = 0; i < 4; i++) {
        struct watch watch = {0};
        struct cn_progress progress = {count_report, &watch, is_stopped};
        struct cn_call_report report;
        struct cn_call_graph graph;
        struct cn_error err;
        struct fixture t;

        (void)state;
        set_up(&t);
        t.query.progress = &progress;
        t.filter.has_switches = i >= 2; /* then all tasks are read together */
        assert_true(cn_call_report_build(&report, &t.query, 1 + i % 2,
                                         (struct cn_call_report_options){0}, &err));
        assert_true(report.row_count > 0);
        assert_int_equal(watch.reports, i < 2 ? 2 : 0);
        cn_call_report_done(&report);
        watch.is_stopped = true;
        assert_false(cn_call_report_build(&report, &t.query, 1 + i % 2,
                                          (struct cn_call_report_options){0}, &err));
        assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
        cn_call_report_done(&report);
        assert_false(cn_call_graph_build(&graph, &t.query, 1 + i % 2,
                                         (struct cn_call_graph_options){0}, &err));
        assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
        cn_call_graph_done(&graph);
        cn_call_filter_done(&t.filter);
    }
}

static void adds_squares_beyond_64_bits(void **state)
{
    /* The square of the number is 0xfdbac097c8dc5acc deec6cd7a44a4100. */
    const uint64_t high = UINT64_C(0xfdbac097c8dc5acc),
                   low = UINT64_C(0xdeec6cd7a44a4100);
    struct cn_call_squares squares = {0};

    (void)state;
    for (int i = 0; i < 2; i++)
        cn_call_squares_add(&squares, UINT64_C(0xfedcba9876543210));
    assert_int_equal(squares.low, 2 * low);
    assert_int_equal(squares.high, 2 * high + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports_the_same_on_any_number_of_workers),
        cmocka_unit_test(counts_nested_calls_of_one_name_once),
        cmocka_unit_test(goes_on_after_a_damaged_task),
        cmocka_unit_test(puts_a_forked_task_below_its_parents_calls),
        cmocka_unit_test(cuts_out_the_graph_of_a_function),
        cmocka_unit_test(merges_many_tasks_by_time),
        cmocka_unit_test(views_in_parts_are_those_of_the_whole),
        cmocka_unit_test(views_in_parts_are_right_when_time_runs_backwards),
        cmocka_unit_test(deep_calls_in_parts_are_those_of_the_whole),
        cmocka_unit_test(reports_progress_and_stops),
        cmocka_unit_test(adds_squares_beyond_64_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
