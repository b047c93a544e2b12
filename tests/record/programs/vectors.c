/* Arguments and results in vector and x87 registers, all of their bits, over a million
 * calls while signal handlers also make calls. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { ROUNDS = 20000 };

#define CALL __attribute__((noinline, noclone)) static

static volatile long handled;

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx")))
typedef double wide __attribute__((vector_size(32)));
#define LANES 4
#else
#define WIDE
typedef double wide __attribute__((vector_size(16)));
#define LANES 2
#endif

CALL WIDE wide add(wide a, wide b, wide c, wide d, wide e, wide f, wide g, wide h)
{
    return a + b * 2 + c * 3 + d * 4 + e * 5 + f * 6 + g * 7 + h * 8;
}

CALL WIDE wide pass(wide a)
{
    return a;
}

CALL long double extended(long double x, long double y)
{
    return x * y;
}

CALL float mixed(float a, double b, float c, int d)
{
    return a + (float)b * c - (float)d;
}

static void on_alarm(int number)
{
    (void)number;
    handled += mixed(1, 2, 3, 4) == 3;
}

CALL WIDE long check_wide(int i)
{
    wide a, b, result;
    long bad = 0;

    for (int k = 0; k < LANES; k++) {
        a[k] = i + k;
        b[k] = k;
    }
    result = pass(add(a, b, a, b, a, b, a, b));
    for (int k = 0; k < LANES; k++)
        bad += result[k] != 16.0 * (i + k) + 20.0 * k;
    return bad;
}

int main(void)
{
    struct sigaction action;
    struct itimerval timer = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
    long bad = 0;
    int has_wide = 1;

#if defined(__x86_64__)
    has_wide = __builtin_cpu_supports("avx") != 0;
#endif
    memset(&action, 0, sizeof(action));
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        if (has_wide)
            bad += check_wide(i);
        bad += extended(i, 0.5L) != i * 0.5L;
        bad += mixed((float)(i & 255), 2, 3, 4) != (float)(i & 255) + 2;
    }
    setitimer(ITIMER_REAL, &off, NULL);
    printf("%ld wrong\n", bad);
    return bad != 0;
}
