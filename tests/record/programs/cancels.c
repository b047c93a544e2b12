/* Threads that are cancelled anywhere, even inside calls, and make calls in clean-up
 * handlers and destructors of keys. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { ROUNDS = 200, DEPTH = 30 };

static pthread_key_t key;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cleaned, destroyed;
static volatile int started;

__attribute__((noinline)) static void count(int *which)
{
    pthread_mutex_lock(&lock);
    ++*which;
    pthread_mutex_unlock(&lock);
}

__attribute__((noinline)) static void destroy(void *arg)
{
    count(arg);
}

__attribute__((noinline)) static void clean(void *arg)
{
    count(arg);
}

__attribute__((noinline)) static int leaf(int x)
{
    return x + 1;
}

/* Asynchronous cancellation may happen inside a call or between two. */
__attribute__((noinline)) static void spin(void)
{
    volatile int sum = 0;

    started = 1;
    for (;;)
        sum = leaf(sum);
}

__attribute__((noinline)) static void descend(int depth, int is_deferred)
{
    pthread_cleanup_push(clean, &cleaned);
    if (depth > 0)
        descend(depth - 1, is_deferred);
    else if (!is_deferred)
        spin();
    for (;;) {
        started = 1;
        leaf(1);
        pthread_testcancel();
    }
    pthread_cleanup_pop(1);
}

static void *work(void *arg)
{
    int is_deferred = *(int *)arg, old;

    pthread_setspecific(key, &destroyed);
    if (!is_deferred)
        pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    descend(DEPTH, is_deferred);
    return NULL;
}

int main(void)
{
    long cancelled = 0;

    pthread_key_create(&key, destroy);
    for (int i = 0; i < ROUNDS; i++) {
        int is_deferred = i % 2;
        pthread_t thread;
        void *result;

        started = 0;
        pthread_create(&thread, NULL, work, &is_deferred);
        while (!started)
            usleep(10);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    printf("%ld %d %d\n", cancelled, cleaned, destroyed);
    return 4;
}
