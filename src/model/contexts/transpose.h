/* Values by context, from values by profile, without loading all of them.
 *
 * Contexts are split into ranges whose values fit into memory. The planes of profiles are
 * sorted by context, so the values of a range are one slice of every plane: they are
 * gathered, sorted, and delivered context by context. Values of summary profiles and zeros
 * are skipped.
 *
 * Ranges are processed in parallel. For each range a worker calls `begin`, then `context`
 * for each context with values, in order, then `take`, for one range at a time and in the
 * order of ranges, and last `finish`. State between these calls is indexed by the number of
 * the worker. The result does not depend on the number of workers.
 *
 * A database that knows its cells is transposed in one pass: a sink with `layout` and `put`
 * gets values in no order, with their indices in the planes of contexts. For each range a
 * worker calls `begin`, then `put` for some values at a time, and last `finish`; ranges need
 * no order, and no values are gathered.
 *
 * Of a database on several ranks, each rank processes some of the ranges, and all call
 * cn_transpose_run(). `take` is called in the order of ranges over all ranks, and `*number`
 * is passed on.
 * Threads: cn_transpose_run() returns when all workers have ended.
 */
#ifndef CN_MODEL_CONTEXTS_TRANSPOSE_H
#define CN_MODEL_CONTEXTS_TRANSPOSE_H

#include "model/contexts/database.h"

struct cn_progress;
struct cn_ranks;

/* Contexts first..last, and the number of their values. */
struct cn_context_range {
    uint32_t first, last;
    uint64_t value_count;
};

/* A value, and its index in the plane of its context. */
struct cn_placed_value {
    double value;
    uint32_t profile;
    uint32_t context;
    uint32_t index;
};

struct cn_transpose_sink {
    void *arg;
    bool (*begin)(void *arg, unsigned worker, const struct cn_context_range *range,
                  struct cn_error *err); /* may be NULL, like `take` and `finish` */

    /* The plane of a context, sorted by (metric, profile), without duplicates. Valid until
     * this returns. */
    bool (*context)(void *arg, unsigned worker, uint32_t context,
                    struct cn_value_batch plane, struct cn_error *err);
    bool (*take)(void *arg, unsigned worker, const struct cn_context_range *range,
                 struct cn_error *err);
    bool (*finish)(void *arg, unsigned worker, const struct cn_context_range *range,
                   struct cn_error *err);

    /* A number that `take` receives from the `take` before, on any rank. It may only grow;
     * at the end all ranks have the last one. May be NULL. */
    uint64_t *number;

    /* For a database that knows its cells, instead of `context` and `take`; both may be NULL.
     * All ranks call `layout` once, before ranges begin. */
    bool (*layout)(void *arg, const struct cn_cells *cells, struct cn_error *err);
    void (*put)(void *arg, unsigned worker, const struct cn_placed_value *values,
                size_t count);
};

/* Smaller ranges read every plane more often, larger ones exceed the processor's caches. */
enum { CN_TRANSPOSE_MEMORY_LEN = 64 * 1024 * 1024 };

struct cn_transpose_options {
    unsigned workers;       /* at least 1 */
    struct cn_ranks *ranks; /* a channel of those of the database; NULL: these */
    size_t memory_len; /* for the values of all workers; 0: the constant above. A single
                          large context may need more. */
    size_t value_len, context_len; /* bytes of that memory that the sink needs for each */
    const char *what;              /* for the progress: "writing cct.db" */
    const char *folder; /* for nameless files, which are faster with many small profiles;
                           NULL: none */
    const struct cn_progress *progress; /* may be NULL */
};

/* Transpose all contexts, from 0 to the context_limit of the database. */
CN_CHECK bool cn_transpose_run(struct cn_database *db,
                               const struct cn_transpose_options *options,
                               const struct cn_transpose_sink *sink,
                               struct cn_error *err);

#endif
