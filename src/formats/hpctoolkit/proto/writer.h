/* Write a database of HPCToolkit's prototype, into a directory that appears when it is
 * complete.
 *
 * meta.db has the 7 sections of the specification. Contexts and metrics keep their ids.
 * Memory grows with contexts, threads and names, not with values or samples.
 * Threads: one thread at a time for each database; works on options->workers threads.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_WRITER_H

#include "base/error.h"

struct cn_database;
struct cn_write_options;

/* A failure removes what was written and leaves an earlier database at `path` unchanged.
 * What the format cannot contain is passed to options->on_loss. */
CN_CHECK bool cn_hpc_proto_write(struct cn_database *db, const char *path,
                                 const struct cn_write_options *options,
                                 struct cn_error *err);

#endif
