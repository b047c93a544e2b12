/* Files or folders of ranks, "rank.0", "rank.1", ..., in a folder of their own.
 * Threads: any thread.
 */
#ifndef CN_BASE_FILES_RANK_ENTRIES_H
#define CN_BASE_FILES_RANK_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#define CN_RANK_PREFIX "rank." /* of the file or folder of a rank */

/* The numbers of the ranks in a folder, ascending, released with free(); NULL if there are
 * none. */
uint64_t *cn_rank_files_list(const char *folder, size_t *count);

#endif
