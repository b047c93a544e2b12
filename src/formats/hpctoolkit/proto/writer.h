/* Writing databases of HPCToolkit's prototype: any database of the model, streamed
 * into a directory that appears when it is complete.
 *
 * meta.db has the 7 sections of the text. Contexts keep their ids, metrics theirs.
 * Memory grows with the number of contexts, threads and names, not with that of
 * values or samples.
 * Threads: one thread at a time a database; works on options->workers threads
 * itself.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_WRITER_H

#include "base/error.h"

struct cn_database;
struct cn_write_options;

/* On failure nothing is left behind, and an earlier database at `path` is untouched.
 * What the format cannot hold is told to options->on_loss. */
CN_CHECK bool cn_hpc_proto_write(struct cn_database *db, const char *path,
                                 const struct cn_write_options *options,
                                 struct cn_error *err);

#endif
