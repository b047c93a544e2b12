/* Where files are cached: $XDG_CACHE_HOME/cairn, or ~/.cache/cairn.
 * Threads: any thread.
 */
#ifndef CN_BASE_FILES_CACHE_H
#define CN_BASE_FILES_CACHE_H

#include <limits.h>
#include <stdbool.h>

/* The folder with `below` appended ("" or "/NAME"); it need not exist yet. False when
 * there is nowhere to put a cache. */
bool cn_cache_folder(const char *below, char path[static PATH_MAX]);

/* Make the folder and those above it, for this user alone; opening it tells whether that
 * worked. */
void cn_cache_folder_make(char path[static PATH_MAX]);

#endif
