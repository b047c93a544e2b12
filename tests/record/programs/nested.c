/* Nested functions of GCC, which get their static chain in a register. Clang has none. */
#include <stdio.h>

__attribute__((noinline, noclone)) static int apply(int (*f)(int), int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += f(i);
    return sum;
}

__attribute__((noinline, noclone)) static int count_down(int from)
{
    __label__ out;
    volatile int left = from;

    __attribute__((noinline)) int step(int x)
    {
        if (--left == 0)
            goto out; /* leaves apply() as well */
        return x;
    }
    (void)apply(step, 1000);
out:
    return left;
}

int main(void)
{
    int total = 0;

    __attribute__((noinline)) int add(int a, int b, int c, int d, int e, int f, int g)
    {
        total += a + b + c + d + e + f + g; /* the last one is on the stack */
        return total;
    }
    __attribute__((noinline)) int add_one(int x)
    {
        return add(x, 1, 2, 3, 4, 5, 6);
    }
    for (int i = 1; i < 100; i++)
        total += count_down(i);
    printf("%d %d\n", apply(add_one, 100), total);
    return 2;
}
