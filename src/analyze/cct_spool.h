/* A file without a name for what does not have to stay in memory: it is gone when it
 * is closed, however the program ends.
 *
 * Zero-initialised means "not open".
 * Threads: reserving one thread at a time; writing and reading from any thread.
 */
#ifndef CN_ANALYZE_CCT_SPOOL_H
#define CN_ANALYZE_CCT_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_cct_spool {
    int fd; /* 0 when not open */
    const char *folder;
    uint64_t end_off;
};

/* In `folder`, borrowed for messages. */
CN_CHECK bool cn_cct_spool_open(struct cn_cct_spool *spool, const char *folder,
                                struct cn_error *err);

/* Room for `len` bytes: returns where. */
uint64_t cn_cct_spool_reserve(struct cn_cct_spool *spool, uint64_t len);
CN_CHECK bool cn_cct_spool_write(const struct cn_cct_spool *spool, uint64_t off,
                                 const void *data, size_t len, struct cn_error *err);
CN_CHECK bool cn_cct_spool_read(const struct cn_cct_spool *spool, uint64_t off,
                                void *data, size_t len, struct cn_error *err);
void cn_cct_spool_close(struct cn_cct_spool *spool); /* safe when it never opened */

#endif
