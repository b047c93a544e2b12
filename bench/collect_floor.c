/* What a collector cannot be faster than:
 *     bench_collect_floor receive               a server that takes requests and drops them; prints
 *                                               its port, ends with its input
 *     bench_collect_floor write FILE LEN TIMES  LEN bytes in so many pieces, each synced
 *
 * The second prints: name, value, unit.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

enum { BUFFER_LEN = 1 << 18, EVENT_MAX = 256, BACKLOG = 600 };

static const char answer[] = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";

struct peer {
    int fd;
    size_t len;  /* of what is in the buffer */
    size_t skip; /* bytes of a body that are to come */
    char buffer[BUFFER_LEN];
};

static bool watch(int epoll, int fd, void *arg)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = arg};

    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static int listen_anywhere(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) < 0 ||
        listen(fd, BACKLOG) < 0 || getsockname(fd, (struct sockaddr *)&address, &len) < 0)
        return -1;
    (void)printf("%u\n", ntohs(address.sin_port));
    (void)fflush(stdout);
    return fd;
}

/* Take one request off the buffer, or as much of it as is there. */
static bool take_request(struct peer *peer)
{
    static const char length[] = "Content-Length: ";
    const char *end = memmem(peer->buffer, peer->len, "\r\n\r\n", 4), *line;
    size_t whole;

    if (!end)
        return false;
    line = memmem(peer->buffer, (size_t)(end - peer->buffer), length, sizeof(length) - 1);
    whole = (size_t)(end - peer->buffer) + 4 +
            (line ? strtoul(line + sizeof(length) - 1, NULL, 10) : 0);
    peer->skip = whole > peer->len ? whole - peer->len : 0;
    whole = whole > peer->len ? peer->len : whole;
    peer->len -= whole;
    memmove(peer->buffer, peer->buffer + whole, peer->len);
    return true;
}

static bool send_answer(const struct peer *peer)
{
    return send(peer->fd, answer, sizeof(answer) - 1, MSG_NOSIGNAL) > 0;
}

static bool receive(struct peer *peer)
{
    ssize_t n = recv(peer->fd, peer->buffer + peer->len, BUFFER_LEN - peer->len - 1, 0);

    if (n <= 0)
        return false;
    if (peer->skip > 0) {
        peer->skip -= (size_t)n < peer->skip ? (size_t)n : peer->skip;
        return peer->skip > 0 || send_answer(peer);
    }
    peer->len += (size_t)n;
    peer->buffer[peer->len] = '\0';
    while (take_request(peer) && peer->skip == 0)
        if (!send_answer(peer))
            return false;
    return true;
}

static bool serve_event(int epoll, int listener, void *arg)
{
    struct peer *peer = arg;

    if (arg == stdin)
        return false;
    if (!peer) {
        peer = cn_alloc(1, sizeof(*peer));
        peer->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        return peer->fd < 0 || watch(epoll, peer->fd, peer);
    }
    if (!receive(peer)) {
        (void)close(peer->fd);
        free(peer);
    }
    return true;
}

static int drop_all(void)
{
    int epoll = epoll_create1(EPOLL_CLOEXEC), listener = listen_anywhere();
    struct epoll_event events[EVENT_MAX];

    if (epoll < 0 || listener < 0 || !watch(epoll, listener, NULL) ||
        !watch(epoll, STDIN_FILENO, stdin))
        return 1;
    for (;;) {
        int count = epoll_wait(epoll, events, EVENT_MAX, -1);

        for (int i = 0; i < count; i++)
            if (!serve_event(epoll, listener, events[i].data.ptr))
                return 0;
    }
}

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int write_all(const char *path, uint64_t len, uint64_t times)
{
    size_t piece = (size_t)(len / (times ? times : 1)) + 1;
    char *bytes = cn_alloc(piece, 1);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    double begin = now();

    for (uint64_t i = 0; i < times; i++)
        if (fd < 0 || write(fd, bytes, piece) != (ssize_t)piece || fdatasync(fd) < 0) {
            perror("bench_collect_floor");
            return 1;
        }
    (void)printf("seconds %.3f s\n", now() - begin);
    (void)close(fd);
    free(bytes);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "receive") == 0)
        return drop_all();
    if (argc == 5 && strcmp(argv[1], "write") == 0)
        return write_all(argv[2], strtoull(argv[3], NULL, 10),
                         strtoull(argv[4], NULL, 10));
    (void)fputs("usage: bench_collect_floor receive | write FILE LEN TIMES\n", stderr);
    return 2;
}
