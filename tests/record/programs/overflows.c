/* A stack overflow in any code; a handler on its own stack jumps back. On the stack of
 * the program and on that of a thread. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 24, THREAD_STACK_LEN = 256 << 10 };

static __thread sigjmp_buf landing;
static __thread volatile int caught;

__attribute__((noinline)) static int note(int x)
{
    return x + 1;
}

static void on_overflow(int number)
{
    (void)number;
    caught = note(caught);
    siglongjmp(landing, 1);
}

/* Frames of another size each time, so that the stack ends elsewhere; smaller ones, so that more calls
 * are open than ever before. */
__attribute__((noinline)) static int descend(int x, int len)
{
    volatile char room[len];

    room[0] = (char)x;
    return descend(note(x), len) + room[0];
}

__attribute__((noinline)) static int overflow(int round)
{
    if (sigsetjmp(landing, 1) == 0)
        return descend(1, 64 + 8 * (ROUNDS - round));
    return note(round);
}

static void *work(void *arg)
{
    stack_t stack = {0};
    long sum = 0;

    stack.ss_size = 64 << 10;
    stack.ss_sp = malloc(stack.ss_size);
    sigaltstack(&stack, NULL);
    for (int i = 0; i < ROUNDS; i++)
        sum += overflow(i);
    *(long *)arg = sum * 100 + caught;
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    free(stack.ss_sp);
    return NULL;
}

int main(void)
{
    struct sigaction action;
    pthread_attr_t attr;
    pthread_t thread;
    long results[2];

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_overflow;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    work(&results[0]);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, THREAD_STACK_LEN);
    pthread_create(&thread, &attr, work, &results[1]);
    pthread_join(thread, NULL);
    printf("%ld %ld %d\n", results[0], results[1], note(1));
    return 6;
}
