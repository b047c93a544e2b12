/* Programs whose threads wait for locks. */
#include "planted.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static sem_t full;
static int ready;

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

const struct planted planted_locks[] = {
    {"convoy", convoy},           {"herd", herd},
    {"inversion", inversion},     {"writer", writer},
    {"file-lock", file_lock},     {"pool", pool},
    {"starved", starved},         {"chain", chain},
    {"held-asleep", held_asleep}, {0},
};
