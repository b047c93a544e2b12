/* Measures the rows of a segment on all processors: by columns where the labels and what is measured are
 * there or in the columns of packed records, and span by span where they are not.
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_MEASURE_ROWS_H
#define CN_STORE_TRACEQL_MEASURE_ROWS_H

#include "store/traceql/measure.h"
#include "store/traceql/run.h"

/* Measure those of some rows of a segment that match; not for compare(). The result is that of
 * cn_tql_measure_add() for each, in their order. A row that cannot be read costs itself alone: the search of
 * the run reports it. */
CN_CHECK bool cn_tql_measure_rows(struct cn_tql_measure *measure,
                                  const struct cn_tql_rest *rest, uint32_t segment,
                                  const struct cn_rows *rows, struct cn_error *err);

#endif
