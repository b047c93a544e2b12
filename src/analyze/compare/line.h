/* One line of a comparison as every view, export and API shows it: the numbers of a change
 * (explain.h) or a row (rows.h), and what follows from them.
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_COMPARE_LINE_H
#define CN_ANALYZE_COMPARE_LINE_H

#include "analyze/compare/explain.h"
#include "analyze/compare/rows.h"

/* NAN: unknown, or not tested. */
struct cn_compare_line {
    double value[CN_SIDES];
    double difference, ratio, share_percent;
    double half_width, p, rank_p;
    double calls[CN_SIDES];
    enum cn_verdict verdict;
};

/* `gross` is what shares are of. */
struct cn_compare_line cn_compare_line_of_change(const struct cn_comparison *c,
                                                 const struct cn_change *change,
                                                 double gross);
struct cn_compare_line cn_compare_line_of_row(const struct cn_comparison *c,
                                              const struct cn_compare_row *row,
                                              double gross);

#endif
