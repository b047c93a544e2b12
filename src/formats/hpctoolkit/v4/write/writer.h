/* Writing HPCToolkit v4.0 databases: any database of the model, streamed into a directory
 * that appears when it is complete.
 *
 * Contexts keep their ids. Values that are zero are left out, as readers expect. Memory grows
 * with the number of contexts, threads and names, not with that of values or samples.
 * Threads: one thread at a time a database; works on options->workers threads itself.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_WRITER_H

#include "base/error.h"

struct cn_database;
struct cn_write_options;

/* On failure nothing is left behind, and an earlier database at `path` is untouched. What the
 * format or the target cannot hold is told to options->on_loss. */
CN_CHECK bool cn_hpc_v4_write(struct cn_database *db, const char *path,
                              const struct cn_write_options *options,
                              struct cn_error *err);

#endif
