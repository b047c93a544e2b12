/* Options for opening measurement directories.
 * Threads: immutable while measurements are open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_OPTIONS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_path_map;
struct cn_text;

/* The location of an instruction in the debug information. */
struct cn_hpc_line {
    const char *function; /* inlined there; NULL: none */
    const char *file;
    uint32_t line;
};

/* A source of debug information; it finds nothing in files that have none. */
struct cn_hpc_lines {
    void *arg;
    /* The location in the function that contains the address, then in each function
     * inlined there, innermost last. Returns the count, at most `most`. */
    size_t (*instruction)(void *arg, const char *path, uint64_t address,
                          struct cn_hpc_line *out, size_t most);
    /* The location of the definition of the function that contains the address. */
    bool (*function)(void *arg, const char *path, uint64_t address,
                     struct cn_hpc_line *out);
};

struct cn_hpc_meas_options {
    /* By path: the names of the profiles, as cn_hpc_profiles_list() lists them. NULL: directories
     * are read. Thousands of processes that read a large one would keep its server busy. */
    const struct cn_text *names;
    const char *const *structs; /* additional .hpcstruct files, or directories of them */
    size_t struct_count;
    const struct cn_path_map *maps;
    size_t map_count;
    const struct cn_hpc_lines *lines; /* or NULL */
    bool ignore_structs;              /* those in the directories */
    bool is_foreign; /* measured on another machine: do not use files outside */
    bool without_sources, without_traces;
};

#endif
