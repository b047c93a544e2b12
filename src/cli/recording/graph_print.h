/* Trees of cairn graph, drawn like those of uftrace graph.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_RECORDING_GRAPH_PRINT_H
#define CN_CLI_RECORDING_GRAPH_PRINT_H

#include "analyze/calls/call_graph.h"
#include "base/text.h"

struct cn_call_tasks;

/* Columns before the tree, in the order in which they are shown. */
enum cn_graph_field {
    CN_GRAPH_TOTAL,
    CN_GRAPH_SELF,
    CN_GRAPH_ADDRESS,
    CN_GRAPH_TOTAL_AVG,
    CN_GRAPH_SELF_AVG,
    CN_GRAPH_FIELD_COUNT,
};

struct cn_graph_printer {
    bool has_field[CN_GRAPH_FIELD_COUNT];
    bool has_srcline;
    struct cn_text out;
};

/* The fields of -f: "total,self", "+addr", "none". */
CN_CHECK bool cn_graph_fields_parse(struct cn_graph_printer *printer, const char *text,
                                    struct cn_error *err);

/* The tree of a session: `node` of the whole tree. */
void cn_graph_print_session(struct cn_graph_printer *printer,
                            const struct cn_call_tree *tree, uint32_t node);

/* The tree below one function, after the ways that lead to it. */
void cn_graph_print_function(struct cn_graph_printer *printer,
                             const struct cn_call_tree *tree, uint32_t session,
                             const struct cn_call_subgraph *sub, const char *name);

/* Who started whom. */
void cn_graph_print_tasks(struct cn_graph_printer *printer,
                          const struct cn_recording *rec,
                          const struct cn_call_tasks *tasks);

#endif
