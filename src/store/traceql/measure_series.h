/* Series of what was measured, for each kind of function.
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_MEASURE_SERIES_H
#define CN_STORE_TRACEQL_MEASURE_SERIES_H

#include "store/traceql/measure.h"

/* One series for each group: rates, counts, sums, averages, extremes and histograms. */
void cn_tql_take_groups(struct cn_tql_measure *measure, struct cn_tql_series_set *out);

/* One series for each group of buckets and quantile. */
void cn_tql_take_quantiles(struct cn_tql_measure *measure, struct cn_tql_series_set *out);

/* compare(): the values of each attribute with the most spans, in the selection and beside it, and the
 * sums of all. */
void cn_tql_take_compared(struct cn_tql_measure *measure, struct cn_tql_series_set *out);

#endif
