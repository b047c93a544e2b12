/* What hpcstruct found out about modules: for ranges of addresses, the function,
 * loops, inlined calls and line around them.
 *
 * A file is read once into flat tables: scopes that know the scope around them, and
 * ranges of addresses that know their innermost scope.
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
    struct cn_code_scope place;
    uint32_t around; /* CN_NONE for a function that is not inlined */
    uint32_t depth;  /* scopes around it */
};

/* One load module. */
struct cn_hpc_structure {
    const char *path; /* as the file has it */
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

/* Add what a .hpcstruct file says. Its modules carry no number yet: `module` of
 * places is CN_NONE. On failure what comes before the damage has been added. */
CN_CHECK bool cn_hpc_structures_read(struct cn_hpc_structures *structures,
                                     struct cn_bytes file, struct cn_hpc_tables *tables,
                                     struct cn_error *err);

/* The scopes around an address go to `places`, which is grown; the outermost
 * first. False when it lies in none. */
bool cn_hpc_structure_places(const struct cn_hpc_structure *structure, uint64_t address,
                             struct cn_code_scope **places, size_t *capacity,
                             size_t *count);

/* The ways to the function around an address. False when they are not known. */
bool cn_hpc_structure_paths(const struct cn_hpc_structure *structure,
                            const struct cn_hpc_tables *tables, uint64_t address,
                            struct cn_hpc_call_paths *out);

void cn_hpc_structures_done(struct cn_hpc_structures *structures);

#endif
