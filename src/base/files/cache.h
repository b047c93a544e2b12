/* Where files are kept that only save work: $XDG_CACHE_HOME/cairn, or ~/.cache/cairn.
 * Threads: any thread.
 */
#ifndef CN_BASE_FILES_CACHE_H
#define CN_BASE_FILES_CACHE_H

#include <limits.h>
#include <stdbool.h>

/* The folder, which need not exist yet. False when there is nowhere to put a cache. */
bool cn_cache_folder(char path[static PATH_MAX]);

#endif
