/* Arguments and results in all registers that may contain them. */
#include <complex.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    double a, b, c, d;
} four;
typedef struct {
    long a;
    double b;
} mixed;
typedef int vector __attribute__((vector_size(16)));

#define CALL __attribute__((noinline, noclone)) static

CALL double floats(double a, double b, double c, double d, double e, double f, double g,
                   double h)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

CALL long integers(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

CALL long double extended(long double x)
{
    return x / 3;
}

CALL double complex complexes(double complex x)
{
    return x * (1 + 2 * I);
}

CALL four make_four(double x)
{
    return (four){x, x + 1, x + 2, x + 3};
}

CALL mixed make_mixed(long x)
{
    return (mixed){x, (double)x / 2};
}

CALL __int128 wide(__int128 x)
{
    return x * 3;
}

CALL vector vectors(vector a, vector b)
{
    return a + b;
}

CALL long variadic(int count, ...)
{
    va_list list;
    double sum = 0;

    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, double);
    va_end(list);
    return (long)sum;
}

static long check(long i)
{
    double x = (double)i;
    four f = make_four(x);
    mixed m = make_mixed(i);
    vector v = vectors((vector){(int)i, 1, 2, 3}, (vector){4, 5, 6, 7});
    double complex c = complexes(x + I);
    long bad = 0;

    bad += floats(x, 2, 3, 4, 5, 6, 7, 8) != x + 203;
    bad += integers(i, 2, 3, 4, 5, 6, 7, 8, 9) != i + 284;
    bad += extended(3.0L * (long double)i) != (long double)i;
    bad += creal(c) != x - 2 || cimag(c) != 2 * x + 1;
    bad += f.a != x || f.b != x + 1 || f.c != x + 2 || f.d != x + 3;
    bad += m.a != i || m.b != x / 2;
    bad += wide((__int128)i << 60) != ((__int128)i << 60) * 3;
    bad += v[0] != i + 4 || v[3] != 10;
    bad += variadic(9, x, 1., 1., 1., 1., 1., 1., 1., 1.) != i + 8;
    return bad;
}

static void *first_call(void *arg)
{
    *(double *)arg = floats(1, 2, 3, 4, 5, 6, 7, 8);
    return NULL;
}

int main(void)
{
    long bad = 0;

    for (long i = 0; i < 20000; i++)
        bad += check(i & 0xffff);
    for (int i = 0; i < 50; i++) {
        pthread_t thread;
        double result = 0;

        pthread_create(&thread, NULL, first_call, &result);
        pthread_join(thread, NULL);
        bad += result != 204;
    }
    printf("bad=%ld %.20Lf\n", bad, strtold("1.234567890123456789", NULL));
    return bad != 0;
}
