/* Which rows of a comparison of repeated runs, or of threads, differ by more than noise.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_COMPARE_EVIDENCE_H
#define CN_ANALYZE_COMPARE_EVIDENCE_H

#include <stddef.h>

#include "analyze/compare/comparison.h"
#include "analyze/significance.h"

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

#endif
