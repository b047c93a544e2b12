/* Deeper than a record can say. */
#include <stdio.h>

int rec(int n)
{
    return n == 0 ? 0 : rec(n - 1) + 1;
}

int main(void)
{
    printf("%d\n", rec(1500));
    return 0;
}
