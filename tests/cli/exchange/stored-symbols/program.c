#include <stdint.h>
#include <sys/stat.h>

uint64_t t_hash(uint64_t n);
int t_ask(int n);

static inline __attribute__((always_inline)) uint64_t t_mix(uint64_t x)
{
    for (int i = 0; i < 40; i++)
        x = x * 6364136223846793005u + 1442695040888963407u;
    return x;
}

__attribute__((noinline)) uint64_t t_hash(uint64_t n)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < n; i++)
        sum += t_mix(i);
    return sum;
}

__attribute__((noinline)) int t_ask(int n)
{
    struct stat st;
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += stat("/etc/passwd", &st);
    return sum;
}

int main(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < 6; i++)
        sum += t_hash(200000) + (uint64_t)t_ask(6000);
    return sum == 1;
}
