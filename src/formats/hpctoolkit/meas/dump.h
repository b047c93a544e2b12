/* Every structure of measurement files, for `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_DUMP_H

#include "model/format.h"

/* All profiles and traces of a directory, or the one file that `path` names.
 * Damage: what comes before it is emitted, then the dump fails. */
CN_CHECK bool cn_hpc_meas_dump(const char *path, cn_dump_fn emit, void *arg,
                               struct cn_error *err);

/* The structures of one .hpcrun or .hpctrace file. Messages do not name it. */
CN_CHECK bool cn_hpc_meas_dump_bytes(const char *name, struct cn_bytes file,
                                     cn_dump_fn emit, void *arg, struct cn_error *err);

#endif
