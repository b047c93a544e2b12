/* The directory of cached files: $XDG_CACHE_HOME/cairn, or ~/.cache/cairn. Deleting it
 * loses nothing but time.
 * Threads: any thread.
 */
#ifndef CN_CACHE_DIRECTORY_H
#define CN_CACHE_DIRECTORY_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

/* The path of the directory with `below` appended ("" or "/NAME"); it need not exist yet.
 * False without a home directory. */
bool cn_cache_dir(const char *below, char path[static PATH_MAX]);

/* Make the directory and its parents, for this user alone. Opening it shows whether that
 * worked. */
void cn_cache_dir_make(char path[static PATH_MAX]);

/* Mark an entry as used now. The caller closes the descriptor that this returns: until then no
 * process removes the entry. -1 if there is none, for example because another process has just
 * removed it. */
int cn_cache_dir_use(const char *path);

/* Remove an entry, a file or a directory, unless a process uses it. Another process finds it
 * whole or not at all. */
void cn_cache_dir_remove(const char *path);

/* Remove entries of a directory, those that were not used for longest first, until the others
 * take up at most `size_max` bytes. What killed processes left behind, entries whose names
 * begin with a dot, is removed after a day. */
void cn_cache_dir_limit(const char *dir, uint64_t size_max);

#endif
