/* A file without a name for what does not have to stay in memory: it is gone when it
 * is closed, however the program ends.
 *
 * Where several processes work together, each reserves room in a file of its own, and
 * all of them can read and write all files: an offset also says which rank's file it
 * is in. Zero-initialised means "not open".
 * Threads: reserving one thread at a time; writing and reading from any thread.
 */
#ifndef CN_BASE_FILES_SPOOL_H
#define CN_BASE_FILES_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_ranks;

/* How an offset is made of a rank and a place in its file. */
enum { CN_SPOOL_RANK_SHIFT = 48 };
#define CN_SPOOL_PLACE_MASK ((UINT64_C(1) << CN_SPOOL_RANK_SHIFT) - 1)

struct cn_spool {
    int *fds; /* of all ranks; NULL when not open */
    unsigned count;
    const char *folder;
    uint64_t end_off; /* of the own file */
};

/* In `folder`, borrowed for messages. */
CN_CHECK bool cn_spool_open(struct cn_spool *spool, const char *folder,
                            struct cn_error *err);

/* The same for all ranks together, which must see the same folder. */
CN_CHECK bool cn_spool_open_together(struct cn_spool *spool, const char *folder,
                                     struct cn_ranks *ranks, struct cn_error *err);

/* Room for `len` bytes: returns where. */
uint64_t cn_spool_reserve(struct cn_spool *spool, uint64_t len);
CN_CHECK bool cn_spool_write(const struct cn_spool *spool, uint64_t off, const void *data,
                             size_t len, struct cn_error *err);
CN_CHECK bool cn_spool_read(const struct cn_spool *spool, uint64_t off, void *data,
                            size_t len, struct cn_error *err);
void cn_spool_close(struct cn_spool *spool); /* safe when it never opened */

#endif
