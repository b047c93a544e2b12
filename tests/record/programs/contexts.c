/* setcontext(): out of calls, to another stack, and to the link of a finished context. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { ROUNDS = 20000, STACK_LEN = 64 << 10, DEPTH = 6 };

static ucontext_t home, other, after;
static volatile long returns, sum;
static char *stack;

__attribute__((noinline)) static int leaf(int x)
{
    return x + 1;
}

__attribute__((noinline)) static void jump_out(int depth)
{
    if (depth == 0)
        setcontext(&home);
    jump_out(depth - 1);
    sum += 1000000; /* never */
}

__attribute__((noinline)) static void go_back(void)
{
    volatile int rounds = 0;

    getcontext(&home);
    sum += leaf(rounds);
    if (++rounds < ROUNDS)
        jump_out(rounds % DEPTH);
}

static void body(int x)
{
    sum += leaf(x);
    returns++;
    if (x % 3 == 0)
        setcontext(&after); /* does not return */
}

__attribute__((noinline)) static void run_other(int x)
{
    getcontext(&other);
    other.uc_stack.ss_sp = stack;
    other.uc_stack.ss_size = STACK_LEN;
    other.uc_link = &after;
    makecontext(&other, (void (*)(void))body, 1, x);
    swapcontext(&after, &other);
    sum += leaf(0);
}

int main(void)
{
    stack = malloc(STACK_LEN);
    go_back();
    for (int i = 0; i < ROUNDS; i++)
        run_other(i);
    printf("%ld %ld\n", returns, sum);
    free(stack);
    return 8;
}
