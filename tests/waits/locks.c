/* Programs whose threads wait for known locks: `locks NAME` does one, `locks all` one after the other. Work is counted in processor time, so
 * that it is the same on a busy machine. */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

/* Two mutexes: one is waited for, the other one is taken as often and never waited for. */
pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t quiet_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_rwlock_t index_lock = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t item_added = PTHREAD_COND_INITIALIZER;
sem_t free_slots;

/* A lock inside of something larger. */
struct {
    char name[72];
    pthread_mutex_t lock;
    char rest[200];
} account = {.lock = PTHREAD_MUTEX_INITIALIZER};

static volatile unsigned long sink;
static int ready;

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

static pthread_t start(void *(*body)(void *), const char *name)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, body, NULL) != 0)
        exit(1);
    pthread_setname_np(thread, name);
    return thread;
}

NOINLINE void pack_block(void)
{
    compute(4);
    sink++;
}
NOINLINE void count_block(void)
{
    pthread_mutex_lock(&quiet_lock);
    sink++;
    pthread_mutex_unlock(&quiet_lock);
}
NOINLINE void take_from_queue(void)
{
    pthread_mutex_lock(&queue_lock);
    pack_block();
    pthread_mutex_unlock(&queue_lock);
    sink++;
}
NOINLINE void *packer(void *arg)
{
    for (int i = 0; i < 4; i++) {
        take_from_queue();
        count_block();
    }
    return arg;
}
static void convoy(void)
{
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        threads[i] = start(packer, "packer");
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

/* A reader is slow, the writer waits for it: it comes when the reader has the lock, which keeps it until then, however
 * late that is on a busy machine. */
static atomic_bool is_scanning, is_writer_there;

NOINLINE void scan_index(void)
{
    atomic_store(&is_scanning, true);
    while (!atomic_exchange(&is_writer_there, false))
        compute(1);
    atomic_store(&is_scanning, false);
    compute(10);
    sink++;
}
NOINLINE void *reader(void *arg)
{
    for (int i = 0; i < 3; i++) {
        pthread_rwlock_rdlock(&index_lock);
        scan_index();
        pthread_rwlock_unlock(&index_lock);
        usleep(3000);
    }
    return arg;
}
NOINLINE void update_index(void)
{
    pthread_rwlock_wrlock(&index_lock);
    sink++;
    pthread_rwlock_unlock(&index_lock);
    sink++;
}
static void rwlock(void)
{
    pthread_t thread = start(reader, "reader");

    for (int i = 0; i < 3; i++) {
        while (!atomic_load(&is_scanning))
            usleep(500);
        atomic_store(&is_writer_there, true);
        update_index();
    }
    pthread_join(thread, NULL);
}

/* The other side gives free slots slowly. */
NOINLINE void *drain(void *arg)
{
    for (int i = 0; i < 4; i++) {
        compute(8);
        sem_post(&free_slots);
    }
    return arg;
}
NOINLINE void fill_slot(void)
{
    sem_wait(&free_slots);
    sink++;
}
static void semaphore(void)
{
    pthread_t thread = start(drain, "drain");

    for (int i = 0; i < 4; i++)
        fill_slot();
    pthread_join(thread, NULL);
}

NOINLINE void *adder(void *arg)
{
    for (int i = 0; i < 4; i++) {
        compute(8);
        pthread_mutex_lock(&queue_lock);
        ready++;
        pthread_cond_signal(&item_added);
        pthread_mutex_unlock(&queue_lock);
    }
    return arg;
}
NOINLINE void await_item(void)
{
    pthread_mutex_lock(&queue_lock);
    while (ready == 0)
        pthread_cond_wait(&item_added, &queue_lock);
    ready--;
    pthread_mutex_unlock(&queue_lock);
}
static void condition(void)
{
    pthread_t thread = start(adder, "adder");

    for (int i = 0; i < 4; i++)
        await_item();
    pthread_join(thread, NULL);
}

/* A lock without a name. */
static pthread_mutex_t *heap_lock;
NOINLINE void use_account(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    compute(5);
    pthread_mutex_unlock(lock);
    sink++;
}
NOINLINE void *teller(void *arg)
{
    for (int i = 0; i < 4; i++)
        use_account(heap_lock);
    return arg;
}
static void share(pthread_mutex_t *lock)
{
    pthread_t threads[3];

    heap_lock = lock;
    for (int i = 0; i < 3; i++)
        threads[i] = start(teller, "teller");
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}
static void heap(void)
{
    pthread_mutex_t *lock = malloc(sizeof(*lock));

    pthread_mutex_init(lock, NULL);
    share(lock);
    free(lock);
}
static void inside(void)
{
    share(&account.lock);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"convoy", convoy},       {"rwlock", rwlock}, {"semaphore", semaphore},
    {"condition", condition}, {"heap", heap},     {"inside", inside},
};

int main(int argc, char **argv)
{
    int count = 0;

    sem_init(&free_slots, 0, 0);
    for (size_t i = 0; argc == 2 && i < sizeof(programs) / sizeof(programs[0]); i++)
        if (strcmp(argv[1], programs[i].name) == 0 || strcmp(argv[1], "all") == 0) {
            programs[i].run();
            count++;
        }
    if (count == 0)
        fprintf(stderr, "usage: locks NAME|all\n");
    return count == 0;
}
