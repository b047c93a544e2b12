/* Values by context, from values by profile, without holding all of them.
 *
 * Contexts are split into ranges whose values fit the memory that may be used. The planes of
 * profiles are sorted by context, so the values of a range are one slice of every plane: they
 * are gathered, sorted, and handed out context by context. Values of summary profiles and zeros
 * are left out.
 *
 * Ranges are worked on in parallel. For each range, a worker calls `begin`, `context` for each
 * context that has values, in order, then, for one range at a time and in the order of ranges,
 * `take`, and at last `finish`. What a worker keeps between these calls is indexed by its
 * number. The result does not depend on the number of workers.
 *
 * Of a database that several processes have together, each works on some of the ranges, and
 * all call cn_transpose_run(). The order of `take` holds over all of them; `*number` travels
 * with it.
 * Threads: cn_transpose_run() returns when all workers have ended.
 */
#ifndef CN_MODEL_CONTEXTS_TRANSPOSE_H
#define CN_MODEL_CONTEXTS_TRANSPOSE_H

#include "model/contexts/database.h"

struct cn_progress;

/* Contexts first..last and how many values they have together. */
struct cn_context_range {
    uint32_t first, last;
    uint64_t value_count;
};

struct cn_transpose_sink {
    void *arg;
    bool (*begin)(void *arg, unsigned worker, const struct cn_context_range *range,
                  struct cn_error *err); /* NULL: nothing to do, as for the others */

    /* The plane of a context, sorted by (metric, profile), with no pair twice. Borrowed until
     * this returns. */
    bool (*context)(void *arg, unsigned worker, uint32_t context,
                    struct cn_value_batch plane, struct cn_error *err);
    bool (*take)(void *arg, unsigned worker, const struct cn_context_range *range,
                 struct cn_error *err);
    bool (*finish)(void *arg, unsigned worker, const struct cn_context_range *range,
                   struct cn_error *err);

    /* What `take` finds as the `take` before has left it, on whichever rank that was. It
     * only grows; at the end all ranks have the last one. May be NULL. */
    uint64_t *number;
};

/* Smaller ranges read every plane more often, larger ones leave the processor's caches. */
enum { CN_TRANSPOSE_MEMORY_LEN = 64 * 1024 * 1024 };

struct cn_transpose_options {
    unsigned workers;  /* at least 1 */
    size_t memory_len; /* for values being sorted, by all workers; 0: the constant above.
                          One range may need more: when a single context does. */
    size_t value_len,
        context_len;    /* what the sink keeps for each of a range, of that memory */
    const char *what;   /* for the progress: "writing cct.db" */
    const char *folder; /* for nameless files, which make it faster with many small
                           profiles; NULL: without */
    const struct cn_progress *progress; /* may be NULL */
};

/* All contexts from 0 to the database's context_limit, in ranges. */
CN_CHECK bool cn_transpose_run(struct cn_database *db,
                               const struct cn_transpose_options *options,
                               const struct cn_transpose_sink *sink,
                               struct cn_error *err);

#endif
