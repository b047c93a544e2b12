#include "server/grpc/peer.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "server/access/tls.h"
#include "server/grpc/session.h"

enum {
    TURN_MAX = 8, /* reads before other connections have their turn */
    OUT_MAX =
        64 << 10, /* bytes that wait for a client; it is not read until it takes them */
    LINGER_LEN_MAX = 4 << 20, /* bytes that are read of a client that was told to stop */
};

static const uint64_t second_ns = 1000000000;

enum {
    OPEN_SECONDS = 20,  /* for the handshake and the first frame */
    STUCK_SECONDS = 60, /* for taking an answer */
    IDLE_SECONDS = 600, /* without a call */
    LINGER_SECONDS = 2,
};

struct cn_grpc_peer *cn_grpc_peer_new(int fd, const struct cn_tls *tls,
                                      const struct cn_grpc_service *service,
                                      const char *who)
{
    struct cn_grpc_peer *peer = cn_alloc(1, sizeof(*peer));

    peer->fd = fd;
    peer->begin_ns = cn_clock_ns();
    peer->state = tls ? CN_GRPC_PEER_HANDSHAKE : CN_GRPC_PEER_SERVED;
    peer->events = EPOLLIN;
    peer->session = cn_h2_session_new(service, who);
    if (peer->session && (!tls || cn_tls_session_open(tls, fd, &peer->tls))) {
        cn_h2_session_set_owner(peer->session, peer);
        return peer;
    }
    cn_grpc_peer_free(peer);
    return NULL;
}

void cn_grpc_peer_free(struct cn_grpc_peer *peer)
{
    cn_h2_session_free(peer->session);
    cn_tls_session_close(peer->tls);
    cn_text_done(&peer->out);
    (void)close(peer->fd);
    free(peer);
}

static ssize_t receive(struct cn_grpc_peer *peer, uint8_t *buffer, size_t len)
{
    return peer->tls && peer->state != CN_GRPC_PEER_LINGERING
               ? cn_tls_session_receive(peer->tls, buffer, len)
               : recv(peer->fd, buffer, len, 0);
}

static bool has_output(const struct cn_grpc_peer *peer)
{
    return peer->out_sent < peer->out.len;
}

static void begin_linger(struct cn_grpc_peer *peer)
{
    if (peer->tls)
        cn_tls_session_end(peer->tls);
    (void)shutdown(peer->fd, SHUT_WR);
    peer->state = CN_GRPC_PEER_LINGERING;
    peer->linger_ns = cn_clock_ns();
    peer->events = EPOLLIN;
}

/* False if the client takes no more for now, or is gone. */
static bool send_output(struct cn_grpc_peer *peer)
{
    const uint8_t *data = (const uint8_t *)peer->out.chars + peer->out_sent;
    size_t len = peer->out.len - peer->out_sent;
    ssize_t sent = peer->tls ? cn_tls_session_send(peer->tls, data, len)
                             : send(peer->fd, data, len, MSG_NOSIGNAL);

    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR)
            peer->state = CN_GRPC_PEER_CLOSED;
        else if (peer->stuck_ns == 0)
            peer->stuck_ns = cn_clock_ns();
        return false;
    }
    peer->stuck_ns = 0;
    peer->out_sent += (size_t)sent;
    if (!has_output(peer)) {
        cn_text_clear(&peer->out);
        peer->out_sent = 0;
    }
    return true;
}

void cn_grpc_peer_flush(struct cn_grpc_peer *peer)
{
    while (peer->state == CN_GRPC_PEER_SERVED) {
        if (!has_output(peer))
            cn_h2_session_output(peer->session, &peer->out, OUT_MAX);
        if (!has_output(peer)) {
            if (cn_h2_session_is_over(peer->session))
                begin_linger(peer);
            break;
        }
        if (!send_output(peer))
            break;
    }
    if (peer->state == CN_GRPC_PEER_SERVED)
        peer->events = has_output(peer) ? EPOLLOUT : EPOLLIN;
}

static void shake_hands(struct cn_grpc_peer *peer)
{
    switch (cn_tls_session_handshake(peer->tls)) {
    case CN_TLS_DONE:
        peer->state = CN_GRPC_PEER_SERVED;
        break;
    case CN_TLS_AGAIN:
        break; /* a server's part of a handshake fits the socket's buffer */
    case CN_TLS_FAILED:
        peer->state = CN_GRPC_PEER_CLOSED;
        break;
    }
}

/* What a client sends that was told to stop. */
static void drop_input(struct cn_grpc_peer *peer, uint8_t *buffer, size_t len)
{
    ssize_t taken = receive(peer, buffer, len);

    if (taken > 0)
        peer->lingered += (size_t)taken;
    if (taken == 0 || (taken < 0 && errno != EAGAIN && errno != EINTR) ||
        peer->lingered > LINGER_LEN_MAX)
        peer->state = CN_GRPC_PEER_CLOSED;
}

/* What TLS has read from the socket, epoll does not tell of. */
static bool has_more(const struct cn_grpc_peer *peer)
{
    return peer->tls && cn_tls_session_has_more(peer->tls);
}

static void take_input(struct cn_grpc_peer *peer, uint8_t *buffer, size_t len)
{
    for (int i = 0; i < TURN_MAX || has_more(peer); i++) {
        ssize_t taken = receive(peer, buffer, len);

        if (taken < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (taken <= 0) {
            peer->state = CN_GRPC_PEER_CLOSED;
            return;
        }
        if (!cn_h2_session_receive(peer->session,
                                   (struct cn_bytes){buffer, (size_t)taken}))
            return;
    }
}

void cn_grpc_peer_work(struct cn_grpc_peer *peer, uint8_t *buffer, size_t len)
{
    if (peer->state == CN_GRPC_PEER_HANDSHAKE)
        shake_hands(peer);
    if (peer->state == CN_GRPC_PEER_LINGERING)
        drop_input(peer, buffer, len);
    if (has_output(peer))
        cn_grpc_peer_flush(peer);
    if (peer->state == CN_GRPC_PEER_SERVED && !has_output(peer))
        take_input(peer, buffer, len);
    cn_grpc_peer_flush(peer);
}

/* `since_ns` may be later than `now_ns`, which was taken before a call was answered. */
static bool is_longer(uint64_t since_ns, uint64_t now_ns, uint64_t seconds)
{
    return now_ns > since_ns && now_ns - since_ns > seconds * second_ns;
}

static bool is_late(const struct cn_grpc_peer *peer, uint64_t now_ns)
{
    if (peer->state == CN_GRPC_PEER_LINGERING)
        return is_longer(peer->linger_ns, now_ns, LINGER_SECONDS);
    if (peer->stuck_ns > 0 && is_longer(peer->stuck_ns, now_ns, STUCK_SECONDS))
        return true;
    return !cn_h2_session_is_open(peer->session) &&
           is_longer(peer->begin_ns, now_ns, OPEN_SECONDS);
}

uint64_t cn_grpc_peer_check(struct cn_grpc_peer *peer, uint64_t now_ns)
{
    uint64_t next_ns;

    if (is_late(peer, now_ns)) {
        peer->state = CN_GRPC_PEER_CLOSED;
        return UINT64_MAX;
    }
    if (peer->state != CN_GRPC_PEER_SERVED)
        return UINT64_MAX;
    next_ns = cn_h2_session_check(peer->session, now_ns);
    if (cn_h2_session_call_count(peer->session) == 0 &&
        is_longer(cn_h2_session_since_ns(peer->session), now_ns, IDLE_SECONDS))
        cn_h2_session_shut(peer->session);
    cn_grpc_peer_flush(peer);
    return next_ns;
}
