/* Trees of cairn graph, laid out as uftrace graph does.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_GRAPH_PRINT_H
#define CN_CLI_GRAPH_PRINT_H

#include "analyze/calls/graph.h"
#include "base/text.h"

struct cn_args;
struct cn_call_tasks;

/* Columns before the tree, in this order. */
enum cn_graph_field {
    CN_GRAPH_TOTAL,
    CN_GRAPH_SELF,
    CN_GRAPH_ADDRESS,
    CN_GRAPH_TOTAL_AVG,
    CN_GRAPH_TOTAL_MAX,
    CN_GRAPH_TOTAL_MIN,
    CN_GRAPH_SELF_AVG,
    CN_GRAPH_SELF_MAX,
    CN_GRAPH_SELF_MIN,
    CN_GRAPH_FIELD_COUNT,
};

struct cn_graph_printer {
    const struct cn_args *args; /* for the width of names */
    bool has_field[CN_GRAPH_FIELD_COUNT];
    bool has_srcline;
    struct cn_text out;
};

/* Parse -f: "total,self", "+addr", "none". */
CN_CHECK bool cn_graph_fields_parse(struct cn_graph_printer *printer, const char *text,
                                    struct cn_error *err);

/* True if a field is printed that needs the shortest and longest calls. */
bool cn_graph_fields_need_extremes(const struct cn_graph_printer *printer);

/* Append the tree of a session, which is `node` of the whole tree. */
void cn_graph_print_session(struct cn_graph_printer *printer,
                            const struct cn_call_tree *tree, uint32_t node);

/* Append the call paths that lead to a function, and the tree below it. */
void cn_graph_print_function(struct cn_graph_printer *printer,
                             const struct cn_call_tree *tree, uint32_t session,
                             const struct cn_call_subgraph *sub, const char *name);

/* Append the tree of tasks: which task started which. */
void cn_graph_print_tasks(struct cn_graph_printer *printer,
                          const struct cn_recording *rec,
                          const struct cn_call_tasks *tasks);

#endif
