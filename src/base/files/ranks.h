/* Files that several processes share.
 * Threads: one thread at a time.
 */
#ifndef CN_BASE_FILES_RANKS_H
#define CN_BASE_FILES_RANKS_H

#include "base/error.h"

struct cn_ranks;
struct cn_spool;

/* Open a spool, called by all ranks, which must see the same folder: each reserves in a file
 * of its own, and all read and write all files. A single process has some lanes instead. */
CN_CHECK bool cn_ranks_spool_open(struct cn_ranks *ranks, struct cn_spool *spool,
                                  const char *folder, unsigned lanes,
                                  struct cn_error *err);

#endif
