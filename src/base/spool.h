/* A file without a name for what does not have to stay in memory: it is gone when it
 * is closed, however the program ends.
 *
 * Zero-initialised means "not open".
 * Threads: reserving one thread at a time; writing and reading from any thread.
 */
#ifndef CN_BASE_SPOOL_H
#define CN_BASE_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_spool {
    int fd; /* 0 when not open */
    const char *folder;
    uint64_t end_off;
};

/* In `folder`, borrowed for messages. */
CN_CHECK bool cn_spool_open(struct cn_spool *spool, const char *folder,
                            struct cn_error *err);

/* Room for `len` bytes: returns where. */
uint64_t cn_spool_reserve(struct cn_spool *spool, uint64_t len);
CN_CHECK bool cn_spool_write(const struct cn_spool *spool, uint64_t off, const void *data,
                             size_t len, struct cn_error *err);
CN_CHECK bool cn_spool_read(const struct cn_spool *spool, uint64_t off, void *data,
                            size_t len, struct cn_error *err);
void cn_spool_close(struct cn_spool *spool); /* safe when it never opened */

#endif
