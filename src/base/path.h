/* Names in paths.
 * Threads: any thread.
 */
#ifndef CN_BASE_PATH_H
#define CN_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

/* What follows the last slash; the whole path if nothing does. */
static inline const char *cn_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* The length of the folder before the name, with its slash; 0 if the path has none. */
static inline size_t cn_path_folder_len(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Both are false if the path does not exist. */
static inline bool cn_path_is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static inline bool cn_path_is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && !S_ISDIR(st.st_mode);
}

#endif
