/* Names in paths.
 * Threads: any thread.
 */
#ifndef CN_BASE_PATH_H
#define CN_BASE_PATH_H

#include <stddef.h>
#include <string.h>

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

#endif
