/* The state of the parser, and what its two halves share: expressions inside of braces
 * (parse_expr.c), and everything around them (parse.c).
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_PARSER_H
#define CN_STORE_TRACEQL_PARSER_H

#include "store/traceql/lexer.h"

struct cn_tql_parser {
    struct cn_tql_program *program;
    struct cn_tql_lexer lexer;
    struct cn_tql_token token; /* the one to be taken next */
    unsigned depth;            /* of parentheses and unary signs */
    struct cn_error *err;
};

/* What is known of an expression before a span is looked at. */
struct cn_tql_operand {
    struct cn_tql_expr expr;
    enum cn_tql_type type;
    bool reads_span;
    uint32_t at;
};

CN_CHECK bool cn_tql_parse_expr(struct cn_tql_parser *p, struct cn_tql_operand *out);

/* Take the field that is the next token; `number` receives that of the program. */
CN_CHECK bool cn_tql_parse_field(struct cn_tql_parser *p, uint32_t *number);

/* The binding of an operator, from 1; 0: it is none between two operands. Powers bind to the
 * right. */
unsigned cn_tql_binding(enum cn_tql_op op);

/* Go on to the next token. */
CN_CHECK bool cn_tql_next(struct cn_tql_parser *p);

/* Take a sign, or fail with "expected ')', found ...". */
CN_CHECK bool cn_tql_expect(struct cn_tql_parser *p, char sign);

static inline bool cn_tql_is_sign(const struct cn_tql_parser *p, char sign)
{
    return p->token.kind == CN_TQL_T_SIGN && p->token.sign == sign;
}

/* Fail at a byte of the query; at the next token, "expected WHAT, found ...". */
bool cn_tql_fail(const struct cn_tql_parser *p, uint32_t at, const char *what);
bool cn_tql_fail_expected(const struct cn_tql_parser *p, const char *what);

/* Enter parentheses or a sign; fails if they nest too deeply. */
CN_CHECK bool cn_tql_enter(struct cn_tql_parser *p);

#endif
