/* The profiles of measurement directories, listed by name.
 *
 * A zeroed list is ready for use.
 * Threads: one thread adds; immutable afterwards.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_DIRECTORY_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/text.h"

struct cn_hpc_directory {
    char *path;       /* canonical */
    size_t first;     /* its first profile */
    bool is_one_file; /* given as a single profile */
};

struct cn_hpc_directories {
    struct cn_hpc_directory *list;
    size_t count, capacity;
    bool has_several;     /* messages name the directory, too; set before adding */
    struct cn_text names; /* of profiles, each with its NUL */
    uint64_t *name_offs;  /* of each profile */
    size_t profile_count, profile_capacity;
};

/* Add a directory, or a single profile of one. A directory without profiles is an
 * error. */
CN_CHECK bool cn_hpc_directories_add(struct cn_hpc_directories *directories,
                                     const char *path, struct cn_error *err);

/* The directory a profile lies in, and the name it has there. */
const struct cn_hpc_directory *
cn_hpc_directories_of(const struct cn_hpc_directories *directories, size_t profile);
const char *cn_hpc_directories_name(const struct cn_hpc_directories *directories,
                                    size_t profile);

/* What messages call a profile. */
const char *cn_hpc_directories_shown(const struct cn_hpc_directories *directories,
                                     size_t profile);

void cn_hpc_directories_done(struct cn_hpc_directories *directories);

/* The names in a directory that end in `suffix`, sorted, each released with
 * free() as is the list. None when it cannot be read. */
char **cn_hpc_list_names(const char *dir, const char *suffix, size_t *count);

#endif
