/* How many requests a second does a collector take? Sends what bench_gen_store has written to a
 * running `cairn serve --collect`:
 *     bench_collect PORT CONNECTIONS FILE...
 *
 * Each connection sends one request, waits for its answer, and takes the next one, as agents
 * do. Prints, a line each: name, value, unit.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"

enum { ANSWER_MAX = 4096, EVENT_MAX = 256, CONNECTION_MAX = 600 };

static const char host[] = "Host: 127.0.0.1\r\n";

struct requests {
    const char *what; /* which of them: "agd", "trc" */
    struct cn_bytes rest;
    struct cn_file *files;
    size_t file_count, file;
};

struct connection {
    int fd;
    struct cn_text out;
    size_t sent;
    char answer[ANSWER_MAX];
    size_t answer_len;
    bool is_idle;
};

struct load {
    struct requests requests;
    struct connection *connections;
    size_t count;
    int epoll;
    uint16_t port;
    uint64_t sent, accepted, put_off, refused;
    size_t open; /* connections that wait for an answer */
};

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* The next request with its Host header; false when there are no more. */
static bool take_request(struct requests *requests, struct cn_text *out)
{
    static const char blank[] = "\r\n\r\n", length[] = "Content-Length: ";
    const uint8_t *end, *line;
    size_t head_len, len;

    while (requests->rest.len == 0) {
        if (requests->file == requests->file_count)
            return false;
        requests->rest = requests->files[requests->file++].bytes;
    }
    end = memmem(requests->rest.ptr, requests->rest.len, blank, 4);
    if (!end)
        return false;
    head_len = (size_t)(end - requests->rest.ptr) + 2;
    line = memmem(requests->rest.ptr, head_len, length, sizeof(length) - 1);
    len = line ? strtoul((const char *)line + sizeof(length) - 1, NULL, 10) : 0;
    cn_text_clear(out);
    cn_text_add(out, (const char *)requests->rest.ptr, head_len);
    cn_text_str_add(out, host);
    cn_text_add(out, (const char *)requests->rest.ptr + head_len, 2 + len);
    requests->rest.ptr += head_len + 2 + len;
    requests->rest.len -= head_len + 2 + len;
    return true;
}

/* The next one of the kind that is sent now. */
static bool next_request(struct requests *requests, struct cn_text *out)
{
    static const char path[] = "POST /agent/submit/";

    while (take_request(requests, out))
        if (strncmp(out->chars + sizeof(path) - 1, requests->what, 3) == 0)
            return true;
    return false;
}

static bool open_connection(struct load *load, struct connection *c)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(load->port),
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
    };
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
    int yes = 1;

    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof(address)) < 0)
        return false;
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return epoll_ctl(load->epoll, EPOLL_CTL_ADD, c->fd, &event) == 0;
}

/* Bodies are small: a send that blocks for a moment is no matter. */
static bool send_all(struct connection *c)
{
    for (c->sent = 0; c->sent < c->out.len;) {
        ssize_t n =
            send(c->fd, c->out.chars + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR)
            return false;
        c->sent += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool send_next(struct load *load, struct connection *c)
{
    c->answer_len = 0;
    c->is_idle = !next_request(&load->requests, &c->out);
    if (c->is_idle)
        return true;
    load->open++;
    load->sent++;
    return send_all(c);
}

static void count_answer(struct load *load, const char *answer)
{
    unsigned long status = strtoul(answer + strcspn(answer, " "), NULL, 10);

    if (status < 300)
        load->accepted++;
    else if (status == 429)
        load->put_off++;
    else
        load->refused++;
}

/* Answers to what is accepted have no body. */
static bool receive(struct load *load, struct connection *c)
{
    ssize_t n = recv(c->fd, c->answer + c->answer_len, ANSWER_MAX - 1 - c->answer_len, 0);

    if (n <= 0)
        return false;
    c->answer_len += (size_t)n;
    c->answer[c->answer_len] = '\0';
    if (!strstr(c->answer, "\r\n\r\n"))
        return true;
    load->open--;
    count_answer(load, c->answer);
    return send_next(load, c);
}

/* Send all requests of a kind on so many connections. */
static bool run(struct load *load, const char *what, size_t connection_count)
{
    struct epoll_event events[EVENT_MAX];

    load->requests.what = what;
    load->requests.file = 0;
    for (size_t i = 0; i < connection_count; i++)
        if (!send_next(load, &load->connections[i]))
            return false;
    while (load->open > 0) {
        int count = epoll_wait(load->epoll, events, EVENT_MAX, 10000);

        if (count <= 0)
            return false;
        for (int i = 0; i < count; i++)
            if (!receive(load, events[i].data.ptr))
                return false;
    }
    return true;
}

static bool open_all(struct load *load, int file_count, char **files)
{
    struct cn_error err;

    load->requests.files = cn_alloc((size_t)file_count, sizeof(struct cn_file));
    for (int i = 0; i < file_count; i++) {
        if (!cn_file_open(&load->requests.files[i], files[i], &err)) {
            (void)fprintf(stderr, "bench_collect: %s\n", err.text);
            return false;
        }
        load->requests.file_count++;
    }
    load->epoll = epoll_create1(EPOLL_CLOEXEC);
    load->connections = cn_alloc(load->count, sizeof(*load->connections));
    for (size_t i = 0; i < load->count; i++)
        if (!open_connection(load, &load->connections[i]))
            return false;
    return true;
}

static void close_all(struct load *load)
{
    for (size_t i = 0; i < load->count; i++) {
        (void)close(load->connections[i].fd);
        cn_text_done(&load->connections[i].out);
    }
    for (size_t i = 0; i < load->requests.file_count; i++)
        cn_file_close(&load->requests.files[i]);
    (void)close(load->epoll);
    free(load->connections);
    free(load->requests.files);
}

int main(int argc, char **argv)
{
    struct load load = {0};
    double begin, seconds;
    uint64_t symbols;
    bool ok;

    if (argc < 4) {
        (void)fputs("usage: bench_collect PORT CONNECTIONS FILE...\n", stderr);
        return 2;
    }
    load.port = (uint16_t)atoi(argv[1]);
    load.count = (size_t)atoi(argv[2]) % (CONNECTION_MAX + 1);
    if (load.count == 0 || !open_all(&load, argc - 3, argv + 3)) {
        (void)fprintf(stderr, "bench_collect: cannot connect to port %s\n", argv[1]);
        return 1;
    }
    /* Symbols come first, in order: traces refer to them. Only traces are timed. */
    ok = run(&load, "agd", 1);
    symbols = load.accepted;
    load.sent = load.accepted = 0;
    begin = now();
    ok = ok && run(&load, "trc", load.count);
    seconds = now() - begin;
    if (!ok) {
        (void)fprintf(stderr,
                      "bench_collect: the connection broke after %" PRIu64 " requests\n",
                      load.sent);
        return 1;
    }
    (void)printf("symbols %" PRIu64 " count\nrequests %" PRIu64
                 " count\naccepted %" PRIu64 " count\nput-off %" PRIu64
                 " count\nrefused %" PRIu64
                 " count\nseconds %.3f s\nrate %.0f requests/s\n",
                 symbols, load.sent, load.accepted, load.put_off, load.refused, seconds,
                 (double)load.accepted / seconds);
    close_all(&load);
    return load.refused > 0 || load.put_off > 0;
}
