/* longjmp over recorded calls, again and again. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf landing;
static long count;

static void fall(int depth)
{
    volatile char pad[64];

    pad[0] = (char)depth;
    if (depth == 0)
        longjmp(landing, 1);
    fall(depth - 1);
    pad[1] = pad[0];
}

static int after(int x)
{
    return x + 1;
}

static void once(int depth)
{
    if (setjmp(landing) == 0)
        fall(depth);
    count += after(depth);
}

int main(void)
{
    for (int i = 0; i < 20000; i++)
        once(i & 15);
    printf("%ld\n", count);
    return 0;
}
