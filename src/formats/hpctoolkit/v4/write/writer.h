/* Write an HPCToolkit v4.0 database, into a directory that appears when it is complete.
 *
 * Contexts keep their ids. Values that are zero are left out, as readers expect. Memory
 * grows with contexts, threads and names, not with values or samples.
 * Threads: one thread at a time for each database; works on options->workers threads.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_WRITER_H

#include "base/error.h"

struct cn_database;
struct cn_ranks;
struct cn_write_options;

/* A failure removes what was written and leaves an earlier database at `path` unchanged.
 * What the format cannot contain is passed to options->on_loss. */
CN_CHECK bool cn_hpc_v4_write(struct cn_database *db, const char *path,
                              const struct cn_write_options *options,
                              struct cn_error *err);

/* The same, called by all ranks, which have analysed the database together: the bytes are those
 * that one process would write. */
CN_CHECK bool cn_hpc_v4_write_together(struct cn_database *db, struct cn_ranks *ranks,
                                       const char *path,
                                       const struct cn_write_options *options,
                                       struct cn_error *err);

#endif
