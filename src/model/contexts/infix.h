/* Operands and operators in written order, made into a formula by precedence: + - below
 * * / below unary minus below ^, which is right-associative.
 *
 * Call cn_infix_init(), then cn_infix_operand() and cn_infix_operator() in order, then
 * cn_infix_end(), and in any case cn_infix_done(). Parentheses are another infix, whose
 * result is an operand.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_CONTEXTS_INFIX_H
#define CN_MODEL_CONTEXTS_INFIX_H

#include "model/contexts/formula.h"

struct cn_infix {
    struct cn_arena *arena;
    const struct cn_formula **operands;
    enum cn_formula_op *operators;
    size_t operand_count, operand_capacity;
    size_t operator_count, operator_capacity;
    bool after_operand;
};

void cn_infix_init(struct cn_infix *infix, struct cn_arena *arena);
void cn_infix_done(struct cn_infix *infix);

/* Fails on two operands in a row, the next function on an operator without an operand. */
CN_CHECK bool cn_infix_operand(struct cn_infix *infix, const struct cn_formula *operand,
                               struct cn_error *err);

/* One of + - * / ^. A minus instead of an operand negates the next one. */
CN_CHECK bool cn_infix_operator(struct cn_infix *infix, char operator_char,
                                struct cn_error *err);

/* The formula. Fails if an operand is missing or the formula is too deep. */
CN_CHECK bool cn_infix_end(struct cn_infix *infix, const struct cn_formula **out,
                           struct cn_error *err);

#endif
