/* A database of HPCToolkit's prototype, opened: a binary meta.db and the value files
 * of its time behind the interface of model/contexts/database.h.
 *
 * A meta.db that stops after the metrics, as the only writer there was left it,
 * opens with a warning: metrics, profiles, timelines and values by context id, but
 * no contexts. The caller owns the database; bytes given to
 * cn_hpc_proto_open_bytes() must outlive it.
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

/* Map the files of a directory, or of the directory that holds the file `path`. */
CN_CHECK bool cn_hpc_proto_open(struct cn_database **out, const char *path,
                                struct cn_error *err);

/* Whether `path` is such a directory, or one of its files. */
bool cn_hpc_proto_probe(const char *path);

#endif
