/* Formulas over numbers: of statistics over the values of threads, and of presented metrics
 * over statistics.
 *
 * A formula is a tree in an arena, parsed from text or built node by node.
 * Threads: immutable once built.
 */
#ifndef CN_MODEL_CONTEXTS_FORMULA_H
#define CN_MODEL_CONTEXTS_FORMULA_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct cn_text;

enum cn_formula_op {
    CN_FORMULA_NUMBER,
    CN_FORMULA_INPUT, /* variable number `input`; "$$" is input 0 */
    CN_FORMULA_ADD,   /* of all arguments; also sum() */
    CN_FORMULA_SUB,
    CN_FORMULA_MUL, /* of all arguments; also prod() */
    CN_FORMULA_DIV,
    CN_FORMULA_POW,
    CN_FORMULA_NEG,
    CN_FORMULA_SQRT,
    CN_FORMULA_LOG, /* natural, or to the base of the second argument */
    CN_FORMULA_MIN,
    CN_FORMULA_MAX,
    CN_FORMULA_FLOOR,
    CN_FORMULA_CEIL,
    CN_FORMULA_STRICT_FLOOR, /* largest integer that is less */
    CN_FORMULA_STRICT_CEIL,
};

/* Limits of formulas from input, so that evaluating and printing may recurse. */
enum { CN_FORMULA_DEPTH_MAX = 64, CN_FORMULA_LEN_MAX = 4096 };

struct cn_formula {
    enum cn_formula_op op;
    unsigned depth; /* nodes on the longest path down, with this one */
    double number;
    uint32_t input;
    const struct cn_formula *const *args;
    size_t arg_count;
};

/* A new node; `args` is copied into the arena. */
const struct cn_formula *cn_formula_new(struct cn_arena *arena, enum cn_formula_op op,
                                        const struct cn_formula *const *args,
                                        size_t arg_count);
/* NULL where an argument is NULL. */
const struct cn_formula *cn_formula_binary(struct cn_arena *arena, enum cn_formula_op op,
                                           const struct cn_formula *left,
                                           const struct cn_formula *right);
const struct cn_formula *cn_formula_number(struct cn_arena *arena, double number);
const struct cn_formula *cn_formula_input(struct cn_arena *arena, uint32_t input);

/* The operator or function `name` ("+", "sqrt", "strict floor") with this number of
 * arguments; false if there is none. */
bool cn_formula_op_find(const char *name, size_t arg_count, enum cn_formula_op *out);

/* The printed name of an operation with this number of arguments: "+", or "sum" for one
 * argument. Numbers and inputs have none: "". */
const char *cn_formula_op_name(enum cn_formula_op op, size_t arg_count);

/* Parse infix text over one variable, "$$": numbers, + - * / ^, parentheses, function
 * calls. Fails above the limits. */
CN_CHECK bool cn_formula_parse(const struct cn_formula **out, const char *text,
                               struct cn_arena *arena, struct cn_error *err);

/* What names in a formula stand for. False, with an error, for a name that it does not
 * know. */
struct cn_formula_names {
    bool (*find)(void *arg, const char *name, const struct cn_formula **out,
                 struct cn_error *err);
    void *arg;
};

/* The same over names: words of letters, digits, '_', '.' and ':' that no parenthesis
 * follows, and any text in single quotes: "instructions / 'time (sec)'". */
CN_CHECK bool cn_formula_parse_named(const struct cn_formula **out, const char *text,
                                     const struct cn_formula_names *names,
                                     struct cn_arena *arena, struct cn_error *err);

/* Evaluate with the given inputs, by IEEE 754: the result may be infinite or not a
 * number. */
double cn_formula_eval(const struct cn_formula *formula, const double *inputs);

/* Append canonical text, without spaces, with parentheses around every operator: "($$^2)".
 * Inputs other than 0 appear as "$1", which cannot be parsed. */
void cn_formula_print(const struct cn_formula *formula, struct cn_text *text);

/* True if operators, arguments, inputs and numbers are equal. NULL equals only NULL. */
bool cn_formula_equals(const struct cn_formula *a, const struct cn_formula *b);

/* The number at the start of `text`: digits with an optional fraction and exponent, without
 * a sign. Returns its length; 0 if there is none or it is too large for a double. */
size_t cn_formula_number_scan(const char *text, double *out);

/* Append the shortest decimal that parses to the same number. */
void cn_formula_number_print(double number, struct cn_text *text);

#endif
