/* backtrace() shows the program's calls, all of them and nothing else. */
#include <execinfo.h>
#include <stdio.h>
#include <string.h>

static int show(void)
{
    void *calls[64];
    int count = backtrace(calls, 64);
    char **names = backtrace_symbols(calls, count);

    for (int i = 0; names && i < count; i++) {
        const char *from = strchr(names[i], '('), *to = from ? strchr(from, '+') : NULL;

        if (from && to)
            printf("%.*s\n", (int)(to - from), from);
    }
    return count;
}

int inner(int n)
{
    return n == 0 ? show() : inner(n - 1) + 1;
}

int outer(int n)
{
    return inner(n) * 2;
}

int main(void)
{
    printf("%d\n", outer(3));
    return 0;
}
