/* The structures of a v4 database, file by file, in the order in which they refer to each
 * other, for `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_DUMP_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_V4_DUMP_DUMP_H

#include "formats/hpctoolkit/dump.h"

/* Dump all files of a directory, or the file `path`. At damage the dump fails, after what
 * comes before it. */
CN_CHECK bool cn_hpc_v4_dump(const char *path, cn_dump_fn emit, void *arg,
                             struct cn_error *err);

/* One file. */
CN_CHECK bool cn_hpc_v4_dump_meta(struct cn_hpc_dump *dump, struct cn_error *err);
CN_CHECK bool cn_hpc_v4_dump_profile(struct cn_hpc_dump *dump, struct cn_error *err);
CN_CHECK bool cn_hpc_v4_dump_cct(struct cn_hpc_dump *dump, struct cn_error *err);
CN_CHECK bool cn_hpc_v4_dump_trace(struct cn_hpc_dump *dump, struct cn_error *err);

#endif
