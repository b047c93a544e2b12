// Exceptions and cancellation while other threads begin: unwinders walk the calls of all
// threads.
#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 300 };

static std::atomic<bool> stop;

__attribute__((noinline)) static int thrower(int n)
{
    if (n == 0)
        throw 1;
    int result = thrower(n - 1);
    asm volatile("");
    return result + 1;
}

static void *throw_often(void *)
{
    long caught = 0;

    do {
        try {
            thrower(2);
        } catch (int) {
            caught++;
        }
    } while (!stop);
    return (void *)caught;
}

__attribute__((noinline)) static void *wait_for_ever(void *)
{
    for (;;)
        usleep(100);
    return nullptr;
}

static void *cancel_often(void *)
{
    long cancelled = 0;

    do {
        pthread_t thread;
        void *result;

        pthread_create(&thread, nullptr, wait_for_ever, nullptr);
        usleep(200);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    } while (!stop);
    return (void *)cancelled;
}

__attribute__((noinline)) static void *stay(void *)
{
    while (!stop)
        usleep(1000);
    return nullptr;
}

int main()
{
    pthread_t throwing, cancelling, threads[THREADS];
    void *caught, *cancelled;

    pthread_create(&throwing, nullptr, throw_often, nullptr);
    pthread_create(&cancelling, nullptr, cancel_often, nullptr);
    for (auto &thread : threads) {
        pthread_create(&thread, nullptr, stay, nullptr);
        usleep(100);
    }
    stop = true;
    for (auto &thread : threads)
        pthread_join(thread, nullptr);
    pthread_join(throwing, &caught);
    pthread_join(cancelling, &cancelled);
    printf("%d %d\n", caught != nullptr, cancelled != nullptr);
    return 6;
}
