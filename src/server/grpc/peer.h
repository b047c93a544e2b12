/* A connection of the gRPC server: a socket, TLS if there is, and a session of HTTP/2.
 *
 *     peer = cn_grpc_peer_new(fd, tls, &service, "10.0.0.7")
 *     cn_grpc_peer_work(peer, buffer, len)     when its socket is ready, or its session has output
 *
 * It owns the socket. A connection that is over sends what it has, shuts its side down, and reads on
 * for a moment: the client sees the last frame, not a reset.
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_GRPC_PEER_H
#define CN_SERVER_GRPC_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct cn_grpc_service;
struct cn_h2_session;
struct cn_tls;
struct cn_tls_session;

enum cn_grpc_peer_state {
    CN_GRPC_PEER_HANDSHAKE, /* of TLS */
    CN_GRPC_PEER_SERVED,
    CN_GRPC_PEER_LINGERING, /* it was told that this is the end */
    CN_GRPC_PEER_CLOSED,
};

struct cn_grpc_peer {
    struct cn_grpc_peer *next, *previous; /* of the worker */
    int fd;
    enum cn_grpc_peer_state state;
    struct cn_tls_session *tls; /* NULL: none */
    struct cn_h2_session *session;
    struct cn_text out; /* to be sent, */
    size_t out_sent;    /* of which this was */
    uint64_t begin_ns;  /* when it connected */
    uint64_t stuck_ns;  /* since when the client takes nothing; 0: it does */
    uint64_t linger_ns; /* when lingering began */
    size_t lingered;    /* bytes read since then */
    unsigned events;    /* that epoll waits for */
};

/* NULL without memory; the socket is closed then. */
struct cn_grpc_peer *cn_grpc_peer_new(int fd, const struct cn_tls *tls,
                                      const struct cn_grpc_service *service,
                                      const char *who);
void cn_grpc_peer_free(struct cn_grpc_peer *peer);

/* Read and write as much as there is, for a while; sets state and events. */
void cn_grpc_peer_work(struct cn_grpc_peer *peer, uint8_t *buffer, size_t len);

/* Send what the session has. */
void cn_grpc_peer_flush(struct cn_grpc_peer *peer);

/* Close what is late, and answer calls that are. Returns the next deadline. */
uint64_t cn_grpc_peer_check(struct cn_grpc_peer *peer, uint64_t now_ns);

#endif
