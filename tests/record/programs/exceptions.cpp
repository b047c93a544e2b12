// Exceptions through recorded calls: deep, nested, rethrown, from threads, past
// destructors, and by cancellation of a thread.
#include <atomic>
#include <cstdio>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

static long destroyed;
static std::atomic<bool> has_guard;

struct Guard {
    int value;
    explicit Guard(int v) : value(v)
    {
    }
    ~Guard()
    {
        destroyed += value;
    }
};

__attribute__((noinline)) int thrower(int n)
{
    Guard guard(1);
    if (n == 0)
        throw std::runtime_error("bottom");
    return thrower(n - 1) + 1;
}

__attribute__((noinline)) int catcher(int n)
{
    try {
        return thrower(n);
    } catch (const std::exception &e) {
        return (int)std::string(e.what()).size();
    }
}

__attribute__((noinline)) int rethrower(int n)
{
    Guard guard(2);
    try {
        return thrower(n);
    } catch (...) {
        catcher(3);
        throw;
    }
}

struct InDestructor {
    ~InDestructor()
    {
        destroyed += catcher(2);
    }
};

__attribute__((noinline)) int with_destructor()
{
    InDestructor in;
    return thrower(4);
}

static void *cancelled(void *)
{
    Guard guard(1000);

    has_guard = true;
    for (;;)
        usleep(100);
    return nullptr;
}

int main()
{
    long sum = 0;

    for (int i = 0; i < 1000; i++)
        sum += catcher(i % 20);
    for (int i = 0; i < 100; i++) {
        try {
            sum += rethrower(i % 5);
        } catch (const std::runtime_error &) {
            sum += 100;
        }
    }
    try {
        with_destructor();
    } catch (...) {
        sum++;
    }
    sum += catcher(2000);
    std::thread t([&] { sum += catcher(50); });
    t.join();
    pthread_t thread;
    pthread_create(&thread, nullptr, cancelled, nullptr);
    while (!has_guard)
        usleep(100);
    pthread_cancel(thread);
    pthread_join(thread, nullptr);
    printf("%ld %ld\n", sum, destroyed);
    return 4;
}
