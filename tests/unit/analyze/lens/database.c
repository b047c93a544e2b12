/* Databases with a lens, against the slow and obvious way: each cost has a path of names, the rules
 * are applied to that path, and the rows are sums over paths. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/lens/code.h"
#include "analyze/lens/database.h"
#include "analyze/lens/lens.h"
#include "analyze/views/view.h"
#include "model/contexts/walk.h"
#include "support/check_costs.h"
#include "support/random_tree.h"

enum { TREES = 24, NAME_LEN = 48, PATH_MAX_LEN = CN_RANDOM_CONTEXTS_MAX, ROWS_MAX = 600 };
enum { TOTAL, SELF, COLUMNS };

/* A rule, for both implementations. */
struct rule {
    enum cn_lens_action action;
    const char *text;
};

struct rules {
    struct rule list[4];
};

/* Functions f0, f2, f4 and f6 are of m0, the others of m1. */
static const struct rules cases[] = {
    {{{CN_LENS_HIDE, "f1"}}},
    {{{CN_LENS_HIDE, "module:m1"}}},
    {{{CN_LENS_HIDE, "module:m0"}, {CN_LENS_HIDE, "f3"}}},
    {{{CN_LENS_HIDE, "file:b.c"}}},
    {{{CN_LENS_COLLAPSE, "m0"}}},
    {{{CN_LENS_COLLAPSE, "m*"}}},
    {{{CN_LENS_COLLAPSE, "m1"}, {CN_LENS_HIDE, "f2"}}},
    {{{CN_LENS_FOCUS, "f2"}}},
    {{{CN_LENS_FOCUS, "f2"}, {CN_LENS_FOCUS, "f5"}}},
    {{{CN_LENS_FOCUS, "f3"}, {CN_LENS_HIDE, "f3"}}},
    {{{CN_LENS_DROP, "f4"}}},
    {{{CN_LENS_DROP, "f1"}, {CN_LENS_FOCUS, "f3"}}},
    {{{CN_LENS_DROP, "module:m1"}, {CN_LENS_COLLAPSE, "m0"}}},
    {{{CN_LENS_PRUNE, "f0"}}},
    {{{CN_LENS_PRUNE, "f5"}, {CN_LENS_HIDE, "f5"}, {CN_LENS_DROP, "f2"}}},
    {{{CN_LENS_COLLAPSE, "recursion"}}},
    {{{CN_LENS_COLLAPSE, "recursion"}, {CN_LENS_HIDE, "f1"}}},
    {{{CN_LENS_COLLAPSE, "recursion"}, {CN_LENS_DROP, "f3"}, {CN_LENS_FOCUS, "f0"}}},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

struct component {
    char name[NAME_LEN];
    bool is_call, is_loop, is_library;
};

struct path {
    struct component list[PATH_MAX_LEN];
    size_t count;
    bool is_removed;
};

struct sums {
    struct path path;
    double values[COLUMNS];
    bool is_seen;
};

static struct cn_random_tree tree;
static struct sums rows[ROWS_MAX];
static size_t row_count;

static bool matches(const struct rule *rule, const struct cn_context *c)
{
    static const char *const files[] = {"a.c", "b.c", "c.c"};
    uint32_t place = c->function < 7 ? c->function : 6;
    bool is_known = c->kind == CN_CONTEXT_FUNCTION && c->has_function;
    uint32_t module = is_known ? place % 2 : c->has_point ? c->module : CN_NONE;
    const char *text = rule->text;
    char name[NAME_LEN];

    if (strcmp(text, "recursion") == 0)
        return false;
    if (strncmp(text, "module:", 7) == 0 || rule->action == CN_LENS_COLLAPSE) {
        text += strncmp(text, "module:", 7) == 0 ? 7 : 0;
        (void)snprintf(name, sizeof(name), "m%u", module);
        return module != CN_NONE && (strcmp(text, "m*") == 0 || strcmp(text, name) == 0);
    }
    if (strncmp(text, "file:", 5) == 0)
        return is_known && place > 0 && strcmp(text + 5, files[place % 3]) == 0;
    (void)snprintf(name, sizeof(name), "f%u", place);
    return is_known && strcmp(text, name) == 0;
}

static bool any_matches(const struct rules *rules, enum cn_lens_action action,
                        const struct cn_context *c)
{
    for (size_t i = 0; i < 4 && rules->list[i].text; i++)
        if (rules->list[i].action == action && matches(&rules->list[i], c))
            return true;
    return false;
}

static bool folds(const struct rules *rules)
{
    for (size_t i = 0; i < 4 && rules->list[i].text; i++)
        if (strcmp(rules->list[i].text, "recursion") == 0)
            return true;
    return false;
}

/* As model/labels/context.h labels it. */
static void name_of(const struct cn_context *c, char *room)
{
    static const char *const files[] = {"a.c", "b.c", "c.c"};
    const char *loop = c->kind == CN_CONTEXT_LOOP ? "loop at " : "";
    const char *inlined = c->relation == CN_INLINED_CALL ? " (inlined)" : "";

    if (c->kind == CN_CONTEXT_ENTRY)
        (void)snprintf(room, NAME_LEN, "<main thread>");
    else if (c->kind == CN_CONTEXT_FUNCTION && !c->has_function)
        (void)snprintf(room, NAME_LEN, "<unknown function>%s", inlined);
    else if (c->kind == CN_CONTEXT_FUNCTION)
        (void)snprintf(room, NAME_LEN, "f%u%s", c->function < 7 ? c->function : 6,
                       inlined);
    else if (c->has_source)
        (void)snprintf(room, NAME_LEN, "%s%s:%u", loop, files[c->file], c->line);
    else
        (void)snprintf(room, NAME_LEN, "%sm%u+0x%x", loop, c->module,
                       (unsigned)c->offset);
}

static bool is_call(const struct cn_context *c)
{
    return c->kind != CN_CONTEXT_ENTRY &&
           (c->kind == CN_CONTEXT_FUNCTION || c->relation != CN_LEXICAL);
}

static bool add_library(const struct rules *rules, const struct cn_context *c,
                        struct path *path)
{
    uint32_t place = c->function < 7 ? c->function : 6;
    bool is_known = c->kind == CN_CONTEXT_FUNCTION && c->has_function;
    char name[NAME_LEN];

    if (!any_matches(rules, CN_LENS_COLLAPSE, c))
        return false;
    (void)snprintf(name, sizeof(name), "[m%u]", is_known ? place % 2 : c->module);
    if (path->count > 0 && path->list[path->count - 1].is_library &&
        strcmp(path->list[path->count - 1].name, name) == 0)
        return true;
    path->list[path->count] = (struct component){.is_call = true, .is_library = true};
    (void)snprintf(path->list[path->count++].name, NAME_LEN, "%s", name);
    return true;
}

/* Two functions of the same name are apart. */
static bool fold(const struct cn_context *c, const uint32_t *functions, struct path *path)
{
    for (size_t i = 0; i < path->count; i++)
        if (functions[i] == c->function) {
            path->count = i + 1;
            return true;
        }
    return false;
}

/* Apply the rules to the contexts from the top down to `at`. */
static void follow(const struct rules *rules, size_t at, struct path *path)
{
    size_t way[PATH_MAX_LEN], len = 0;
    uint32_t functions[PATH_MAX_LEN]; /* of shown functions, by position in the path */
    bool is_inside_shown = true, is_pruned = false;

    *path = (struct path){0};
    for (size_t i = at;; i = tree.contexts[i].parent) {
        way[len++] = i;
        if (tree.contexts[i].parent == i)
            break;
    }
    for (size_t i = 0; i < 4 && rules->list[i].text; i++) {
        bool has_it = false;

        for (size_t k = 0; k < len; k++)
            has_it |= is_call(&tree.contexts[way[k]].context) &&
                      matches(&rules->list[i], &tree.contexts[way[k]].context);
        path->is_removed |= (rules->list[i].action == CN_LENS_FOCUS && !has_it) ||
                            (rules->list[i].action == CN_LENS_DROP && has_it);
    }
    while (len > 0) {
        const struct cn_context *c = &tree.contexts[way[--len]].context;
        struct component *next;

        if (is_call(c)) {
            bool prunes = any_matches(rules, CN_LENS_PRUNE, c);

            is_inside_shown = false;
            if (is_pruned || any_matches(rules, CN_LENS_HIDE, c) ||
                add_library(rules, c, path) ||
                (folds(rules) && c->kind == CN_CONTEXT_FUNCTION && c->has_function &&
                 fold(c, functions, path))) {
                if (path->count > 0 && path->list[path->count - 1].is_library)
                    functions[path->count - 1] = CN_NONE;
                is_pruned |= prunes;
                continue;
            }
            is_pruned |= prunes;
            is_inside_shown = true;
        } else if (!is_inside_shown && c->kind != CN_CONTEXT_ENTRY) {
            continue;
        }
        functions[path->count] =
            c->kind == CN_CONTEXT_FUNCTION && c->has_function ? c->function : CN_NONE - 1;
        next = &path->list[path->count++];
        *next = (struct component){.is_call = is_call(c),
                                   .is_loop = c->kind == CN_CONTEXT_LOOP};
        name_of(c, next->name);
    }
}

static bool begins_with(const struct path *path, const struct path *start)
{
    for (size_t i = 0; i < start->count; i++)
        if (i >= path->count || strcmp(path->list[i].name, start->list[i].name) != 0 ||
            path->list[i].is_call != start->list[i].is_call)
            return false;
    return true;
}

static struct sums *row_of(const struct path *path)
{
    for (size_t i = 0; i < row_count; i++)
        if (rows[i].path.count == path->count && begins_with(path, &rows[i].path))
            return &rows[i];
    assert_true(row_count < ROWS_MAX);
    rows[row_count] = (struct sums){.path = *path};
    return &rows[row_count++];
}

/* Lexically: no call in between, and no loop if it is that of a loop. */
static bool belongs_to(const struct path *path, const struct path *row)
{
    for (size_t i = row->count; i < path->count; i++)
        if (path->list[i].is_call ||
            (path->list[i].is_loop && row->list[row->count - 1].is_loop))
            return false;
    return true;
}

/* Expected rows: of all threads, or one. Returns the sum of all costs that remain. */
static double expect(const struct rules *rules, size_t thread)
{
    static struct path paths[CN_RANDOM_CONTEXTS_MAX];
    double whole = 0;

    row_count = 0;
    for (size_t at = 0; at < tree.count; at++) {
        struct path row;

        follow(rules, at, &paths[at]);
        row = paths[at];
        for (size_t n = row.count; n > 0 && !paths[at].is_removed; n--) {
            row.count = n;
            (void)row_of(&row);
        }
    }
    for (size_t at = 0; at < tree.count; at++)
        for (size_t t = 0; t < CN_RANDOM_THREADS; t++) {
            double cost = tree.contexts[at].point[t];

            if (paths[at].is_removed || (thread < CN_RANDOM_THREADS && t != thread))
                continue;
            whole += cost;
            for (size_t i = 0; i < row_count; i++) {
                if (!begins_with(&paths[at], &rows[i].path))
                    continue;
                rows[i].values[TOTAL] += cost;
                if (belongs_to(&paths[at], &rows[i].path))
                    rows[i].values[SELF] += cost;
            }
        }
    return whole;
}

static double value_of(double value)
{
    return isnan(value) ? 0 : value;
}

static void print_path(const struct path *path, char *room, size_t len)
{
    size_t used = 0;

    for (size_t i = 0; i < path->count && used < len; i++)
        used += (size_t)snprintf(room + used, len - used, "/%s", path->list[i].name);
}

/* Rows of the same name below the same row, as of f6 and its clone, count together. */
static void check_rows(struct cn_view *view, const struct cn_row *parent,
                       const struct path *above)
{
    struct cn_row_list list;
    struct cn_error err = {0};

    assert_true(cn_view_children(view, parent, TOTAL, false, &list, &err));
    for (size_t i = 0; i < list.count; i++) {
        struct cn_context context;
        struct cn_text label = {0};
        struct path path = *above;
        struct component *last = &path.list[path.count++];
        struct sums *row;

        assert_true(cn_context_at(view->costs->db, list.rows[i].id, &context, &err));
        assert_true(view->ops->label(view, &list.rows[i], &label, &err));
        *last = (struct component){.is_call = is_call(&context),
                                   .is_loop = context.kind == CN_CONTEXT_LOOP};
        (void)snprintf(last->name, NAME_LEN, "%s", cn_text_str(&label));
        cn_text_done(&label);
        row = row_of(&path);
        row->is_seen = true;
        row->values[TOTAL] -= value_of(list.rows[i].values[TOTAL]);
        row->values[SELF] -= value_of(list.rows[i].values[SELF]);
        check_rows(view, &list.rows[i], &path);
    }
    cn_row_list_done(&list);
}

static void init_costs(struct cn_costs *costs, struct cn_database *db, size_t thread)
{
    struct cn_cost_request request = {.profile = CN_NONE};
    struct cn_error err = {0};
    char selection[16];

    cn_costs_init(costs, db);
    (void)snprintf(selection, sizeof(selection), "%zu", thread + 1);
    if (thread < CN_RANDOM_THREADS)
        assert_true(cn_costs_select(costs, selection, &err));
    request.side = CN_TOTAL;
    assert_true(cn_costs_add(costs, &request, &err));
    request.side = CN_SELF;
    assert_true(cn_costs_add(costs, &request, &err));
    assert_true(cn_costs_ready(costs, &err));
}

static struct cn_database *open_lens(struct cn_database *whole, const struct rules *rules)
{
    struct cn_database *db = NULL;
    struct cn_lens lens = {0};
    struct cn_codes codes;
    struct cn_error err = {0};

    for (size_t i = 0; i < 4 && rules->list[i].text; i++)
        assert_true(cn_lens_add(&lens, rules->list[i].action, rules->list[i].text,
                                CN_MATCH_GLOB, &err));
    assert_true(cn_codes_build(&codes, whole, &lens.mine, &err));
    if (!cn_lens_database_open(&db, whole, &codes, &lens, NULL, &err))
        fail_msg("%s", err.text);
    cn_lens_done(&lens);
    return db;
}

static void check_case(const struct rules *rules, size_t thread, uint32_t seed)
{
    struct cn_database *db = open_lens(tree.db, rules);
    struct cn_costs costs;
    struct cn_error err = {0};
    double whole = expect(rules, thread);
    char name[1024];

    init_costs(&costs, db, thread);
    if (!cn_same_value(value_of(costs.columns[TOTAL].total), whole))
        fail_msg("seed %u, %s: the whole is %g, not %g", seed, rules->list[0].text,
                 costs.columns[TOTAL].total, whole);
    struct cn_view *view = cn_view_top_down_new(&costs);
    check_rows(view, NULL, &(struct path){0});
    for (size_t i = 0; i < row_count; i++) {
        print_path(&rows[i].path, name, sizeof(name));
        if (!rows[i].is_seen)
            fail_msg("seed %u, %s: %s is missing", seed, rules->list[0].text, name);
        if (fabs(rows[i].values[TOTAL]) > 1e-9 || fabs(rows[i].values[SELF]) > 1e-9)
            fail_msg("seed %u, %s: %s: total and self are wrong by %g and %g", seed,
                     rules->list[0].text, name, rows[i].values[TOTAL],
                     rows[i].values[SELF]);
    }
    cn_view_free(view);
    /* One context at a time, and all in one pass. */
    if (!cn_check_costs(&costs, &err))
        fail_msg("seed %u, %s: %s", seed, rules->list[0].text, err.text);
    cn_costs_done(&costs);
    cn_database_close(db);
}

static void rows_are_those_of_the_rules(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < TREES; seed++) {
        cn_random_tree_build(&tree, seed);
        for (size_t i = 0; i < CASES; i++)
            check_case(&cases[i], seed % 4 == 0 ? seed / 4 % CN_RANDOM_THREADS : SIZE_MAX,
                       seed);
        cn_random_tree_done(&tree);
    }
}

/* Statistics over threads are added up in another way. */
static void statistics_agree(void **state)
{
    static const enum cn_cost_stat stats[] = {CN_STAT_MEAN, CN_STAT_MAX, CN_STAT_COUNT};

    (void)state;
    for (uint32_t seed = 0; seed < TREES / 4; seed++) {
        cn_random_tree_build(&tree, seed);
        for (size_t i = 0; i < CASES; i++) {
            struct cn_database *db = open_lens(tree.db, &cases[i]);
            struct cn_error err = {0};
            struct cn_costs costs;

            cn_costs_init(&costs, db);
            for (size_t k = 0; k < 2 * sizeof(stats) / sizeof(stats[0]); k++)
                assert_true(cn_costs_add(
                    &costs,
                    &(struct cn_cost_request){.profile = CN_NONE,
                                              .stat = stats[k / 2],
                                              .side = k % 2 ? CN_SELF : CN_TOTAL},
                    &err));
            assert_true(cn_costs_ready(&costs, &err));
            if (!cn_check_costs(&costs, &err))
                fail_msg("seed %u, %s: %s", seed, cases[i].list[0].text, err.text);
            cn_costs_done(&costs);
            cn_database_close(db);
        }
        cn_random_tree_done(&tree);
    }
}

static double sum_of_self(struct cn_view *view)
{
    struct cn_row_list list;
    struct cn_error err = {0};
    double sum = 0;

    assert_true(cn_view_children(view, NULL, TOTAL, false, &list, &err));
    for (size_t i = 0; i < list.count; i++)
        sum += value_of(list.rows[i].values[SELF]);
    cn_row_list_done(&list);
    return sum;
}

/* The whole is the sum of the self costs of all functions, and of what has none. */
static void other_views_add_up(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < TREES; seed++) {
        cn_random_tree_build(&tree, seed);
        for (size_t i = 0; i < CASES; i++) {
            struct cn_database *db = open_lens(tree.db, &cases[i]);
            struct cn_error err = {0};
            struct cn_costs costs;
            struct cn_view *callers, *tops;
            struct cn_row_list list;
            double whole = expect(&cases[i], SIZE_MAX), of_entries = 0;

            init_costs(&costs, db, SIZE_MAX);
            assert_true(cn_view_callers_new(&callers, &costs, NULL, &err));
            tops = cn_view_top_down_new(&costs);
            assert_true(cn_view_children(tops, NULL, TOTAL, false, &list, &err));
            for (size_t k = 0; k < list.count; k++)
                of_entries += value_of(list.rows[k].values[SELF]);
            cn_row_list_done(&list);
            if (!cn_same_value(sum_of_self(callers) + of_entries, whole))
                fail_msg("seed %u, %s: functions add up to %g and entries to %g, not %g",
                         seed, cases[i].list[0].text, sum_of_self(callers), of_entries,
                         whole);
            cn_view_free(tops);
            cn_view_free(callers);
            cn_costs_done(&costs);
            cn_database_close(db);
        }
        cn_random_tree_done(&tree);
    }
}

/* What is shown instead of a context that is not, and nothing for what was removed. */
static void contexts_lead_to_what_shows_them(void **state)
{
    static const struct rules hide = {{{CN_LENS_HIDE, "module:m1"}}};
    static const struct rules drop = {{{CN_LENS_DROP, "module:m1"}}};

    (void)state;
    for (uint32_t seed = 0; seed < TREES; seed++) {
        cn_random_tree_build(&tree, seed);
        struct cn_database *hidden = open_lens(tree.db, &hide);
        struct cn_database *dropped = open_lens(tree.db, &drop);
        struct cn_walk walk;
        struct cn_error err = {0};
        const struct cn_context *c;
        enum cn_walk_event event;

        assert_true(cn_walk_begin(&walk, tree.db, &err));
        while (cn_walk_next(&walk, &event, &c, &err) == CN_ITEM) {
            struct cn_context shown;
            bool is_of_m1 = false;

            for (size_t i = 0; i < walk.depth; i++)
                is_of_m1 |= is_call(cn_walk_path(&walk, i)) &&
                            any_matches(&hide, CN_LENS_HIDE, cn_walk_path(&walk, i));
            assert_true(cn_context_at(hidden, c->at, &shown, &err));
            assert_false(any_matches(&hide, CN_LENS_HIDE, &shown) && is_call(&shown));
            assert_true(cn_context_at(dropped, c->at, &shown, &err) != is_of_m1 ||
                        !is_of_m1);
        }
        cn_walk_done(&walk);
        cn_database_close(hidden);
        cn_database_close(dropped);
        cn_random_tree_done(&tree);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_those_of_the_rules),
        cmocka_unit_test(statistics_agree),
        cmocka_unit_test(other_views_add_up),
        cmocka_unit_test(contexts_lead_to_what_shows_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
