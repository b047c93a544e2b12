/* The structures of a v4 database, file by file, in the order in which they refer to each
 * other, for `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_DUMP_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_V4_DUMP_DUMP_H

#include "model/format.h"

struct cn_hpc_file_kind;

/* Dump all files of a directory, or the file `path`. At damage the dump fails, after what
 * comes before it. */
CN_CHECK bool cn_hpc_v4_dump(const char *path, cn_dump_fn emit, void *arg,
                             struct cn_error *err);

/* The structures of one file of the given kind. Messages do not name the file. */
CN_CHECK bool cn_hpc_v4_dump_bytes(const struct cn_hpc_file_kind *kind,
                                   struct cn_bytes file, cn_dump_fn emit, void *arg,
                                   struct cn_error *err);

#endif
