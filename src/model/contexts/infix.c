#include "model/contexts/infix.h"

#include <stdlib.h>

#include "base/alloc.h"

void cn_infix_init(struct cn_infix *infix, struct cn_arena *arena)
{
    *infix = (struct cn_infix){.arena = arena};
}

void cn_infix_done(struct cn_infix *infix)
{
    free(infix->operands);
    free(infix->operators);
    *infix = (struct cn_infix){0};
}

static void push_operand(struct cn_infix *infix, const struct cn_formula *operand)
{
    infix->operands = cn_grow(infix->operands, infix->operand_count,
                              &infix->operand_capacity, sizeof(*infix->operands));
    infix->operands[infix->operand_count++] = operand;
}

static void push_operator(struct cn_infix *infix, enum cn_formula_op op)
{
    infix->operators = cn_grow(infix->operators, infix->operator_count,
                               &infix->operator_capacity, sizeof(*infix->operators));
    infix->operators[infix->operator_count++] = op;
}

static unsigned precedence(enum cn_formula_op op)
{
    if (op == CN_FORMULA_ADD || op == CN_FORMULA_SUB)
        return 1;
    if (op == CN_FORMULA_MUL || op == CN_FORMULA_DIV)
        return 2;
    return op == CN_FORMULA_NEG ? 3 : 4;
}

static bool takes_many(enum cn_formula_op op)
{
    return op == CN_FORMULA_ADD || op == CN_FORMULA_MUL;
}

/* Operators of the same kind on top of the stack that become one node: a+b+c is one
 * sum, however long. */
static size_t top_run(const struct cn_infix *infix, enum cn_formula_op op)
{
    size_t run = 1;

    while (takes_many(op) && run < infix->operator_count &&
           infix->operators[infix->operator_count - run - 1] == op)
        run++;
    return run;
}

static void reduce_top(struct cn_infix *infix)
{
    enum cn_formula_op op = infix->operators[infix->operator_count - 1];
    size_t run = top_run(infix, op);
    size_t arg_count = op == CN_FORMULA_NEG ? 1 : run + 1;
    const struct cn_formula **args = infix->operands + infix->operand_count - arg_count;
    const struct cn_formula *result;

    if (op == CN_FORMULA_NEG && args[0]->op == CN_FORMULA_NUMBER)
        result = cn_formula_number(infix->arena, -args[0]->number);
    else
        result = cn_formula_new(infix->arena, op, args, arg_count);
    infix->operator_count -= run;
    infix->operand_count -= arg_count;
    push_operand(infix, result);
}

/* Whether the operator on top is complete before `next`, which follows it. */
static bool binds_before(enum cn_formula_op top, enum cn_formula_op next)
{
    if (takes_many(top) && top == next)
        return false;
    if (precedence(top) != precedence(next))
        return precedence(top) > precedence(next);
    return next != CN_FORMULA_POW;
}

bool cn_infix_operand(struct cn_infix *infix, const struct cn_formula *operand,
                      struct cn_error *err)
{
    if (infix->after_operand)
        return cn_fail(err, CN_ERR_FORMAT, "no operator between two operands");
    push_operand(infix, operand);
    infix->after_operand = true;
    return true;
}

bool cn_infix_operator(struct cn_infix *infix, char operator_char, struct cn_error *err)
{
    const char name[] = {operator_char, '\0'};
    enum cn_formula_op op;

    if (!infix->after_operand) {
        if (operator_char != '-')
            return cn_fail(err, CN_ERR_FORMAT, "no operand before %c", operator_char);
        push_operator(infix, CN_FORMULA_NEG);
        return true;
    }
    if (!cn_formula_op_find(name, 2, &op))
        return cn_fail(err, CN_ERR_FORMAT, "unknown operator %c", operator_char);
    while (infix->operator_count > 0 &&
           binds_before(infix->operators[infix->operator_count - 1], op))
        reduce_top(infix);
    push_operator(infix, op);
    infix->after_operand = false;
    return true;
}

bool cn_infix_end(struct cn_infix *infix, const struct cn_formula **out,
                  struct cn_error *err)
{
    if (!infix->after_operand)
        return cn_fail(err, CN_ERR_FORMAT, "the formula ends where a value must stand");
    while (infix->operator_count > 0)
        reduce_top(infix);
    if (infix->operands[0]->depth > CN_FORMULA_DEPTH_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "formula nests %u deep, limit %d",
                       infix->operands[0]->depth, CN_FORMULA_DEPTH_MAX);
    *out = infix->operands[0];
    return true;
}
