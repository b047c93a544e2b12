/* The lock of a store: one process writes to it at a time.
 * Threads: any thread.
 */
#ifndef CN_STORE_WRITE_LOCK_H
#define CN_STORE_WRITE_LOCK_H

#include "base/error.h"

/* Take the lock of the writer. It is released when the descriptor is closed, also if the process
 * dies. Fails if another process has it. */
CN_CHECK bool cn_store_lock(const char *base, int *fd, struct cn_error *err);
void cn_store_unlock(int fd); /* negative is fine */

#endif
