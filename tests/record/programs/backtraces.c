/* A stack walk returns exactly the program's calls, and does not change memory that the
 * program reuses after it jumped out of calls. */
#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unwind.h>

static jmp_buf place;

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

static _Unwind_Reason_Code print_name(struct _Unwind_Context *context, void *arg)
{
    Dl_info info;

    if (dladdr((void *)(_Unwind_GetIP(context) - 1), &info) && info.dli_sname)
        printf("%s\n", info.dli_sname);
    ++*(int *)arg;
    return _URC_NO_REASON;
}

static int walk(void)
{
    int count = 0;

    _Unwind_Backtrace(print_name, &count);
    return count;
}

int inner(int n, int (*look)(void))
{
    return n == 0 ? look() : inner(n - 1, look) + 1;
}

int outer(int n, int (*look)(void))
{
    return inner(n, look) * 2;
}

int jump(int n)
{
    if (n == 0)
        longjmp(place, 1);
    return jump(n - 1) + 1;
}

/* Not recorded: the recorder does not know yet that those calls have ended. */
__attribute__((noinline, no_instrument_function,
               patchable_function_entry(0, 0))) static int
look_where_they_were(int (*look)(void))
{
    volatile unsigned char room[4000];
    int changed = 0;

    for (size_t i = 0; i < sizeof(room); i++)
        room[i] = 0x5a;
    look();
    for (size_t i = 0; i < sizeof(room); i++)
        changed += room[i] != 0x5a;
    return changed;
}

static int look_quietly(void)
{
    void *calls[64];

    return backtrace(calls, 64);
}

int main(void)
{
    printf("%d\n", outer(3, show));
    printf("%d\n", outer(3, walk));
    if (setjmp(place) == 0)
        return jump(20);
    printf("%d bytes changed\n", look_where_they_were(look_quietly));
    return 0;
}
