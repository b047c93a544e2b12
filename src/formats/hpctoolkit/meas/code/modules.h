/* The load modules of measurements and the sources of names for their code.
 *
 * A module is identified by its path; a relative path belongs to its measurement directory.
 * The first source that has a module is used: a file of logical frames, kernel symbols, a
 * structure file, the symbols of the binary itself.
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

enum cn_hpc_source {
    CN_HPC_SOURCE_UNKNOWN, /* no address was looked up yet */
    CN_HPC_SOURCE_NONE,
    CN_HPC_SOURCE_LOGICAL,
    CN_HPC_SOURCE_KERNEL,
    CN_HPC_SOURCE_STRUCTURE,
    CN_HPC_SOURCE_SYMBOLS,
};

struct cn_hpc_module {
    const char *shown;  /* the path as recorded */
    const char *folder; /* the measurement directory of a relative path, or NULL */
    enum cn_hpc_source source;
    const struct cn_hpc_structure *structure;
    struct cn_hpc_kernel_symbols kernel;
    struct cn_hpc_logical logical;
    struct cn_hpc_ranges symbols; /* their value is a function of the tables */
};

struct cn_hpc_modules {
    struct cn_measurements *warn; /* receives warnings */
    const struct cn_hpc_directories *directories;
    const struct cn_hpc_meas_options *options;
    struct cn_arena arena;
    struct cn_names paths; /* full paths, by module number */
    struct cn_hpc_module *list;
    size_t count, capacity;
    struct cn_hpc_tables tables;
    struct cn_hpc_structures structures;
    struct cn_map structure_of;   /* module -> index of its structure */
    bool has_structures;          /* the structure files were read */
    struct cn_map located;        /* functions whose definition was looked up */
    struct cn_code_scope *scopes; /* the last result */
    size_t scope_capacity;
    struct cn_hpc_call_paths found_paths; /* the last result */
    struct cn_call_path *call_paths;
    size_t call_path_capacity;
};

/* The number of a module that a profile in `folder` names. */
uint32_t cn_hpc_modules_find(struct cn_hpc_modules *modules, const char *folder,
                             struct cn_bytes path);

/* The scopes of an address, and the call paths to it. Borrowed until the next call. */
struct cn_code_scopes cn_hpc_modules_scopes(struct cn_hpc_modules *modules,
                                            uint32_t module, uint64_t address);
struct cn_call_paths cn_hpc_modules_paths(struct cn_hpc_modules *modules, uint32_t module,
                                          uint64_t address);

void cn_hpc_modules_done(struct cn_hpc_modules *modules);

#endif
