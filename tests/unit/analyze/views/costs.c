#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/views/costs.h"
#include "analyze/views/costs_blocks.h"
#include "model/contexts/memory.h"
#include "support/check_costs.h"
#include "support/sample.h"

/* main thread > main > { loop > line, leaf }, in three threads:
 *
 *     point values   thread 1   thread 2   thread 3
 *     main                  1          2          -
 *     line                  4          8          -
 *     leaf                  -          6          3
 *     flops of line        20          -          -
 */
enum { TIME_POINT = 0, FLOPS_POINT = 4, THREADS = 3 };

struct world {
    struct cn_database *db;
    struct cn_costs costs;
    uint32_t entry, main, loop, line, leaf;
};

static uint32_t add_call(struct cn_memory_database *m, uint32_t parent, const char *name)
{
    uint32_t function = cn_memory_database_add_function(
        m, (struct cn_function){.name = name, .module = CN_NONE, .file = CN_NONE});

    return cn_memory_database_add_context(m, parent,
                                          (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                                              .relation = CN_CALL,
                                                              .has_function = true,
                                                              .function = function});
}

static uint32_t add_inside(struct cn_memory_database *m, uint32_t parent,
                           enum cn_context_kind kind, uint32_t line)
{
    return cn_memory_database_add_context(m, parent,
                                          (struct cn_context){.kind = (uint8_t)kind,
                                                              .relation = CN_LEXICAL,
                                                              .propagation = 1,
                                                              .has_source = true,
                                                              .file = 0,
                                                              .line = line});
}

static void add_contexts(struct cn_memory_database *m, struct world *w)
{
    (void)cn_memory_database_add_file(m, "a.c", false);
    w->entry = cn_memory_database_add_context(
        m, 0, (struct cn_context){.kind = CN_CONTEXT_ENTRY, .entry_name = "main thread"});
    w->main = add_call(m, w->entry, "main");
    w->loop = add_inside(m, w->main, CN_CONTEXT_LOOP, 3);
    w->line = add_inside(m, w->loop, CN_CONTEXT_LINE, 4);
    w->leaf = add_call(m, w->main, "leaf");
}

static void add_values(struct cn_memory_database *m, const struct world *w)
{
    const struct {
        uint32_t context, profile;
        uint16_t metric;
        double value;
    } list[] = {
        {w->main, 1, TIME_POINT, 1},   {w->main, 2, TIME_POINT, 2},
        {w->line, 1, TIME_POINT, 4},   {w->line, 2, TIME_POINT, 8},
        {w->leaf, 2, TIME_POINT, 6},   {w->leaf, 3, TIME_POINT, 3},
        {w->line, 1, FLOPS_POINT, 20},
    };

    for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
        cn_memory_database_add_value(m, list[i].profile, list[i].context, list[i].metric,
                                     list[i].value);
}

static int set_up(void **state)
{
    static struct world world;
    struct cn_memory_database *m = cn_memory_database_new("costs", "");
    struct cn_error err = {0};

    world = (struct world){0};
    (void)cn_memory_database_add_kind(m, "SUMMARY");
    (void)cn_memory_database_add_kind(m, "RANK");
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "Time (s)");
    (void)cn_memory_database_add_usual_metric(m, "flops");
    add_contexts(m, &world);
    for (uint32_t rank = 0; rank < THREADS; rank++)
        (void)cn_memory_database_add_profile(
            m, (struct cn_identity_tuple){.count = 1, .ids = {{1, false, rank, rank}}});
    add_values(m, &world);
    assert_true(cn_memory_database_propagate(m, &err));
    world.db = cn_memory_database_finish(m);
    cn_costs_init(&world.costs, world.db);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;

    cn_costs_done(&w->costs);
    cn_database_close(w->db);
    return 0;
}

static void add(struct world *w, struct cn_cost_request request)
{
    struct cn_error err = {0};

    if (!cn_costs_add(&w->costs, &request, &err))
        fail_msg("%s", err.text);
}

static void make_ready(struct world *w)
{
    struct cn_error err = {0};

    if (!cn_costs_ready(&w->costs, &err) || !cn_check_costs(&w->costs, &err))
        fail_msg("%s", err.text);
}

/* The value of one column; -1 stands for none. */
static double value_of(struct world *w, uint32_t context, size_t column)
{
    double values[CN_COST_COLUMN_MAX];
    struct cn_error err = {0};

    if (!cn_costs_of_context(&w->costs, context, values, &err))
        fail_msg("%s", err.text);
    return isnan(values[column]) ? -1 : values[column];
}

static void expect_values(struct world *w, size_t column, const double wanted[5])
{
    const uint32_t contexts[] = {w->entry, w->main, w->loop, w->line, w->leaf};

    for (size_t i = 0; i < 5; i++)
        assert_true(cn_same_value(value_of(w, contexts[i], column), wanted[i]));
}

static const struct cn_cost_request total = {.side = CN_TOTAL, .profile = CN_NONE};
static const struct cn_cost_request self = {.side = CN_SELF, .profile = CN_NONE};

static void shows_total_and_self_sums(void **state)
{
    struct world *w = *state;

    add(w, total);
    add(w, self);
    make_ready(w);
    expect_values(w, 0, (const double[]){24, 24, 12, 12, 9});
    expect_values(w, 1, (const double[]){-1, 15, 12, 12, 9});
    assert_string_equal(w->costs.columns[0].name, "time_s_inclusive");
    assert_string_equal(w->costs.columns[0].title, "total Time (s)");
    assert_string_equal(w->costs.columns[1].name, "time_s_exclusive");
    assert_string_equal(w->costs.columns[1].title, "self Time (s)");
}

static void percentages_are_of_the_whole(void **state)
{
    struct world *w = *state;

    add(w, total);
    add(w, self);
    make_ready(w);
    assert_true(cn_same_value(w->costs.columns[0].total, 24));
    assert_true(cn_same_value(cn_cost_percent(&w->costs.columns[1], 12), 50));
    assert_true(isnan(cn_cost_percent(&w->costs.columns[1], NAN)));
}

static void shows_each_scope_as_it_stands(void **state)
{
    struct world *w = *state;
    static const char *const scopes[] = {"point", "function", "lex_aware", "execution"};

    for (size_t i = 0; i < 4; i++)
        add(w, (struct cn_cost_request){.scope = scopes[i], .profile = CN_NONE});
    make_ready(w);
    expect_values(w, 0, (const double[]){-1, 3, -1, 12, 9});
    expect_values(w, 1, (const double[]){-1, 15, 12, 12, 9});
    expect_values(w, 2, (const double[]){-1, 15, 12, 12, 9});
    expect_values(w, 3, (const double[]){24, 24, 12, 12, 9});
    assert_string_equal(w->costs.columns[2].name, "time_s_lex_aware");
    assert_string_equal(w->costs.columns[2].title, "lex_aware Time (s)");
    assert_int_equal(w->costs.columns[3].side, CN_TOTAL);
    assert_true(cn_same_value(cn_cost_percent(&w->costs.columns[0], 12), 50));
}

static void statistics_are_over_threads_that_have_a_value(void **state)
{
    struct world *w = *state;

    for (int stat = CN_STAT_SUM; stat <= CN_STAT_COUNT; stat++)
        add(w, (struct cn_cost_request){.stat = (enum cn_cost_stat)stat,
                                        .profile = CN_NONE});
    make_ready(w);
    /* Total in the threads: main 5, 16, 3; loop 4, 8, none; leaf none, 6, 3. */
    expect_values(w, 0, (const double[]){24, 24, 12, 12, 9});
    expect_values(w, 1, (const double[]){8, 8, 6, 6, 4.5});
    expect_values(w, 2, (const double[]){3, 3, 4, 4, 3});
    expect_values(w, 3, (const double[]){16, 16, 8, 8, 6});
    expect_values(w, 4, (const double[]){sqrt(98.0 / 3), sqrt(98.0 / 3), 2, 2, 1.5});
    expect_values(w, 5, (const double[]){3, 3, 2, 2, 2});
    assert_string_equal(w->costs.columns[1].name, "time_s_inclusive_mean");
    assert_string_equal(w->costs.columns[5].name, "time_s_inclusive_threads");
    assert_string_equal(w->costs.columns[5].title, "threads with total Time (s)");
    assert_true(w->costs.columns[0].has_percent);
    assert_false(w->costs.columns[1].has_percent);
}

static void only_selected_threads_count(void **state)
{
    struct world *w = *state;
    struct cn_error err = {0};

    assert_true(cn_costs_select(&w->costs, "RANK 0", &err));
    assert_true(cn_costs_select(&w->costs, "RANK 2", &err));
    add(w, total);
    add(w, (struct cn_cost_request){.stat = CN_STAT_MAX, .profile = CN_NONE});
    make_ready(w);
    expect_values(w, 0, (const double[]){8, 8, 4, 4, 3});
    expect_values(w, 1, (const double[]){5, 5, 4, 4, 3});
    assert_true(cn_same_value(w->costs.columns[0].total, 8));
    assert_false(cn_costs_is_selected(&w->costs, 2));
}

/* One thread in two is read, and counts twice; which one is not said. */
static void an_estimate_is_of_some_threads(void **state)
{
    struct world *w = *state;
    struct cn_context_index index;
    struct cn_error err = {0};
    double values[8];
    uint32_t leaf;

    assert_true(cn_costs_select(&w->costs, "1-2", &err));
    add(w, total);
    make_ready(w);
    assert_int_equal(cn_costs_choose_step(&w->costs, 1, 2), 0);
    assert_int_equal(cn_costs_choose_step(&w->costs, 1, 1), 2);
    assert_true(cn_context_index_build(&index, w->db, &err));
    leaf = cn_context_index_find(&index, w->leaf);
    assert_true(cn_costs_column_of_nodes(&w->costs, &index, 0, values, NULL, &err));
    assert_true(cn_same_value(values[leaf], 6));
    w->costs.thread_step = 2;
    assert_true(cn_costs_column_of_nodes(&w->costs, &index, 0, values, NULL, &err));
    assert_true(isnan(values[leaf]) || cn_same_value(values[leaf], 12));
    leaf = cn_context_index_find(&index, w->line);
    assert_true(cn_same_value(values[leaf], 8) || cn_same_value(values[leaf], 16));
    cn_context_index_done(&index);
}

static void a_column_can_be_of_one_thread(void **state)
{
    struct world *w = *state;

    for (uint32_t p = 1; p <= THREADS; p++)
        add(w, (struct cn_cost_request){.side = CN_SELF, .profile = p});
    add(w,
        (struct cn_cost_request){.side = CN_SELF, .profile = 2, .stat = CN_STAT_COUNT});
    make_ready(w);
    expect_values(w, 0, (const double[]){-1, 5, 4, 4, -1});
    expect_values(w, 1, (const double[]){-1, 10, 8, 8, 6});
    expect_values(w, 2, (const double[]){-1, -1, -1, -1, 3});
    expect_values(w, 3, (const double[]){-1, 1, 1, 1, 1});
    assert_string_equal(w->costs.columns[1].name, "time_s_exclusive_profile_2");
    assert_string_equal(w->costs.columns[1].title, "self Time (s) RANK 1");
    assert_false(w->costs.columns[1].has_percent);
}

/* A taxonomy of one derived metric: the ratio of two inputs, total only. */
static void derive(struct world *w, struct cn_arena *arena, const struct cn_input *inputs,
                   const char *variant)
{
    const struct cn_formula *args[] = {cn_formula_input(arena, 0),
                                       cn_formula_input(arena, 1)};
    struct cn_variant *v = cn_arena_alloc(arena, 1, sizeof(*v));
    struct cn_presented_metric *root = cn_arena_alloc(arena, 1, sizeof(*root));

    *v = (struct cn_variant){.name = variant, .render = CN_RENDER_NUMBER};
    v->total.standard = cn_formula_new(arena, CN_FORMULA_DIV, args, 2);
    *root = (struct cn_presented_metric){
        .name = "ratio", .is_visible = true, .variants = v, .variant_count = 1};
    w->db->taxonomy = (struct cn_taxonomy){inputs, root, 2, 1};
}

static void a_ratio_is_taken_of_sums(void **state)
{
    static const struct cn_input inputs[] = {
        {"flops", "execution", "$$", CN_COMBINE_SUM},
        {"Time (s)", "execution", "$$", CN_COMBINE_SUM}};
    struct world *w = *state;
    struct cn_arena arena = {0};
    struct cn_error err = {0};

    derive(w, &arena, inputs, "");
    add(w, total);
    add(w, (struct cn_cost_request){.stat = CN_STAT_MEAN, .profile = CN_NONE});
    assert_false(cn_costs_add(&w->costs, &self, &err));
    assert_string_equal(err.text, "metric 'ratio' has no self values");
    assert_false(cn_costs_add(
        &w->costs, &(struct cn_cost_request){.scope = "point", .profile = CN_NONE},
        &err));
    assert_string_equal(err.text,
                        "'ratio' is derived from other metrics and has no scopes");
    make_ready(w);
    expect_values(w, 0, (const double[]){20.0 / 24, 20.0 / 24, 20.0 / 12, 20.0 / 12, 0});
    /* Threads: 20/5, 0/16, 0/3. */
    expect_values(w, 1, (const double[]){4.0 / 3, 4.0 / 3, 2.5, 2.5, 0});
    assert_false(w->costs.columns[0].has_percent);
    cn_arena_done(&arena);
}

static void a_division_by_zero_is_no_value(void **state)
{
    static const struct cn_input inputs[] = {
        {"Time (s)", "execution", "$$", CN_COMBINE_SUM},
        {"flops", "execution", "$$", CN_COMBINE_SUM}};
    struct world *w = *state;
    struct cn_arena arena = {0};

    derive(w, &arena, inputs, "");
    add(w, total);
    add(w, (struct cn_cost_request){.stat = CN_STAT_COUNT, .profile = CN_NONE});
    make_ready(w);
    expect_values(w, 0, (const double[]){1.2, 1.2, 0.6, 0.6, -1});
    expect_values(w, 1, (const double[]){1, 1, 1, 1, -1});
    cn_arena_done(&arena);
}

static void statistics_of_the_summary_cannot_be_split(void **state)
{
    static const struct cn_input inputs[] = {
        {"Time (s)", "execution", "$$", CN_COMBINE_SUM},
        {"Time (s)", "execution", "1", CN_COMBINE_SUM}};
    static const char wanted[] =
        "statistic sum(1) of 'Time (s)' exists for all threads together only";
    struct cn_cost_request request = total;
    struct world *w = *state;
    struct cn_arena arena = {0};
    struct cn_error err = {0};

    derive(w, &arena, inputs, "Sum");
    add(w, total);
    request.profile = 1;
    assert_false(cn_costs_add(&w->costs, &request, &err));
    assert_string_equal(err.text, wanted);
    request = total;
    request.stat = CN_STAT_MEAN;
    assert_false(cn_costs_add(&w->costs, &request, &err));
    assert_string_equal(err.text, wanted);
    make_ready(w);
    expect_values(w, 0, (const double[]){8, 8, 6, 6, 4.5});
    cn_arena_done(&arena);
}

static void a_metric_is_found_by_name_or_prefix(void **state)
{
    struct world *w = *state;
    struct cn_cost_request request = total;

    request.metric = "flops";
    add(w, request);
    request.metric = "FL";
    add(w, request);
    request.metric = "time";
    add(w, request);
    assert_string_equal(w->costs.columns[0].name, "flops_inclusive");
    assert_string_equal(w->costs.columns[1].name, "flops_inclusive");
    assert_string_equal(w->costs.columns[2].name, "time_s_inclusive");
    assert_string_equal(cn_costs_metric_at(w->db, 1)->name, "flops");
    assert_null(cn_costs_metric_at(w->db, 2));
}

static void refuses(struct world *w, struct cn_cost_request request, const char *text)
{
    struct cn_error err = {0};
    size_t before = w->costs.column_count;

    assert_false(cn_costs_add(&w->costs, &request, &err));
    assert_string_equal(err.text, text);
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    assert_int_equal(w->costs.column_count, before);
}

static void says_what_there_is_instead(void **state)
{
    struct world *w = *state;
    struct cn_error err = {0};

    refuses(w, (struct cn_cost_request){.metric = "joules", .profile = CN_NONE},
            "no metric 'joules'; there are: 'Time (s)', 'flops'");
    refuses(w, (struct cn_cost_request){.metric = "", .profile = CN_NONE},
            "more than one metric ''; there are: 'Time (s)', 'flops'");
    refuses(w, (struct cn_cost_request){.scope = "line", .profile = CN_NONE},
            "no scope 'line'; there are: 'point', 'function', 'lex_aware', 'execution'");
    assert_false(cn_costs_select(&w->costs, "RANK 7", &err));
    assert_string_equal(err.text, "no thread matches 'RANK 7'");
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    w->db->taxonomy.root_count = 0;
    refuses(w, total, "the database has no metrics");
}

static void has_a_limit_on_columns(void **state)
{
    struct world *w = *state;
    struct cn_error err = {0};

    for (size_t i = 0; i < CN_COST_COLUMN_MAX; i++)
        add(w, total);
    assert_false(cn_costs_add(&w->costs, &total, &err));
    assert_string_equal(err.text, "more than 256 columns");
    assert_int_equal(err.kind, CN_ERR_LIMIT);
}

/* Every kind of column there is. */
static void add_all(struct cn_costs *costs)
{
    static const char *const scopes[] = {NULL, "point", "function", "lex_aware"};
    struct cn_error err = {0};

    for (size_t i = 0; i < sizeof(scopes) / sizeof(*scopes); i++)
        for (int stat = CN_STAT_SUM; stat <= CN_STAT_COUNT; stat++)
            for (uint32_t thread = 0; thread < 3; thread++)
                for (int side = CN_TOTAL; side <= CN_SELF; side++)
                    assert_true(cn_costs_add(costs,
                                             &(struct cn_cost_request){
                                                 .metric = thread == 1 ? "cycles" : NULL,
                                                 .scope = scopes[i],
                                                 .side = (enum cn_cost_side)side,
                                                 .stat = (enum cn_cost_stat)stat,
                                                 .profile = thread == 2 ? 2 : CN_NONE,
                                             },
                                             &err));
}

static void both_ways_agree_on_the_sample(void **state)
{
    static const char *const filters[] = {NULL, "RANK 1", "1-2", "RANK 0 THREAD 1"};
    struct cn_database *db = cn_sample_database();
    struct cn_error err = {0};

    (void)state;
    for (size_t i = 0; i < 2 * sizeof(filters) / sizeof(*filters); i++) {
        struct cn_costs costs;

        db->has_context_values = i % 2 == 0;
        cn_costs_init(&costs, db);
        if (filters[i / 2])
            assert_true(cn_costs_select(&costs, filters[i / 2], &err));
        add_all(&costs);
        assert_true(cn_costs_ready(&costs, &err));
        if (!cn_check_costs(&costs, &err))
            fail_msg("%s", err.text);
        cn_costs_done(&costs);
    }
    cn_database_close(db);
}

static void the_whole_is_the_top_when_the_global_context_has_no_value(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("no global values", "");
    struct world w = {0};
    struct cn_database *usual;
    int scope, sum;

    (void)state;
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "Time (s)");
    add_contexts(m, &w);
    /* A database of the usual kind numbers its statistics the same way. */
    usual = cn_sample_database();
    scope = cn_metrics_find_scope(&usual->metrics, "execution");
    sum = cn_metric_stat_id(usual->metrics.list, (unsigned)scope, "$$", CN_COMBINE_SUM);
    cn_database_close(usual);
    cn_memory_database_add_value(m, 0, w.entry, (uint16_t)sum, 40);
    cn_memory_database_add_value(m, 0, w.main, (uint16_t)sum, 30);
    w.db = cn_memory_database_finish(m);
    cn_costs_init(&w.costs, w.db);
    add(&w, total);
    make_ready(&w);
    assert_true(cn_same_value(w.costs.columns[0].total, 40));
    assert_true(cn_same_value(value_of(&w, w.main, 0), 30));
    cn_costs_done(&w.costs);
    cn_database_close(w.db);
}

static void the_first_metric_with_values_is_the_default(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("second metric", "");
    struct world w = {0};
    struct cn_error err = {0};

    (void)state;
    (void)cn_memory_database_add_kind(m, "SUMMARY");
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "unused");
    (void)cn_memory_database_add_usual_metric(m, "used");
    add_contexts(m, &w);
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(m, 1, w.main, FLOPS_POINT, 1);
    assert_true(cn_memory_database_propagate(m, &err));
    w.db = cn_memory_database_finish(m);
    cn_costs_init(&w.costs, w.db);
    add(&w, total);
    /* Where none has values, it is the first. */
    assert_true(cn_costs_select(&w.costs, "2", &err));
    add(&w, total);
    assert_string_equal(w.costs.columns[0].name, "used_inclusive");
    assert_string_equal(w.costs.columns[1].name, "unused_inclusive");
    cn_costs_done(&w.costs);
    cn_database_close(w.db);
}

static void an_infinite_value_is_no_value(void **state)
{
    struct cn_memory_database *m = cn_memory_database_new("infinite", "");
    struct world w = {0};
    struct cn_error err = {0};

    (void)state;
    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "Time (s)");
    add_contexts(m, &w);
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    cn_memory_database_add_value(m, 1, w.main, TIME_POINT, INFINITY);
    assert_true(cn_memory_database_propagate(m, &err));
    w.db = cn_memory_database_finish(m);
    cn_costs_init(&w.costs, w.db);
    add(&w, total);
    make_ready(&w);
    assert_true(cn_same_value(value_of(&w, w.main, 0), -1));
    cn_costs_done(&w.costs);
    cn_database_close(w.db);
}

#define WORLD_TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(shows_total_and_self_sums),
        WORLD_TEST(percentages_are_of_the_whole),
        WORLD_TEST(shows_each_scope_as_it_stands),
        WORLD_TEST(statistics_are_over_threads_that_have_a_value),
        WORLD_TEST(only_selected_threads_count),
        WORLD_TEST(an_estimate_is_of_some_threads),
        WORLD_TEST(a_column_can_be_of_one_thread),
        WORLD_TEST(a_ratio_is_taken_of_sums),
        WORLD_TEST(a_division_by_zero_is_no_value),
        WORLD_TEST(statistics_of_the_summary_cannot_be_split),
        WORLD_TEST(a_metric_is_found_by_name_or_prefix),
        WORLD_TEST(says_what_there_is_instead),
        WORLD_TEST(has_a_limit_on_columns),
        cmocka_unit_test(both_ways_agree_on_the_sample),
        cmocka_unit_test(the_whole_is_the_top_when_the_global_context_has_no_value),
        cmocka_unit_test(the_first_metric_with_values_is_the_default),
        cmocka_unit_test(an_infinite_value_is_no_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
