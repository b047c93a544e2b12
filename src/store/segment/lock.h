/* The lock of the writer: held for as long as the descriptor is open, so that a process that
 * dies lets go of it.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEGMENT_LOCK_H
#define CN_STORE_SEGMENT_LOCK_H

#include "base/error.h"

/* Fails when another process has it. */
CN_CHECK bool cn_store_lock(const char *base, int *fd, struct cn_error *err);
void cn_store_unlock(int fd); /* negative is fine */

#endif
