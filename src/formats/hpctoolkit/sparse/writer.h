/* Write the value files of HPCToolkit's older databases: profile.db, cct.db, trace.db.
 *
 * Values and samples are streamed: memory grows with contexts and profiles only. Zeros that
 * mean nothing are left out. As the readers of the time expect, blocks are contiguous, the
 * summary's block is the last of profile.db, ids are sorted, and indexes end with their
 * markers.
 * Threads: one thread at a time for each database; works on `workers` threads.
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
    const char *dir;  /* of the files */
    unsigned workers; /* at least 1 */

    /* Metric ids of the database and of the files; zeroed: the same. */
    struct cn_hpc_metric_ids threads, summaries;
    /* Counts of values that the tables above drop: CN_HPC_SPARSE_ID_COUNT numbers, by the
     * id in the database; or NULL. */
    uint64_t *dropped_threads, *dropped_summaries;

    uint64_t listed_count;   /* contexts in the tree */
    uint32_t largest_listed; /* the largest of their ids */
    uint32_t idle_context;   /* written for "not running" instead of 0 */
    bool has_time_range;     /* trace.db declares it, as the prototype's does */
};

/* Write the three files; no trace.db without timelines or with options->without_timelines.
 * What is lost, except dropped metrics, is passed to options->on_loss. */
CN_CHECK bool cn_hpc_sparse_write(const struct cn_hpc_sparse_writing *w,
                                  struct cn_error *err);

#endif
