/* Modules: files with code, and their tables, which are built when they are first needed.
 *
 * The list owns its modules, which never move.
 * Threads: one thread at a time.
 */
#ifndef CN_UNWIND_MODULE_H
#define CN_UNWIND_MODULE_H

#include "base/map.h"
#include "unwind/table.h"

struct cn_unwind_module {
    const char *path, *build_id;
    bool is_loaded, has_table;
    bool is_opened; /* `fd` was tried */
    int fd;         /* of the file, for its code; -1 if there is none */
    struct cn_unwind_table table;
};

struct cn_unwind_modules {
    struct cn_names strings;
    struct cn_names keys; /* their numbers are those of modules */
    struct cn_unwind_module **list;
    size_t count, capacity;
    bool has_no_cache;
};

struct cn_unwind_module *cn_unwind_module_at(struct cn_unwind_modules *modules,
                                             const char *path, const char *build_id);

/* The table; NULL if the module has none. */
const struct cn_unwind_table *cn_unwind_module_table(struct cn_unwind_modules *modules,
                                                     struct cn_unwind_module *module);

/* Up to `len` bytes of the file; fewer at its end, none if it can not be read. */
size_t cn_unwind_module_read(struct cn_unwind_module *module, uint64_t file_off,
                             uint8_t *out, size_t len);

void cn_unwind_modules_done(struct cn_unwind_modules *modules);

#endif
