/* Recursion much deeper than a record can store. */
#include <pthread.h>
#include <stdio.h>

static long down(long n)
{
    return n == 0 ? 0 : down(n - 1) + 1;
}

static void *run(void *arg)
{
    *(long *)arg = down(200000);
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attr;
    long result = 0;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 20);
    pthread_create(&thread, &attr, run, &result);
    pthread_join(thread, NULL);
    printf("%ld %ld\n", result, down(60000));
    return 0;
}
