/* Tail calls. */
#include <stdio.h>

__attribute__((noinline, noclone)) int odd(int n, int acc);

__attribute__((noinline, noclone)) int even(int n, int acc)
{
    return n == 0 ? acc : odd(n - 1, acc + 1);
}

__attribute__((noinline, noclone)) int odd(int n, int acc)
{
    return n == 0 ? -acc : even(n - 1, acc + 2);
}

int main(void)
{
    long sum = 0;

    for (int i = 0; i < 10000; i++)
        sum += even(i & 63, 0);
    printf("%ld\n", sum);
    return 0;
}
