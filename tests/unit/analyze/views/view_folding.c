/* Recursion folded, call paths by what they are for, and who calls whom, against the slow and obvious way:
 * for each row, the sum over all contexts that belong to it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lens/code.h"
#include "analyze/views/view.h"
#include "support/check_costs.h"
#include "support/effort.h"
#include "support/random_tree.h"

enum { TREES = 200, KEY_LEN = 1024, ROWS_MAX = 512 };
enum { TOTAL, SELF, COLUMNS };

struct sums {
    char key[KEY_LEN]; /* labels from the top down, each after a "/" */
    double values[COLUMNS];
};

static struct cn_random_tree tree;
static char keys[CN_RANDOM_CONTEXTS_MAX][KEY_LEN];
static struct sums rows[ROWS_MAX];
static size_t row_count;

static void name_of(size_t at, char *room)
{
    static const char *const files[] = {"a.c", "b.c", "c.c"};
    const struct cn_context *c = &tree.contexts[at].context;
    const char *loop = c->kind == CN_CONTEXT_LOOP ? "loop at " : "";

    if (c->kind == CN_CONTEXT_ENTRY)
        (void)snprintf(room, 64, "/<main thread>");
    else if (c->kind == CN_CONTEXT_FUNCTION && !c->has_function)
        (void)snprintf(room, 64, "/<unknown function>");
    else if (c->has_function)
        (void)snprintf(room, 64, "/f%u", c->function < 7 ? c->function : 6);
    else if (c->has_source)
        (void)snprintf(room, 64, "/%s%s:%u", loop, files[c->file], c->line);
    else
        (void)snprintf(room, 64, "/%sm%u+0x%x", loop, c->module, (unsigned)c->offset);
}

/* The end of a component in a key, or NULL. */
static const char *find_component(const char *key, const char *component)
{
    size_t len = strlen(component);

    for (const char *at = strstr(key, component); at; at = strstr(at + 1, component))
        if (at[len] == '/' || at[len] == '\0')
            return at + len;
    return NULL;
}

static void name_contexts(void)
{
    for (size_t at = 0; at < tree.count; at++) {
        const struct cn_random_context *c = &tree.contexts[at];
        const char *above = c->parent == at ? "" : keys[c->parent];
        const char *end = NULL;
        char name[64];

        name_of(at, name);
        if (c->context.has_function)
            end = find_component(above, name);
        if (end)
            (void)snprintf(keys[at], KEY_LEN, "%.*s", (int)(end - above), above);
        else
            (void)snprintf(keys[at], KEY_LEN, "%.900s%s", above, name);
    }
}

static struct sums *sums_of(const char *key)
{
    for (size_t i = 0; i < row_count; i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    assert_true(row_count < ROWS_MAX);
    rows[row_count] = (struct sums){0};
    (void)snprintf(rows[row_count].key, KEY_LEN, "%s", key);
    return &rows[row_count++];
}

static void add_row(const char *key, const struct cn_row *row)
{
    for (size_t k = 0; k < COLUMNS; k++)
        if (!isnan(row->values[k]))
            sums_of(key)->values[k] += row->values[k];
        else
            (void)sums_of(key);
}

/* These trees are not deep. */
static void add_view(struct cn_view *view, const struct cn_row *parent, const char *above)
{
    struct cn_row_list list;
    struct cn_error err = {0};

    assert_true(cn_view_children(view, parent, TOTAL, false, &list, &err));
    for (size_t i = 0; i < list.count; i++) {
        char key[KEY_LEN];
        struct cn_text label = {0};

        assert_true(view->ops->label(view, &list.rows[i], &label, &err));
        (void)snprintf(key, KEY_LEN, "%.900s/%.100s", above, cn_text_str(&label));
        cn_text_done(&label);
        add_row(key, &list.rows[i]);
        add_view(view, &list.rows[i], key);
    }
    cn_row_list_done(&list);
}

static bool is_inside(const char *key, const char *of)
{
    size_t len = strlen(of);

    return strncmp(key, of, len) == 0 && (key[len] == '/' || key[len] == '\0');
}

/* `has_no_context`: it is there for the rows below it. */
static void check_row(const struct sums *row, bool has_no_context)
{
    double total = 0, self = 0;
    bool is_known = has_no_context;

    for (size_t at = 0; at < tree.count; at++)
        for (size_t t = 0; t < CN_RANDOM_THREADS; t++) {
            if (is_inside(keys[at], row->key))
                total += tree.contexts[at].point[t];
            if (strcmp(keys[at], row->key) != 0)
                continue;
            self += cn_random_self(&tree, at, t);
            is_known = true;
        }
    if (!is_known)
        fail_msg("unexpected row: %s", row->key);
    if (!cn_same_value(row->values[TOTAL], total) ||
        !cn_same_value(row->values[SELF], self))
        fail_msg("%s: %g and %g, expected %g and %g", row->key, row->values[TOTAL],
                 row->values[SELF], total, self);
}

static void init_costs(struct cn_costs *costs)
{
    struct cn_cost_request request = {.profile = CN_NONE};
    struct cn_error err = {0};

    cn_costs_init(costs, tree.db);
    request.side = CN_TOTAL;
    assert_true(cn_costs_add(costs, &request, &err));
    request.side = CN_SELF;
    assert_true(cn_costs_add(costs, &request, &err));
    assert_true(cn_costs_ready(costs, &err));
}

static void rows_hold_what_is_folded_into_them(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        struct cn_error err = {0};
        struct cn_costs costs;
        struct cn_context_index index;
        struct cn_view_shape *shape;
        struct cn_view *view;

        cn_random_tree_build(&tree, seed);
        init_costs(&costs);
        name_contexts();
        row_count = 0;
        assert_true(cn_context_index_build(&index, tree.db, &err));
        assert_true(cn_view_shape_collapsed_new(&shape, tree.db, &index, NULL, &err));
        assert_true(cn_view_of_shape_new(&view, shape, &costs, NULL, &err));
        add_view(view, NULL, "");
        for (size_t at = 0; at < tree.count; at++)
            (void)sums_of(keys[at]); /* none is missing */
        for (size_t i = 0; i < row_count; i++)
            check_row(&rows[i], false);
        cn_view_free(view);
        cn_view_shape_free(shape);
        cn_context_index_done(&index);
        cn_costs_done(&costs);
        cn_random_tree_done(&tree);
    }
}

/* What each function says of paths, and what the path of each context is for. */
static struct cn_code_class classes[CN_RANDOM_CONTEXTS_MAX];
static uint8_t works[CN_RANDOM_CONTEXTS_MAX];

static void name_works(const struct cn_codes *codes)
{
    for (size_t at = 0; at < tree.count; at++) {
        const struct cn_random_context *c = &tree.contexts[at];
        const char *above = c->parent == at ? "" : keys[c->parent];
        uint8_t work = c->parent == at ? CN_WORK_UNKNOWN : works[c->parent];
        char name[64];

        keys[at][0] = '\0';
        works[at] = work;
        if (c->context.kind == CN_CONTEXT_ENTRY)
            continue;
        if (cn_random_is_call(c))
            works[at] = cn_code_work_below(work, cn_codes_of(codes, &c->context)->work);
        name_of(at, name);
        if (above[0] == '\0' || works[at] != work)
            (void)snprintf(keys[at], KEY_LEN, "/%s%s", cn_code_work_name(works[at]),
                           name);
        else
            (void)snprintf(keys[at], KEY_LEN, "%.900s%s", above, name);
    }
}

static bool is_top(const char *key)
{
    return strchr(key + 1, '/') == NULL;
}

static void rows_of_works_hold_their_paths_alone(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        struct cn_error err = {0};
        struct cn_costs costs;
        struct cn_view *view;

        cn_random_tree_build(&tree, seed);
        init_costs(&costs);
        struct cn_codes codes = {.of_function = classes,
                                 .function_count = tree.db->function_count};
        assert_true(codes.function_count <= CN_RANDOM_CONTEXTS_MAX);
        for (uint32_t i = 0; i < codes.function_count; i++)
            classes[i].work =
                (uint8_t)((i * 2654435761U + seed * 40503U) >> 7) % CN_CODE_WORKS;
        for (uint32_t i = 7; i < codes.function_count; i++)
            classes[i].work = classes[6].work; /* they are the same function */
        name_works(&codes);
        row_count = 0;
        assert_true(cn_view_works_new(&view, &costs, &codes, NULL, &err));
        add_view(view, NULL, "");
        for (size_t at = 0; at < tree.count; at++)
            if (keys[at][0]) /* none is missing */
                (void)sums_of(keys[at]);
        for (size_t i = 0; i < row_count; i++)
            check_row(&rows[i], is_top(rows[i].key));
        cn_view_free(view);
        cn_costs_done(&costs);
        cn_random_tree_done(&tree);
    }
}

/* The position of the nearest call above, or its own when there is none. */
static size_t caller_of(size_t at)
{
    size_t above = at;

    while (tree.contexts[above].parent != above) {
        above = tree.contexts[above].parent;
        if (cn_random_is_call(&tree.contexts[above]))
            return above;
    }
    return at;
}

/* "/caller/callee" of a call; "" of everything else. */
static void name_call(size_t at, char *key)
{
    char caller[64], callee[64];
    size_t above = caller_of(at);

    key[0] = '\0';
    if (!cn_random_is_call(&tree.contexts[at]) || above == at)
        return;
    name_of(above, caller);
    name_of(at, callee);
    (void)snprintf(key, KEY_LEN, "%s%s", caller, callee);
}

static bool is_below_the_same(size_t at)
{
    for (size_t i = at; tree.contexts[i].parent != i;) {
        i = tree.contexts[i].parent;
        if (strcmp(keys[i], keys[at]) == 0)
            return true;
    }
    return false;
}

static void check_call(const struct sums *row)
{
    double total = 0, self = 0;

    for (size_t at = 0; at < tree.count; at++)
        for (size_t t = 0; t < CN_RANDOM_THREADS; t++) {
            if (strcmp(keys[at], row->key) != 0)
                continue;
            self += cn_random_self(&tree, at, t);
            if (!is_below_the_same(at))
                total += cn_random_total(&tree, at, t);
        }
    if (!cn_same_value(row->values[TOTAL], total) ||
        !cn_same_value(row->values[SELF], self))
        fail_msg("%s: %g and %g, expected %g and %g", row->key, row->values[TOTAL],
                 row->values[SELF], total, self);
}

/* All that functions call, by the functions of all contexts. */
static void add_callees(struct cn_view *view)
{
    bool is_done[CN_RANDOM_CONTEXTS_MAX] = {false};
    double values[COLUMNS];
    struct cn_error err = {0};

    for (size_t at = 0; at < tree.count; at++) {
        struct cn_row function;
        struct cn_row_list list;
        char key[KEY_LEN], name[64];

        if (!cn_random_is_call(&tree.contexts[at]))
            continue;
        assert_true(cn_view_function_of(view, &tree.contexts[at].context, values,
                                        &function, &err));
        if (is_done[function.id])
            continue;
        is_done[function.id] = true;
        name_of(at, name);
        cn_view_callees(view, &function, &list);
        for (size_t i = 0; i < list.count; i++) {
            struct cn_text label = {0};

            assert_true(view->ops->label(view, &list.rows[i], &label, &err));
            (void)snprintf(key, KEY_LEN, "%s/%.100s", name, cn_text_str(&label));
            cn_text_done(&label);
            add_row(key, &list.rows[i]);
        }
        cn_row_list_done(&list);
    }
}

static void callees_count_each_moment_once(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < cn_test_seeds(TREES); seed++) {
        struct cn_error err = {0};
        struct cn_costs costs;
        struct cn_view *view;

        cn_random_tree_build(&tree, seed);
        init_costs(&costs);
        for (size_t at = 0; at < tree.count; at++)
            name_call(at, keys[at]);
        row_count = 0;
        assert_true(cn_view_callers_new(&view, &costs, NULL, &err));
        add_callees(view);
        for (size_t at = 0; at < tree.count; at++)
            if (keys[at][0]) /* none is missing */
                (void)sums_of(keys[at]);
        for (size_t i = 0; i < row_count; i++)
            check_call(&rows[i]);
        cn_view_free(view);
        cn_costs_done(&costs);
        cn_random_tree_done(&tree);
    }
}

static void entry_points_belong_to_no_function(void **state)
{
    struct cn_error err = {0};
    struct cn_costs costs;
    struct cn_view *view;
    struct cn_row row;
    double values[COLUMNS];

    (void)state;
    cn_random_tree_build(&tree, 1);
    init_costs(&costs);
    assert_true(cn_view_callers_new(&view, &costs, NULL, &err));
    assert_false(
        cn_view_function_of(view, &tree.contexts[0].context, values, &row, &err));
    assert_int_equal(err.kind, CN_ERR_NOT_FOUND);
    cn_view_free(view);
    cn_costs_done(&costs);
    cn_random_tree_done(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_what_is_folded_into_them),
        cmocka_unit_test(rows_of_works_hold_their_paths_alone),
        cmocka_unit_test(callees_count_each_moment_once),
        cmocka_unit_test(entry_points_belong_to_no_function),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
