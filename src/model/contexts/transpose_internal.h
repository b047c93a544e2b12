/* A transposition while it runs, shared by the files that implement it.
 * Threads: see transpose.h; each worker has its own part.
 */
#ifndef CN_MODEL_CONTEXTS_TRANSPOSE_INTERNAL_H
#define CN_MODEL_CONTEXTS_TRANSPOSE_INTERNAL_H

#include "base/run/failures.h"
#include "model/contexts/metric_sort.h"
#include "model/contexts/transpose.h"
#include "model/contexts/transpose_spill.h"

enum { CN_PLACED_BATCH = 256 }; /* values that are put at once */

/* Indices in the plane of a context. */
struct cn_cell_span {
    uint32_t next, end;
};

struct cn_transpose_worker {
    struct cn_value_cursor cursor;
    uint32_t *counts;           /* of contexts, while counting */
    uint64_t unforgotten_count; /* values read since pages were dropped */

    struct cn_value *values; /* of a range: by context, then by profile */
    uint32_t *next;          /* per context of the range: index of its next value */
    size_t value_capacity, next_capacity;

    struct cn_spilled_value *spilled; /* of a range, in one chunk */
    size_t spilled_capacity;

    struct cn_metric_sort sort; /* of a context */

    struct cn_cell_span *spans; /* per cell of the range: what is left of it */
    size_t span_capacity;
    struct cn_placed_value placed[CN_PLACED_BATCH]; /* not yet put */
    size_t placed_count;
};

struct cn_transposition {
    struct cn_database *db;
    const struct cn_transpose_options *options;
    const struct cn_transpose_sink *sink;
    struct cn_transpose_worker *workers;
    struct cn_failures failures;
    uint32_t *threads; /* profiles that are not summaries */
    size_t thread_count;
    size_t own_first, own_count;  /* threads of this process */
    uint32_t *counts;             /* values of each context */
    const struct cn_cells *cells; /* NULL: planes of contexts are delivered */
    size_t *cell_starts;          /* by context: its first cell; and the end */
    struct cn_context_range *ranges;
    size_t range_count, range_capacity;
    uint64_t value_count, done_count; /* of this process */
    struct cn_spill *spill;           /* NULL: values are read from the profiles */
    struct cn_zero_ids zero_ids;
};

/* Count the values of each context. */
CN_CHECK bool cn_transpose_count(struct cn_transposition *t, struct cn_error *err);

/* Count them in the cells of the database, and lay them out. */
CN_CHECK bool cn_transpose_lay_out(struct cn_transposition *t, struct cn_error *err);

/* Put the values of a range: begin; for all profiles in their order some values, of one
 * profile or out of the spill; end. */
void cn_transpose_place_begin(const struct cn_transposition *t,
                              const struct cn_context_range *range,
                              struct cn_transpose_worker *self);
CN_CHECK bool cn_transpose_place_slice(const struct cn_transposition *t,
                                       const struct cn_context_range *range,
                                       unsigned worker, uint32_t profile,
                                       struct cn_value_batch batch, struct cn_error *err);
CN_CHECK bool cn_transpose_place_spilled(const struct cn_transposition *t,
                                         const struct cn_context_range *range,
                                         unsigned worker, size_t count,
                                         size_t first_thread, struct cn_error *err);
CN_CHECK bool cn_transpose_place_end(const struct cn_transposition *t,
                                     const struct cn_context_range *range,
                                     unsigned worker, struct cn_error *err);

/* Call it after reading some values: drops pages of mapped files now and then. */
void cn_transpose_forget(const struct cn_transposition *t,
                         struct cn_transpose_worker *self, uint64_t value_count);

#endif
