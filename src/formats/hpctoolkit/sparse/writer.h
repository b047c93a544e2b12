/* Writing the value files of HPCToolkit's older databases: profile.db, cct.db,
 * trace.db.
 *
 * Any database of the model is streamed: memory grows with contexts and profiles,
 * not with values or samples. Values that are zero are left out. Blocks are
 * contiguous, that of the summary is the last of profile.db, ids are sorted, indexes
 * end with their markers: as the readers of the time expect.
 * Threads: one thread at a time a database; works on `workers` threads itself.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_WRITER_H

#include "base/error.h"
#include "formats/hpctoolkit/values/metric_ids.h"

struct cn_database;
struct cn_write_options;

enum { CN_HPC_SPARSE_ID_COUNT = 65536 }; /* metric ids are 16 bits wide */

struct cn_hpc_sparse_writing {
    struct cn_database *db;
    const struct cn_write_options *options;
    const char *dir;  /* where the files go */
    unsigned workers; /* at least 1 */

    /* Metric ids of the database and what the files call them; zeroed: the same. */
    struct cn_hpc_metric_ids threads, summaries;
    /* Where to count values that the tables above drop, CN_HPC_SPARSE_ID_COUNT
     * numbers each, indexed by the id in the database; or NULL. */
    uint64_t *dropped_threads, *dropped_summaries;

    uint64_t listed_count;   /* contexts in the tree */
    uint32_t largest_listed; /* the largest of their ids */
    uint32_t idle_context;   /* written for "does not run" instead of 0 */
    bool has_time_range;     /* trace.db states it, as the prototype's does */
};

/* The three files; no trace.db without samples or with options->without_timelines.
 * What they cannot hold, dropped metrics apart, is told to options->on_loss. */
CN_CHECK bool cn_hpc_sparse_write(const struct cn_hpc_sparse_writing *w,
                                  struct cn_error *err);

#endif
