/* Coroutines that are called on one thread and return on another. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

enum { COUNT = 50, ROUNDS = 200, STACK_LEN = 64 << 10, THREADS = 4 };

enum state { READY, RUNNING, DONE };

struct coroutine {
    ucontext_t own, back;
    enum state state;
    long sum;
};

static struct coroutine all[COUNT];
static int next, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread struct coroutine *current;

__attribute__((noinline)) static struct coroutine *me(void)
{
    __asm__("");
    return current;
}

__attribute__((noinline)) static void yield(void)
{
    struct coroutine *self = me();

    swapcontext(&self->own, &self->back);
}

__attribute__((noinline)) static long inner(long x)
{
    if (x % 3 == 0)
        yield();
    return x + 1;
}

__attribute__((noinline)) static long outer(long x)
{
    return inner(x) * 2 - x;
}

static void body(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        long result = outer(i);

        me()->sum += result;
    }
    me()->state = DONE;
    yield();
}

static struct coroutine *choose(void)
{
    for (int i = 0; i < COUNT; i++) {
        struct coroutine *coroutine = &all[(next + i) % COUNT];

        if (coroutine->state != READY)
            continue;
        next = next + i + 1;
        coroutine->state = RUNNING;
        return coroutine;
    }
    return NULL;
}

static void *work(void *arg)
{
    for (int is_over = 0; !is_over;) {
        struct coroutine *coroutine;

        pthread_mutex_lock(&lock);
        coroutine = choose();
        is_over = done == COUNT;
        pthread_mutex_unlock(&lock);
        if (!coroutine)
            continue;
        current = coroutine;
        swapcontext(&coroutine->back, &coroutine->own);
        pthread_mutex_lock(&lock);
        if (coroutine->state == DONE)
            done++;
        else
            coroutine->state = READY;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];
    long sum = 0;

    for (int i = 0; i < COUNT; i++) {
        getcontext(&all[i].own);
        all[i].own.uc_stack.ss_sp = malloc(STACK_LEN);
        all[i].own.uc_stack.ss_size = STACK_LEN;
        makecontext(&all[i].own, body, 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < COUNT; i++)
        sum += all[i].sum;
    printf("%ld\n", sum);
    return 0;
}
