/* Threads that start, throw and end while others do. */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <unistd.h>
#include <vector>

static std::atomic<int> caught;

__attribute__((noinline)) static int deeper(int n)
{
    if (n == 0)
        throw std::runtime_error("thrown");
    int result = deeper(n - 1);
    asm volatile("");
    return result + 1;
}

static void work()
{
    for (int i = 0; i < 20; i++) {
        try {
            deeper(i % 9);
        } catch (std::exception &) {
            caught++;
        }
    }
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 40;

    alarm(120); /* an unwinder may walk in circles */
    for (int round = 0; round < rounds; round++) {
        std::vector<std::thread> threads;

        for (int i = 0; i < 12; i++)
            threads.emplace_back(work);
        for (auto &thread : threads)
            thread.join();
    }
    printf("%d\n", caught.load());
    return caught == rounds * 240 ? 3 : 4;
}
