/* Writes the symbol files of a recording: NAME.sym for each mapped file, and NAME.dbg where
 * there is debug information.
 *
 * cn_module_files_update() reads the maps and task.txt of the recording and writes the
 * files that are missing.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_FILES_MODULES_H
#define CN_LAUNCHER_FILES_MODULES_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

struct cn_module_files {
    const char *dir;
    const char *symbols; /* folder of .sym files to use first; NULL: none */
    struct cn_module_file *list;
    size_t count, capacity;
    struct cn_module_debug *debug;
    size_t debug_count, debug_capacity;
    struct cn_error unread; /* of the first file that exists but cannot be read */
};

/* Set the content of NAME.dbg; takes ownership of the text. */
CN_CHECK bool cn_module_files_add_debug(struct cn_module_files *files, const char *path,
                                        struct cn_text *text, struct cn_error *err);

/* Write missing files. Modules that cannot be read get no file; the next time they are tried
 * again. */
CN_CHECK bool cn_module_files_update(struct cn_module_files *files, struct cn_error *err);

/* Write missing files, then append the build-id of each module to its lines in the
 * maps; `unread` says which are still missing. */
CN_CHECK bool cn_module_files_finish(struct cn_module_files *files, struct cn_error *err);

void cn_module_files_done(struct cn_module_files *files);

#endif
