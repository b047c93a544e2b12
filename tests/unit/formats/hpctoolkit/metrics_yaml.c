/* Files of metric taxonomies: read, appended, refused. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "support/yaml_round_trip.h"

#define INPUTS                       \
    "version: 0\n"                   \
    "inputs:\n"                      \
    "  - &a {metric: A, scope: s}\n" \
    "  - &b {metric: B, scope: s}\n" \
    "  - &c {<<: *b, scope: t, formula: '$$^2', combine: max}\n"

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

static void check_refused(const char *text, enum cn_error_kind kind, const char *expected)
{
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy = {.input_count = 77};
    struct cn_error err = {0};

    assert_false(cn_hpc_metrics_yaml_read(bytes_of(text), &taxonomy, &arena, &err));
    assert_string_equal(err.text, expected);
    assert_int_equal(err.kind, kind);
    assert_int_equal(taxonomy.input_count, 77);
    cn_arena_done(&arena);
}

static const struct cn_formula *only_formula(const struct cn_taxonomy *taxonomy)
{
    assert_int_equal(taxonomy->root_count, 1);
    assert_int_equal(taxonomy->roots[0].variant_count, 1);
    return taxonomy->roots[0].variants[0].total.standard;
}

static void check_formula(const char *formula, const char *expected)
{
    struct cn_arena arena = {0};
    struct cn_text text = {0};
    struct cn_taxonomy taxonomy;

    cn_text_printf(&text,
                   INPUTS "roots: [{name: R, variants: {V: {formula: "
                          "{inclusive: {standard: %s}}}}}]\n",
                   formula);
    taxonomy = cn_yaml_must_read(&arena, cn_text_str(&text));
    cn_text_clear(&text);
    cn_formula_print(only_formula(&taxonomy), &text);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_clear(&text);
    cn_yaml_must_round_trip(&taxonomy, &text);
    cn_text_done(&text);
    cn_arena_done(&arena);
}

static void reads_every_notation_of_a_formula(void **state)
{
    (void)state;
    check_formula("*a", "$$");
    check_formula("*b", "$1");
    check_formula("12.5", "12.5");
    check_formula("-2", "(-2)");
    check_formula("{/: [*a, *b]}", "($$/$1)");
    check_formula("{\"-\": [*a, 2]}", "($$-2)");
    check_formula("{\"-\": [*a]}", "(-$$)");
    check_formula("{+: [*a, *b, *c]}", "($$+$1+$2)");
    check_formula("{sum: [*a]}", "sum($$)");
    check_formula("{sqrt: *a}", "sqrt($$)");
    check_formula("{strict floor: [*a]}", "strict floor($$)");
    check_formula("{min: [100, {max: [0, *a]}]}", "min(100,max(0,$$))");
    check_formula("[*a, +, *b, \"*\", 2]", "($$+($1*2))");
    check_formula("[4*,[*a,-,*b]]", "(4*($$-$1))");
    check_formula("[2 *,[3,+,4]]", "(2*(3+4))");
    check_formula("[2, ^, 3, ^, *a]", "(2^(3^$$))");
    check_formula("[1 + 2, \"*\", *a]", "(1+(2*$$))");
    check_formula("[\"-\", *a, /, {sqrt: [*b]}]", "((-$$)/sqrt($1))");
}

static void reads_inputs_with_defaults_and_merges(void **state)
{
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy = cn_yaml_must_read(&arena, INPUTS);

    (void)state;
    assert_int_equal(taxonomy.input_count, 3);
    assert_string_equal(taxonomy.inputs[0].metric, "A");
    assert_string_equal(taxonomy.inputs[0].formula, "$$");
    assert_int_equal(taxonomy.inputs[0].combine, CN_COMBINE_SUM);
    assert_string_equal(taxonomy.inputs[2].metric, "B");
    assert_string_equal(taxonomy.inputs[2].scope, "t");
    assert_string_equal(taxonomy.inputs[2].formula, "($$^2)");
    assert_int_equal(taxonomy.inputs[2].combine, CN_COMBINE_MAX);
    cn_arena_done(&arena);
}

static void makes_sums_of_children(void **state)
{
    static const char text[] = INPUTS
        "roots:\n"
        "  - name: P\n"
        "    visible by default: no\n"
        "    variants:\n"
        "      V: {formula: sum, render: [number, percentage, colorbar]}\n"
        "      W: {formula: first, child variant: V, render: hidden}\n"
        "      X: {formula: sum}\n"
        "    children:\n"
        "      - {name: C, variants: {V: {formula: {inclusive: *a, exclusive: *b}}}}\n"
        "      - {name: D, variants: {V: {formula: {inclusive: {custom: *c}}}}}\n"
        "      - {name: E, variants: {V: {formula: {inclusive: *b}}}}\n";
    struct cn_arena arena = {0};
    struct cn_text printed = {0};
    struct cn_taxonomy taxonomy = cn_yaml_must_read(&arena, text);
    const struct cn_presented_metric *root = &taxonomy.roots[0];

    (void)state;
    assert_false(root->is_visible);
    assert_int_equal(root->variants[0].render,
                     CN_RENDER_NUMBER | CN_RENDER_PERCENT | CN_RENDER_COLORBAR);
    cn_formula_print(root->variants[0].total.standard, &printed);
    assert_string_equal(cn_text_str(&printed), "($$+$1)");
    assert_ptr_equal(root->variants[0].total.custom,
                     root->children[1].variants[0].total.custom);
    assert_int_equal(root->variants[1].render, CN_RENDER_HIDDEN);
    assert_ptr_equal(root->variants[1].total.standard,
                     root->children[0].variants[0].total.standard);
    assert_null(root->variants[2].total.standard);
    cn_text_clear(&printed);
    cn_yaml_must_round_trip(&taxonomy, &printed);
    cn_text_done(&printed);
    cn_arena_done(&arena);
}

static void keeps_only_formats_of_one_double(void **state)
{
    static const struct {
        const char *format;
        bool is_kept;
    } cases[] = {
        {"%6.0f", true},   {"%6.2f %%", true},     {"%% %'+#8.3e x", true},
        {"%g", true},      {"%.f", true},          {"%A", true},
        {"%", false},      {"%%", false},          {"text", false},
        {"%d", false},     {"%s", false},          {"%n", false},
        {"%f %f", false},  {"%*f", false},         {"%.*f", false},
        {"%lf", false},    {"%1$f", false},        {"%100f", false},
        {"%.100f", false}, {"%999999999f", false}, {"%5", false},
        {"%5.", false},    {"%f%", false},         {"%Lf", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_arena arena = {0};
        struct cn_text text = {0};
        struct cn_taxonomy taxonomy;

        cn_text_printf(&text, "roots: [{name: R, format: \"%s\"}]", cases[i].format);
        taxonomy = cn_yaml_must_read(&arena, cn_text_str(&text));
        if (cases[i].is_kept)
            assert_string_equal(taxonomy.roots[0].format, cases[i].format);
        else
            assert_null(taxonomy.roots[0].format);
        cn_text_done(&text);
        cn_arena_done(&arena);
    }
}

static void appends_another_file(void **state)
{
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    struct cn_text text = {0};
    struct cn_taxonomy taxonomy = cn_yaml_must_read(
        &arena, INPUTS "roots: [{name: R, variants: {V: {formula: {inclusive: *c}}}}]");
    static const char more[] =
        "inputs:\n"
        "  - &x {metric: X, scope: s}\n"
        "  - &b {metric: B, scope: s}\n"
        "roots: [{name: Q, variants: {V: {formula: {inclusive: [*b, -, *x]}}}}]\n";

    (void)state;
    assert_true(cn_hpc_metrics_yaml_append(bytes_of(more), &taxonomy, &arena, &err));
    assert_int_equal(taxonomy.input_count, 4);
    assert_string_equal(taxonomy.inputs[3].metric, "X");
    assert_int_equal(taxonomy.root_count, 2);
    assert_string_equal(taxonomy.roots[0].name, "R");
    cn_formula_print(taxonomy.roots[1].variants[0].total.standard, &text);
    assert_string_equal(cn_text_str(&text), "($1-$3)");

    assert_false(cn_hpc_metrics_yaml_append(bytes_of("- x"), &taxonomy, &arena, &err));
    assert_int_equal(taxonomy.root_count, 2);
    cn_text_done(&text);
    cn_arena_done(&arena);
}

static void names_line_and_column(void **state)
{
    (void)state;
    check_refused("", CN_ERR_FORMAT, "no YAML document");
    check_refused("[1, 2]", CN_ERR_FORMAT,
                  "line 1, column 1: not a mapping of inputs and roots");
    check_refused("version: 1", CN_ERR_VERSION,
                  "line 1, column 10: version '1', can read 0");
    check_refused("inputs:\n  - {scope: s}\n", CN_ERR_FORMAT,
                  "line 2, column 5: input without metric");
    check_refused("inputs:\n  - {metric: a, scope: [s]}\n", CN_ERR_FORMAT,
                  "line 2, column 24: scope must be a text");
    check_refused("inputs:\n  - {metric: a, scope: s, combine: avg}\n", CN_ERR_FORMAT,
                  "line 2, column 5: combine 'avg' is none of sum, min, max");
    check_refused("roots: [{description: d}]", CN_ERR_FORMAT,
                  "line 1, column 9: metric without a name");
    check_refused("roots: [{name: *z}]", CN_ERR_FORMAT,
                  "line 1, column 16: no anchor 'z'");
    check_refused("roots: {name: R}", CN_ERR_FORMAT,
                  "line 1, column 8: metrics must be a sequence");
    check_refused("roots: [", CN_ERR_FORMAT,
                  "line 2, column 1: did not find expected node content");
    check_refused("roots: [{name: \"a\\0b\"}]", CN_ERR_FORMAT,
                  "line 1, column 16: a NUL character in a text");
    check_refused("roots: [{name: R, variants: {V: {render: loud}}}]", CN_ERR_FORMAT,
                  "line 1, column 42: unknown rendering 'loud'");
    check_refused("roots: [{name: R, variants: {V: {formula: mean}}}]", CN_ERR_FORMAT,
                  "line 1, column 43: a variant's formula must be sum, first, or "
                  "a mapping of inclusive and exclusive");
}

#define IN_FORMULA(text) \
    "roots: [{name: R, variants: {V: {formula: {inclusive: " text "}}}}]"

static void names_what_is_wrong_with_a_formula(void **state)
{
    (void)state;
    check_refused(IN_FORMULA("{frob: [1, 2]}"), CN_ERR_FORMAT,
                  "line 1, column 56: unknown operation 'frob' of 2 arguments");
    check_refused(IN_FORMULA("{sqrt: []}"), CN_ERR_FORMAT,
                  "line 1, column 56: unknown operation 'sqrt' of 0 arguments");
    check_refused(IN_FORMULA("{+: [1, 2], /: [1, 2]}"), CN_ERR_FORMAT,
                  "line 1, column 55: a formula must be a mapping of one operation, "
                  "not of 2");
    check_refused(IN_FORMULA("[1, two]"), CN_ERR_FORMAT,
                  "line 1, column 59: 'two' is no number, operator or input");
    check_refused(IN_FORMULA("[1, 2]"), CN_ERR_FORMAT,
                  "line 1, column 59: no operator between two operands");
    check_refused(IN_FORMULA("[1, +]"), CN_ERR_FORMAT,
                  "line 1, column 55: the formula ends without an operand");
}

static void bounds_aliases_and_nesting(void **state)
{
    struct cn_text text = {0};
    struct cn_arena arena = {0};
    struct cn_taxonomy taxonomy;
    struct cn_error err = {0};

    (void)state;
    /* Each line doubles the one before: 2^40 operands, if they were followed. */
    cn_text_str_add(&text, "x:\n  - &l0 [1, +, 1]\n");
    for (unsigned i = 1; i <= 40; i++)
        cn_text_printf(&text, "  - &l%u [*l%u, +, *l%u]\n", i, i - 1, i - 1);
    cn_text_str_add(&text, IN_FORMULA("*l40"));
    assert_false(
        cn_hpc_metrics_yaml_read(bytes_of(cn_text_str(&text)), &taxonomy, &arena, &err));
    assert_int_equal(err.kind, CN_ERR_FORMAT);

    check_refused(IN_FORMULA("&loop [*loop]"), CN_ERR_LIMIT,
                  "line 1, column 55: formula nests deeper than 64");
    check_refused("roots: &r [{name: R, children: *r}]", CN_ERR_LIMIT,
                  "line 1, column 8: metrics nest deeper than 32");
    check_refused("inputs: [&i {<<: *i}]", CN_ERR_LIMIT,
                  "line 1, column 10: merge keys nest deeper than 8");

    cn_text_clear(&text);
    cn_text_str_add(&text, "x: ");
    cn_text_fill(&text, '[', 300);
    assert_false(
        cn_hpc_metrics_yaml_read(bytes_of(cn_text_str(&text)), &taxonomy, &arena, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    cn_text_done(&text);
    cn_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_notation_of_a_formula),
        cmocka_unit_test(reads_inputs_with_defaults_and_merges),
        cmocka_unit_test(makes_sums_of_children),
        cmocka_unit_test(keeps_only_formats_of_one_double),
        cmocka_unit_test(appends_another_file),
        cmocka_unit_test(names_line_and_column),
        cmocka_unit_test(names_what_is_wrong_with_a_formula),
        cmocka_unit_test(bounds_aliases_and_nesting),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
