/* The profiles of measurement directories, sorted by name.
 *
 * A zeroed list is empty.
 * Threads: one thread adds; immutable afterwards.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_DIRECTORY_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/text.h"

struct cn_hpc_directory {
    uint64_t first;   /* index of its first profile */
    char *path;       /* canonical */
    bool is_one_file; /* the user named a single profile */
};

struct cn_hpc_directories {
    struct cn_hpc_directory *list;
    size_t count, capacity;
    bool has_several;     /* shown names include the directory; set before adding */
    struct cn_text names; /* of profiles, NUL-terminated */
    uint64_t *name_offs;  /* by profile */
    size_t profile_count, profile_capacity;
};

/* Add a directory, or a single profile of one. A directory without profiles is an error.
 * `names` are those of its profiles; NULL: they are listed here. */
CN_CHECK bool cn_hpc_directories_add(struct cn_hpc_directories *directories,
                                     const char *path, const struct cn_text *names,
                                     struct cn_error *err);

/* Append the names of the profiles in a directory, sorted, each with its NUL; nothing if it
 * cannot be read. */
void cn_hpc_profiles_list(const char *dir, struct cn_text *names);

/* The directory of a profile, and the name of the profile in it. */
const struct cn_hpc_directory *
cn_hpc_directories_of(const struct cn_hpc_directories *directories, size_t profile);
const char *cn_hpc_directories_name(const struct cn_hpc_directories *directories,
                                    size_t profile);

/* The name of a profile in messages. */
const char *cn_hpc_directories_shown(const struct cn_hpc_directories *directories,
                                     size_t profile);

void cn_hpc_directories_done(struct cn_hpc_directories *directories);

/* The names in a directory that end in `suffix`, sorted; none if the directory cannot be
 * read. The caller releases each name and the list with free(). */
char **cn_hpc_list_names(const char *dir, const char *suffix, size_t *count);

/* Append the path of the trace that belongs to a profile: "a.hpcrun", "a.hpctrace". */
void cn_hpc_trace_path_print(const char *profile_path, struct cn_text *out);

/* Files read whole, one after the other. Small files are read into a buffer that the next
 * file reuses, which takes a third of the time of mapping them; large files are mapped.
 *
 * A zeroed struct has nothing loaded. The bytes are valid until the next load. */

struct cn_hpc_load {
    struct cn_bytes bytes;
    uint8_t *buffer;
    struct cn_file mapped;
};

/* A missing file is CN_ERR_NOT_FOUND. Messages do not name the path. On failure `bytes` is
 * empty. */
CN_CHECK bool cn_hpc_load(struct cn_hpc_load *load, const char *path,
                          struct cn_error *err);
void cn_hpc_load_done(struct cn_hpc_load *load);

#endif
