/* Is a difference real? Statistics of two samples: values of repeated runs, of threads or of
 * calls.
 *
 * Values are summarised by count, mean and variance; where all values are known, a rank test
 * guards against outliers.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_COMPARE_EVIDENCE_H
#define CN_ANALYZE_COMPARE_EVIDENCE_H

#include <stddef.h>

#include "analyze/compare/comparison.h"

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

enum cn_verdict {
    CN_VERDICT_UNKNOWN, /* no error bar */
    CN_VERDICT_REAL,
    CN_VERDICT_NOISE, /* no larger than the values of a side differ among themselves */
    CN_VERDICT_SMALL, /* below 0.1 % of the whole: not tested */
};

const char *cn_verdict_name(enum cn_verdict verdict);

struct cn_evidence {
    struct cn_difference difference;
    double rank_p; /* of the rank test; NAN: none was made */
    enum cn_verdict verdict;
};

/* Whether rows differ between the sides of a comparison: `values` are those of row i in run r,
 * at [i * run_count + r], and `whole` is what 0.1 % of counts as small. With fewer than two
 * runs on a side nothing is known. The mean decides which rows are tested, not the
 * difference; a row is real if the rank test and the test of means say so, the latter with at
 * most 1 % of wrong verdicts. */
void cn_evidence_find(struct cn_evidence *out, size_t count, const double *values,
                      double whole, const struct cn_comparison *c);

/* Benjamini and Hochberg: the largest of `count` p-values that is significant if at most a
 * share `level` of those called so may be wrong; -1: none is. If nothing has changed, the
 * chance of calling anything significant is `level`. Sorts `p`. */
double cn_significant_p(double *p, size_t count, double level);

#endif
