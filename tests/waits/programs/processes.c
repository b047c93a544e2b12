/* Programs that wait for other processes, or over sockets. */
#include "planted.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2];

/* The reader of a pipe is slow. */
NOINLINE void digest_input(void)
{
    compute(10);
    sink++;
}
static void reader(void)
{
    char block[65536] = {0};

    if (pipe(ends) != 0)
        exit(1);
    if (fork() == 0) {
        close(ends[1]);
        while (read(ends[0], block, sizeof(block)) > 0)
            digest_input();
        _exit(0);
    }
    close(ends[0]);
    for (int i = 0; i < 12; i++)
        (void)!write(ends[1], block, sizeof(block));
    close(ends[1]);
    wait(NULL);
}

/* The writer of a pipe is slow. */
NOINLINE void make_output(void)
{
    compute(12);
    sink++;
}
static void slow_writer(void)
{
    char line[64] = {0};

    if (pipe(ends) != 0)
        exit(1);
    if (fork() == 0) {
        for (int i = 0; i < 7; i++) {
            make_output();
            (void)!write(ends[1], line, sizeof(line));
        }
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], line, sizeof(line)) > 0)
        compute(1);
    wait(NULL);
}

/* The parent waits for its child. */
NOINLINE void work_of_child(void)
{
    compute(80);
    sink++;
}
static void child(void)
{
    if (fork() == 0) {
        work_of_child();
        _exit(0);
    }
    wait(NULL);
}

/* A name is looked up by a server that is slow. */
NOINLINE void look_up(void)
{
    compute(25);
    sink++;
}
static void serve(int fd)
{
    struct sockaddr_in from;
    socklen_t len = sizeof(from);
    char text[64];

    while (recvfrom(fd, text, sizeof(text), 0, (struct sockaddr *)&from, &len) > 0) {
        look_up();
        (void)sendto(fd, text, 4, 0, (struct sockaddr *)&from, len);
    }
}
NOINLINE void resolve_name(int fd, const struct sockaddr_in *to)
{
    char text[64];

    (void)sendto(fd, "name", 4, 0, (const struct sockaddr *)to, sizeof(*to));
    (void)!recv(fd, text, sizeof(text), 0);
}
static void dns(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int server = socket(AF_INET, SOCK_DGRAM, 0), fd = socket(AF_INET, SOCK_DGRAM, 0);
    socklen_t len = sizeof(at);

    if (bind(server, (struct sockaddr *)&at, sizeof(at)) != 0 ||
        getsockname(server, (struct sockaddr *)&at, &len) != 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0)
        serve(server);
    for (int i = 0; i < 4; i++)
        resolve_name(fd, &at);
    kill(pid, 9);
}

/* A request over a socket. */
NOINLINE void answer_request(void)
{
    compute(20 * LEFT / 100);
    sink++;
}
static void request(void)
{
    char byte = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        exit(1);
    if (fork() == 0) {
        close(ends[1]);
        while (read(ends[0], &byte, 1) == 1) {
            answer_request();
            (void)!write(ends[0], &byte, 1);
        }
        _exit(0);
    }
    close(ends[0]);
    for (int i = 0; i < 5; i++) {
        (void)!write(ends[1], &byte, 1);
        (void)!read(ends[1], &byte, 1);
    }
    close(ends[1]);
    wait(NULL);
}

/* Requests over TCP, to a thread of the same process. */
NOINLINE void handle_request(void)
{
    compute(14);
    sink++;
}
NOINLINE void *serving_thread(void *arg)
{
    int fd = accept(*(int *)arg, NULL, NULL);
    char text[16];

    while (recv(fd, text, sizeof(text), 0) > 0) {
        handle_request();
        (void)send(fd, text, 4, 0);
    }
    close(fd);
    return arg;
}
static void tcp(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int server = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t len = sizeof(at);
    char text[16];

    if (bind(server, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(server, 1) != 0 ||
        getsockname(server, (struct sockaddr *)&at, &len) != 0 ||
        connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0)
        exit(1);
    pthread_t thread;
    if (pthread_create(&thread, NULL, serving_thread, &server) != 0)
        exit(1);
    for (int i = 0; i < 6; i++) {
        (void)send(fd, "get", 4, 0);
        (void)!recv(fd, text, sizeof(text), 0);
    }
    close(fd);
    pthread_join(thread, NULL);
}

/* One of three processes is late at a barrier. */
NOINLINE void late_rank(void)
{
    compute(15);
    sink++;
}
static void rank(pthread_barrier_t *shared, void (*work)(void))
{
    for (int i = 0; i < 5; i++) {
        work();
        pthread_barrier_wait(shared);
    }
}
NOINLINE void early_rank(void)
{
    compute(1);
    sink++;
}
static void ranks(void)
{
    pthread_barrierattr_t attributes;
    pthread_barrier_t *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(shared, &attributes, 3);
    for (int i = 0; i < 2; i++)
        if (fork() == 0) {
            rank(shared, i == 0 ? late_rank : early_rank);
            _exit(0);
        }
    rank(shared, early_rank);
    while (wait(NULL) > 0)
        continue;
}

const struct planted planted_processes[] = {
    {"reader", reader},   {"slow-writer", slow_writer},
    {"child", child},     {"dns", dns},
    {"request", request}, {"tcp", tcp},
    {"ranks", ranks},     {0},
};
