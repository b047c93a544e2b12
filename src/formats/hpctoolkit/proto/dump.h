/* Every structure of a prototype's database, file by file, in the order in which
 * they refer to each other, for `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_DUMP_H

#include "formats/hpctoolkit/values/dump.h"

/* All files of a directory, or the one file that `path` names. Damage: what comes
 * before it is emitted, then the dump fails. */
CN_CHECK bool cn_hpc_proto_dump(const char *path, cn_dump_fn emit, void *arg,
                                struct cn_error *err);

/* The structures of a meta.db. */
CN_CHECK bool cn_hpc_proto_dump_meta(struct cn_hpc_dump *dump, struct cn_error *err);

#endif
