/* Evaluating and printing recurse; CN_FORMULA_DEPTH_MAX limits the depth. */

#include "model/contexts/formula.h"

#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct op_name {
    const char *name;
    enum cn_formula_op op;
    size_t arg_min, arg_max;
};

/* The first row that fits an operation and its number of arguments has the printed name. */
static const struct op_name op_names[] = {
    {"+", CN_FORMULA_ADD, 2, SIZE_MAX},
    {"sum", CN_FORMULA_ADD, 1, SIZE_MAX},
    {"+", CN_FORMULA_ADD, 1, 1},
    {"-", CN_FORMULA_SUB, 2, 2},
    {"-", CN_FORMULA_NEG, 1, 1},
    {"*", CN_FORMULA_MUL, 2, SIZE_MAX},
    {"prod", CN_FORMULA_MUL, 1, SIZE_MAX},
    {"*", CN_FORMULA_MUL, 1, 1},
    {"/", CN_FORMULA_DIV, 2, 2},
    {"^", CN_FORMULA_POW, 2, 2},
    {"pow", CN_FORMULA_POW, 2, 2},
    {"sqrt", CN_FORMULA_SQRT, 1, 1},
    {"log", CN_FORMULA_LOG, 1, 2},
    {"min", CN_FORMULA_MIN, 1, SIZE_MAX},
    {"max", CN_FORMULA_MAX, 1, SIZE_MAX},
    {"floor", CN_FORMULA_FLOOR, 1, 1},
    {"ceil", CN_FORMULA_CEIL, 1, 1},
    {"strict floor", CN_FORMULA_STRICT_FLOOR, 1, 1},
    {"strict ceil", CN_FORMULA_STRICT_CEIL, 1, 1},
};
enum { OP_NAME_COUNT = sizeof(op_names) / sizeof(*op_names) };

bool cn_formula_op_find(const char *name, size_t arg_count, enum cn_formula_op *out)
{
    for (size_t i = 0; i < OP_NAME_COUNT; i++) {
        const struct op_name *row = &op_names[i];

        if (arg_count >= row->arg_min && arg_count <= row->arg_max &&
            strcmp(row->name, name) == 0) {
            *out = row->op;
            return true;
        }
    }
    return false;
}

const char *cn_formula_op_name(enum cn_formula_op op, size_t arg_count)
{
    for (size_t i = 0; i < OP_NAME_COUNT; i++) {
        const struct op_name *row = &op_names[i];

        if (row->op == op && arg_count >= row->arg_min && arg_count <= row->arg_max)
            return row->name;
    }
    return "";
}

const struct cn_formula *cn_formula_new(struct cn_arena *arena, enum cn_formula_op op,
                                        const struct cn_formula *const *args,
                                        size_t arg_count)
{
    struct cn_formula *formula = cn_arena_alloc(arena, 1, sizeof(*formula));
    const struct cn_formula **copy = cn_arena_alloc(arena, arg_count, sizeof(*copy));

    assert(arg_count > 0);
    *formula = (struct cn_formula){.op = op, .args = copy, .arg_count = arg_count};
    for (size_t i = 0; i < arg_count; i++) {
        copy[i] = args[i];
        if (args[i]->depth > formula->depth)
            formula->depth = args[i]->depth;
    }
    formula->depth++;
    return formula;
}

const struct cn_formula *cn_formula_binary(struct cn_arena *arena, enum cn_formula_op op,
                                           const struct cn_formula *left,
                                           const struct cn_formula *right)
{
    const struct cn_formula *args[] = {left, right};

    return left && right ? cn_formula_new(arena, op, args, 2) : NULL;
}

const struct cn_formula *cn_formula_number(struct cn_arena *arena, double number)
{
    struct cn_formula *formula = cn_arena_alloc(arena, 1, sizeof(*formula));

    *formula = (struct cn_formula){.op = CN_FORMULA_NUMBER, .depth = 1, .number = number};
    return formula;
}

const struct cn_formula *cn_formula_input(struct cn_arena *arena, uint32_t input)
{
    struct cn_formula *formula = cn_arena_alloc(arena, 1, sizeof(*formula));

    *formula = (struct cn_formula){.op = CN_FORMULA_INPUT, .depth = 1, .input = input};
    return formula;
}

size_t cn_formula_number_scan(const char *text, double *out)
{
    size_t digits = strspn(text, "0123456789"), len = digits;

    if (text[len] == '.') {
        size_t fraction = strspn(text + len + 1, "0123456789");

        digits += fraction;
        len += 1 + fraction;
    }
    if (digits == 0)
        return 0;
    if (text[len] == 'e' || text[len] == 'E') {
        size_t sign = text[len + 1] == '+' || text[len + 1] == '-';
        size_t exponent = strspn(text + len + 1 + sign, "0123456789");

        if (exponent > 0)
            len += 1 + sign + exponent;
    }
    /* strtod() would read "0x10" as sixteen. */
    double number = tolower((unsigned char)text[1]) == 'x' ? 0 : strtod(text, NULL);
    if (!isfinite(number))
        return 0;
    *out = number;
    return len;
}

/* The sum, product, minimum or maximum of all arguments. */
static double fold(const struct cn_formula *formula, const double *inputs)
{
    double result = cn_formula_eval(formula->args[0], inputs);

    for (size_t i = 1; i < formula->arg_count; i++) {
        double next = cn_formula_eval(formula->args[i], inputs);

        result = formula->op == CN_FORMULA_ADD   ? result + next
                 : formula->op == CN_FORMULA_MUL ? result * next
                 : formula->op == CN_FORMULA_MIN ? fmin(result, next)
                                                 : fmax(result, next);
    }
    return result;
}

double cn_formula_eval(const struct cn_formula *formula, const double *inputs)
{
    double a, b = 0;

    if (formula->op == CN_FORMULA_NUMBER)
        return formula->number;
    if (formula->op == CN_FORMULA_INPUT)
        return inputs[formula->input];
    if (formula->op == CN_FORMULA_ADD || formula->op == CN_FORMULA_MUL ||
        formula->op == CN_FORMULA_MIN || formula->op == CN_FORMULA_MAX)
        return fold(formula, inputs);
    a = cn_formula_eval(formula->args[0], inputs);
    if (formula->arg_count == 2)
        b = cn_formula_eval(formula->args[1], inputs);
    switch (formula->op) {
    case CN_FORMULA_SUB:
        return a - b;
    case CN_FORMULA_DIV:
        return a / b;
    case CN_FORMULA_POW:
        return pow(a, b);
    case CN_FORMULA_NEG:
        return -a;
    case CN_FORMULA_SQRT:
        return sqrt(a);
    case CN_FORMULA_LOG:
        return formula->arg_count == 2 ? log(a) / log(b) : log(a);
    case CN_FORMULA_FLOOR:
        return floor(a);
    case CN_FORMULA_CEIL:
        return ceil(a);
    case CN_FORMULA_STRICT_FLOOR:
        return ceil(a) - 1;
    case CN_FORMULA_STRICT_CEIL:
        return floor(a) + 1;
    case CN_FORMULA_NUMBER:
    case CN_FORMULA_INPUT:
    case CN_FORMULA_ADD:
    case CN_FORMULA_MUL:
    case CN_FORMULA_MIN:
    case CN_FORMULA_MAX:
        break;
    }
    return a;
}

void cn_formula_number_print(double number, struct cn_text *text)
{
    char chars[32];

    if (number == floor(number) && fabs(number) < 1e15) {
        cn_text_printf(text, "%.0f", number);
        return;
    }
    for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++) {
        (void)snprintf(chars, sizeof(chars), "%.*g", digits, number);
        if (strtod(chars, NULL) == number)
            break;
    }
    cn_text_str_add(text, chars);
}

void cn_formula_print(const struct cn_formula *formula, struct cn_text *text)
{
    if (formula->op == CN_FORMULA_INPUT && formula->input == 0) {
        cn_text_str_add(text, "$$");
        return;
    }
    if (formula->op == CN_FORMULA_INPUT) {
        cn_text_printf(text, "$%u", (unsigned)formula->input);
        return;
    }
    if (formula->op == CN_FORMULA_NUMBER) {
        bool is_negative = signbit(formula->number);

        cn_text_str_add(text, is_negative ? "(" : "");
        cn_formula_number_print(formula->number, text);
        cn_text_str_add(text, is_negative ? ")" : "");
        return;
    }
    const char *name = cn_formula_op_name(formula->op, formula->arg_count);
    bool is_call = isalpha((unsigned char)name[0]);
    cn_text_str_add(text, is_call ? name : "");
    cn_text_str_add(text, formula->op == CN_FORMULA_NEG ? "(-" : "(");
    for (size_t i = 0; i < formula->arg_count; i++) {
        cn_text_str_add(text, i == 0 ? "" : is_call ? "," : name);
        cn_formula_print(formula->args[i], text);
    }
    cn_text_char(text, ')');
}

bool cn_formula_equals(const struct cn_formula *a, const struct cn_formula *b)
{
    if (!a || !b)
        return a == b;
    if (a->op != b->op || a->arg_count != b->arg_count)
        return false;
    if (a->op == CN_FORMULA_NUMBER)
        return a->number == b->number;
    if (a->op == CN_FORMULA_INPUT)
        return a->input == b->input;
    for (size_t i = 0; i < a->arg_count; i++)
        if (!cn_formula_equals(a->args[i], b->args[i]))
            return false;
    return true;
}
