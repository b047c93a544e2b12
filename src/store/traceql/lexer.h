/* The tokens of TraceQL.
 *
 * A name with its scope is one token: "span.http.method", "resource.\"a b\"", "event:name".
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_LEXER_H
#define CN_STORE_TRACEQL_LEXER_H

#include "store/traceql/program.h"

enum cn_tql_token_kind {
    CN_TQL_T_END,
    CN_TQL_T_VALUE,
    CN_TQL_T_NIL,
    CN_TQL_T_FIELD,
    CN_TQL_T_WORD, /* of the language: "count", "by" */
    CN_TQL_T_NAME, /* any other */
    CN_TQL_T_OP,
    CN_TQL_T_SIGN, /* { } ( ) , | */
};

struct cn_tql_token {
    enum cn_tql_token_kind kind;
    uint32_t at, len; /* where it is */
    enum cn_tql_op op;
    char sign;
    const char *word; /* of words and names */
    struct cn_tql_value value;
    struct cn_tql_field field;
};

struct cn_tql_lexer {
    struct cn_arena *arena; /* of texts */
    const char *text;
    uint32_t at;
    struct cn_error *err;
};

/* The next token. */
CN_CHECK bool cn_tql_lex(struct cn_tql_lexer *lexer, struct cn_tql_token *out);

/* Fail at a byte of the query. */
bool cn_tql_fail_at(const char *text, uint32_t at, struct cn_error *err,
                    const char *what);

#endif
