/* Programs with a planted cause of waiting: `programs NAME` does one. Work is counted in processor time, so
 * that it is the same on a busy machine. Compiled with -DLEFT=50, the causes that what_if predicts take half
 * of their time. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

#ifndef LEFT
#define LEFT 100 /* percent */
#endif

static volatile unsigned long sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t full, empty;
static int ready, event_fd, ends[2];

/* Use the processor. Inlined, so that the function that calls it is the innermost one. */
static inline __attribute__((always_inline)) void compute(int ms)
{
    struct timespec from, now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (int i = 0; i < 2000; i++)
            sink += (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec <
             ms * 1000000L);
}

static pthread_t start(void *(*body)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, NULL) != 0)
        exit(1);
    return thread;
}

static void nap(int ms)
{
    usleep((useconds_t)ms * 1000);
}

/* Many threads want one lock, which is held for long. */
NOINLINE void compress_block(void)
{
    compute(8 * LEFT / 100);
    sink++;
}
NOINLINE void *convoy_worker(void *arg)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        compress_block();
        sink++;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
static void convoy(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        threads[i] = start(convoy_worker);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* A queue whose producer is too slow. */
NOINLINE void produce_item(void)
{
    compute(12 * LEFT / 100);
    sink++;
}
NOINLINE void *producer_thread(void *arg)
{
    for (int i = 0; i < 8; i++) {
        produce_item();
        pthread_mutex_lock(&lock);
        ready++;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
NOINLINE void take_item(void)
{
    pthread_mutex_lock(&lock);
    while (ready == 0)
        pthread_cond_wait(&changed, &lock);
    ready--;
    pthread_mutex_unlock(&lock);
}
static void producer(void)
{
    pthread_t thread = start(producer_thread);

    for (int i = 0; i < 8; i++) {
        take_item();
        compute(1);
    }
    pthread_join(thread, NULL);
}

/* False wake-ups: most signals are for nothing. */
NOINLINE void prepare_result(void)
{
    compute(10);
    sink++;
}
NOINLINE void *signaller_thread(void *arg)
{
    for (int i = 0; i < 8; i++) {
        prepare_result();
        pthread_mutex_lock(&lock);
        ready = i == 7;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}
static void false_wakeups(void)
{
    pthread_t thread = start(signaller_thread);

    take_item();
    pthread_join(thread, NULL);
}

/* All are woken for one item, and then wait for the lock in turn. */
NOINLINE void handle_alone(void)
{
    compute(6);
    sink++;
}
NOINLINE void *herd_thread(void *arg)
{
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    handle_alone();
    pthread_mutex_unlock(&lock);
    return arg;
}
static void herd(void)
{
    pthread_t threads[12];

    for (int i = 0; i < 12; i++)
        threads[i] = start(herd_thread);
    nap(10);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 12; i++)
        pthread_join(threads[i], NULL);
}

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

/* Nothing but sleep. */
NOINLINE void poll_again(void)
{
    nap(20);
    sink++;
}
static void sleeper(void)
{
    for (int i = 0; i < 5; i++)
        poll_again();
}

NOINLINE void wait_for_input(void)
{
    struct pollfd none = {.fd = ends[0], .events = POLLIN};

    (void)poll(&none, 1, 25);
    sink++;
}
static void timeout(void)
{
    if (pipe(ends) != 0)
        exit(1);
    for (int i = 0; i < 5; i++)
        wait_for_input();
}

/* Each block is written to the disk. */
NOINLINE void save_block(int fd, const char *block)
{
    (void)!write(fd, block, 1 << 20);
    fsync(fd);
    sink++;
}
static void sync_each(void)
{
    int fd = open("sync.data", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    char *block = calloc(1, 1 << 20);
    for (int i = 0; i < 40; i++)
        save_block(fd, block);
    free(block);
    close(fd);
}

/* Reads that bypass the cache. */
NOINLINE void read_block(int fd, char *block, int i)
{
    (void)!pread(fd, block, 1 << 20, (off_t)i << 20);
    sink++;
}
static void disk_reads(void)
{
    char *block = aligned_alloc(4096, 1 << 20);
    int fd = open("read.data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    memset(block, 1, 1 << 20);
    for (int i = 0; i < 8; i++)
        (void)!write(fd, block, 1 << 20);
    fsync(fd);
    close(fd);
    fd = open("read.data", O_RDONLY | O_DIRECT | O_CLOEXEC);
    if (fd < 0)
        exit(77);
    for (int i = 0; i < 400; i++)
        read_block(fd, block, i % 8);
    close(fd);
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

/* A thread of low priority holds the lock that one of high priority needs, and others keep it from running. */
NOINLINE void *busy_thread(void *arg)
{
    for (int i = 0; i < 10; i++)
        compute(10);
    return arg;
}
NOINLINE void work_of_low(void)
{
    compute(30);
    sink++;
}
NOINLINE void *low_thread(void *arg)
{
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), 10);
    pthread_mutex_lock(&lock);
    ready = 1;
    work_of_low();
    pthread_mutex_unlock(&lock);
    return arg;
}
static void inversion(void)
{
    cpu_set_t one;
    pthread_t low, busy;

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
    low = start(low_thread);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        nap(1);
    busy = start(busy_thread);
    pthread_mutex_lock(&lock);
    sink++;
    pthread_mutex_unlock(&lock);
    pthread_join(low, NULL);
    pthread_detach(busy);
}

/* Others use the only processor. */
NOINLINE void own_work(void)
{
    compute(40);
    sink++;
}
static void preemption(void)
{
    cpu_set_t one;
    pid_t others[4];

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    (void)sched_setaffinity(0, sizeof(one), &one);
    for (int i = 0; i < 4; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            for (;;)
                compute(1000);
        }
    }
    own_work();
    for (int i = 0; i < 4; i++)
        kill(others[i], 9);
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

/* One of three is late at the barrier. */
NOINLINE void late_part(void)
{
    compute(16 * LEFT / 100);
    sink++;
}
NOINLINE void *late_thread(void *arg)
{
    for (int i = 0; i < 5; i++) {
        late_part();
        pthread_barrier_wait(&barrier);
    }
    return arg;
}
NOINLINE void *early_thread(void *arg)
{
    for (int i = 0; i < 5; i++) {
        compute(1);
        pthread_barrier_wait(&barrier);
    }
    return arg;
}
static void late(void)
{
    pthread_barrier_init(&barrier, NULL, 3);
    pthread_t a = start(late_thread), b = start(early_thread);
    early_thread(NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* Two threads take turns. */
NOINLINE void fill_slot(void)
{
    compute(9);
    sink++;
}
NOINLINE void *turns_thread(void *arg)
{
    for (int i = 0; i < 10; i++) {
        sem_wait(&empty);
        fill_slot();
        sem_post(&full);
    }
    return arg;
}
static void turns(void)
{
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 0);
    pthread_t thread = start(turns_thread);
    for (int i = 0; i < 10; i++) {
        sem_post(&empty);
        sem_wait(&full);
    }
    pthread_join(thread, NULL);
}

/* A writer keeps readers out. */
NOINLINE void rebuild_index(void)
{
    compute(30);
    sink++;
}
NOINLINE void *writer_thread(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_rwlock_wrlock(&table);
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
        rebuild_index();
        pthread_rwlock_unlock(&table);
        nap(2);
    }
    return arg;
}
static void writer(void)
{
    pthread_t thread = start(writer_thread);

    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        nap(1);
    for (int i = 0; i < 3; i++) {
        pthread_rwlock_rdlock(&table);
        sink++;
        pthread_rwlock_unlock(&table);
        nap(3);
    }
    pthread_join(thread, NULL);
}

/* Another process has locked the file. */
NOINLINE void keep_file(void)
{
    compute(60);
    sink++;
}
static void file_lock(void)
{
    int fd = open("lock.data", O_RDWR | O_CREAT | O_CLOEXEC, 0600), gate[2];
    char byte = 0;

    if (pipe(gate) != 0)
        exit(1);
    if (fork() == 0) {
        int own = open("lock.data", O_RDWR | O_CLOEXEC);

        flock(own, LOCK_EX);
        (void)!write(gate[1], &byte, 1);
        keep_file();
        flock(own, LOCK_UN);
        _exit(0);
    }
    (void)!read(gate[0], &byte, 1);
    flock(fd, LOCK_EX);
    wait(NULL);
}

/* The first of three stages is slow. */
NOINLINE void first_stage(void)
{
    compute(10 * LEFT / 100);
    sink++;
}
NOINLINE void *first_thread(void *arg)
{
    for (int i = 0; i < 8; i++) {
        first_stage();
        sem_post(&empty);
    }
    return arg;
}
NOINLINE void *second_thread(void *arg)
{
    for (int i = 0; i < 8; i++) {
        sem_wait(&empty);
        compute(1);
        sem_post(&full);
    }
    return arg;
}
static void stages(void)
{
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 0);
    pthread_t a = start(first_thread), b = start(second_thread);
    for (int i = 0; i < 8; i++)
        sem_wait(&full);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
}

/* An event loop without events. */
NOINLINE void make_event(void)
{
    compute(15);
    sink++;
}
NOINLINE void *event_thread(void *arg)
{
    uint64_t one = 1;

    for (int i = 0; i < 6; i++) {
        make_event();
        (void)!write(event_fd, &one, sizeof(one));
    }
    return arg;
}
static void events(void)
{
    int poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    uint64_t count = 0, all = 0;

    event_fd = eventfd(0, EFD_CLOEXEC);
    (void)epoll_ctl(poll_fd, EPOLL_CTL_ADD, event_fd, &event);
    pthread_t thread = start(event_thread);
    while (all < 6 && epoll_wait(poll_fd, &event, 1, -1) == 1) {
        (void)!read(event_fd, &count, sizeof(count));
        all += count;
    }
    pthread_join(thread, NULL);
}

/* New pages: nothing waits, the kernel works. */
NOINLINE void touch_pages(void)
{
    size_t len = 64 << 20;

    for (int k = 0; k < 4; k++) {
        char *at =
            mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (at == MAP_FAILED)
            exit(1);
        for (size_t i = 0; i < len; i += 4096)
            at[i] = 1;
        munmap(at, len);
    }
    sink++;
}

/* Work in the background ends late. */
NOINLINE void *background_job(void *arg)
{
    compute(90);
    sink++;
    return arg;
}
static void join(void)
{
    pthread_join(start(background_job), NULL);
}

/* A pool of one connection, which each user has for long. */
NOINLINE void use_connection(void)
{
    compute(9);
    sink++;
}
NOINLINE void *pool_thread(void *arg)
{
    for (int i = 0; i < 4; i++) {
        sem_wait(&full);
        use_connection();
        sem_post(&full);
    }
    return arg;
}
static void pool(void)
{
    pthread_t threads[3];

    sem_init(&full, 0, 1);
    for (int i = 0; i < 3; i++)
        threads[i] = start(pool_thread);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* Readers that overlap keep a writer out. */
NOINLINE void scan_table(void)
{
    compute(12);
    sink++;
}
NOINLINE void *scanning_thread(void *arg)
{
    for (int i = 0; i < 6; i++) {
        pthread_rwlock_rdlock(&table);
        __atomic_add_fetch(&ready, 1, __ATOMIC_ACQ_REL);
        scan_table();
        pthread_rwlock_unlock(&table);
    }
    return arg;
}
static void starved(void)
{
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        threads[i] = start(scanning_thread);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        nap(1);
    pthread_rwlock_wrlock(&table);
    sink++;
    pthread_rwlock_unlock(&table);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
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

/* Pages of a mapped file come from the disk, one by one. */
NOINLINE void visit_pages(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i += 4096)
        sink += (unsigned char)at[i];
}
static void faults(void)
{
    size_t len = 8 << 20;
    int fd = open("pages.data", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char *block = calloc(1, len);

    (void)!write(fd, block, len);
    free(block);
    fsync(fd);
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    char *at = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        exit(1);
    (void)madvise(at, len, MADV_RANDOM);
    visit_pages(at, len);
    close(fd);
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

/* The holder of a lock waits for another one, whose holder works. */
static pthread_mutex_t inner_lock = PTHREAD_MUTEX_INITIALIZER;
NOINLINE void inner_work(void)
{
    compute(60);
    sink++;
}
NOINLINE void *inner_thread(void *arg)
{
    pthread_mutex_lock(&inner_lock);
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    inner_work();
    pthread_mutex_unlock(&inner_lock);
    return arg;
}
NOINLINE void *outer_thread(void *arg)
{
    pthread_mutex_lock(&lock);
    __atomic_store_n(&ready, 2, __ATOMIC_RELEASE);
    pthread_mutex_lock(&inner_lock);
    compute(2);
    pthread_mutex_unlock(&inner_lock);
    pthread_mutex_unlock(&lock);
    return arg;
}
static void chain(void)
{
    pthread_t inner = start(inner_thread), outer;

    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 1)
        nap(1);
    outer = start(outer_thread);
    while (__atomic_load_n(&ready, __ATOMIC_ACQUIRE) != 2)
        nap(1);
    pthread_mutex_lock(&lock);
    sink++;
    pthread_mutex_unlock(&lock);
    pthread_join(inner, NULL);
    pthread_join(outer, NULL);
}

/* The holder of a lock sleeps. */
NOINLINE void *sleeping_holder(void *arg)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
        nap(20);
        pthread_mutex_unlock(&lock);
        nap(1);
    }
    return arg;
}
static void held_asleep(void)
{
    pthread_t thread = start(sleeping_holder);

    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        compute(1);
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        sink++;
        pthread_mutex_unlock(&lock);
        compute(2);
    }
    pthread_join(thread, NULL);
}

static const struct {
    const char *name;
    void (*body)(void);
} programs[] = {
    {"convoy", convoy},   {"producer", producer},   {"false-wakeups", false_wakeups},
    {"herd", herd},       {"reader", reader},       {"sleep", sleeper},
    {"timeout", timeout}, {"sync", sync_each},      {"disk", disk_reads},
    {"child", child},     {"inversion", inversion}, {"preemption", preemption},
    {"dns", dns},         {"request", request},     {"late", late},
    {"turns", turns},     {"writer", writer},       {"file-lock", file_lock},
    {"stages", stages},   {"events", events},       {"pages", touch_pages},
    {"join", join},       {"pool", pool},           {"starved", starved},
    {"ranks", ranks},     {"faults", faults},       {"slow-writer", slow_writer},
    {"tcp", tcp},         {"chain", chain},         {"held-asleep", held_asleep},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]); i++)
        if (strcmp(programs[i].name, argv[1]) == 0) {
            programs[i].body();
            return 0;
        }
    return 2;
}
