/* Threads that return, exit, are cancelled, and all make many calls. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int leaf(int x)
{
    return x ^ 0x55;
}

static int middle(int x)
{
    return leaf(x) + leaf(x + 1);
}

static void *work(void *arg)
{
    long sum = 0;

    for (int i = 0; i < 100000; i++)
        sum += middle(i);
    *(long *)arg = sum;
    return NULL;
}

static void leave(int depth)
{
    if (depth == 0)
        pthread_exit((void *)7);
    leave(depth - 1);
}

static void *exit_deep(void *arg)
{
    leave(10);
    return arg;
}

static void cleaned(void *arg)
{
    ++*(int *)arg;
}

static volatile int can_clean_up;

static void wait_forever(void)
{
    can_clean_up = 1;
    for (;;)
        usleep(1000);
}

static void *be_cancelled(void *arg)
{
    pthread_cleanup_push(cleaned, arg);
    wait_forever();
    pthread_cleanup_pop(0);
    return NULL;
}

int main(void)
{
    pthread_t threads[8], other;
    long sums[8];
    int cleanups = 0;
    void *result;

    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, work, &sums[i]);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    for (int i = 1; i < 8; i++)
        if (sums[i] != sums[0])
            printf("thread %d: %ld\n", i, sums[i]);
    pthread_create(&other, NULL, exit_deep, NULL);
    pthread_join(other, &result);
    printf("%ld %ld\n", sums[0], (long)result);
    pthread_create(&other, NULL, be_cancelled, &cleanups);
    while (!can_clean_up)
        usleep(100);
    pthread_cancel(other);
    pthread_join(other, &result);
    printf("cancelled %d, cleaned up %d\n", result == PTHREAD_CANCELED, cleanups);
    for (int i = 0; i < 300; i++) { /* tracks are reused */
        pthread_create(&other, NULL, exit_deep, NULL);
        pthread_join(other, &result);
    }
    return 3;
}
