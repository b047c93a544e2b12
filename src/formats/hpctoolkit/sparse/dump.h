/* The structures of the older value files, in the order in which they refer to each other,
 * for `cairn dump`.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_DUMP_H

#include "formats/hpctoolkit/sparse/frame.h"
#include "formats/hpctoolkit/values/dump.h"

/* The structures of one file of the given kind. A receiver that stops it makes it succeed
 * and sets *is_stopped. Messages do not name the file. */
CN_CHECK bool cn_hpc_sparse_dump_bytes(const struct cn_hpc_sparse_kind *kind,
                                       struct cn_bytes file, cn_dump_fn emit, void *arg,
                                       bool *is_stopped, struct cn_error *err);

/* The three files of a directory, of which only profile.db must exist. */
CN_CHECK bool cn_hpc_sparse_dump_directory(struct cn_hpc_dump *dump, const char *dir,
                                           struct cn_error *err);

#endif
