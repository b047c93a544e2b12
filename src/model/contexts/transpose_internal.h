/* A transposition while it runs, shared by the files that implement it.
 * Threads: see transpose.h; each worker has a range of its own.
 */
#ifndef CN_MODEL_CONTEXTS_TRANSPOSE_INTERNAL_H
#define CN_MODEL_CONTEXTS_TRANSPOSE_INTERNAL_H

#include "base/run/failures.h"
#include "model/contexts/database.h"
#include "model/contexts/transpose.h"

struct cn_spill;

/* The values of many small profiles, sorted by ranges of contexts, in nameless files.
 *
 * If every range has only a few values in each profile, reading all profiles again for each
 * range takes longer than writing the values once more: in chunks of many profiles, each
 * sorted by range. After building, each range is read chunk by chunk; chunks are in the
 * order of profiles, and so are the values in them.
 * Threads: one thread builds, with workers; any thread may read.
 */

struct cn_spilled_value {
    double value;
    uint32_t context;
    uint16_t metric;
    uint16_t thread; /* from the first one of the chunk */
};

struct cn_spill_request {
    struct cn_database *db;
    const struct cn_transpose_rank *rank; /* NULL: all threads are of this process */
    const uint32_t *threads;              /* profiles, in order */
    size_t thread_count;
    size_t own_first, own_count;           /* threads of this process */
    const struct cn_context_range *ranges; /* of all contexts, in order */
    size_t range_count;
    unsigned workers;
    const char *folder; /* for the files */
    const struct cn_zero_ids *zero_ids;
    const struct cn_progress *progress;
};

/* Processes that work together call it with the same ranges. The arrays of the request must
 * outlive the result. */
CN_CHECK bool cn_spill_build(struct cn_spill **out,
                             const struct cn_spill_request *request,
                             struct cn_error *err);
void cn_spill_free(struct cn_spill *spill); /* NULL is fine */

size_t cn_spill_chunk_count(const struct cn_spill *spill);

/* The number of values of a range in a chunk, and the index of its first thread. */
size_t cn_spill_count(const struct cn_spill *spill, size_t chunk, size_t range,
                      size_t *first_thread);

/* Read these values. */
CN_CHECK bool cn_spill_read(const struct cn_spill *spill, size_t chunk, size_t range,
                            struct cn_spilled_value *values, struct cn_error *err);

/* A stable counting sort of the values of one context by metric, in linear time: values of
 * the same metric stay in the order of profiles.
 *
 * One struct sorts many contexts, one after another. */

struct cn_metric_sort {
    struct cn_value *sorted; /* of a context: by metric, then by profile */
    size_t sorted_capacity;
    uint32_t *next;    /* per metric: its count, then the index of its next value; all
                          zero between contexts */
    uint16_t *metrics; /* of the context */
    size_t metric_count;
};

void cn_metric_sort_init(struct cn_metric_sort *sort);
void cn_metric_sort_done(struct cn_metric_sort *sort);

/* Sort into sort->sorted, which is valid until the next call. Fails if a profile has two
 * values of a metric. */
CN_CHECK bool cn_metric_sort_run(struct cn_metric_sort *sort, uint32_t context,
                                 const struct cn_value *values, size_t count,
                                 struct cn_error *err);

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
