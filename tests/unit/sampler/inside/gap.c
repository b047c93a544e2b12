#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "sampler/inside/gap.h"

static void knows_logarithms(void **state)
{
    (void)state;
    for (uint64_t x = 1; x < UINT64_C(1) << 53; x += x / 7 + 1) {
        double expected = 53 * log(2) - log((double)x);

        assert_true(fabs(cn_gap_log(x) - expected) < 1e-12 * (1 + expected));
    }
    assert_true(fabs(cn_gap_log(UINT64_C(1) << 53)) < 1e-12);
}

/* The mean, and the parts of a distribution that forgets what was before. */
static void is_exponentially_distributed(void **state)
{
    enum { COUNT = 200000, INTERVAL = 524288 };
    uint64_t random = 88172645463325252;
    double sum = 0;
    int above_one = 0, above_two = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        int64_t gap = cn_gap_next(&random, INTERVAL);

        assert_true(gap > 0);
        sum += (double)gap;
        above_one += gap > INTERVAL;
        above_two += gap > 2 * INTERVAL;
    }
    assert_true(fabs(sum / COUNT / INTERVAL - 1) < 0.01);
    assert_true(fabs((double)above_one / COUNT - exp(-1)) < 0.005);
    assert_true(fabs((double)above_two / COUNT - exp(-2)) < 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_logarithms),
        cmocka_unit_test(is_exponentially_distributed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
