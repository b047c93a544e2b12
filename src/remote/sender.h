/* Send a recording to cairn recv or uftrace recv.
 * Threads: one thread at a time.
 */
#ifndef CN_REMOTE_SENDER_H
#define CN_REMOTE_SENDER_H

#include <stdint.h>

#include "base/error.h"

/* Connect to a receiver. The socket is not inherited by programs. */
CN_CHECK bool cn_sender_connect(const char *host, uint16_t port, int *out,
                                struct cn_error *err);

/* Send all files of the directory `dir` as the recording `name`, and wait until the
 * receiver has closed the connection: it has stored everything. Closes the socket. */
CN_CHECK bool cn_sender_send(int connection, const char *name, const char *dir,
                             struct cn_error *err);

#endif
