/* A file without a name for data that need not stay in memory. It vanishes when it is
 * closed, however the program ends.
 *
 * Where several processes work together, each reserves space in its own file, and
 * all of them read and write all files: an offset includes the rank of its file. Zero-initialised means "not open".
 * Threads: reserving, writing and reading from any thread.
 */
#ifndef CN_BASE_FILES_SPOOL_H
#define CN_BASE_FILES_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_ranks;

/* The parts of an offset: a file, which is that of a rank unless a single process has
 * several, and an offset in it. */
enum { CN_SPOOL_RANK_SHIFT = 48 };
#define CN_SPOOL_PLACE_MASK ((UINT64_C(1) << CN_SPOOL_RANK_SHIFT) - 1)

struct cn_spool {
    int *fds; /* of all ranks, or all own files; NULL when not open */
    unsigned count;
    const char *folder;
    _Atomic uint64_t end_off;    /* of the own file */
    _Atomic uint64_t *lane_ends; /* of further own files; NULL: there are none */
};

/* In `folder`, borrowed for messages. */
CN_CHECK bool cn_spool_open(struct cn_spool *spool, const char *folder,
                            struct cn_error *err);

/* The same for all ranks together, which must see the same folder. */
CN_CHECK bool cn_spool_open_together(struct cn_spool *spool, const char *folder,
                                     struct cn_ranks *ranks, struct cn_error *err);

/* Give a single process a file for each of some lanes: threads that write to the same file
 * wait for each other in the kernel. Where ranks share the spool, all lanes are one file. */
CN_CHECK bool cn_spool_add_lanes(struct cn_spool *spool, unsigned count,
                                 struct cn_error *err);

/* Reserve `len` bytes and return their offset; in the file of a lane. */
uint64_t cn_spool_reserve(struct cn_spool *spool, uint64_t len);
uint64_t cn_spool_reserve_in(struct cn_spool *spool, unsigned lane, uint64_t len);

/* The end of own file number `file`, without that number. */
uint64_t cn_spool_file_len(const struct cn_spool *spool, unsigned file);
CN_CHECK bool cn_spool_write(const struct cn_spool *spool, uint64_t off, const void *data,
                             size_t len, struct cn_error *err);
CN_CHECK bool cn_spool_read(const struct cn_spool *spool, uint64_t off, void *data,
                            size_t len, struct cn_error *err);
void cn_spool_close(struct cn_spool *spool); /* safe when it never opened */

#endif
