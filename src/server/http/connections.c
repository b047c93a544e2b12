#include "server/http/connections.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "base/alloc.h"
#include "base/run/clock.h"

/* Seconds for the head, which may begin when the connection or the last answer did; for the body;
 * for the answer. */
static const uint64_t deadlines_ns[] = {
    [CN_CONNECTION_NEXT] = UINT64_C(20) * 1000000000,
    [CN_CONNECTION_HEAD] = UINT64_C(60) * 1000000000,
    [CN_CONNECTION_WHOLE] = UINT64_C(300) * 1000000000,
};

struct cn_peer {
    struct cn_peer *next, *previous;
    MHD_socket fd;
    uint64_t since_ns, deadline_ns;
    bool is_arriving, is_closed, has_zero;
    uintptr_t address_end; /* in the buffer that libmicrohttpd has read */
};

static struct cn_peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* With the lock. */
static void set_event(struct cn_connections *connections, struct cn_peer *peer,
                      enum cn_connection_event event)
{
    bool is_arriving = event != CN_CONNECTION_WHOLE;

    connections->arriving_count += is_arriving;
    connections->arriving_count -= peer->is_arriving;
    peer->is_arriving = is_arriving;
    peer->since_ns = cn_clock_ns();
    peer->deadline_ns = peer->since_ns + deadlines_ns[event];
}

/* The thread of the connection closes it when it sees the end. With the lock. */
static void close_peer(struct cn_peer *peer)
{
    peer->is_closed = true;
    (void)shutdown(peer->fd, SHUT_RDWR);
}

/* With the lock. */
static void close_oldest(struct cn_connections *connections)
{
    struct cn_peer *oldest = NULL;

    for (struct cn_peer *peer = connections->first; peer; peer = peer->next)
        if (peer->is_arriving && !peer->is_closed &&
            (!oldest || peer->since_ns < oldest->since_ns))
            oldest = peer;
    if (oldest)
        close_peer(oldest);
}

static void *watch(void *arg)
{
    struct cn_connections *connections = arg;

    (void)pthread_mutex_lock(&connections->lock);
    while (!connections->is_ending) {
        uint64_t now_ns = cn_clock_ns();
        struct timespec until = cn_clock_date_in(1000000000);

        for (struct cn_peer *peer = connections->first; peer; peer = peer->next)
            if (peer->deadline_ns < now_ns && !peer->is_closed)
                close_peer(peer);
        (void)pthread_cond_timedwait(&connections->is_ended, &connections->lock, &until);
    }
    (void)pthread_mutex_unlock(&connections->lock);
    return NULL;
}

bool cn_connections_start(struct cn_connections *connections, size_t arriving_max)
{
    connections->arriving_max = arriving_max;
    (void)pthread_mutex_init(&connections->lock, NULL);
    (void)pthread_cond_init(&connections->is_ended, NULL);
    connections->is_running =
        pthread_create(&connections->thread, NULL, watch, connections) == 0;
    return connections->is_running;
}

void cn_connections_end(struct cn_connections *connections)
{
    if (!connections->is_running)
        return;
    (void)pthread_mutex_lock(&connections->lock);
    connections->is_ending = true;
    (void)pthread_cond_signal(&connections->is_ended);
    (void)pthread_mutex_unlock(&connections->lock);
    (void)pthread_join(connections->thread, NULL);
    (void)pthread_cond_destroy(&connections->is_ended);
    (void)pthread_mutex_destroy(&connections->lock);
    connections->is_running = false;
}

static void add_peer(struct cn_connections *connections, struct cn_peer *peer)
{
    peer->next = connections->first;
    if (peer->next)
        peer->next->previous = peer;
    connections->first = peer;
    set_event(connections, peer, CN_CONNECTION_NEXT);
    if (connections->arriving_count > connections->arriving_max)
        close_oldest(connections);
}

static void remove_peer(struct cn_connections *connections, struct cn_peer *peer)
{
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        connections->first = peer->next;
    if (peer->next)
        peer->next->previous = peer->previous;
    connections->arriving_count -= peer->is_arriving;
}

void cn_connections_notify(void *arg, struct MHD_Connection *connection, void **context,
                           enum MHD_ConnectionNotificationCode code)
{
    struct cn_connections *connections = arg;
    struct cn_peer *peer = *context;
    const union MHD_ConnectionInfo *info;

    (void)pthread_mutex_lock(&connections->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        peer = cn_alloc(1, sizeof(*peer));
        peer->fd = info->connect_fd;
        *context = peer;
        add_peer(connections, peer);
    } else if (peer) {
        remove_peer(connections, peer);
        free(peer);
        *context = NULL;
    }
    (void)pthread_mutex_unlock(&connections->lock);
}

size_t cn_connections_unescape(void *arg, struct MHD_Connection *connection, char *text)
{
    struct cn_peer *peer = peer_of(connection);
    size_t len = MHD_http_unescape(text);

    (void)arg;
    if (peer && memchr(text, '\0', len))
        peer->has_zero = true;
    return len;
}

void *cn_connections_address(void *arg, const char *address,
                             struct MHD_Connection *connection)
{
    struct cn_peer *peer = peer_of(connection);

    (void)arg;
    if (peer)
        peer->address_end = (uintptr_t)address + strlen(address);
    return NULL;
}

bool cn_connection_hides_address(struct MHD_Connection *connection, uintptr_t version)
{
    const struct cn_peer *peer = peer_of(connection);

    return peer && peer->address_end + 1 != version;
}

void cn_connections_note(struct cn_connections *connections,
                         struct MHD_Connection *connection,
                         enum cn_connection_event event)
{
    struct cn_peer *peer = peer_of(connection);

    if (!peer)
        return;
    (void)pthread_mutex_lock(&connections->lock);
    if (event == CN_CONNECTION_NEXT)
        peer->has_zero = false;
    set_event(connections, peer, event);
    (void)pthread_mutex_unlock(&connections->lock);
}

bool cn_connection_has_zero(struct MHD_Connection *connection)
{
    const struct cn_peer *peer = peer_of(connection);

    return peer && peer->has_zero;
}
