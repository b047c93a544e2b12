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
#include "formats/hpctoolkit/meas/code/call_graph.h"
#include "formats/hpctoolkit/meas/code/ranges.h"
#include "formats/hpctoolkit/meas/code/tables.h"
#include "model/contexts/samples.h"

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
