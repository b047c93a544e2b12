/* What tools/make-compatibility records and samples: two threads, calls with arguments, a nap. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct point {
    int x, y;
};

__attribute__((noinline)) static size_t measure(const char *text, double factor)
{
    return (size_t)((double)strlen(text) * factor);
}

__attribute__((noinline)) static long work(long n)
{
    volatile long sum = 0;

    for (long i = 0; i < n; i++)
        sum += i % 7;
    return sum;
}

__attribute__((noinline)) static int move(struct point p, int by)
{
    return p.x + p.y + by;
}

static void *thread(void *arg)
{
    for (long i = 1; i < 5; i++)
        work(20000 * i);
    return arg;
}

/* At least 300 ms of processor time, so that there are samples. */
static void busy(void)
{
    while (clock() < 3 * CLOCKS_PER_SEC / 10)
        work(200000);
}

int main(int argc, char **argv)
{
    struct point p = {3, 4};
    pthread_t other;
    size_t sum = 0;

    (void)argv;
    pthread_create(&other, NULL, thread, NULL);
    for (int i = 0; i < 6; i++)
        sum += measure(i % 2 ? "odd" : "even", 1.5) + (size_t)move(p, i);
    usleep(2000);
    pthread_join(other, NULL);
    if (argc > 1)
        busy();
    printf("%zu\n", sum);
    return 0;
}
