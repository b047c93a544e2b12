/* What the rows of a sampled segment stand for: a trace that was kept at a rate of 5 % for 20 traces.
 *
 * Counts multiply by it where they are extrapolated. Rows of other segments stand for themselves.
 * Owns nothing. Threads: immutable after it was read.
 */
#ifndef CN_STORE_SEGMENT_WEIGHTS_H
#define CN_STORE_SEGMENT_WEIGHTS_H

#include "base/text.h"
#include "store/index/rows.h"
#include "store/segment/config.h"

struct cn_segment;
struct cn_store;

struct cn_row_weights {
    size_t count; /* 0: all rows stand for themselves */
    struct {
        uint32_t first_row, rate;
    } list[CN_STORE_RATES_MAX];
};

/* Of a segment whose rows cannot be read, all stand for themselves: searches report the damage. */
struct cn_row_weights cn_segment_weights(const struct cn_segment *segment);

/* The rate at which the trace of a row was kept, in millionths. */
static inline uint32_t cn_row_rate(const struct cn_row_weights *weights, uint32_t row)
{
    size_t i = weights->count;

    while (i > 0 && weights->list[i - 1].first_row > row)
        i--;
    return i > 0 ? weights->list[i - 1].rate : CN_RATE_ALL;
}

static inline double cn_row_weight(const struct cn_row_weights *weights, uint32_t row)
{
    return (double)CN_RATE_ALL / cn_row_rate(weights, row);
}

/* Those of all segments of a store, by index; the caller frees them. */
struct cn_row_weights *cn_store_weights(const struct cn_store *store);

/* The sum of the weights of a set of rows. */
double cn_rows_weight(const struct cn_row_weights *weights, const struct cn_rows *rows);

const struct cn_store_sampled *cn_segment_sampled(const struct cn_segment *segment);

/* What sampling did to all segments of a store. */
struct cn_store_sampling {
    uint64_t segments; /* that were sampled */
    uint64_t dropped_traces, dropped_spans;
    bool has_rates; /* some traces stand for others: counts are too low */
};
struct cn_store_sampling cn_store_sampling(const struct cn_store *store);

/* Append "sampled: 1234 traces with 5678 spans dropped by rules". */
void cn_store_sampling_print(struct cn_text *out,
                             const struct cn_store_sampling *sampling);

#endif
