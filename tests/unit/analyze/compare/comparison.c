#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/compare/explain.h"
#include "analyze/compare/function_name.h"
#include "analyze/compare/rows.h"
#include "analyze/views/costs.h"
#include "base/text.h"
#include "open/open.h"
#include "support/data.h"
#include "support/made_profile.h"
#include "support/random_tree.h"

/* As assert_float_equal(), in double precision. */
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%.17g is not %.17g", found, expected);
}

static void add(struct cn_comparison *c, enum cn_side side, struct cn_database *db)
{
    struct cn_error err = {0};

    if (!cn_comparison_add(c, &(struct cn_compare_run){.side = side, .db = db}, NULL,
                           &err))
        fail_msg("%s", err.text);
}

static void compare_by(struct cn_comparison *c, struct cn_database *a,
                       struct cn_database *b, enum cn_compare_scaling scaling)
{
    struct cn_error err = {0};

    cn_comparison_init(c);
    add(c, CN_SIDE_A, a);
    add(c, CN_SIDE_B, b);
    assert_true(cn_comparison_scale_by(c, scaling, &err));
    cn_comparison_finish(c);
}

static void compare(struct cn_comparison *c, struct cn_database *a, struct cn_database *b)
{
    compare_by(c, a, b, CN_SCALE_NOT);
}

static void compare_made_by(struct cn_comparison *c, const struct cn_made_call *a,
                            const struct cn_made_call *b, enum cn_compare_scaling scaling)
{
    struct cn_database *db_a = cn_made_profile(a, "time (sec)");
    struct cn_database *db_b = cn_made_profile(b, "time (sec)");

    compare_by(c, db_a, db_b, scaling);
    cn_database_close(db_a);
    cn_database_close(db_b);
}

static void compare_made(struct cn_comparison *c, const struct cn_made_call *a,
                         const struct cn_made_call *b)
{
    compare_made_by(c, a, b, CN_SCALE_NOT);
}

/* Both sides have everything, and only as much as they should. */
static void check_explanation(const struct cn_comparison *c, const char *const *labels,
                              const double *changes)
{
    struct cn_explanation e;
    struct cn_text text = {0};
    size_t i;

    cn_explain(&e, c, 10);
    for (i = 0; labels[i]; i++) {
        assert_true(i < e.shown);
        cn_text_clear(&text);
        cn_text_printf(&text, "%s ", cn_change_kind_name(e.list[i].kind));
        cn_comparison_path_add(&text, c, e.list[i].node);
        assert_string_equal(cn_text_str(&text), labels[i]);
        assert_near(cn_change_of(&e.list[i]), changes[i], 1e-9);
    }
    assert_int_equal(e.shown, i);
    cn_text_done(&text);
    cn_explanation_done(&e);
}

static const struct cn_made_call program[] = {
    {0, "main", 1, 1},   {1, "parse", 4, 100}, {2, "lex", 3, 100}, {3, "read", 2, 100},
    {1, "solve", 8, 10}, {2, "norm", 2, 10},   {2, "read", 1, 10}, {0}};

static void names_are_those_of_the_source(void **state)
{
    static const char *const pairs[][2] = {
        {"parse", "parse"},
        {"parse.constprop.0", "parse"},
        {"parse.isra.0.cold", "parse"},
        {"parse.part.0.lto_priv.12", "parse"},
        {"main._omp_fn.0", "main._omp_fn.0"},
        {"f(int) [clone .isra.0]", "f(int)"},
        {"f(int) [clone .isra.0] [clone .cold]", "f(int)"},
        {"name[abi:cxx11](int)", "name(int)"},
        {"core::fmt::write::h0123456789abcdef", "core::fmt::write"},
        {"core::fmt::write::hello", "core::fmt::write::hello"},
        {"libc.so.6+0x2f00", "libc.so.6+?"},
        {"<anonymous at libc.so.6+0x2f00>", "libc.so.6+?"},
        {"a[]", "a[]"},
        {".cold", ".cold"},
        {"", ""},
        {"]", "]"},
        {"[abi:", "[abi:"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        struct cn_text text = {0};

        cn_function_name_add(&text, pairs[i][0]);
        assert_string_equal(cn_text_str(&text), pairs[i][1]);
        cn_text_done(&text);
    }
}

static void nothing_differs_from_itself(void **state)
{
    struct cn_comparison c;
    struct cn_explanation e;

    (void)state;
    compare_made(&c, program, program);
    cn_explain(&e, &c, 10);
    assert_int_equal(e.shown, 0);
    assert_int_equal(e.changed_count, 0);
    assert_true(c.whole[CN_SIDE_A] == 21 && c.whole[CN_SIDE_B] == 21);
    for (int view = CN_COMPARE_TREE; view <= CN_COMPARE_CALLERS; view++) {
        struct cn_compare_rows rows;

        cn_compare_rows_make(&rows, &c, (enum cn_compare_view)view, true, 5, false);
        for (size_t i = 0; i < rows.count; i++)
            assert_true(rows.list[i].gross == 0 &&
                        rows.list[i].value[CN_SIDE_A] == rows.list[i].value[CN_SIDE_B]);
        cn_compare_rows_done(&rows);
    }
    cn_explanation_done(&e);
    cn_comparison_done(&c);
}

static void a_slower_leaf_is_one_line(void **state)
{
    static const struct cn_made_call slower[] = {
        {0, "main", 1, 1},   {1, "parse", 4, 100},
        {2, "lex", 3, 100},  {3, "read", 5, 100},
        {1, "solve", 8, 10}, {2, "norm", 2, 10},
        {2, "read", 1, 10},  {0}};
    struct cn_comparison c;

    (void)state;
    compare_made(&c, program, slower);
    check_explanation(&c, (const char *[]){"self main > parse > lex > read", NULL},
                      (const double[]){3});
    cn_comparison_done(&c);
}

/* read() has two callers, and one of them did not change. */
static void callers_have_all_costs_of_a_function(void **state)
{
    static const struct cn_made_call slower[] = {
        {0, "main", 1, 1},   {1, "parse", 4, 100},
        {2, "lex", 3, 100},  {3, "read", 5, 100},
        {1, "solve", 8, 10}, {2, "norm", 2, 10},
        {2, "read", 1, 10},  {0}};
    struct cn_compare_rows rows;
    struct cn_comparison c;

    (void)state;
    compare_made(&c, program, slower);
    cn_compare_rows_make(&rows, &c, CN_COMPARE_CALLERS, false, 5, false);
    const struct cn_compare_row *top = &rows.list[rows.first_top];
    assert_true(top->next_sibling == CN_NONE);
    assert_near(top->value[CN_SIDE_A], 3, 1e-9);
    assert_near(top->value[CN_SIDE_B], 6, 1e-9);
    const struct cn_compare_row *caller = &rows.list[top->first_child];
    assert_true(caller->next_sibling == CN_NONE);
    assert_near(caller->value[CN_SIDE_A], 2, 1e-9);
    assert_near(caller->value[CN_SIDE_B], 5, 1e-9);
    cn_compare_rows_done(&rows);
    cn_comparison_done(&c);
}

static void new_calls_are_one_line_with_what_they_call(void **state)
{
    static const struct cn_made_call more[] = {{0, "main", 1, 1},
                                               {1, "parse", 4, 100},
                                               {2, "lex", 3, 100},
                                               {3, "read", 2, 100},
                                               {2, "check", 1, 100},
                                               {3, "walk", 2, 100},
                                               {3, "read", 1.5, 100},
                                               {1, "solve", 8, 10},
                                               {2, "norm", 2, 10},
                                               {2, "read", 1, 10},
                                               {0}};
    struct cn_comparison c;

    (void)state;
    compare_made(&c, program, more);
    check_explanation(&c, (const char *[]){"new main > parse > check", NULL},
                      (const double[]){4.5});
    cn_comparison_done(&c);
    compare_made(&c, more, program);
    check_explanation(&c, (const char *[]){"gone main > parse > check", NULL},
                      (const double[]){-4.5});
    cn_comparison_done(&c);
}

static void more_calls_explain_what_is_below_them(void **state)
{
    static const struct cn_made_call twice[] = {
        {0, "main", 1, 1},   {1, "parse", 8, 200},
        {2, "lex", 6, 200},  {3, "read", 4.1, 200},
        {1, "solve", 8, 10}, {2, "norm", 2, 10},
        {2, "read", 1, 10},  {0}};
    struct cn_comparison c;

    (void)state;
    compare_made(&c, program, twice);
    check_explanation(&c, (const char *[]){"calls main > parse", NULL},
                      (const double[]){9.1});
    cn_comparison_done(&c);
}

static void many_paths_of_one_function_are_one_line(void **state)
{
    static const struct cn_made_call slower[] = {
        {0, "main", 1, 1},   {1, "parse", 4, 100},
        {2, "lex", 3, 100},  {3, "read", 3, 100},
        {1, "solve", 8, 10}, {2, "norm", 2, 10},
        {2, "read", 2, 10},  {0}};
    struct cn_explanation e;
    struct cn_comparison c;

    (void)state;
    compare_made(&c, program, slower);
    cn_explain(&e, &c, 10);
    assert_int_equal(e.shown, 1);
    assert_int_equal(e.list[0].path_count, 2);
    assert_false(cn_change_has_path(&e.list[0]));
    assert_near(cn_change_of(&e.list[0]), 2, 1e-9);
    cn_explanation_done(&e);
    cn_comparison_done(&c);
}

static void opposite_paths_of_one_function_are_two_lines(void **state)
{
    static const struct cn_made_call shifted[] = {
        {0, "main", 1, 1},    {1, "parse", 4, 100},
        {2, "lex", 3, 100},   {3, "read", 1, 100},
        {1, "solve", 8, 10},  {2, "norm", 2, 10},
        {2, "read", 2.5, 10}, {0}};
    struct cn_comparison c;

    (void)state;
    compare_made(&c, program, shifted);
    check_explanation(&c,
                      (const char *[]){"self main > solve > read",
                                       "self main > parse > lex > read", NULL},
                      (const double[]){1.5, -1});
    cn_comparison_done(&c);
}

static void neighbours_tell_what_a_function_became(void **state)
{
    static const struct cn_made_call renamed[] = {
        {0, "main", 1, 1},   {1, "parse_v2", 4, 100},
        {2, "lex", 4, 100},  {3, "read", 2, 100},
        {1, "solve", 8, 10}, {2, "norm", 2, 10},
        {2, "read", 1, 10},  {0}};
    static const struct cn_made_call inlined[] = {{0, "main", 1, 1},
                                                  {1, "parse", 4, 100},
                                                  {2, "lex", 3, 100},
                                                  {3, "read", 2, 100},
                                                  {1, "solve", 10.5, 10},
                                                  {2, "read", 1, 10},
                                                  {0}};
    static const struct cn_made_call wrapped[] = {
        {0, "main", 1, 1},  {1, "parse", 4, 100}, {2, "guard", 0.5, 100},
        {3, "lex", 3, 100}, {4, "read", 2, 100},  {1, "solve", 8, 10},
        {2, "norm", 2, 10}, {2, "read", 1, 10},   {0}};
    static const struct cn_made_call moved[] = {
        {0, "main", 1, 1},  {1, "parse", 4, 100}, {1, "solve", 8, 10}, {2, "norm", 2, 10},
        {2, "read", 1, 10}, {2, "lex", 3.5, 100}, {3, "read", 2, 100}, {0}};
    struct cn_comparison c;

    (void)state;
    compare_made(&c, program, renamed);
    check_explanation(&c, (const char *[]){"self main > parse → parse_v2 > lex", NULL},
                      (const double[]){1});
    cn_comparison_done(&c);
    compare_made(&c, renamed, program);
    check_explanation(&c, (const char *[]){"self main > parse_v2 → parse > lex", NULL},
                      (const double[]){-1});
    cn_comparison_done(&c);
    compare_made(&c, program, inlined);
    check_explanation(&c, (const char *[]){"self main > solve (norm inlined)", NULL},
                      (const double[]){0.5});
    cn_comparison_done(&c);
    compare_made(&c, inlined, program);
    check_explanation(&c, (const char *[]){"self main > solve (norm split off)", NULL},
                      (const double[]){-0.5});
    cn_comparison_done(&c);
    compare_made(&c, program, wrapped);
    check_explanation(&c, (const char *[]){"new main > parse > guard", NULL},
                      (const double[]){0.5});
    cn_comparison_done(&c);
    compare_made(&c, program, moved);
    check_explanation(&c, (const char *[]){"moved main > solve > lex", NULL},
                      (const double[]){0.5});
    cn_comparison_done(&c);
}

static void strangers_are_not_matched(void **state)
{
    static const struct cn_made_call other[] = {{0, "main", 1, 1},    {1, "draw", 4, 100},
                                                {2, "paint", 6, 100}, {3, "read", 1, 100},
                                                {1, "solve", 8, 10},  {2, "norm", 2, 10},
                                                {2, "read", 1, 10},   {0}};
    struct cn_comparison c;

    (void)state;
    compare_made(&c, program, other);
    for (size_t i = 0; i < c.node_count; i++)
        assert_int_equal(c.nodes[i].how, CN_BY_NAME);
    check_explanation(&c, (const char *[]){"new main > draw", "gone main > parse", NULL},
                      (const double[]){11, -9});
    cn_comparison_done(&c);
}

static void costs_per_call_do_not_count_calls(void **state)
{
    static const struct cn_made_call twice[] = {
        {0, "main", 1, 1},    {1, "parse", 8, 200},
        {2, "lex", 6, 200},   {3, "read", 8, 200},
        {1, "solve", 16, 20}, {2, "norm", 4, 20},
        {2, "read", 2, 20},   {0}};
    struct cn_comparison c;

    (void)state;
    compare_made_by(&c, program, twice, CN_SCALE_PER_CALL);
    check_explanation(&c, (const char *[]){"self main > parse > lex > read", NULL},
                      (const double[]){4});
    cn_comparison_done(&c);
}

static void sides_that_cannot_be_compared_say_why(void **state)
{
    static const struct cn_made_call nothing[] = {{0, "main", 0, 0}, {0}};
    struct cn_database *time = cn_made_profile(program, "time (sec)");
    struct cn_database *other = cn_made_profile(program, "cycles");
    struct cn_database *empty = cn_made_profile(nothing, "time (sec)");
    struct cn_error err = {0};
    struct cn_comparison c;

    (void)state;
    cn_comparison_init(&c);
    add(&c, CN_SIDE_A, time);
    assert_false(cn_comparison_add(
        &c, &(struct cn_compare_run){.side = CN_SIDE_B, .db = other}, NULL, &err));
    assert_non_null(strstr(err.text, "no metric 'time (sec)'"));
    assert_false(cn_comparison_add(
        &c, &(struct cn_compare_run){.side = CN_SIDE_B, .db = empty}, NULL, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_string_equal(err.text, "metric 'time (sec)' has no values");
    cn_comparison_done(&c);
    cn_database_close(time);
    cn_database_close(other);
    cn_database_close(empty);
}

/* The whole as views show it. */
static double whole_of(struct cn_database *db, const char *metric)
{
    struct cn_costs costs;
    struct cn_error err = {0};
    struct cn_context_cursor cursor;
    struct cn_context context;
    double sum = 0, value;

    cn_costs_init(&costs, db);
    assert_true(cn_costs_add(
        &costs,
        &(struct cn_cost_request){.metric = metric, .side = CN_TOTAL, .profile = CN_NONE},
        &err));
    assert_true(cn_costs_ready(&costs, &err));
    assert_true(cn_context_children(db, NULL, &cursor, &err));
    while (cn_context_next(db, &cursor, &context, &err) == CN_ITEM) {
        assert_true(cn_costs_of_context(&costs, context.id, &value, &err));
        sum += isnan(value) ? 0 : value;
    }
    cn_costs_done(&costs);
    return sum;
}

/* Items and rows contain all of the change, once; the other way round, they are negative. */
static void check_sums(struct cn_database *a, struct cn_database *b)
{
    struct cn_comparison c, back;
    struct cn_explanation e, e_back;
    struct cn_compare_rows rows;
    double sum = 0, rows_sum = 0, tolerance, whole;

    compare(&c, a, b);
    compare(&back, b, a);
    tolerance = 1e-9 * (fabs(c.whole[CN_SIDE_A]) + fabs(c.whole[CN_SIDE_B]));
    whole = c.whole[CN_SIDE_B] - c.whole[CN_SIDE_A];
    assert_near(c.whole[CN_SIDE_A], whole_of(a, c.metric), tolerance);
    assert_near(c.whole[CN_SIDE_B], whole_of(b, c.metric), tolerance);
    cn_explain(&e, &c, 10);
    cn_explain(&e_back, &back, 10);
    for (size_t i = 0; i < e.count; i++)
        sum += cn_change_of(&e.list[i]);
    assert_near(sum, whole, tolerance);
    assert_near(cn_change_of(&e.whole), -cn_change_of(&e_back.whole), tolerance);
    assert_int_equal(e.changed_count, e_back.changed_count);
    for (size_t i = 0; i < e.shown && i < e_back.shown; i++)
        assert_near(cn_change_of(&e.list[i]), -cn_change_of(&e_back.list[i]), tolerance);
    cn_compare_rows_make(&rows, &c, CN_COMPARE_FLAT, false, 1, false);
    for (size_t i = 0; i < rows.count; i++)
        rows_sum += rows.list[i].value[CN_SIDE_B] - rows.list[i].value[CN_SIDE_A];
    assert_near(rows_sum, whole, tolerance);
    cn_compare_rows_done(&rows);
    cn_explanation_done(&e);
    cn_explanation_done(&e_back);
    cn_comparison_done(&c);
    cn_comparison_done(&back);
}

static void random_trees_add_up(void **state)
{
    (void)state;
    for (uint32_t seed = 0; seed < 40; seed++) {
        struct cn_random_tree a, b;

        cn_random_tree_build(&a, seed);
        cn_random_tree_build(&b, seed + 100);
        check_sums(a.db, b.db);
        cn_random_tree_done(&a);
        cn_random_tree_done(&b);
    }
}

enum { DATABASES_MAX = 64 };

/* Databases of a folder of data. */
static size_t collect(const char *name, struct cn_database **out, size_t count)
{
    char *folder = cn_test_data(name);
    struct dirent **entries = NULL;
    int found = scandir(folder, &entries, NULL, alphasort);

    for (int i = 0; i < found; i++) {
        struct cn_opened opened = {0};
        struct cn_text path = {0};
        struct cn_error err;

        cn_text_printf(&path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && count < DATABASES_MAX &&
            cn_open(&opened, cn_text_str(&path), 0, NULL, &err) &&
            opened.format->open_database &&
            opened.format->open_database(&out[count], cn_text_str(&path), &err))
            count++;
        cn_opened_close(&opened);
        cn_text_done(&path);
        free(entries[i]);
    }
    free(entries);
    free(folder);
    return count;
}

static bool has_values(struct cn_database *db)
{
    struct cn_comparison c;
    struct cn_error err;
    bool ok;

    cn_comparison_init(&c);
    ok = cn_comparison_add(&c, &(struct cn_compare_run){.db = db}, NULL, &err);
    cn_comparison_done(&c);
    return ok;
}

static bool have_same_metric(struct cn_database *a, struct cn_database *b)
{
    struct cn_comparison c;
    struct cn_error err;
    bool ok;

    cn_comparison_init(&c);
    add(&c, CN_SIDE_A, a);
    ok = cn_comparison_add(&c, &(struct cn_compare_run){.side = CN_SIDE_B, .db = b}, NULL,
                           &err);
    cn_comparison_done(&c);
    if (!ok)
        return false;
    cn_comparison_init(&c);
    add(&c, CN_SIDE_A, b);
    ok = cn_comparison_add(&c, &(struct cn_compare_run){.side = CN_SIDE_B, .db = a}, NULL,
                           &err);
    cn_comparison_done(&c);
    return ok;
}

static void all_databases_add_up(void **state)
{
    static const char *const folders[] = {"hpctoolkit/v4",         "hpctoolkit/v4-draft",
                                          "hpctoolkit/proto",      "hpctoolkit/xml",
                                          "hpctoolkit/xml-legacy", "exchange"};
    struct cn_database *list[DATABASES_MAX];
    size_t count = 0, compared = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        count = collect(folders[i], list, count);
    for (size_t i = 0; i < count; i++) {
        if (!has_values(list[i]))
            continue;
        check_sums(list[i], list[i]);
        /* One other database of the same metric is enough. */
        for (size_t k = i + 1; k < count; k++)
            if (has_values(list[k]) && have_same_metric(list[i], list[k])) {
                check_sums(list[i], list[k]);
                compared++;
                break;
            }
    }
    for (size_t i = 0; i < count; i++)
        cn_database_close(list[i]);
    printf("%zu databases, %zu pairs\n", count, compared);
    assert_true(count > 10 && compared > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_those_of_the_source),
        cmocka_unit_test(nothing_differs_from_itself),
        cmocka_unit_test(a_slower_leaf_is_one_line),
        cmocka_unit_test(callers_have_all_costs_of_a_function),
        cmocka_unit_test(new_calls_are_one_line_with_what_they_call),
        cmocka_unit_test(more_calls_explain_what_is_below_them),
        cmocka_unit_test(many_paths_of_one_function_are_one_line),
        cmocka_unit_test(opposite_paths_of_one_function_are_two_lines),
        cmocka_unit_test(neighbours_tell_what_a_function_became),
        cmocka_unit_test(strangers_are_not_matched),
        cmocka_unit_test(costs_per_call_do_not_count_calls),
        cmocka_unit_test(sides_that_cannot_be_compared_say_why),
        cmocka_unit_test(random_trees_add_up),
    };
    const struct CMUnitTest on_data[] = {
        cmocka_unit_test(all_databases_add_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL) + CN_TEST_ON_DATA(on_data);
}
