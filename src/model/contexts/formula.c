/* Parsing, evaluating and printing recurse; CN_FORMULA_DEPTH_MAX bounds how deep. */

#include "model/contexts/formula.h"

#include <assert.h>
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/infix.h"

struct op_name {
    const char *name;
    enum cn_formula_op op;
    size_t arg_min, arg_max;
};

/* The first row of an operation whose argument count fits gives its printed name. */
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
    double number;

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
    number = tolower((unsigned char)text[1]) == 'x' ? 0 : strtod(text, NULL);
    if (!isfinite(number))
        return 0;
    *out = number;
    return len;
}

struct parser {
    const char *text;
    size_t at;
    struct cn_arena *arena;
};

static bool parse_infix(struct parser *p, unsigned depth, const struct cn_formula **out,
                        struct cn_error *err);

static void skip_space(struct parser *p)
{
    p->at += strspn(p->text + p->at, " \t\r\n");
}

static bool accept(struct parser *p, char c)
{
    skip_space(p);
    if (p->text[p->at] != c)
        return false;
    p->at++;
    return true;
}

static bool expect(struct parser *p, char c, struct cn_error *err)
{
    if (accept(p, c))
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "no '%c' at character %zu", c, p->at + 1);
}

/* Function names are letters; "strict floor" has a space or an underscore inside. */
static size_t scan_name(const char *text, char *name, size_t room)
{
    size_t len = 0;

    while (isalpha((unsigned char)text[len]) ||
           (len > 0 && (text[len] == ' ' || text[len] == '_') &&
            isalpha((unsigned char)text[len + 1]))) {
        if (len + 1 == room)
            return 0;
        name[len] = text[len] == '_' ? ' ' : text[len];
        len++;
    }
    name[len] = '\0';
    return len;
}

struct argument_list {
    const struct cn_formula **items;
    size_t count, capacity;
};

static bool parse_arguments(struct parser *p, unsigned depth, struct argument_list *list,
                            struct cn_error *err)
{
    const struct cn_formula *arg;

    do {
        if (!parse_infix(p, depth + 1, &arg, err))
            return false;
        list->items =
            cn_grow(list->items, list->count, &list->capacity, sizeof(*list->items));
        list->items[list->count++] = arg;
    } while (accept(p, ','));
    return expect(p, ')', err);
}

static bool parse_call(struct parser *p, unsigned depth, const struct cn_formula **out,
                       struct cn_error *err)
{
    char name[16];
    size_t start = p->at;
    struct argument_list list = {0};
    enum cn_formula_op op;
    bool ok;

    p->at += scan_name(p->text + p->at, name, sizeof(name));
    if (p->at == start)
        return cn_fail(err, CN_ERR_FORMAT, "no value at character %zu", start + 1);
    ok = expect(p, '(', err) && parse_arguments(p, depth, &list, err);
    if (ok && !cn_formula_op_find(name, list.count, &op))
        ok = cn_fail(err, CN_ERR_FORMAT, "no function %s of %zu arguments", name,
                     list.count);
    if (ok)
        *out = cn_formula_new(p->arena, op, list.items, list.count);
    free(list.items);
    return ok;
}

static bool parse_operand(struct parser *p, unsigned depth, const struct cn_formula **out,
                          struct cn_error *err)
{
    double number;
    size_t len = cn_formula_number_scan(p->text + p->at, &number);

    if (len > 0) {
        p->at += len;
        *out = cn_formula_number(p->arena, number);
        return true;
    }
    if (strncmp(p->text + p->at, "$$", 2) == 0) {
        p->at += 2;
        *out = cn_formula_input(p->arena, 0);
        return true;
    }
    if (accept(p, '('))
        return parse_infix(p, depth + 1, out, err) && expect(p, ')', err);
    return parse_call(p, depth, out, err);
}

static bool is_end(char c)
{
    return c == '\0' || c == ')' || c == ',';
}

static bool feed_infix(struct parser *p, unsigned depth, struct cn_infix *infix,
                       struct cn_error *err)
{
    for (skip_space(p); !is_end(p->text[p->at]); skip_space(p)) {
        const struct cn_formula *operand;

        if (strchr("+-*/^", p->text[p->at])) {
            if (!cn_infix_operator(infix, p->text[p->at], err))
                return false;
            p->at++;
        } else if (!parse_operand(p, depth, &operand, err) ||
                   !cn_infix_operand(infix, operand, err)) {
            return false;
        }
    }
    return true;
}

static bool parse_infix(struct parser *p, unsigned depth, const struct cn_formula **out,
                        struct cn_error *err)
{
    struct cn_infix infix;
    bool ok;

    if (depth > CN_FORMULA_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "formula nests deeper than %d",
                       CN_FORMULA_DEPTH_MAX);
    cn_infix_init(&infix, p->arena);
    ok = feed_infix(p, depth, &infix, err) && cn_infix_end(&infix, out, err);
    cn_infix_done(&infix);
    return ok;
}

bool cn_formula_parse(const struct cn_formula **out, const char *text,
                      struct cn_arena *arena, struct cn_error *err)
{
    struct parser p = {.text = text, .arena = arena};
    const struct cn_formula *formula;
    size_t len = strnlen(text, CN_FORMULA_LEN_MAX + 1);

    if (len > CN_FORMULA_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "formula is longer than %d characters",
                       CN_FORMULA_LEN_MAX);
    if (!parse_infix(&p, 1, &formula, err))
        return cn_fail_in(err, "formula %.80s", text);
    if (text[p.at] != '\0')
        return cn_fail(err, CN_ERR_FORMAT,
                       "formula %.80s: unexpected '%c' at character %zu", text,
                       text[p.at], p.at + 1);
    *out = formula;
    return true;
}

static double fold(const struct cn_formula *formula, double a, double b)
{
    if (formula->op == CN_FORMULA_ADD)
        return a + b;
    if (formula->op == CN_FORMULA_MUL)
        return a * b;
    if (formula->op == CN_FORMULA_MIN)
        return fmin(a, b);
    return fmax(a, b);
}

static double eval_many(const struct cn_formula *formula, const double *inputs)
{
    double result = cn_formula_eval(formula->args[0], inputs);

    for (size_t i = 1; i < formula->arg_count; i++)
        result = fold(formula, result, cn_formula_eval(formula->args[i], inputs));
    return result;
}

static double eval_two(enum cn_formula_op op, double a, double b)
{
    if (op == CN_FORMULA_SUB)
        return a - b;
    if (op == CN_FORMULA_DIV)
        return a / b;
    if (op == CN_FORMULA_LOG)
        return log(a) / log(b);
    return pow(a, b);
}

static double eval_one(enum cn_formula_op op, double a)
{
    if (op == CN_FORMULA_NEG)
        return -a;
    if (op == CN_FORMULA_SQRT)
        return sqrt(a);
    if (op == CN_FORMULA_LOG)
        return log(a);
    if (op == CN_FORMULA_FLOOR)
        return floor(a);
    if (op == CN_FORMULA_CEIL)
        return ceil(a);
    if (op == CN_FORMULA_STRICT_FLOOR)
        return ceil(a) - 1;
    return floor(a) + 1;
}

double cn_formula_eval(const struct cn_formula *formula, const double *inputs)
{
    double a;

    switch (formula->op) {
    case CN_FORMULA_NUMBER:
        return formula->number;
    case CN_FORMULA_INPUT:
        return inputs[formula->input];
    case CN_FORMULA_ADD:
    case CN_FORMULA_MUL:
    case CN_FORMULA_MIN:
    case CN_FORMULA_MAX:
        return eval_many(formula, inputs);
    case CN_FORMULA_SUB:
    case CN_FORMULA_DIV:
    case CN_FORMULA_POW:
    case CN_FORMULA_NEG:
    case CN_FORMULA_SQRT:
    case CN_FORMULA_LOG:
    case CN_FORMULA_FLOOR:
    case CN_FORMULA_CEIL:
    case CN_FORMULA_STRICT_FLOOR:
    case CN_FORMULA_STRICT_CEIL:
        break;
    }
    a = cn_formula_eval(formula->args[0], inputs);
    if (formula->arg_count == 1)
        return eval_one(formula->op, a);
    return eval_two(formula->op, a, cn_formula_eval(formula->args[1], inputs));
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

static void print_list(const struct cn_formula *formula, const char *separator,
                       struct cn_text *text)
{
    for (size_t i = 0; i < formula->arg_count; i++) {
        if (i > 0)
            cn_text_str_add(text, separator);
        cn_formula_print(formula->args[i], text);
    }
}

void cn_formula_print(const struct cn_formula *formula, struct cn_text *text)
{
    const char *name;
    bool is_call;

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
    name = cn_formula_op_name(formula->op, formula->arg_count);
    is_call = isalpha((unsigned char)name[0]);
    cn_text_str_add(text, is_call ? name : "");
    cn_text_str_add(text, formula->op == CN_FORMULA_NEG ? "(-" : "(");
    print_list(formula, is_call ? "," : name, text);
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
