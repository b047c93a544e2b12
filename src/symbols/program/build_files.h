/* Files of a build: a program or library, or its debug information, by its build-id or its
 * .gnu_debuglink. The places, in this order:
 *
 *   folders of the caller, with those below       any file, by its build-id, or its name
 *   $CAIRN_DEBUG_PATH, /usr/lib/debug             .build-id/ab/cdef... and .build-id/ab/cdef....debug
 *   ~/.debug, to which perf copies modules        .build-id/ab/cdef.../elf and debug
 *   beside the module, in its folder .debug, and
 *   in the folders above below its own path       by .gnu_debuglink, if the checksum matches
 *   debuginfod, if $DEBUGINFOD_URLS is set        libdebuginfod is loaded when it is first
 *                                                 needed; all questions together take at most
 *                                                 half a minute
 *
 * A zeroed struct is ready for use. Internal to the folder.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_BUILD_FILES_H
#define CN_SYMBOLS_PROGRAM_BUILD_FILES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "base/text.h"

struct cn_debuginfod;

/* A program, library or debug file in the folders of the caller. A stripped program has code
 * alone, a debug file names alone. */
struct cn_build_file {
    char *path;
    char *build_id; /* hexadecimal, "" if it has none */
    bool has_code, has_names;
};

struct cn_build_files {
    struct cn_debuginfod *debuginfod; /* NULL: not asked for yet */
    bool is_offline;                  /* never ask */
    const char *const *folders;       /* of the caller, borrowed */
    size_t folder_count;
    struct cn_build_file *list; /* in them; filled when it is first needed */
    size_t count, capacity;
    bool is_listed;
};

/* A module with this build-id (hexadecimal) that is not at its own path; where there is none,
 * its debug information, which names functions as well. */
bool cn_build_files_find(struct cn_build_files *files, const char *build_id,
                         struct cn_text *path);

/* A program or library in the folders of the caller that has names, by its build-id; by the name
 * of `module` where its build-id is "". It goes before the module itself, which may be stripped. */
bool cn_build_files_find_given(struct cn_build_files *files, const char *module,
                               const char *build_id, struct cn_text *path);

/* A callback of libdwfl: the file with the debug information of a module, whose user data is
 * a struct cn_build_files. */
int cn_build_files_find_debug(Dwfl_Module *module, void **arg, const char *module_name,
                              Dwarf_Addr base, const char *path, const char *link,
                              GElf_Word link_crc, char **out);

void cn_build_files_done(struct cn_build_files *files);

/* Asks debuginfod servers for files of a build. libdebuginfod is loaded, not linked.
 * Internal to the folder. */

/* Never NULL; without $DEBUGINFOD_URLS or the library, it finds nothing. */
struct cn_debuginfod *cn_debuginfod_new(void);
void cn_debuginfod_free(struct cn_debuginfod *debuginfod); /* NULL is fine */

/* The path of a downloaded file: the module itself, or its debug information. */
bool cn_debuginfod_find(struct cn_debuginfod *debuginfod, const char *build_id,
                        bool is_debug, struct cn_text *path);

#endif
