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

#endif
