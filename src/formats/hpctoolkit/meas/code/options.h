/* How measurement directories are opened: where names and lines of code come from.
 * Threads: immutable while measurements are open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_CODE_OPTIONS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_CODE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_path_map;

/* Where an instruction comes from, as debug information has it. */
struct cn_hpc_line {
    const char *function; /* that was inlined there; NULL: nothing was */
    const char *file;
    uint32_t line;
};

/* Who knows debug information; both may be asked about files that have none. */
struct cn_hpc_lines {
    void *arg;
    /* The place in the function around the address, then in each function inlined
     * there, the innermost last. Returns how many, at most `most`. */
    size_t (*instruction)(void *arg, const char *path, uint64_t address,
                          struct cn_hpc_line *out, size_t most);
    /* Where the function around the address is defined. */
    bool (*function)(void *arg, const char *path, uint64_t address,
                     struct cn_hpc_line *out);
};

struct cn_hpc_meas_options {
    const char *const *structs; /* further .hpcstruct files, or directories of them */
    size_t struct_count;
    const struct cn_path_map *maps;
    size_t map_count;
    const struct cn_hpc_lines *lines; /* NULL: nobody knows */
    bool ignore_structs;              /* those of the directories */
    bool is_foreign; /* files outside the directories belong to another machine */
    bool without_sources, without_traces;
};

#endif
