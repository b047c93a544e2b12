/* The program of the generated recording `single`: calls below calls, recursion, a nap. */
#include <stdio.h>
#include <unistd.h>

static int c(int n)
{
    return n + (int)(getpid() % 2);
}

static int b(int n)
{
    return c(n) + c(n + 1);
}

static int a(int n)
{
    return b(n) - 1;
}

static int fib(int n)
{
    return n > 1 ? fib(n - 1) + fib(n - 2) : n;
}

int main(void)
{
    int sum = a(1) + fib(5);

    usleep(1060);
    printf("%d\n", sum);
    return 0;
}
