/* The directory of cached files: $XDG_CACHE_HOME/cairn, or ~/.cache/cairn. Deleting it
 * loses nothing but time.
 * Threads: any thread.
 */
#ifndef CN_BASE_FILES_CACHE_DIR_H
#define CN_BASE_FILES_CACHE_DIR_H

#include <limits.h>
#include <stdbool.h>

/* The path of the directory with `below` appended ("" or "/NAME"); it need not exist yet.
 * False without a home directory. */
bool cn_cache_dir(const char *below, char path[static PATH_MAX]);

/* Make the directory and its parents, for this user alone. Opening it shows whether that
 * worked. */
void cn_cache_dir_make(char path[static PATH_MAX]);

#endif
