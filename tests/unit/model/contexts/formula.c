/* Formulas: parsing by precedence, evaluating, printing. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "model/contexts/formula.h"

static const struct cn_formula *parse(struct cn_arena *arena, const char *text)
{
    const struct cn_formula *formula = NULL;
    struct cn_error err = {0};

    if (!cn_formula_parse(&formula, text, arena, &err))
        fail_msg("%s", err.text);
    return formula;
}

static void check_value(const char *text, double input, double expected)
{
    struct cn_arena arena = {0};
    double value = cn_formula_eval(parse(&arena, text), &input);

    cn_arena_done(&arena);
    if (value != expected)
        fail_msg("%s of %g is %.17g, expected %.17g", text, input, value, expected);
}

static void check_print(const char *text, const char *expected)
{
    struct cn_arena arena = {0};
    const struct cn_formula *formula = parse(&arena, text);
    struct cn_text printed = {0};

    cn_formula_print(formula, &printed);
    assert_string_equal(cn_text_str(&printed), expected);
    assert_true(cn_formula_equals(formula, parse(&arena, cn_text_str(&printed))));
    cn_text_done(&printed);
    cn_arena_done(&arena);
}

static void check_refused(const char *text, const char *expected)
{
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    const struct cn_formula *formula = NULL;

    assert_false(cn_formula_parse(&formula, text, &arena, &err));
    assert_null(formula);
    assert_string_equal(err.text, expected);
    cn_arena_done(&arena);
}

static void evaluates_by_precedence(void **state)
{
    (void)state;
    check_value("1+2*3", 0, 7);
    check_value("(1+2)*3", 0, 9);
    check_value("10-4-3", 0, 3);
    check_value("10-4+3", 0, 9);
    check_value("24/4/2", 0, 3);
    check_value("2*6/3*4", 0, 16);
    check_value("2^3^2", 0, 512);
    check_value("2*3^2", 0, 18);
    check_value("-2^2", 0, -4);
    check_value("(-2)^2", 0, 4);
    check_value("2^-1", 0, 0.5);
    check_value("2^-1^2*8", 0, 4);
    check_value("- -3", 0, 3);
    check_value("2--3", 0, 5);
    check_value("-2*-3", 0, 6);
    check_value(" 1.5e2 + .5 ", 0, 150.5);
    check_value("$$^2 - $$", 5, 20);
}

static void knows_every_function(void **state)
{
    (void)state;
    check_value("sum(1,2,3)", 0, 6);
    check_value("sum($$)", 4, 4);
    check_value("prod(2,3,4)", 0, 24);
    check_value("pow(2,10)", 0, 1024);
    check_value("sqrt(16)", 0, 4);
    check_value("log(1)", 0, 0);
    check_value("log(8,2)", 0, log(8) / log(2));
    check_value("min(3,$$,5)", 2, 2);
    check_value("max(3,$$,5)", 2, 5);
    check_value("floor(2.5)", 0, 2);
    check_value("ceil(2.5)", 0, 3);
    check_value("floor(2)", 0, 2);
    check_value("strict floor(2)", 0, 1);
    check_value("strict_floor(2.5)", 0, 2);
    check_value("strict ceil(2)", 0, 3);
    check_value("strict_ceil(2.5)", 0, 3);
    check_value("min(max(1,2),sqrt(9))", 0, 2);
}

static void divides_by_zero_as_ieee_754_says(void **state)
{
    struct cn_arena arena = {0};
    double zero = 0;

    (void)state;
    check_value("1/$$", 0, INFINITY);
    assert_true(isnan(cn_formula_eval(parse(&arena, "$$/$$"), &zero)));
    cn_arena_done(&arena);
}

static void prints_canonically(void **state)
{
    (void)state;
    check_print("$$", "$$");
    check_print(" 1 ", "1");
    check_print("$$^2", "($$^2)");
    check_print("($$ ^ 2)", "($$^2)");
    check_print("1+2+3", "(1+2+3)");
    check_print("(1+2)+3", "((1+2)+3)");
    check_print("1-2-3", "((1-2)-3)");
    check_print("2*$$+3", "((2*$$)+3)");
    check_print("-3", "(-3)");
    check_print("-$$", "(-$$)");
    check_print("(-3)^2", "((-3)^2)");
    check_print("sum(1)", "sum(1)");
    check_print("sum(1,2)", "(1+2)");
    check_print("prod($$)", "prod($$)");
    check_print("min($$, 2.5e-7)", "min($$,2.5e-07)");
    check_print("strict floor($$)", "strict floor($$)");
    check_print("0.1", "0.1");
    check_print("log($$,2)", "log($$,2)");
}

static void names_what_it_refuses(void **state)
{
    (void)state;
    check_refused("", "formula : the formula ends without an operand");
    check_refused("1 +", "formula 1 +: the formula ends without an operand");
    check_refused("1 2", "formula 1 2: no operator between two operands");
    check_refused("*2", "formula *2: no operand before *");
    check_refused("1+*2", "formula 1+*2: no operand before *");
    check_refused("(1", "formula (1: no ')' at character 3");
    check_refused("1)", "formula 1): unexpected ')' at character 2");
    check_refused("1,2", "formula 1,2: unexpected ',' at character 2");
    check_refused("()", "formula (): the formula ends without an operand");
    check_refused("0x10", "formula 0x10: no '(' at character 3");
    check_refused("foo(1)", "formula foo(1): no function foo of 1 arguments");
    check_refused("sqrt(1,2)", "formula sqrt(1,2): no function sqrt of 2 arguments");
    check_refused("$1", "formula $1: no value at character 1");
    check_refused("1e999", "formula 1e999: no value at character 1");
}

static void limits_depth_and_length(void **state)
{
    char text[CN_FORMULA_LEN_MAX + 2];
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    const struct cn_formula *formula;

    (void)state;
    memset(text, '(', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_false(cn_formula_parse(&formula, text, &arena, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    text[1000] = '\0';
    assert_false(cn_formula_parse(&formula, text, &arena, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);

    /* A long difference is deep, a long sum is wide. */
    for (size_t i = 0; i < 1000; i++)
        text[i] = i % 2 ? '-' : '1';
    text[999] = '\0';
    assert_false(cn_formula_parse(&formula, text, &arena, &err));
    assert_int_equal(err.kind, CN_ERR_LIMIT);
    for (size_t i = 1; i < 999; i += 2)
        text[i] = '+';
    assert_true(cn_formula_parse(&formula, text, &arena, &err));
    assert_int_equal(formula->depth, 2);
    assert_true(cn_formula_eval(formula, NULL) == 500);
    cn_arena_done(&arena);
}

/* Names stand for numbers: their lengths. */
static bool find_length(void *arg, const char *name, const struct cn_formula **out,
                        struct cn_error *err)
{
    if (strcmp(name, "nosuch") == 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "no %s", name);
    *out = cn_formula_number(arg, (double)strlen(name));
    return true;
}

static void finds_what_names_stand_for(void **state)
{
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"abc", 3}, {"abc+'a b (c)'*2", 17}, {"max (ab, abcd)", 4}, {"a_1.b:c / 2", 3.5},
        {"min", 3}, {"1e3*ab", 2000},
    };
    static const char *const bad[] = {"nosuch", "'abc", "''", "ab cd", "max ab", "2 ab"};
    struct cn_arena arena = {0};
    struct cn_formula_names names = {find_length, &arena};
    const struct cn_formula *formula;
    struct cn_error err;

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        assert_true(cn_formula_parse_named(&formula, good[i].text, &names, &arena, &err));
        assert_true(cn_formula_eval(formula, NULL) == good[i].value);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_false(cn_formula_parse_named(&formula, bad[i], &names, &arena, &err));
    assert_false(cn_formula_parse(&formula, "abc", &arena, &err));
    cn_arena_done(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluates_by_precedence),
        cmocka_unit_test(knows_every_function),
        cmocka_unit_test(divides_by_zero_as_ieee_754_says),
        cmocka_unit_test(prints_canonically),
        cmocka_unit_test(names_what_it_refuses),
        cmocka_unit_test(limits_depth_and_length),
        cmocka_unit_test(finds_what_names_stand_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
