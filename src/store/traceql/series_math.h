/* Arithmetic, filters and choices on series.
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_SERIES_MATH_H
#define CN_STORE_TRACEQL_SERIES_MATH_H

#include "store/traceql/measure.h"

/* Series of the left and right side with the same labels become one; a side that is one series
 * without labels belongs to every series of the other. The result is in `left`. */
void cn_tql_series_join(struct cn_tql_metrics *metrics, enum cn_tql_op op,
                        struct cn_tql_series_set *left,
                        const struct cn_tql_series_set *right);

/* topk(), bottomk(), a comparison or arithmetic with a number. */
void cn_tql_series_apply(struct cn_tql_metrics *metrics, const struct cn_tql_node *node,
                         struct cn_tql_series_set *set);

/* Sort the series by their labels, drop those without a point, and move them to the result. */
void cn_tql_series_finish(struct cn_tql_metrics *metrics, struct cn_tql_series_set *set);

#endif
