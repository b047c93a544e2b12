/* Send a recording to cairn recv or uftrace recv.
 * Threads: one thread at a time.
 */
#ifndef CN_REMOTE_SENDER_H
#define CN_REMOTE_SENDER_H

#include <stdint.h>

#include "base/error.h"

/* A receiver; the strings are borrowed. */
struct cn_sender_target {
    const char *host;
    uint16_t port;
    const char *token; /* NULL: it asks for none */
};

/* Connect to it, and name the recording that will be sent. The socket is not inherited by
 * programs. */
CN_CHECK bool cn_sender_connect(const struct cn_sender_target *target, const char *name,
                                int *out, struct cn_error *err);

/* Send all files of the directory `dir`, and wait until the receiver has closed the
 * connection: it has stored everything. If the connection was lost meanwhile, it is made
 * again, once. Closes the socket. */
CN_CHECK bool cn_sender_send(const struct cn_sender_target *target, int connection,
                             const char *name, const char *dir, struct cn_error *err);

#endif
