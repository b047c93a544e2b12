#include "remote/listener.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "remote/receiver.h"

enum {
    CLIENTS_MAX = 256,
    BACKLOG = 128,
    PIECE = 256 << 10,
    PEER_MAX = 64,
    /* For a sender to name its recording; then it may be silent, as uftrace is while the
     * program does not call, but makes room for others after a while. */
    NAME_MS = 10000,
    SILENT_MS = 30000,
};

struct client {
    int connection;
    char peer[PEER_MAX];
    uint64_t begin_ns, last_ns; /* it was accepted, and has sent something */
    struct cn_receiver receiver;
};

struct listener_run {
    struct cn_listener *listener;
    struct client **clients;
    size_t count;
    struct pollfd waits[CLIENTS_MAX + 2]; /* the stop, the socket, the clients */
    uint8_t *piece;
};

static bool bind_to(struct cn_listener *listener, const struct addrinfo *at)
{
    const int on = 1, off = 0;
    int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
                    at->ai_protocol);

    if (fd < 0)
        return false;
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (at->ai_family == AF_INET6) /* also IPv4 */
        (void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    if (bind(fd, at->ai_addr, at->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0) {
        int why = errno;

        (void)close(fd);
        errno = why;
        return false;
    }
    listener->socket = fd;
    return true;
}

static bool find_port(struct cn_listener *listener, struct cn_error *err)
{
    struct sockaddr_storage bound;
    socklen_t len = sizeof(bound);
    char service[NI_MAXSERV];

    if (getsockname(listener->socket, (struct sockaddr *)&bound, &len) != 0 ||
        getnameinfo((struct sockaddr *)&bound, len, NULL, 0, service, sizeof(service),
                    NI_NUMERICSERV) != 0)
        return cn_fail(err, CN_ERR_IO, "cannot find the port in use");
    listener->port = (uint16_t)strtoul(service, NULL, 10);
    return true;
}

bool cn_listener_open(struct cn_listener *listener,
                      const struct cn_listener_options *options, struct cn_error *err)
{
    const char *const local[] = {"127.0.0.1", "::1"};
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    char service[sizeof("65535")];
    bool ok = false;
    int code = 0;

    *listener = (struct cn_listener){.options = *options, .socket = -1};
    (void)snprintf(service, sizeof(service), "%" PRIu16, options->port);
    for (size_t i = 0; i < (options->address ? 1 : 2) && !ok; i++) {
        struct addrinfo *list = NULL;

        code = getaddrinfo(options->address ? options->address : local[i], service,
                           &hints, &list);
        for (const struct addrinfo *at = list; code == 0 && at && !ok; at = at->ai_next)
            ok = bind_to(listener, at);
        if (list)
            freeaddrinfo(list);
    }
    if (code != 0)
        return cn_fail(err, CN_ERR_USAGE, "'%s': %s", options->address,
                       gai_strerror(code));
    if (!ok)
        return cn_fail_errno(err, "cannot listen on port %" PRIu16, options->port);
    return find_port(listener, err);
}

bool cn_listener_is_local(const char *address)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    bool is_local = true;

    if (!address)
        return true;
    if (getaddrinfo(address, NULL, &hints, &list) != 0)
        return false;
    for (const struct addrinfo *at = list; at && is_local; at = at->ai_next) {
        const void *bytes = at->ai_addr;
        const struct sockaddr_in *in = bytes;
        const struct sockaddr_in6 *in6 = bytes;

        is_local = at->ai_family == AF_INET    ? ntohl(in->sin_addr.s_addr) >> 24 == 127
                   : at->ai_family == AF_INET6 ? IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr)
                                               : false;
    }
    freeaddrinfo(list);
    return is_local;
}

void cn_listener_close(struct cn_listener *listener)
{
    if (listener->socket >= 0)
        (void)close(listener->socket);
    listener->socket = -1;
}

/* A connection that is closed without more is reset, so that its sender sees a failure. */
static void set_reset(int connection, bool is_on)
{
    const struct linger linger = {.l_onoff = is_on, .l_linger = 0};

    (void)setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

static void add_client(struct listener_run *run)
{
    static const char mapped[] = "::ffff:"; /* before an address of IPv4 */
    struct sockaddr_storage from;
    socklen_t len = sizeof(from);
    const int on = 1;
    int connection = accept4(run->listener->socket, (struct sockaddr *)&from, &len,
                             SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (connection < 0) /* it is gone, or there are too many open files: later */
        return;
    set_reset(connection, true);
    (void)setsockopt(connection, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    struct client *client = cn_alloc(1, sizeof(*client));
    client->connection = connection;
    client->begin_ns = client->last_ns = cn_clock_ns();
    if (getnameinfo((struct sockaddr *)&from, len, client->peer, sizeof(client->peer),
                    NULL, 0, NI_NUMERICHOST) != 0)
        (void)snprintf(client->peer, sizeof(client->peer), "unknown address");
    if (strncmp(client->peer, mapped, strlen(mapped)) == 0)
        memmove(client->peer, client->peer + strlen(mapped),
                strlen(client->peer + strlen(mapped)) + 1);
    cn_receiver_init(&client->receiver, run->listener->options.folder,
                     run->listener->options.token, run->listener->options.size_limit);
    run->clients[run->count++] = client;
}

static void end_client(struct listener_run *run, size_t i, const struct cn_error *err)
{
    const struct cn_listener_options *options = &run->listener->options;
    struct client *client = run->clients[i];

    if (client->receiver.is_complete)
        set_reset(client->connection, false);
    (void)close(client->connection);
    options->on_end(options->arg, &client->receiver, client->peer, err);
    cn_receiver_done(&client->receiver);
    free(client);
    run->clients[i] = run->clients[--run->count];
}

static void read_client(struct listener_run *run, size_t i)
{
    struct client *client = run->clients[i];
    struct cn_error err = {0};
    ssize_t len = recv(client->connection, run->piece, PIECE, 0);

    if (len < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    client->last_ns = cn_clock_ns();
    if (len < 0)
        (void)cn_fail_errno(&err, "connection lost");
    else if (len == 0)
        (void)cn_fail(&err, CN_ERR_FORMAT, "the sender ended before the recording");
    else if (cn_receiver_feed(&client->receiver,
                              (struct cn_bytes){run->piece, (size_t)len}, &err) &&
             !client->receiver.is_complete)
        return;
    end_client(run, i, &err);
}

/* Close connections whose time is up. Returns the milliseconds until the next one, -1: never. */
static int check_deadlines(struct listener_run *run)
{
    uint64_t now_ns = cn_clock_ns(), next_ns = UINT64_MAX;
    bool is_full = run->count == CLIENTS_MAX;
    size_t oldest = run->count;
    struct cn_error err = {0};

    for (size_t i = run->count; i-- > 0;) {
        const struct client *client = run->clients[i];
        uint64_t end_ns = client->begin_ns + NAME_MS * UINT64_C(1000000);

        if (client->receiver.name) {
            end_ns = client->last_ns + SILENT_MS * UINT64_C(1000000);
            if (!is_full)
                continue;
            if (oldest == run->count || client->last_ns < run->clients[oldest]->last_ns)
                oldest = i;
        } else if (end_ns <= now_ns) {
            (void)cn_fail(&err, CN_ERR_IO, "no recording was named within %d seconds",
                          NAME_MS / 1000);
            end_client(run, i, &err);
            return check_deadlines(run);
        }
        next_ns = end_ns < next_ns ? end_ns : next_ns;
    }
    if (is_full && oldest < run->count &&
        run->clients[oldest]->last_ns + SILENT_MS * UINT64_C(1000000) <= now_ns) {
        (void)cn_fail(&err, CN_ERR_IO, "silent for %d seconds, and others wait",
                      SILENT_MS / 1000);
        end_client(run, oldest, &err);
        return check_deadlines(run);
    }
    return next_ns == UINT64_MAX ? -1 : (int)((next_ns - now_ns) / 1000000 + 1);
}

bool cn_listener_run(struct cn_listener *listener, struct cn_error *err)
{
    struct listener_run run = {
        .listener = listener,
        .clients = cn_alloc(CLIENTS_MAX, sizeof(struct client *)),
        .piece = cn_alloc(1, PIECE),
    };
    struct cn_error stopped = {0};
    bool ok = true;

    for (;;) {
        int timeout_ms = check_deadlines(&run);
        size_t count = run.count;

        run.waits[0] = (struct pollfd){.fd = listener->options.stop, .events = POLLIN};
        run.waits[1] = (struct pollfd){.fd = count < CLIENTS_MAX ? listener->socket : -1,
                                       .events = POLLIN};
        for (size_t i = 0; i < count; i++)
            run.waits[2 + i] =
                (struct pollfd){.fd = run.clients[i]->connection, .events = POLLIN};
        if (poll(run.waits, (nfds_t)(2 + count), timeout_ms) < 0) {
            if (errno == EINTR)
                continue;
            ok = cn_fail_errno(err, "cannot wait for senders");
            break;
        }
        /* From the last: the one that takes the slot of an ended one was looked at. */
        for (size_t i = count; i-- > 0;)
            if (run.waits[2 + i].revents)
                read_client(&run, i);
        if (run.waits[1].revents)
            add_client(&run);
        if (run.waits[0].revents)
            break;
    }
    (void)cn_fail(&stopped, CN_ERR_INTERRUPTED, "the receiver was stopped");
    while (run.count > 0)
        end_client(&run, run.count - 1, &stopped);
    free(run.clients);
    free(run.piece);
    return ok;
}
