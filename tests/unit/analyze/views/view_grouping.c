/* The flat and the bottom-up view against the slow and obvious way to compute them: for
 * each row, the sum over its contexts that are not below another one of the same row. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/views/view.h"
#include "base/alloc.h"
#include "support/check_costs.h"
#include "support/effort.h"
#include "support/random_tree.h"

enum { TREES = 200, KEY_LEN = 2048, ROWS_MAX = 4096, DEPTH_SHOWN = 6 };

/* Columns of the test, in this order. */
enum { SUM_I, SUM_E, MAX_I, MEAN_E, STDDEV_I, COUNT_E, COLUMNS };

struct expected_row {
    char key[KEY_LEN]; /* labels from the top down */
    double total[CN_RANDOM_THREADS], self[CN_RANDOM_THREADS];
    bool is_seen;
};

static struct expected_row expected[ROWS_MAX];
static size_t expected_count;
static struct cn_random_tree tree;
/* For each context, the keys of the rows that it counts for. */
static char keys[CN_RANDOM_CONTEXTS_MAX][CN_RANDOM_CONTEXTS_MAX][KEY_LEN];
static size_t key_counts[CN_RANDOM_CONTEXTS_MAX];

static const char *place_name(const struct cn_context *c, char *room, size_t size)
{
    static const char *const files[] = {"a.c", "b.c", "c.c"};
    const char *loop = c->kind == CN_CONTEXT_LOOP ? "loop at " : "";

    if (c->kind == CN_CONTEXT_FUNCTION && !c->has_function)
        (void)snprintf(room, size, "<unknown function>");
    else if (c->has_function)
        (void)snprintf(room, size, "f%u", c->function < 7 ? c->function : 6);
    else if (c->has_source)
        (void)snprintf(room, size, "%s%s:%u", loop, files[c->file], c->line);
    else
        (void)snprintf(room, size, "%sm%u+0x%x", loop, c->module, (unsigned)c->offset);
    return room;
}

static void join(char *room, const char *above, const char *name)
{
    (void)snprintf(room, KEY_LEN, "%.*s%s%s", KEY_LEN / 2, above, *above ? "/" : "",
                   name);
}

static void add_key(size_t at, const char *above, const char *name)
{
    char key[KEY_LEN];

    join(key, above, name);
    memcpy(keys[at][key_counts[at]++], key, sizeof(key));
}

static void flat_keys(size_t at)
{
    static const char *const files[] = {"a.c", "b.c", "c.c"};
    const struct cn_random_context *c = &tree.contexts[at];
    uint32_t function = c->context.function < 7 ? c->context.function : 6;
    const char *module = "<unknown module>", *file = "<unknown file>";
    char room[64];

    if (c->context.kind == CN_CONTEXT_ENTRY)
        return;
    (void)place_name(&c->context, room, sizeof(room));
    if (!cn_random_is_call(c)) {
        add_key(at, keys[c->parent][key_counts[c->parent] - 1], room);
        return;
    }
    if (c->context.has_function || c->context.has_point)
        module =
            (c->context.has_function ? function : c->context.module) % 2 ? "m1" : "m0";
    if (c->context.has_function && function != 0)
        file = files[function % 3];
    add_key(at, "", module);
    add_key(at, keys[at][0], file);
    add_key(at, keys[at][1], room);
}

static void caller_keys(size_t at)
{
    char room[64];

    if (!cn_random_is_call(&tree.contexts[at]))
        return;
    for (size_t i = at; key_counts[at] < DEPTH_SHOWN; i = tree.contexts[i].parent) {
        size_t level = key_counts[at];

        if (cn_random_is_call(&tree.contexts[i]))
            add_key(at, level ? keys[at][level - 1] : "",
                    place_name(&tree.contexts[i].context, room, sizeof(room)));
        if (tree.contexts[i].parent == i)
            break;
    }
}

static bool counts_for(size_t at, const char *key)
{
    for (size_t i = 0; i < key_counts[at]; i++)
        if (strcmp(keys[at][i], key) == 0)
            return true;
    return false;
}

static bool is_below_one_of_the_row(size_t at, const char *key)
{
    while (tree.contexts[at].parent != at) {
        at = tree.contexts[at].parent;
        if (counts_for(at, key))
            return true;
    }
    return false;
}

static struct expected_row *find_expected(const char *key)
{
    for (size_t i = 0; i < expected_count; i++)
        if (strcmp(expected[i].key, key) == 0)
            return &expected[i];
    return NULL;
}

static struct expected_row *expect_row(const char *key)
{
    struct expected_row *row = find_expected(key);

    if (!row) {
        assert_true(expected_count < ROWS_MAX);
        row = &expected[expected_count++];
        *row = (struct expected_row){0};
        (void)snprintf(row->key, sizeof(row->key), "%s", key);
    }
    return row;
}

static void compute(void (*name_rows)(size_t at))
{
    expected_count = 0;
    memset(key_counts, 0, sizeof(key_counts));
    for (size_t at = 0; at < tree.count; at++)
        name_rows(at);
    for (size_t at = 0; at < tree.count; at++)
        for (size_t i = 0; i < key_counts[at]; i++) {
            struct expected_row *row = expect_row(keys[at][i]);
            bool is_outermost = !is_below_one_of_the_row(at, keys[at][i]);

            for (size_t t = 0; t < CN_RANDOM_THREADS; t++) {
                row->self[t] += cn_random_self(&tree, at, t);
                if (is_outermost)
                    row->total[t] += cn_random_total(&tree, at, t);
            }
        }
}

/* Statistics over the threads from..to, the obvious way. */
static void statistics(const double *by_thread, size_t from, size_t to, double *sum,
                       double *mean, double *max, double *stddev, double *count)
{
    double squares = 0;

    *sum = *count = 0;
    *max = -INFINITY;
    for (size_t t = from; t <= to; t++) {
        *sum += by_thread[t];
        *count += by_thread[t] > 0;
        *max = fmax(*max, by_thread[t]);
    }
    *mean = *sum / *count;
    for (size_t t = from; t <= to; t++)
        squares += by_thread[t] > 0 ? (by_thread[t] - *mean) * (by_thread[t] - *mean) : 0;
    *stddev = sqrt(squares / *count);
    if (*count == 0)
        *sum = *mean = *max = *stddev = *count = NAN;
}

static void check_row(const struct cn_row *row, const struct expected_row *want,
                      size_t from, size_t to)
{
    double sum, mean, max, stddev, count;
    double wanted[COLUMNS];

    statistics(want->total, from, to, &sum, &mean, &max, &stddev, &count);
    wanted[SUM_I] = sum;
    wanted[MAX_I] = max;
    wanted[STDDEV_I] = stddev;
    statistics(want->self, from, to, &sum, &mean, &max, &stddev, &count);
    wanted[SUM_E] = sum;
    wanted[MEAN_E] = mean;
    wanted[COUNT_E] = count;
    for (size_t i = 0; i < COLUMNS; i++)
        if (!cn_same_value(row->values[i], wanted[i]))
            fail_msg("column %zu of %s: %g, expected %g", i, want->key, row->values[i],
                     wanted[i]);
}

/* Views of these trees are a few levels deep. */
static void check_below(struct cn_view *view, const struct cn_row *parent,
                        const char *above, size_t from, size_t to)
{
    struct cn_row_list list;
    struct cn_error err = {0};

    assert_true(cn_view_children(view, parent, SUM_I, false, &list, &err));
    for (size_t i = 0; i < list.count; i++) {
        char key[KEY_LEN];
        struct cn_text label = {0};
        struct expected_row *want;

        assert_true(view->ops->label(view, &list.rows[i], &label, &err));
        join(key, above, cn_text_str(&label));
        cn_text_done(&label);
        want = find_expected(key);
        if (!want)
            fail_msg("unexpected row: %s", key);
        if (want->is_seen)
            fail_msg("twice: %s", key);
        want->is_seen = true;
        check_row(&list.rows[i], want, from, to);
        check_below(view, &list.rows[i], key, from, to);
    }
    cn_row_list_done(&list);
}

static void check_view(struct cn_view *view, size_t from, size_t to)
{
    check_below(view, NULL, "", from, to);
    for (size_t i = 0; i < expected_count; i++)
        if (!expected[i].is_seen)
            fail_msg("missing: %s", expected[i].key);
}

/* The columns, of all threads or of threads 2 and 3. */
static void init_columns(struct cn_costs *costs, bool is_selected, size_t count)
{
    static const struct cn_cost_request requests[COLUMNS] = {
        [SUM_I] = {.side = CN_TOTAL, .stat = CN_STAT_SUM, .profile = CN_NONE},
        [SUM_E] = {.side = CN_SELF, .stat = CN_STAT_SUM, .profile = CN_NONE},
        [MAX_I] = {.side = CN_TOTAL, .stat = CN_STAT_MAX, .profile = CN_NONE},
        [MEAN_E] = {.side = CN_SELF, .stat = CN_STAT_MEAN, .profile = CN_NONE},
        [STDDEV_I] = {.side = CN_TOTAL, .stat = CN_STAT_STDDEV, .profile = CN_NONE},
        [COUNT_E] = {.side = CN_SELF, .stat = CN_STAT_COUNT, .profile = CN_NONE},
    };
    struct cn_error err = {0};

    cn_costs_init(costs, tree.db);
    if (is_selected)
        assert_true(cn_costs_select(costs, "THREAD 1-2", &err));
    for (size_t i = 0; i < count; i++)
        assert_true(cn_costs_add(costs, &requests[i], &err));
    assert_true(cn_costs_ready(costs, &err));
}

static void init_costs(struct cn_costs *costs, bool is_selected)
{
    init_columns(costs, is_selected, COLUMNS);
}

static void check_trees(void (*name_rows)(size_t at), bool is_flat)
{
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        bool is_selected = seed % 2 == 1;
        struct cn_error err = {0};
        struct cn_costs costs;
        struct cn_view *view;

        cn_random_tree_build(&tree, seed);
        compute(name_rows);
        init_costs(&costs, is_selected);
        assert_true(cn_check_costs(&costs, &err));
        assert_true(is_flat
                        ? cn_view_flat_new(&view, &costs, NULL, &err)
                        : cn_view_bottom_up_new(&view, &costs, DEPTH_SHOWN, NULL, &err));
        check_view(view, is_selected ? 1 : 0, CN_RANDOM_THREADS - 1);
        cn_view_free(view);
        cn_costs_done(&costs);
        cn_random_tree_done(&tree);
    }
}

static void flat_counts_each_moment_once_in_a_row(void **state)
{
    (void)state;
    check_trees(flat_keys, true);
}

static void callers_count_each_moment_once_in_a_row(void **state)
{
    (void)state;
    check_trees(caller_keys, false);
}

/* The row of the same label and place in another list. */
static const struct cn_row *find_twin(struct cn_view *view,
                                      const struct cn_row_list *list, const char *label)
{
    const struct cn_row *found = NULL;

    for (size_t i = 0; i < list->count; i++) {
        struct cn_text text = {0};
        struct cn_error err = {0};

        assert_true(view->ops->label(view, &list->rows[i], &text, &err));
        if (strcmp(cn_text_str(&text), label) == 0) {
            assert_null(found);
            found = &list->rows[i];
        }
        cn_text_done(&text);
    }
    return found;
}

/* Both views have the same rows with the same numbers below these. */
static void expect_same_rows(struct cn_view *a, struct cn_view *b,
                             const struct cn_row *row_a, const struct cn_row *row_b,
                             size_t levels)
{
    struct cn_row_list list_a, list_b;
    struct cn_error err = {0};

    assert_true(cn_view_children(a, row_a, 0, false, &list_a, &err));
    assert_true(cn_view_children(b, row_b, 0, false, &list_b, &err));
    assert_int_equal(list_a.count, list_b.count);
    if (row_b)
        assert_int_equal(b->ops->is_leaf(b, row_b), list_b.count == 0);
    for (size_t i = 0; i < list_a.count; i++) {
        struct cn_text label = {0};
        const struct cn_row *twin;

        assert_true(a->ops->label(a, &list_a.rows[i], &label, &err));
        twin = find_twin(b, &list_b, cn_text_str(&label));
        assert_non_null(twin);
        assert_int_equal(twin->kind, list_a.rows[i].kind);
        for (size_t k = 0; k < a->costs->column_count; k++)
            assert_true(cn_same_value(twin->values[k], list_a.rows[i].values[k]) ||
                        (isnan(twin->values[k]) && isnan(list_a.rows[i].values[k])));
        cn_text_done(&label);
        if (levels > 1)
            expect_same_rows(a, b, &list_a.rows[i], twin, levels - 1);
    }
    cn_row_list_done(&list_a);
    cn_row_list_done(&list_b);
}

static void callers_found_on_demand_are_the_same(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        struct cn_error err = {0};
        struct cn_costs costs;
        struct cn_view *all, *some;

        cn_random_tree_build(&tree, seed);
        init_columns(&costs, seed % 2 == 1, SUM_E + 1);
        assert_true(cn_view_bottom_up_new(&all, &costs, DEPTH_SHOWN, NULL, &err));
        assert_true(cn_view_callers_new(&some, &costs, NULL, &err));
        expect_same_rows(all, some, NULL, NULL, DEPTH_SHOWN);
        cn_view_free(all);
        cn_view_free(some);
        cn_costs_done(&costs);
        cn_random_tree_done(&tree);
    }
}

/* Of every row, what the rows next to it on longer paths count together is no more. */
static void expect_shares_fit(const struct cn_path_tree *paths, double total)
{
    double *next = cn_alloc(paths->rows.count, sizeof(*next));

    assert_true(cn_same_value(paths->rows.rows[0].values[0], total));
    for (size_t i = 1; i < paths->rows.count; i++) {
        assert_true(paths->nearer[i] < i);
        if (!isnan(paths->rows.rows[i].values[0]))
            next[paths->nearer[i]] += paths->rows.rows[i].values[0];
    }
    for (size_t i = 0; i < paths->rows.count; i++) {
        double value = paths->rows.rows[i].values[0];

        assert_true(next[i] <= (isnan(value) ? 0 : value) + 1e-6);
    }
    free(next);
}

static void paths_around_a_function_fit_into_it_also_recursive_ones(void **state)
{
    size_t checked = 0;

    (void)state;
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        struct cn_error err = {0};
        struct cn_costs costs;
        struct cn_view *view;
        struct cn_row_list tops;

        cn_random_tree_build(&tree, seed);
        init_columns(&costs, false, SUM_E + 1);
        assert_true(cn_view_callers_new(&view, &costs, NULL, &err));
        assert_true(cn_view_children(view, NULL, 0, false, &tops, &err));
        for (size_t i = 0; i < tops.count; i++) {
            struct cn_path_tree callers = {0}, callees = {0};
            double total = tops.rows[i].values[0];

            if (isnan(total))
                continue;
            cn_view_caller_tree(view, &tops.rows[i], &callers);
            expect_shares_fit(&callers, total);
            cn_view_callee_tree(view, &tops.rows[i], &callees);
            expect_shares_fit(&callees, total);
            checked += callers.rows.count > 1 && callees.rows.count > 1;
            cn_path_tree_done(&callers);
            cn_path_tree_done(&callees);
        }
        cn_row_list_done(&tops);
        cn_view_free(view);
        cn_costs_done(&costs);
        cn_random_tree_done(&tree);
    }
    assert_true(checked > 0);
}

static void views_of_one_shape_are_those_made_alone(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        struct cn_error err = {0};
        struct cn_context_index index;
        struct cn_view_shape *shapes[2];

        cn_random_tree_build(&tree, seed);
        assert_true(cn_context_index_build(&index, tree.db, &err));
        assert_true(cn_view_shape_flat_new(&shapes[0], tree.db, &index, NULL, &err));
        assert_true(cn_view_shape_callers_new(&shapes[1], tree.db, &index, NULL, &err));
        for (int i = 0; i < 4; i++) {
            struct cn_costs costs;
            struct cn_view *alone, *shared;

            init_columns(&costs, i / 2 == 1, SUM_E + 1);
            assert_true(i % 2 == 0 ? cn_view_flat_new(&alone, &costs, NULL, &err)
                                   : cn_view_callers_new(&alone, &costs, NULL, &err));
            assert_true(cn_view_of_shape_new(&shared, shapes[i % 2], &costs, NULL, &err));
            expect_same_rows(alone, shared, NULL, NULL, DEPTH_SHOWN);
            cn_view_free(alone);
            cn_view_free(shared);
            cn_costs_done(&costs);
        }
        cn_view_shape_free(shapes[0]);
        cn_view_shape_free(shapes[1]);
        cn_context_index_done(&index);
        cn_random_tree_done(&tree);
    }
}

/* The sum of a column over the rows at one level. */
static double sum_at_level(struct cn_view *view, const struct cn_row *parent,
                           size_t levels, size_t column)
{
    struct cn_row_list list;
    struct cn_error err = {0};
    double sum = 0;

    assert_true(cn_view_children(view, parent, column, false, &list, &err));
    for (size_t i = 0; i < list.count; i++) {
        double value = list.rows[i].values[column];

        if (levels > 0)
            sum += sum_at_level(view, &list.rows[i], levels - 1, column);
        else
            sum += isnan(value) ? 0 : value;
    }
    cn_row_list_done(&list);
    return sum;
}

static double sum_over_calls(void)
{
    double sum = 0;

    for (size_t at = 0; at < tree.count; at++)
        for (size_t t = 0; t < CN_RANDOM_THREADS; t++)
            if (cn_random_is_call(&tree.contexts[at]))
                sum += cn_random_self(&tree, at, t);
    return sum;
}

static void self_costs_add_up_to_the_whole(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        struct cn_error err = {0};
        struct cn_costs costs;
        struct cn_view *flat, *callers;
        double whole;

        cn_random_tree_build(&tree, seed);
        init_costs(&costs, false);
        assert_true(cn_view_flat_new(&flat, &costs, NULL, &err));
        assert_true(cn_view_bottom_up_new(&callers, &costs, DEPTH_SHOWN, NULL, &err));
        whole = isnan(costs.columns[SUM_I].total) ? 0 : costs.columns[SUM_I].total;
        assert_true(cn_same_value(sum_over_calls(), whole));
        for (size_t level = 0; level < 3; level++)
            assert_true(cn_same_value(sum_at_level(flat, NULL, level, SUM_E), whole));
        assert_true(cn_same_value(sum_at_level(callers, NULL, 0, SUM_E), whole));
        cn_view_free(flat);
        cn_view_free(callers);
        cn_costs_done(&costs);
        cn_random_tree_done(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_counts_each_moment_once_in_a_row),
        cmocka_unit_test(callers_count_each_moment_once_in_a_row),
        cmocka_unit_test(callers_found_on_demand_are_the_same),
        cmocka_unit_test(paths_around_a_function_fit_into_it_also_recursive_ones),
        cmocka_unit_test(views_of_one_shape_are_those_made_alone),
        cmocka_unit_test(self_costs_add_up_to_the_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
