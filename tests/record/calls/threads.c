/* Four threads, with one leaf more each. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static int leaf(int n)
{
    return 2 * n;
}

static int work(int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

static void *thr(void *arg)
{
    return (void *)(intptr_t)work((int)(intptr_t)arg);
}

int main(void)
{
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thr, (void *)(intptr_t)(i + 3));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("done\n");
    return 0;
}
