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
 * Several processes may transpose a database together, each some of the ranges (struct
 * cn_transpose_rank); the sink reserves what is needed in the order of ranges.
 * Threads: cn_transpose_run() returns when all workers have ended.
 */
#ifndef CN_MODEL_CONTEXTS_TRANSPOSE_H
#define CN_MODEL_CONTEXTS_TRANSPOSE_H

#include "base/bytes/wire.h"
#include "model/contexts/database.h"

struct cn_progress;
struct cn_spool;

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

    /* For a database that knows its cells, instead of `context` and `take`; both may be NULL.
     * `layout` is called once, before ranges begin. */
    bool (*layout)(void *arg, const struct cn_cells *cells, struct cn_error *err);
    void (*put)(void *arg, unsigned worker, const struct cn_placed_value *values,
                size_t count);
};

/* What is done by one of the processes that transpose a database together, and what they do
 * together; a step fails on all of them if one is not `ok`. */
struct cn_transpose_rank {
    unsigned number, count; /* of the process; the ranges `number`, number + count, ... */
    unsigned workers;       /* at most, of any process */
    void *arg;

    /* Add up the counts of all processes. */
    bool (*add_counts)(void *arg, bool ok, uint32_t *counts, size_t count,
                       struct cn_error *err);

    /* Only with a folder: open a spool that all processes share; take the messages of all, in
     * their order. */
    bool (*open_spool)(void *arg, struct cn_spool *spool, struct cn_error *err);
    bool (*share)(void *arg, bool ok, const struct cn_text *message, cn_wire_take take,
                  void *take_arg, struct cn_error *err);

    /* `take` calls it once, to reserve bytes for its range after those of the ranges before it,
     * which begin at 0. After a failure it is called instead of `take`, without `ok`. */
    bool (*reserve)(void *arg, bool is_last, bool ok, uint64_t len, uint64_t *off,
                    struct cn_error *err);
};

/* Smaller ranges read every plane more often, larger ones exceed the processor's caches. */
enum { CN_TRANSPOSE_MEMORY_LEN = 64 * 1024 * 1024 };

struct cn_transpose_options {
    unsigned workers;                     /* at least 1 */
    const struct cn_transpose_rank *rank; /* NULL: all ranges */
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
