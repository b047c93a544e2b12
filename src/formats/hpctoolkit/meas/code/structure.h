/* What hpcstruct found out about modules: the function, loops, inlined calls and line of
 * address ranges.
 *
 * A file is read once into flat tables: scopes with the index of their parent, and ranges with
 * the index of their innermost scope.
 * Threads: one thread at a time; immutable once read.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_STRUCTURE_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_STRUCTURE_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"
#include "formats/hpctoolkit/meas/code/ranges.h"
#include "formats/hpctoolkit/meas/code/tables.h"
#include "model/contexts/samples.h"

/* The call graph of a GPU binary, from its structure file, and the call paths to a function.
 *
 * Add the functions and calls, call cn_hpc_call_graph_settle(), then ask for paths.
 * Recursion is removed as hpcprof does it: calls inside a cycle of functions do not count, and
 * a call of the representative of a cycle is a call of all its members.
 * A zeroed graph is empty.
 * Threads: one thread at a time; immutable once settled.
 */

struct cn_hpc_call {
    uint64_t address;
    uint32_t caller, callee; /* indexes of functions */
};

struct cn_hpc_call_graph {
    bool is_complete;      /* the file says that it lists the calls */
    bool is_broken;        /* a call leads to no function, or there are too many */
    struct cn_map entries; /* entry address -> index */
    uint32_t *functions;   /* by index: the number given by the user */
    uint32_t count;
    size_t capacity;
    struct cn_hpc_call *calls;
    uint64_t *targets; /* entry addresses of callees, until settled */
    size_t call_count, call_capacity, target_capacity;
    uint32_t *caller_ends; /* by callee: the end of its calls, which begin at the end of
                              those of the callee before it */
};

/* A path to a function from one without callers. */
struct cn_hpc_call_path {
    size_t first_call, call_count; /* in the list of call sites, outermost first */
    uint32_t entry;                /* index of the function without callers */
};

/* Call paths; reused for the next function. Zeroed is empty. */
struct cn_hpc_call_paths {
    struct cn_hpc_call_path *list;
    size_t count, capacity;
    uint64_t *calls; /* call sites */
    size_t call_count, call_capacity;
    struct cn_hpc_call_step *steps; /* of the search */
    size_t step_capacity;
};

/* Functions get consecutive indexes. False if another function has that entry. */
bool cn_hpc_call_graph_add_function(struct cn_hpc_call_graph *graph, uint64_t entry,
                                    uint32_t function);

/* Add a call in the function that was added last. */
void cn_hpc_call_graph_add_call(struct cn_hpc_call_graph *graph, uint64_t address,
                                uint64_t target);
void cn_hpc_call_graph_settle(struct cn_hpc_call_graph *graph);

/* All paths to the function with this entry. False if they are unknown or too many. */
bool cn_hpc_call_graph_paths(const struct cn_hpc_call_graph *graph, uint64_t entry,
                             struct cn_hpc_call_paths *out);

void cn_hpc_call_paths_done(struct cn_hpc_call_paths *paths);
void cn_hpc_call_graph_done(struct cn_hpc_call_graph *graph);

struct cn_hpc_scope {
    struct cn_code_scope scope;
    uint32_t parent; /* CN_NONE for a function that is not inlined */
    uint32_t depth;  /* number of ancestors */
};

/* One load module. */
struct cn_hpc_structure {
    const char *path; /* as in the file */
    struct cn_hpc_scope *scopes;
    size_t scope_count, scope_capacity;
    struct cn_hpc_ranges ranges; /* their value is a scope */
    struct cn_hpc_call_graph graph;
};

struct cn_hpc_structures {
    struct cn_hpc_structure *list;
    size_t count, capacity;
    struct cn_arena arena;
};

/* Add the modules of a .hpcstruct file. `module` of scopes is CN_NONE. On failure the part
 * before the damage has been added. */
CN_CHECK bool cn_hpc_structures_read(struct cn_hpc_structures *structures,
                                     struct cn_bytes file, struct cn_hpc_tables *tables,
                                     struct cn_error *err);

/* Store the scopes of an address in *scopes, an array that grows, outermost first. Returns
 * their count; 0 if the address is in no scope. */
size_t cn_hpc_structure_scopes(const struct cn_hpc_structure *structure, uint64_t address,
                               struct cn_code_scope **scopes, size_t *capacity);

/* The call paths to the function that contains an address. False if they are unknown. */
bool cn_hpc_structure_paths(const struct cn_hpc_structure *structure,
                            const struct cn_hpc_tables *tables, uint64_t address,
                            struct cn_hpc_call_paths *out);

void cn_hpc_structures_done(struct cn_hpc_structures *structures);

#endif
