#include "server/grpc/worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "server/grpc/peer.h"
#include "server/grpc/session.h"

enum {
    EVENT_MAX = 64,
    ACCEPT_MAX = 32, /* connections taken before others have their turn */
    BUFFER_LEN = 128 << 10,
    WHO_LEN = 64,
    KEEPALIVE_SECONDS =
        60, /* of silence, before the kernel asks whether a client is there */
    KEEPALIVE_STEP_SECONDS = 10,
};

static const uint64_t check_every_ns = 1000000000; /* at least; */
static const uint64_t check_step_ns = 10000000;    /* at most */
static const uint64_t stop_ns = 1000000000;

static bool watch(struct cn_worker *worker, int op, int fd, unsigned events, void *what)
{
    struct epoll_event event = {.events = events, .data.ptr = what};

    return epoll_ctl(worker->epoll, op, fd, &event) == 0;
}

static bool listen_to(struct cn_worker *worker)
{
    return watch(worker, EPOLL_CTL_ADD, worker->listener, EPOLLIN | EPOLLEXCLUSIVE,
                 &worker->listener);
}

static void wake(struct cn_worker *worker)
{
    uint64_t one = 1;

    (void)!write(worker->event, &one, sizeof(one));
}

void cn_worker_tell(struct cn_worker *worker, enum cn_worker_order order)
{
    atomic_store(&worker->order, order);
    wake(worker);
}

void cn_worker_return(struct cn_worker *worker, struct cn_grpc_call *call)
{
    (void)pthread_mutex_lock(&worker->lock);
    bool is_first = !worker->back;
    call->next_back = worker->back;
    worker->back = call;
    /* With the lock: after the last call came back, the worker may be closed. */
    if (is_first)
        wake(worker);
    (void)pthread_mutex_unlock(&worker->lock);
}

static void add_peer(struct cn_worker *worker, struct cn_grpc_peer *peer)
{
    peer->next = worker->peers;
    if (peer->next)
        peer->next->previous = peer;
    worker->peers = peer;
    worker->peer_count++;
    atomic_fetch_add(&worker->service.counts->connections, 1);
}

/* The peer is freed after the current events, one of which may be its own. Its session is
 * freed at once, so that no call that comes back finds it. */
static void remove_peer(struct cn_worker *worker, struct cn_grpc_peer *peer)
{
    (void)watch(worker, EPOLL_CTL_DEL, peer->fd, 0, NULL);
    if (peer->previous)
        peer->previous->next = peer->next;
    else
        worker->peers = peer->next;
    if (peer->next)
        peer->next->previous = peer->previous;
    worker->peer_count--;
    atomic_fetch_sub(&worker->service.counts->connections, 1);
    peer->state = CN_GRPC_PEER_CLOSED;
    cn_h2_session_free(peer->session);
    peer->session = NULL;
    peer->next = worker->closed;
    worker->closed = peer;
}

/* After any work on a peer. `events` is what epoll waited for before. */
static void settle(struct cn_worker *worker, struct cn_grpc_peer *peer, unsigned events)
{
    if (peer->state == CN_GRPC_PEER_CLOSED ||
        (peer->events != events &&
         !watch(worker, EPOLL_CTL_MOD, peer->fd, peer->events, peer)))
        remove_peer(worker, peer);
}

/* The connection for whose sake nothing has happened for the longest time makes room: it is idle, or
 * its message does not arrive. */
static bool close_idle(struct cn_worker *worker)
{
    struct cn_grpc_peer *oldest = NULL;

    for (struct cn_grpc_peer *peer = worker->peers; peer; peer = peer->next)
        if (!cn_h2_session_is_awaited(peer->session) &&
            (!oldest || cn_h2_session_since_ns(peer->session) <
                            cn_h2_session_since_ns(oldest->session)))
            oldest = peer;
    if (!oldest)
        return false;
    remove_peer(worker, oldest);
    return true;
}

static void print_address(const struct sockaddr_storage *address, char who[WHO_LEN])
{
    const void *from =
        address->ss_family == AF_INET
            ? (const void *)&((const struct sockaddr_in *)address)->sin_addr
            : (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr;

    who[0] = '\0';
    (void)inet_ntop(address->ss_family, from, who, WHO_LEN);
}

static void set_options(int fd)
{
    int yes = 1, idle = KEEPALIVE_SECONDS, step = KEEPALIVE_STEP_SECONDS;

    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof(yes));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &step, sizeof(step));
}

static void accept_peer(struct cn_worker *worker, int fd,
                        const struct sockaddr_storage *address)
{
    char who[WHO_LEN];
    struct cn_grpc_peer *peer;

    if (worker->peer_count >= worker->peer_max && !close_idle(worker)) {
        (void)close(fd);
        return;
    }
    set_options(fd);
    print_address(address, who);
    peer = cn_grpc_peer_new(fd, worker->tls, &worker->service, who);
    if (!peer)
        return;
    add_peer(worker, peer);
    if (!watch(worker, EPOLL_CTL_ADD, fd, peer->events, peer))
        remove_peer(worker, peer);
}

static void accept_peers(struct cn_worker *worker)
{
    for (int i = 0; i < ACCEPT_MAX; i++) {
        struct sockaddr_storage address = {0};
        socklen_t len = sizeof(address);
        int fd = accept4(worker->listener, (struct sockaddr *)&address, &len,
                         SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            accept_peer(worker, fd, &address);
            continue;
        }
        if (errno != EMFILE && errno != ENFILE)
            return;
        /* The listener stays ready and would keep this thread busy: look again later. */
        if (!close_idle(worker)) {
            (void)watch(worker, EPOLL_CTL_DEL, worker->listener, 0, NULL);
            worker->is_deaf = true;
            return;
        }
    }
}

/* Calls came back: answer them in the order in which they did. */
static void take_back(struct cn_worker *worker)
{
    struct cn_grpc_call *list, *call, *ordered = NULL;

    (void)pthread_mutex_lock(&worker->lock);
    list = worker->back;
    worker->back = NULL;
    (void)pthread_mutex_unlock(&worker->lock);
    while ((call = list)) {
        list = call->next_back;
        call->next_back = ordered;
        ordered = call;
    }
    while ((call = ordered)) {
        struct cn_h2_session *session;

        ordered = call->next_back;
        session = cn_h2_session_back(call, &worker->service);
        if (session) {
            struct cn_grpc_peer *peer = cn_h2_session_owner(session);
            unsigned events = peer->events;

            cn_grpc_peer_flush(peer);
            settle(worker, peer, events);
        }
    }
}

static void free_closed(struct cn_worker *worker)
{
    struct cn_grpc_peer *peer;

    while ((peer = worker->closed)) {
        worker->closed = peer->next;
        cn_grpc_peer_free(peer);
    }
}

static void check_peers(struct cn_worker *worker, uint64_t now_ns)
{
    uint64_t next_ns = now_ns + check_every_ns;
    struct cn_grpc_peer *peer, *following;

    for (peer = worker->peers; peer; peer = following) {
        unsigned events = peer->events;
        uint64_t deadline_ns = cn_grpc_peer_check(peer, now_ns);

        following = peer->next;
        settle(worker, peer, events);
        if (deadline_ns < next_ns)
            next_ns = deadline_ns;
    }
    if (worker->is_deaf && worker->obeyed == CN_WORKER_SERVE)
        worker->is_deaf = !listen_to(worker);
    worker->check_ns =
        next_ns < now_ns + check_step_ns ? now_ns + check_step_ns : next_ns;
}

/* An order came: connections are told, and none is accepted any more. */
static void obey(struct cn_worker *worker)
{
    enum cn_worker_order order = atomic_load(&worker->order);
    struct cn_grpc_peer *peer, *following;

    if (order == worker->obeyed)
        return;
    if (worker->obeyed == CN_WORKER_SERVE)
        (void)watch(worker, EPOLL_CTL_DEL, worker->listener, 0, NULL);
    worker->obeyed = order;
    for (peer = worker->peers; peer; peer = following) {
        unsigned events = peer->events;

        following = peer->next;
        if (order == CN_WORKER_STOP)
            cn_h2_session_drop_arriving(peer->session);
        cn_h2_session_shut(peer->session);
        if (order == CN_WORKER_STOP && peer->state == CN_GRPC_PEER_HANDSHAKE)
            peer->state = CN_GRPC_PEER_CLOSED;
        cn_grpc_peer_flush(peer);
        settle(worker, peer, events);
    }
    if (order == CN_WORKER_STOP)
        worker->stop_by_ns = cn_clock_ns() + stop_ns;
}

/* Clients close their connections when they have read that this is the end. */
static bool is_finished(const struct cn_worker *worker)
{
    return worker->obeyed == CN_WORKER_STOP &&
           (!worker->peers || cn_clock_ns() >= worker->stop_by_ns);
}

static int wait_ms(const struct cn_worker *worker)
{
    uint64_t now_ns = cn_clock_ns();

    if (!worker->peers && !worker->is_deaf)
        return -1;
    return worker->check_ns <= now_ns
               ? 0
               : (int)((worker->check_ns - now_ns + 999999) / 1000000);
}

static void handle(struct cn_worker *worker, void *what, uint8_t *buffer)
{
    struct cn_grpc_peer *peer = what;
    unsigned events;
    uint64_t count;

    if (what == &worker->event) {
        (void)!read(worker->event, &count, sizeof(count));
        return;
    }
    if (what == &worker->listener) {
        accept_peers(worker);
        return;
    }
    if (peer->state == CN_GRPC_PEER_CLOSED)
        return;
    events = peer->events;
    cn_grpc_peer_work(peer, buffer, BUFFER_LEN);
    if (cn_h2_session_deadline_ns(peer->session) < worker->check_ns)
        worker->check_ns = cn_h2_session_deadline_ns(peer->session);
    settle(worker, peer, events);
}

static void *work(void *arg)
{
    struct cn_worker *worker = arg;
    struct epoll_event events[EVENT_MAX];
    uint8_t *buffer = cn_alloc(BUFFER_LEN, 1);
    uint64_t now_ns;

    while (!is_finished(worker)) {
        int count = epoll_wait(worker->epoll, events, EVENT_MAX, wait_ms(worker));

        for (int i = 0; i < count; i++)
            handle(worker, events[i].data.ptr, buffer);
        take_back(worker);
        obey(worker);
        now_ns = cn_clock_ns();
        if (worker->check_ns <= now_ns)
            check_peers(worker, now_ns);
        free_closed(worker);
    }
    free(buffer);
    return NULL;
}

bool cn_worker_start(struct cn_worker *worker, struct cn_error *err)
{
    (void)pthread_mutex_init(&worker->lock, NULL);
    worker->epoll = epoll_create1(EPOLL_CLOEXEC);
    worker->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (worker->epoll < 0 || worker->event < 0 ||
        !watch(worker, EPOLL_CTL_ADD, worker->event, EPOLLIN, &worker->event) ||
        !listen_to(worker))
        return cn_fail_errno(err, "cannot wait for connections");
    worker->is_running = pthread_create(&worker->thread, NULL, work, worker) == 0;
    return worker->is_running || cn_fail(err, CN_ERR_IO, "cannot start a thread");
}

void cn_worker_end(struct cn_worker *worker)
{
    if (worker->is_running)
        (void)pthread_join(worker->thread, NULL);
    while (worker->peers)
        remove_peer(worker, worker->peers);
    free_closed(worker);
    take_back(worker);
    if (worker->epoll > 0)
        (void)close(worker->epoll);
    if (worker->event > 0)
        (void)close(worker->event);
    (void)pthread_mutex_destroy(&worker->lock);
}
