/* Is a difference real? Statistics of two samples: values of repeated runs, of threads or of
 * calls.
 *
 * Values are summarised by count, mean and variance; where all values are known, a rank test
 * guards against outliers.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_SIGNIFICANCE_H
#define CN_ANALYZE_SIGNIFICANCE_H

#include <stddef.h>

struct cn_moments {
    double count, mean, variance; /* variance of the sample: divided by count - 1 */
};

struct cn_moments cn_moments_of(const double *values, size_t count);

/* The two-sided p-value of Mann and Whitney's rank test, exact for up to 20 values on each
 * side without ties, otherwise by the normal approximation with ties and continuity
 * corrected. 1 if a side is empty. `least` is the smallest that these numbers of values can
 * give. */
double cn_rank_test(const double *a, size_t a_count, const double *b, size_t b_count,
                    double *least);

/* The difference of two means: Welch's test, or Student's for as many values on both sides. */
struct cn_difference {
    double difference; /* of the means: b - a */
    double half_width; /* of the 95 % confidence interval; NAN: unknown */
    double p;          /* two-sided; 1: unknown */
};

/* Unknown with fewer than two values on a side. */
struct cn_difference cn_mean_test(const struct cn_moments *a, const struct cn_moments *b);

/* Welch's test for a difference with this variance, which is a sum of estimates: `rest` is the sum
 * of their squares, each by its degrees of freedom; 0: the variance is known. */
struct cn_difference cn_sum_test(double difference, double variance, double rest);

/* Benjamini and Hochberg: the largest of `count` p-values that is significant if at most a
 * share `level` of those called so may be wrong; -1: none is. If nothing has changed, the
 * chance of calling anything significant is `level`. Sorts `p`. */
double cn_significant_p(double *p, size_t count, double level);

#endif
