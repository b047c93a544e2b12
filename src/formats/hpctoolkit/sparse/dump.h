/* The structures of the older value files, in the order in which they refer to each other,
 * for `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_DUMP_H

#include "formats/hpctoolkit/dump.h"
#include "formats/hpctoolkit/sparse/frame.h"

/* The files of a directory, in their order. */
extern const struct cn_hpc_dump_kind cn_hpc_sparse_dumps[CN_HPC_SPARSE_KIND_COUNT];

/* Dump all files of a directory, or the file `path`: those of `tree` and the value files. At
 * damage the dump fails, after what comes before it. */
CN_CHECK bool cn_hpc_sparse_dump(const char *path, const struct cn_hpc_dump_kind *tree,
                                 cn_dump_fn emit, void *arg, struct cn_error *err);

#endif
