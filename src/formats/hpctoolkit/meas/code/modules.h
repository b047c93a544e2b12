/* The load modules of measurements and what is known about the code in them.
 *
 * A module is known by its path; those given relative to a measurement directory
 * belong to that. The first source that knows a module answers: a file of logical
 * frames, kernel symbols, a structure file, the symbols of the binary itself.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_MODULES_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_MODULES_H

#include "formats/hpctoolkit/meas/code/elf_symbols.h"
#include "formats/hpctoolkit/meas/code/kernel_symbols.h"
#include "formats/hpctoolkit/meas/code/logical.h"
#include "formats/hpctoolkit/meas/code/options.h"
#include "formats/hpctoolkit/meas/code/structure.h"
#include "formats/hpctoolkit/meas/profile/directory.h"

enum cn_hpc_knowledge {
    CN_HPC_NOT_ASKED,
    CN_HPC_KNOWS_NOTHING,
    CN_HPC_KNOWS_LOGICAL,
    CN_HPC_KNOWS_KERNEL,
    CN_HPC_KNOWS_STRUCTURE,
    CN_HPC_KNOWS_SYMBOLS,
};

struct cn_hpc_module {
    const char *shown;  /* the path as recorded */
    const char *folder; /* the measurement directory it is relative to, or NULL */
    enum cn_hpc_knowledge knowledge;
    const struct cn_hpc_structure *structure;
    struct cn_hpc_kernel_symbols kernel;
    struct cn_hpc_logical logical;
    struct cn_hpc_elf_symbols symbols;
};

struct cn_hpc_modules {
    struct cn_measurements *warn; /* where oddities are told */
    const struct cn_hpc_directories *directories;
    const struct cn_hpc_meas_options *options;
    struct cn_arena arena;
    struct cn_names paths; /* full ones: their numbers are those of modules */
    struct cn_hpc_module *list;
    size_t count, capacity;
    struct cn_hpc_tables tables;
    struct cn_hpc_structures structures;
    struct cn_map structure_of;   /* number of a path -> structure */
    bool has_structures;          /* they have been read */
    struct cn_map located;        /* functions whose definition was asked for */
    struct cn_code_scope *places; /* the answer to the last question */
    size_t place_capacity;
    struct cn_hpc_call_paths found_paths; /* to the last answer about paths */
    struct cn_call_path *call_paths;
    size_t call_path_capacity;
};

/* The number of the module `path` of a directory. */
uint32_t cn_hpc_modules_find(struct cn_hpc_modules *modules, const char *folder,
                             struct cn_bytes path);

CN_CHECK bool cn_hpc_modules_places(struct cn_hpc_modules *modules, uint32_t module,
                                    uint64_t address, struct cn_code_scopes *out,
                                    struct cn_error *err);

CN_CHECK bool cn_hpc_modules_paths(struct cn_hpc_modules *modules, uint32_t module,
                                   uint64_t address, struct cn_call_paths *out,
                                   struct cn_error *err);

void cn_hpc_modules_done(struct cn_hpc_modules *modules);

#endif
