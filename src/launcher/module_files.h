/* The symbol files of a recording: NAME.sym for every file that a session mapped, and
 * NAME.dbg where something is known about its functions.
 *
 * cn_module_files_update() reads the maps and task.txt of the recording again and writes
 * what is missing.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_MODULE_FILES_H
#define CN_LAUNCHER_MODULE_FILES_H

#include <stddef.h>

#include "base/error.h"
#include "base/text.h"

struct cn_module_files {
    const char *dir;
    struct cn_module_file *list;
    size_t count, capacity;
    struct cn_module_debug *debug;
    size_t debug_count, debug_capacity;
};

/* What NAME.dbg of a file is to hold; the text is taken over. */
CN_CHECK bool cn_module_files_add_debug(struct cn_module_files *files, const char *path,
                                        struct cn_text *text, struct cn_error *err);

/* Modules that cannot be read are left out: their calls have no names. */
CN_CHECK bool cn_module_files_update(struct cn_module_files *files, struct cn_error *err);

/* Append the build-id of each module to its line in the maps, as the last thing. */
CN_CHECK bool cn_module_files_finish(struct cn_module_files *files, struct cn_error *err);

void cn_module_files_done(struct cn_module_files *files);

#endif
