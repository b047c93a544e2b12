/* What programs with a planted cause of waiting share. Work is counted in processor time, so that it is the
 * same on a busy machine. Compiled with -DLEFT=50, the causes that bench/what_if predicts take half of their
 * time. */
#ifndef CN_TESTS_WAITS_PLANTED_H
#define CN_TESTS_WAITS_PLANTED_H

#define _GNU_SOURCE
#include <pthread.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

#ifndef LEFT
#define LEFT 100 /* percent */
#endif

struct planted {
    const char *name;
    void (*body)(void);
};

/* By what the threads wait for; the last one has no name. */
extern const struct planted planted_locks[], planted_threads[], planted_processes[],
    planted_machine[];

extern volatile unsigned long sink;

/* Use the processor. Inlined, so that the function that calls it is the innermost one. */
static inline __attribute__((always_inline)) void compute(int ms)
{
    struct timespec from, now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (int i = 0; i < 2000; i++)
            sink += (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000000000L + now.tv_nsec - from.tv_nsec <
             ms * 1000000L);
}

pthread_t start(void *(*body)(void *));
void nap(int ms);

#endif
