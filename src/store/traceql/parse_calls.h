/* The functions of TraceQL, braces and hints: the parts of parse.c that do not combine others.
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_PARSE_CALLS_H
#define CN_STORE_TRACEQL_PARSE_CALLS_H

#include "store/traceql/parser.h"

/* A function with its arguments: an aggregate, by(), select(), a function of metrics without the
 * stages before it, or of series without what they are of. */
CN_CHECK bool cn_tql_parse_call(struct cn_tql_parser *p, struct cn_tql_node **out);

/* "{ expr }"; `filter` receives its number in the program. */
CN_CHECK bool cn_tql_parse_braces(struct cn_tql_parser *p, struct cn_tql_expr *expr,
                                  uint32_t *filter);

/* "with(name=value, ...)". */
CN_CHECK bool cn_tql_parse_hints(struct cn_tql_parser *p);

/* Of parse.c: a pipeline, metrics, or an operand alone; and a node of the program. */
CN_CHECK bool cn_tql_parse_piped(struct cn_tql_parser *p, struct cn_tql_node **out);
CN_CHECK bool cn_tql_add_node(struct cn_tql_parser *p, const struct cn_tql_node *node,
                              struct cn_tql_node **out);

#endif
