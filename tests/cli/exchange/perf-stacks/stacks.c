/* Runs 0.2 s without frame pointers: a recursion, a comparison called by a library, a
 * handler of signals, a thread. */

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define KEPT __attribute__((noinline, noclone, used))

static volatile unsigned sink;

KEPT void t_spin(unsigned ms)
{
    struct timespec from, to;
    unsigned long passed;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (unsigned i = 0; i < 1000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
        passed = (unsigned long)((to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec -
                                 from.tv_nsec);
    } while (passed < ms * 1000000UL);
    sink++;
}

KEPT unsigned t_deep(unsigned depth)
{
    volatile char room[200];

    room[depth] = 1;
    if (depth > 0)
        t_deep(depth - 1);
    else
        t_spin(40);
    return room[depth] + sink;
}

KEPT int t_compare(const void *a, const void *b)
{
    t_spin(4);
    return *(const int *)a - *(const int *)b;
}

KEPT void t_sort(void)
{
    int numbers[] = {5, 3, 4, 1, 2, 9, 7};

    qsort(numbers, 7, sizeof(*numbers), t_compare);
    sink++;
}

KEPT void t_handle(int number)
{
    t_spin(40);
    sink += (unsigned)number;
}

KEPT void t_interrupted(void)
{
    raise(SIGUSR1);
    sink++;
}

KEPT void *t_thread(void *arg)
{
    t_deep(30);
    sink++;
    return arg;
}

int main(void)
{
    pthread_t thread;

    signal(SIGUSR1, t_handle);
    pthread_create(&thread, NULL, t_thread, NULL);
    t_deep(10);
    t_sort();
    t_interrupted();
    pthread_join(thread, NULL);
    return 0;
}
