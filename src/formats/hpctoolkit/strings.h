/* The strings of a section being written, each once.
 *
 * Add all strings, then write them at `end_off` as it was set at first. Zero the rest;
 * released with cn_hpc_strings_done().
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_STRINGS_H
#define CN_FORMATS_HPCTOOLKIT_STRINGS_H

#include "base/error.h"
#include "base/map.h"

struct cn_database;
struct cn_out;
struct cn_source_file;

struct cn_hpc_strings {
    uint64_t end_off;     /* set to the offset of the first string */
    bool takes_any_bytes; /* otherwise text that is not UTF-8 is escaped */
    struct cn_names names;
    uint64_t *offs; /* of each name in the file */
    size_t capacity;
};

/* The offset of `text` in the file. */
uint64_t cn_hpc_strings_add(struct cn_hpc_strings *strings, const char *text);

/* Add the strings of the tables of a database: modules, files and functions. `path_of` is the
 * path of a file as the format stores it. */
typedef const char *(*cn_hpc_path_fn)(const void *arg, const struct cn_source_file *file);
CN_CHECK bool cn_hpc_strings_add_tables(struct cn_hpc_strings *strings,
                                        struct cn_database *db, cn_hpc_path_fn path_of,
                                        const void *arg, struct cn_error *err);
CN_CHECK bool cn_hpc_strings_write(const struct cn_hpc_strings *strings,
                                   struct cn_out *out, struct cn_error *err);
void cn_hpc_strings_done(struct cn_hpc_strings *strings);

#endif
