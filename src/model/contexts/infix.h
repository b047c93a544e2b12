/* Operands and operators in the order in which they are written, made into a formula
 * by precedence: + - below * / below unary minus below ^, which is right-
 * associative.
 *
 * cn_infix_init(), then operands and operators as they come, then cn_infix_end(),
 * and cn_infix_done() in any case. Parentheses are an infix of their own whose
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

/* Two operands in a row, or an operator where an operand must stand: CN_ERR_FORMAT. */
CN_CHECK bool cn_infix_operand(struct cn_infix *infix, const struct cn_formula *operand,
                               struct cn_error *err);

/* One of + - * / ^; a minus where an operand must stand negates what follows. */
CN_CHECK bool cn_infix_operator(struct cn_infix *infix, char operator_char,
                                struct cn_error *err);

/* The whole. Fails when an operand is missing or the formula is too deep. */
CN_CHECK bool cn_infix_end(struct cn_infix *infix, const struct cn_formula **out,
                           struct cn_error *err);

#endif
