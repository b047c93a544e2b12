/* Calls that are left without returning. */
#include <setjmp.h>

static jmp_buf landing;

static void deep2(int n)
{
    if (n == 0)
        longjmp(landing, 1);
    deep2(n - 1);
}

static int after(int n)
{
    return n;
}

int main(void)
{
    if (setjmp(landing) == 0)
        deep2(3);
    return after(0);
}
