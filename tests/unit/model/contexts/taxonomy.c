/* Taxonomies made from the metrics of a database. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/contexts/taxonomy.h"

static const struct cn_scope scopes[] = {
    {"point", CN_SCOPE_POINT, 255},
    {"function", CN_SCOPE_TRANSITIVE, 0},
    {"lex_aware", CN_SCOPE_CUSTOM, 255},
    {"execution", CN_SCOPE_EXECUTION, 255},
};

static const struct cn_statistic all[] = {
    {1, 0, CN_COMBINE_SUM, "1"},      {1, 1, CN_COMBINE_SUM, "$$"},
    {1, 2, CN_COMBINE_SUM, "($$^2)"}, {1, 3, CN_COMBINE_MIN, "$$"},
    {1, 4, CN_COMBINE_MAX, "$$"},     {2, 5, CN_COMBINE_SUM, "$$"},
    {3, 6, CN_COMBINE_SUM, "1"},      {3, 7, CN_COMBINE_SUM, "$$"},
    {3, 8, CN_COMBINE_SUM, "($$^2)"}, {3, 9, CN_COMBINE_MIN, "$$"},
    {3, 10, CN_COMBINE_MAX, "$$"},    {3, 11, 7, "$$"},
};
static const struct cn_statistic point_only[] = {{0, 20, CN_COMBINE_SUM, "$$"}};

static const struct cn_metric list[] = {
    {.name = "time", .statistics = all, .statistic_count = 12},
    {.name = "none"},
    {.name = "bare", .statistics = point_only, .statistic_count = 1},
};
static const struct cn_metrics metrics = {scopes, list, 4, 3};

static void check_formula(const struct cn_formula *formula, const char *expected)
{
    struct cn_text text = {0};

    assert_non_null(formula);
    cn_formula_print(formula, &text);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void presents_what_the_statistics_allow(void **state)
{
    static const char *const variants[] = {"Sum",   "Mean", "StdDev",
                                           "CfVar", "Min",  "Max"};
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy;
    const struct cn_presented_metric *root;

    (void)state;
    cn_taxonomy_build(&taxonomy, &metrics, &arena);
    assert_int_equal(taxonomy.root_count, 2);
    assert_int_equal(taxonomy.input_count, 12);
    root = &taxonomy.roots[0];
    assert_int_equal(root->variant_count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(root->variants[i].name, variants[i]);
    assert_int_equal(root->variants[0].render, CN_RENDER_NUMBER | CN_RENDER_PERCENT);
    assert_int_equal(root->variants[1].render, CN_RENDER_NUMBER);

    /* Inputs come in the order execution, lex_aware, function. */
    assert_string_equal(taxonomy.inputs[0].scope, "execution");
    assert_string_equal(taxonomy.inputs[5].scope, "lex_aware");
    assert_string_equal(taxonomy.inputs[6].scope, "function");
    check_formula(root->variants[0].total.standard, "$1");
    check_formula(root->variants[0].self.custom, "$5");
    check_formula(root->variants[0].self.standard, "$7");
    assert_null(root->variants[0].total.custom);
    assert_null(root->variants[1].self.custom);
    check_formula(root->variants[1].total.standard, "($1/$$)");
    check_formula(root->variants[2].total.standard, "sqrt((($2/$$)-(($1/$$)^2)))");
    check_formula(root->variants[3].total.standard,
                  "(sqrt((($2/$$)-(($1/$$)^2)))/($1/$$))");
    cn_arena_done(&arena);
}

static void computes_the_deviation_over_threads(void **state)
{
    /* Threads with 1, 2, 3 and 6: mean 3, variance 3.5. */
    const double inputs[12] = {4, 12, 50, 1, 6};
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy;
    double deviation;

    (void)state;
    cn_taxonomy_build(&taxonomy, &metrics, &arena);
    deviation = cn_formula_eval(taxonomy.roots[0].variants[2].total.standard, inputs);
    assert_true(deviation * deviation > 3.4999 && deviation * deviation < 3.5001);
    cn_arena_done(&arena);
}

static void falls_back_to_point_values(void **state)
{
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy;

    (void)state;
    cn_taxonomy_build(&taxonomy, &metrics, &arena);
    assert_string_equal(taxonomy.roots[1].name, "bare");
    assert_null(taxonomy.roots[1].variants[0].total.standard);
    check_formula(taxonomy.roots[1].variants[0].self.standard, "$11");
    assert_string_equal(taxonomy.inputs[11].scope, "point");
    cn_arena_done(&arena);
}

static void finds_children_by_name(void **state)
{
    const struct cn_presented_metric grandchild = {.name = "deep"};
    const struct cn_presented_metric children[] = {
        {.name = "a"}, {.name = "b", .children = &grandchild, .child_count = 1}};
    const struct cn_presented_metric root = {
        .name = "root", .children = children, .child_count = 2};
    const struct cn_taxonomy taxonomy = {.roots = &root, .root_count = 1};

    (void)state;
    assert_ptr_equal(cn_taxonomy_find(&taxonomy, "root"), &root);
    assert_ptr_equal(cn_taxonomy_find(&taxonomy, "b"), &children[1]);
    assert_ptr_equal(cn_taxonomy_find(&taxonomy, "deep"), &grandchild);
    assert_null(cn_taxonomy_find(&taxonomy, "c"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(presents_what_the_statistics_allow),
        cmocka_unit_test(computes_the_deviation_over_threads),
        cmocka_unit_test(falls_back_to_point_values),
        cmocka_unit_test(finds_children_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
