/* Programs whose threads wait for what another thread makes. */
#include "planted.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t full, empty;
static int ready, event_fd;

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

const struct planted planted_threads[] = {
    {"producer", producer}, {"false-wakeups", false_wakeups},
    {"late", late},         {"turns", turns},
    {"stages", stages},     {"events", events},
    {"join", join},         {0},
};
