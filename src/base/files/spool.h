/* Files without a name for data that need not stay in memory. They vanish when they are
 * closed, however the program ends. An offset includes the number of its file: one of a
 * file, or of a process where several share a spool (ranks.h). Zero-initialised means "not
 * open".
 * Threads: reserving, writing and reading from any thread.
 */
#ifndef CN_BASE_FILES_SPOOL_H
#define CN_BASE_FILES_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The parts of an offset: the number of a file, and an offset in it. */
enum { CN_SPOOL_FILE_SHIFT = 48 };
#define CN_SPOOL_PLACE_MASK ((UINT64_C(1) << CN_SPOOL_FILE_SHIFT) - 1)

struct cn_spool {
    int *fds; /* of all files; NULL when not open */
    unsigned count;
    const char *folder;
    _Atomic uint64_t end_off;    /* of the own file */
    _Atomic uint64_t *file_ends; /* of further own files; NULL: there are none */
};

/* In `folder`, borrowed for messages. */
CN_CHECK bool cn_spool_open(struct cn_spool *spool, const char *folder,
                            struct cn_error *err);

/* Give each of some files a file: threads that write to the same file wait for each other
 * in the kernel. Without, as where processes share a spool, all files are one file. */
CN_CHECK bool cn_spool_add_files(struct cn_spool *spool, unsigned count,
                                 struct cn_error *err);

/* Reserve `len` bytes and return their offset; in the file of a file. */
uint64_t cn_spool_reserve(struct cn_spool *spool, uint64_t len);
uint64_t cn_spool_reserve_in(struct cn_spool *spool, unsigned file, uint64_t len);

/* The end of own file number `file`, without that number. */
uint64_t cn_spool_file_len(const struct cn_spool *spool, unsigned file);
CN_CHECK bool cn_spool_write(const struct cn_spool *spool, uint64_t off, const void *data,
                             size_t len, struct cn_error *err);
CN_CHECK bool cn_spool_read(const struct cn_spool *spool, uint64_t off, void *data,
                            size_t len, struct cn_error *err);
void cn_spool_close(struct cn_spool *spool); /* safe when it never opened */

#endif
