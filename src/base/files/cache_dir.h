/* The directory of cached files: $XDG_CACHE_HOME/cairn, or ~/.cache/cairn. Deleting it
 * loses nothing but time.
 * Threads: any thread.
 */
#ifndef CN_BASE_FILES_CACHE_DIR_H
#define CN_BASE_FILES_CACHE_DIR_H

#include <limits.h>
#include <stdbool.h>

/* The path of the directory, which need not exist yet. False without a home directory. */
bool cn_cache_dir(char path[static PATH_MAX]);

#endif
