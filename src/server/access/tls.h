/* TLS of all listeners: one certificate, and with mutual TLS one list of authorities that
 * certificates of clients come from.
 *
 *     cn_tls_open(&tls, &files, err)
 *     cn_tls_session_open(tls, fd, &session) ... cn_tls_session_handshake() until it is
 *         CN_TLS_DONE ... cn_tls_session_receive() ... cn_tls_session_close()
 *
 * The caller owns sockets, which do not block. A failure leaves nothing open. libmicrohttpd
 * makes sessions of its own from the texts of the files; cn_tls_demand() makes these ask for
 * certificates as well.
 * Threads: immutable after it was opened; a session belongs to one thread at a time.
 */
#ifndef CN_SERVER_ACCESS_TLS_H
#define CN_SERVER_ACCESS_TLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct cn_tls;
struct cn_tls_session;

/* Files in PEM. All NULL: no TLS. */
struct cn_tls_files {
    const char *cert, *key;
    const char *client_ca; /* NULL: clients need no certificate */
};

/* The versions that all listeners speak. */
#define CN_TLS_PRIORITIES "NORMAL:-VERS-TLS1.0:-VERS-TLS1.1"

/* Read the files and check that certificate and key belong together. NULL without files. */
CN_CHECK bool cn_tls_open(struct cn_tls **out, const struct cn_tls_files *files,
                          struct cn_error *err);
void cn_tls_close(struct cn_tls *tls); /* NULL is fine */

/* The texts of the files; NULL: not given. */
const char *cn_tls_cert(const struct cn_tls *tls);
const char *cn_tls_key(const struct cn_tls *tls);
const char *cn_tls_client_ca(const struct cn_tls *tls);

/* Make a session of GnuTLS refuse clients without a certificate of the authorities. Nothing
 * without a list of them. */
void cn_tls_demand(const struct cn_tls *tls, void *gnutls_session);

enum cn_tls_step { CN_TLS_DONE, CN_TLS_AGAIN, CN_TLS_FAILED };

/* A session of HTTP/2 (ALPN "h2") on a socket. */
CN_CHECK bool cn_tls_session_open(const struct cn_tls *tls, int fd,
                                  struct cn_tls_session **out);
void cn_tls_session_close(struct cn_tls_session *session); /* NULL is fine */

enum cn_tls_step cn_tls_session_handshake(struct cn_tls_session *session);

/* As recv() and send() on a socket that does not block: -1 with errno. */
ssize_t cn_tls_session_receive(struct cn_tls_session *session, uint8_t *data, size_t len);
ssize_t cn_tls_session_send(struct cn_tls_session *session, const uint8_t *data,
                            size_t len);

/* True if bytes were read from the socket that were not received yet. */
bool cn_tls_session_has_more(const struct cn_tls_session *session);

/* Tell the client that nothing follows, as far as the socket takes it. */
void cn_tls_session_end(struct cn_tls_session *session);

#endif
