#include "analyze/significance.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"

enum { EXACT_MAX = 20 };

struct cn_moments cn_moments_of(const double *values, size_t count)
{
    struct cn_moments out = {.count = (double)count};
    double squares = 0;

    for (size_t i = 0; i < count; i++)
        out.mean += values[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - out.mean) * (values[i] - out.mean);
    out.variance = count > 1 ? squares / (double)(count - 1) : NAN;
    return out;
}

/* How often a exceeds b over all pairs, ties as halves. */
static double count_pairs(const double *a, size_t a_count, const double *b,
                          size_t b_count, bool *has_ties)
{
    double u = 0;

    *has_ties = false;
    for (size_t i = 0; i < a_count; i++)
        for (size_t j = 0; j < b_count; j++) {
            if (a[i] == b[j])
                *has_ties = true;
            u += a[i] > b[j] ? 1 : a[i] == b[j] ? 0.5 : 0;
        }
    return u;
}

/* The share of arrangements of m and n values whose count of pairs is at most `u`. */
static double exact_tail(size_t m, size_t n, double u)
{
    double ways[EXACT_MAX + 1][EXACT_MAX * EXACT_MAX + 1];
    size_t most = m * n;
    double below = 0, all = 0;

    for (size_t k = 0; k <= m; k++)
        memset(ways[k], 0, (most + 1) * sizeof(ways[k][0]));

    /* ways[k][s]: choices of k of the ranks so far whose sum, less the smallest possible,
     * is s. */
    ways[0][0] = 1;
    for (size_t rank = 1; rank <= m + n; rank++)
        for (size_t k = rank < m ? rank : m; k >= 1; k--)
            for (size_t s = rank - k; s <= most; s++)
                ways[k][s] += ways[k - 1][s - (rank - k)];
    for (size_t s = 0; s <= most; s++) {
        all += ways[m][s];
        if ((double)s <= u)
            below += ways[m][s];
    }
    return below / all;
}

/* The sum of t^3 - t over groups of t equal values. */
static double tie_term(const double *a, size_t a_count, const double *b, size_t b_count)
{
    size_t count = a_count + b_count, run = 1;
    double *all = cn_alloc(count, sizeof(*all));
    double sum = 0;

    memcpy(all, a, a_count * sizeof(*a));
    memcpy(all + a_count, b, b_count * sizeof(*b));
    CN_SORT_VALUES(all, count);
    for (size_t i = 1; i <= count; i++) {
        if (i < count && all[i] == all[i - 1]) {
            run++;
            continue;
        }
        sum += (double)run * (double)run * (double)run - (double)run;
        run = 1;
    }
    free(all);
    return sum;
}

static double normal_p(double u, double m, double n, double ties)
{
    double count = m + n;
    double variance = m * n / 12 * (count + 1 - ties / (count * (count - 1)));
    double distance = fabs(u - m * n / 2) - 0.5;

    if (!(variance > 0) || distance <= 0)
        return 1;
    return erfc(distance / sqrt(2 * variance));
}

double cn_rank_test(const double *a, size_t a_count, const double *b, size_t b_count,
                    double *least)
{
    double m = (double)a_count, n = (double)b_count, u, p;
    bool is_exact = a_count <= EXACT_MAX && b_count <= EXACT_MAX, has_ties;

    *least = 1;
    if (a_count == 0 || b_count == 0)
        return 1;
    u = count_pairs(a, a_count, b, b_count, &has_ties);
    u = u < m * n - u ? u : m * n - u;
    *least = is_exact ? 2 * exact_tail(a_count, b_count, 0) : normal_p(0, m, n, 0);
    /* Values that are equal on one side only leave the count of pairs as it is. */
    p = is_exact && !has_ties ? 2 * exact_tail(a_count, b_count, u)
                              : normal_p(u, m, n, tie_term(a, a_count, b, b_count));
    *least = *least < 1 ? *least : 1;
    return p < 1 ? p : 1;
}

/* The regularised incomplete beta function, by its continued fraction (Lentz). */
static double beta_fraction(double a, double b, double x)
{
    enum { STEPS = 300 };
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1), h;

    d = 1 / (fabs(d) < tiny ? tiny : d);
    h = d;
    for (int i = 1; i <= STEPS; i++) {
        double step = i, twice = 2 * step;
        double even = step * (b - step) * x / ((a + twice - 1) * (a + twice));
        double odd = -(a + step) * (a + b + step) * x / ((a + twice) * (a + twice + 1));

        d = 1 + even * d;
        c = 1 + even / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        d = 1 + odd * d;
        c = 1 + odd / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        double change = d * c;
        h *= change;
        if (fabs(change - 1) < 1e-12)
            break;
    }
    return h;
}

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x <= 0 ? 0 : 1;
    double front =
        exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * beta_fraction(a, b, x) / a
                                     : 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* Student's t: the chance of a larger distance from 0. */
static double t_tails(double t, double freedom)
{
    return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* The distance from 0 that is exceeded with a chance of 5 %. */
static double t_limit(double freedom)
{
    double low = 0, high = 1e4;

    for (int i = 0; i < 80; i++) {
        double middle = (low + high) / 2;

        if (t_tails(middle, freedom) > 0.05)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The digits of an estimate that do not depend on the mathematical library: that of the engine
 * is another one. */
static double sure_digits(double value)
{
    char digits[32];

    (void)snprintf(digits, sizeof(digits), "%.6e", value);
    return strtod(digits, NULL);
}

struct cn_difference cn_mean_test(const struct cn_moments *a, const struct cn_moments *b)
{
    struct cn_difference out = {
        .difference = b->mean - a->mean, .half_width = NAN, .p = 1};
    double from_a = a->variance / a->count, from_b = b->variance / b->count;
    double variance = from_a + from_b, freedom;

    if (a->count < 2 || b->count < 2)
        return out;
    /* Rounding of sums is no noise. */
    if (!(variance > 1e-24 * (a->mean * a->mean + b->mean * b->mean))) {
        bool is_same = fabs(out.difference) <= 1e-12 * (fabs(a->mean) + fabs(b->mean));

        out.half_width = 0;
        out.p = is_same ? 1 : 0;
        return out;
    }
    /* As many values on both sides: then Student's test stands unequal variances, and finds
     * more. */
    freedom =
        a->count == b->count
            ? a->count + b->count - 2
            : variance * variance /
                  (from_a * from_a / (a->count - 1) + from_b * from_b / (b->count - 1));
    out.half_width = sure_digits(t_limit(freedom) * sqrt(variance));
    out.p = sure_digits(t_tails(out.difference / sqrt(variance), freedom));
    return out;
}

struct cn_difference cn_sum_test(double difference, double variance, double rest)
{
    static const double normal_limit = 1.959964, many = 1e5;
    struct cn_difference out = {.difference = difference, .half_width = 0};
    double freedom = rest > 0 ? variance * variance / rest : INFINITY;

    if (!(variance > 0)) {
        out.p = difference == 0 ? 1 : 0;
    } else if (freedom > many) {
        out.half_width = normal_limit * sqrt(variance);
        out.p = sure_digits(erfc(fabs(difference) / sqrt(2 * variance)));
    } else {
        out.half_width = sure_digits(t_limit(freedom) * sqrt(variance));
        out.p = sure_digits(t_tails(difference / sqrt(variance), freedom));
    }
    return out;
}

double cn_significant_p(double *p, size_t count, double level)
{
    double found = -1;

    CN_SORT_VALUES(p, count);
    for (size_t i = 0; i < count; i++)
        if (p[i] <= level * (double)(i + 1) / (double)count)
            found = p[i];
    return found;
}
