#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/views/hottest.h"
#include "model/contexts/memory.h"
#include "support/effort.h"
#include "support/random_tree.h"
#include "support/sample.h"

enum { TREES = 60, EVERY_KIND = ~0 };

static const struct cn_name_filter no_filter;

static void init_costs(struct cn_costs *costs, struct cn_database *db)
{
    struct cn_error err = {0};

    cn_costs_init(costs, db);
    for (int side = CN_TOTAL; side <= CN_SELF; side++)
        assert_true(cn_costs_add(costs,
                                 &(struct cn_cost_request){
                                     .side = (enum cn_cost_side)side, .profile = CN_NONE},
                                 &err));
    assert_true(cn_costs_ready(costs, &err));
}

struct ranked {
    double value;
    uint32_t node;
};

static bool reverse;

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;

    if (a->value != b->value)
        return (a->value > b->value) != reverse ? -1 : 1;
    return a->node < b->node ? -1 : 1;
}

/* All candidates, sorted. */
static size_t rank(const struct cn_random_tree *tree, const struct cn_hottest *found,
                   const struct cn_hottest_request *request, struct ranked *out)
{
    size_t count = 0;

    for (size_t at = 0; at < tree->count; at++) {
        const struct cn_context *context = &tree->contexts[at].context;
        double sum = 0;

        for (size_t t = 0; t < CN_RANDOM_THREADS; t++)
            sum += request->column == 0 ? cn_random_total(tree, at, t)
                                        : cn_random_self(tree, at, t);
        if (sum > 0 && request->kinds >> cn_row_kind_of(context) & 1)
            out[count++] =
                (struct ranked){sum, cn_context_index_find(&found->index, context->id)};
    }
    reverse = request->is_reversed;
    qsort(out, count, sizeof(*out), compare_ranked);
    return count;
}

static void check(struct cn_random_tree *tree, struct cn_costs *costs,
                  const struct cn_hottest_request *request)
{
    struct ranked ranked[CN_RANDOM_CONTEXTS_MAX];
    struct cn_error err = {0};
    struct cn_hottest found;
    size_t count;

    assert_true(cn_hottest_find(&found, costs, request, NULL, &err));
    count = rank(tree, &found, request, ranked);
    assert_int_equal(found.count, count < request->count ? count : request->count);
    for (size_t i = 0; i < found.count; i++)
        assert_int_equal(found.nodes[i], ranked[i].node);
    cn_hottest_done(&found);
}

static void finds_what_a_full_sort_finds(void **state)
{
    static const size_t counts[] = {0, 1, 2, 7, 1000};
    static const unsigned kinds[] = {(unsigned)EVERY_KIND, 1U << CN_ROW_FUNCTION,
                                     1U << CN_ROW_LOOP | 1U << CN_ROW_LINE};

    (void)state;
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        struct cn_random_tree tree;
        struct cn_costs costs;

        cn_random_tree_build(&tree, seed);
        init_costs(&costs, tree.db);
        for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
            for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
                for (unsigned bits = 0; bits < 4; bits++)
                    check(&tree, &costs,
                          &(struct cn_hottest_request){.column = bits & 1,
                                                       .kinds = kinds[k],
                                                       .count = counts[i],
                                                       .is_reversed = bits & 2,
                                                       .filter = &no_filter});
        cn_costs_done(&costs);
        cn_random_tree_done(&tree);
    }
}

static void expect_path(const struct cn_hottest *found, struct cn_database *db, size_t i,
                        const char *wanted)
{
    struct cn_text path = {0};
    struct cn_error err = {0};

    assert_true(cn_hottest_path(found, db, found->nodes[i], &path, &err));
    assert_string_equal(cn_text_str(&path), wanted);
    cn_text_done(&path);
}

static void a_filter_leaves_matching_names(void **state)
{
    struct cn_database *db = cn_sample_database();
    struct cn_name_filter filter = {0};
    struct cn_hottest_request request = {
        .column = 1, .kinds = (unsigned)EVERY_KIND, .count = 10, .filter = &filter};
    struct cn_error err = {0};
    struct cn_hottest found;
    struct cn_costs costs;

    (void)state;
    init_costs(&costs, db);
    assert_true(cn_name_filter_add(&filter, "solv?", CN_MATCH_GLOB, &err));
    assert_true(cn_hottest_find(&found, &costs, &request, NULL, &err));
    assert_int_equal(found.count, 2);
    expect_path(&found, db, 0, "main > solve");
    expect_path(&found, db, 1,
                "start_thread > libc.so.6+0x3040 > <anonymous at libc.so.6+0x2f00> > "
                "libc.so.6+0x2f44 > solve");
    cn_hottest_done(&found);
    cn_name_filter_done(&filter);
    cn_costs_done(&costs);
    cn_database_close(db);
}

/* A chain of calls f0 > f1 > ... with the cost at its end. */
static struct cn_database *build_chain(uint32_t length)
{
    struct cn_memory_database *m = cn_memory_database_new("chain", "");
    struct cn_text name = {0};
    struct cn_error err = {0};
    uint32_t at = cn_memory_database_add_context(
        m, 0, (struct cn_context){.kind = CN_CONTEXT_ENTRY, .entry_name = "main thread"});

    cn_memory_database_add_usual_scopes(m);
    (void)cn_memory_database_add_usual_metric(m, "time");
    (void)cn_memory_database_add_profile(m, (struct cn_identity_tuple){0});
    for (uint32_t i = 0; i < length; i++) {
        cn_text_clear(&name);
        cn_text_printf(&name, "f%u", i);
        (void)cn_memory_database_add_function(
            m, (struct cn_function){cn_text_str(&name), CN_NONE, 0, CN_NONE, 0});
        at = cn_memory_database_add_context(
            m, at,
            (struct cn_context){.kind = CN_CONTEXT_FUNCTION,
                                .relation = CN_CALL,
                                .has_function = true,
                                .function = i});
    }
    cn_memory_database_add_value(m, 1, at, 0, 1);
    assert_true(cn_memory_database_propagate(m, &err));
    cn_text_done(&name);
    return cn_memory_database_finish(m);
}

static void long_paths_are_shortened_in_the_middle(void **state)
{
    static const struct {
        uint32_t length;
        const char *path;
    } cases[] = {
        {1, "f0"},
        {8, "f0 > f1 > f2 > f3 > f4 > f5 > f6 > f7"},
        {9, "f0 > (1 more) > f2 > f3 > f4 > f5 > f6 > f7 > f8"},
        {30, "f0 > (22 more) > f23 > f24 > f25 > f26 > f27 > f28 > f29"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_database *db = build_chain(cases[i].length);
        struct cn_error err = {0};
        struct cn_hottest found;
        struct cn_costs costs;

        init_costs(&costs, db);
        assert_true(cn_hottest_find(&found, &costs,
                                    &(struct cn_hottest_request){
                                        .column = 1,
                                        .kinds = 1U << CN_ROW_FUNCTION,
                                        .count = 1,
                                        .filter = &no_filter,
                                    },
                                    NULL, &err));
        assert_int_equal(found.count, 1);
        expect_path(&found, db, 0, cases[i].path);
        cn_hottest_done(&found);
        cn_costs_done(&costs);
        cn_database_close(db);
    }
}

static void the_hot_path_follows_the_largest_child(void **state)
{
    static const char *const wanted[] = {
        "<main thread>",     "main",     "heat.c:10", "solve", "loop at heat.c:20",
        "loop at heat.c:24", "heat.c:25"};
    struct cn_database *db = cn_sample_database();
    struct cn_error err = {0};
    struct cn_costs costs;
    struct cn_view *view;
    struct cn_row_list path;

    (void)state;
    init_costs(&costs, db);
    view = cn_view_top_down_new(&costs);
    cn_row_list_begin(&path, costs.column_count);
    assert_true(cn_view_hot_path(view, 0, 0.5, &path, &err));
    assert_int_equal(path.count, 7);
    for (size_t i = 0; i < path.count; i++) {
        struct cn_text label = {0};

        assert_true(view->ops->label(view, &path.rows[i], &label, &err));
        assert_string_equal(cn_text_str(&label), wanted[i]);
        cn_text_done(&label);
    }
    assert_true(path.rows[6].values[0] == 18);
    assert_true(path.rows[6].values[1] == 14.25);
    cn_row_list_done(&path);
    cn_view_free(view);
    cn_costs_done(&costs);
    cn_database_close(db);
}

static const struct cn_database_ops *sound;

/* Whatever is asked for, the children of the first entry point. */
static bool go_in_circles(struct cn_database *db, const struct cn_context *parent,
                          struct cn_context_cursor *out, struct cn_error *err)
{
    struct cn_context_cursor entries;
    struct cn_context entry;

    if (!parent)
        return sound->children(db, NULL, out, err);
    return sound->children(db, NULL, &entries, err) &&
           sound->child_next(db, &entries, &entry, err) == CN_ITEM &&
           sound->children(db, &entry, out, err);
}

static void the_hot_path_of_a_cycle_ends(void **state)
{
    struct cn_database *db = build_chain(5);
    struct cn_database_ops ops = *db->ops;
    struct cn_error err = {0};
    struct cn_costs costs;
    struct cn_view *view;
    struct cn_row_list path;

    (void)state;
    sound = db->ops;
    ops.children = go_in_circles;
    db->ops = &ops;
    init_costs(&costs, db);
    view = cn_view_top_down_new(&costs);
    cn_row_list_begin(&path, costs.column_count);
    assert_false(cn_view_hot_path(view, 0, 0.5, &path, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);
    assert_string_equal(err.text,
                        "lists of contexts form a cycle: context 2 is below itself");
    assert_int_equal(path.count, 2);
    cn_row_list_done(&path);
    cn_view_free(view);
    cn_costs_done(&costs);
    db->ops = sound;
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_a_full_sort_finds),
        cmocka_unit_test(a_filter_leaves_matching_names),
        cmocka_unit_test(long_paths_are_shortened_in_the_middle),
        cmocka_unit_test(the_hot_path_follows_the_largest_child),
        cmocka_unit_test(the_hot_path_of_a_cycle_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
