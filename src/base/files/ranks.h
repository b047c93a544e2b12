/* Files that several processes share.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_FILES_RANKS_H
#define CN_BASE_FILES_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_ranks;
struct cn_spool;

/* Open a spool, called by all ranks, which must see the same folder: each reserves in a file
 * of its own, and all read and write all files. A single process has some files instead. */
CN_CHECK bool cn_ranks_spool_open(struct cn_ranks *ranks, struct cn_spool *spool,
                                  const char *folder, unsigned files,
                                  struct cn_error *err);

/* Files or folders of ranks, "rank.0", "rank.1", ..., in a folder of their own. */

#define CN_RANK_PREFIX "rank." /* of the file or folder of a rank */

/* The numbers of the ranks in a folder, ascending, released with free(); NULL if there are
 * none. */
uint64_t *cn_rank_files_list(const char *folder, size_t *count);

#endif
