/* Who calls whom in a GPU binary, as a structure file tells, and the ways on which a
 * function can have been reached.
 *
 * Note the functions and calls, then cn_hpc_call_graph_settle(), then ask for paths.
 * Recursion is taken out as hpcprof does it: calls between functions that reach each
 * other do not count, and what calls the representative of such a group calls all of it.
 * A zeroed graph is ready for use.
 * Threads: one thread at a time; immutable once settled.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_CALL_GRAPH_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_CALL_GRAPH_H

#include "base/map.h"

/* A call of `callee`, or one of its callers, by numbers of functions of the graph. */
struct cn_hpc_call {
    uint64_t address;
    uint32_t caller, callee;
};

struct cn_hpc_call_graph {
    bool is_complete;      /* the file says that calls were looked for */
    bool is_broken;        /* something is called that is no function */
    struct cn_map entries; /* entry address -> number */
    uint32_t *functions;   /* by number: what the user calls it */
    uint32_t count;
    size_t capacity;
    struct cn_hpc_call *calls;
    uint64_t *targets; /* entry addresses that `calls` lead to, until settled */
    size_t call_count, call_capacity, target_capacity;
    uint32_t *caller_ends; /* by callee: where its calls end; they begin where those of
                              the function before it end */
};

/* A way to a function: from one that nobody calls, through these call instructions. */
struct cn_hpc_call_path {
    size_t first_call, call_count; /* in the list of addresses, the outermost first */
    uint32_t entry;
};

/* Ways to a function; used again for the next one. Zeroed is empty. */
struct cn_hpc_call_paths {
    struct cn_hpc_call_path *list;
    size_t count, capacity;
    uint64_t *calls;
    size_t call_count, call_capacity;
    struct cn_hpc_call_step *steps; /* of the search */
    size_t step_capacity;
};

/* Functions are numbered as they come. False when there is one with that entry. */
bool cn_hpc_call_graph_add_function(struct cn_hpc_call_graph *graph, uint64_t entry,
                                    uint32_t function);

/* A call in the function that was added last. */
void cn_hpc_call_graph_add_call(struct cn_hpc_call_graph *graph, uint64_t address,
                                uint64_t target);
void cn_hpc_call_graph_settle(struct cn_hpc_call_graph *graph);

/* All ways to a function. False when they are not known, or too many to be told
 * apart. */
bool cn_hpc_call_graph_paths(const struct cn_hpc_call_graph *graph, uint32_t function,
                             struct cn_hpc_call_paths *out);

void cn_hpc_call_paths_done(struct cn_hpc_call_paths *paths);
void cn_hpc_call_graph_done(struct cn_hpc_call_graph *graph);

#endif
