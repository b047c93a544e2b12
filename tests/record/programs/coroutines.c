/* Coroutines: calls are open on several stacks at once. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { COUNT = 5, ROUNDS = 20000 };

static ucontext_t home, contexts[COUNT];
static long sums[COUNT];

static void pause_here(int which)
{
    swapcontext(&contexts[which], &home);
}

static int step(int which, int i)
{
    if (i % 3 == 0)
        pause_here(which);
    return i & 3;
}

static void run(int which)
{
    for (int i = 0; i < ROUNDS; i++)
        sums[which] += step(which, i + which);
    for (;;)
        pause_here(which);
}

int main(void)
{
    for (int i = 0; i < COUNT; i++) {
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_size = 64 << 10;
        contexts[i].uc_stack.ss_sp = malloc(64 << 10);
        contexts[i].uc_link = &home;
        makecontext(&contexts[i], (void (*)(void))run, 1, i);
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COUNT; i++)
            swapcontext(&home, &contexts[i]);
    for (int i = 0; i < COUNT; i++)
        printf("%ld\n", sums[i]);
    return 0;
}
