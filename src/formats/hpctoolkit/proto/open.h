/* Open a database of HPCToolkit's prototype: a binary meta.db and the older value files.
 *
 * A meta.db that stops after the metrics, as its only writer left it, opens with a warning:
 * it has metrics, profiles, timelines and values by context id, but no contexts.
 * The caller owns the database; bytes given to cn_hpc_proto_open_bytes() must outlive it.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_OPEN_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_OPEN_H

#include "base/error.h"
#include "formats/hpctoolkit/sparse/open.h"

struct cn_hpc_proto_files {
    struct cn_bytes meta;
    struct cn_hpc_sparse_files values;
};

/* meta.db and profile.db must be readable. */
CN_CHECK bool cn_hpc_proto_open_bytes(struct cn_database **out,
                                      const struct cn_hpc_proto_files *files,
                                      struct cn_error *err);

/* Map the files of the directory `path`, or of the directory of the file `path`. */
CN_CHECK bool cn_hpc_proto_open(struct cn_database **out, const char *path,
                                struct cn_error *err);

/* True if `path` is such a directory, or one of its files. */
bool cn_hpc_proto_probe(const char *path);

#endif
