/* The structures of a prototype's database, file by file, in the order in which they refer
 * to each other, for `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_DUMP_H

#include "formats/hpctoolkit/dump.h"

/* Dump all files of a directory, or the file `path`. At damage the dump fails, after what
 * comes before it. */
CN_CHECK bool cn_hpc_proto_dump(const char *path, cn_dump_fn emit, void *arg,
                                struct cn_error *err);

/* The structures of a meta.db. */
CN_CHECK bool cn_hpc_proto_dump_meta(struct cn_hpc_dump *dump, struct cn_error *err);

#endif
