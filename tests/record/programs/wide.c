/* Arguments and results that fill the widest registers: AVX-512, SVE, pairs of x87
 * registers, as far as the processor has them. */
#include <complex.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

enum { ROUNDS = 20000 };

#define CALL __attribute__((noinline, noclone)) static

struct pair {
    long double first, second;
};

CALL long double complex turn(long double complex x, long double y)
{
    return x * y + I;
}

CALL struct pair swap(struct pair pair, long double more)
{
    return (struct pair){pair.second + more, pair.first};
}

static void on_alarm(int number)
{
    (void)number;
    turn(1, 2);
}

CALL long check_extended(int i)
{
    long double complex turned = turn(i + 2 * I, 0.5L);
    struct pair pair = swap((struct pair){i, i + 1}, 0.25L);

    return (creall(turned) != i * 0.5L) + (cimagl(turned) != 2) +
           (pair.first != i + 1.25L) + (pair.second != i);
}

#if defined(__x86_64__)
#define WIDE __attribute__((target("avx512f")))

CALL WIDE __m512i mix(__m512i a, __m512i b, __m512i c, __m512i d, __m512i e, __m512i f,
                      __m512i g, __m512i h)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

CALL WIDE __mmask16 choose(__m512i a, __mmask16 mask)
{
    return _mm512_mask_cmpgt_epi32_mask(mask, a, _mm512_setzero_si512());
}

CALL WIDE long check_wide(int i)
{
    __m512i lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0) + i;
    __m512i result = mix(lanes, lanes, lanes, lanes, lanes, lanes, lanes, lanes);
    long long seen[8];
    long bad = choose(result, 0x5555) != (i == 0 ? 0x5554 : 0x5555);

    memcpy(seen, &result, sizeof(seen));
    for (int k = 0; k < 8; k++)
        bad += seen[k] != 36LL * (k + i);
    return bad;
}

static int has_wide(void)
{
    return __builtin_cpu_supports("avx512f") != 0;
}
#elif defined(__aarch64__) && __GNUC__ >= 10
#pragma GCC push_options
#pragma GCC target("+sve")
#include <arm_sve.h>

CALL svint64_t mix(svbool_t mask, svint64_t a, svint64_t b, svint64_t c, svint64_t d)
{
    return svadd_m(mask, svadd_m(mask, a, b), svadd_m(mask, c, d));
}

CALL long check_wide(int i)
{
    svbool_t mask = svwhilelt_b64(0, (int)svcntd() - 1); /* all but the last */
    svint64_t lanes = svindex_s64(i, 1);
    svint64_t result = mix(mask, lanes, lanes, lanes, lanes);
    int64_t seen[32];
    long bad = 0, count = (long)svcntd();

    svst1(svptrue_b64(), seen, result);
    for (long k = 0; k < count; k++)
        bad += seen[k] != (k < count - 1 ? 4 : 1) * (i + k);
    return bad;
}
#pragma GCC pop_options

static int has_wide(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0;
}
#endif

int main(void)
{
    struct itimerval timer = {{0, 500}, {0, 500}}, off = {{0, 0}, {0, 0}};
    struct sigaction action;
    long bad = 0;

    memset(&action, 0, sizeof(action));
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        bad += check_extended(i);
        if (has_wide())
            bad += check_wide(i);
    }
    setitimer(ITIMER_REAL, &off, NULL);
    printf("%ld wrong\n", bad);
    return bad != 0;
}
