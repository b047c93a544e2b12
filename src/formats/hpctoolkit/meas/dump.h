/* Every structure of measurement files, for `cairn dump`.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_DUMP_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_DUMP_H

#include "formats/hpctoolkit/dump.h"

/* Emit all profiles and traces of a directory, or the one file `path`. At damage, the
 * structures before it have been emitted. */
CN_CHECK bool cn_hpc_meas_dump(const char *path, cn_dump_fn emit, void *arg,
                               struct cn_error *err);

/* One .hpcrun or .hpctrace file. */
CN_CHECK bool cn_hpc_meas_dump_contents(struct cn_hpc_dump *dump, struct cn_error *err);

#endif
