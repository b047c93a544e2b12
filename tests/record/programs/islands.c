/* Coroutines whose stacks are local variables: calls on them are higher on the stack than
 * the calls that resumed them, which are still open. */
#include <stdio.h>
#include <ucontext.h>

enum { ROUNDS = 2000, STACK_LEN = 64 << 10 };

static ucontext_t home, inside;
static volatile long sum;

__attribute__((noinline)) static int leaf(int x)
{
    return x + 1;
}

__attribute__((noinline)) static void yield(int depth)
{
    if (depth > 0)
        yield(depth - 1);
    else
        swapcontext(&inside, &home);
    sum += leaf(depth);
}

static void body(void)
{
    for (int i = 0;; i++) {
        sum += leaf(i);
        yield(i % 5);
    }
}

__attribute__((noinline)) static void resume(int depth)
{
    if (depth > 0)
        resume(depth - 1);
    else
        swapcontext(&home, &inside);
    sum += leaf(depth);
}

int main(void)
{
    char stack[STACK_LEN];

    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof(stack);
    inside.uc_link = &home;
    makecontext(&inside, body, 0);
    for (int i = 0; i < ROUNDS; i++)
        resume(i % 7);
    printf("%ld\n", sum);
    return 9;
}
