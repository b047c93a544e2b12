/* The format of measurement directories of hpcrun and hpcstruct.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_MEAS_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_MEAS_H

#include "formats/hpctoolkit/dump.h"
#include "model/format.h"

extern const struct cn_format cn_format_hpctoolkit_meas;

/* Every structure of measurement files, for `cairn dump`. */

/* Emit all profiles and traces of a directory, or the one file `path`. At damage, the
 * structures before it have been emitted. */
CN_CHECK bool cn_hpc_meas_dump(const char *path, cn_dump_fn emit, void *arg,
                               struct cn_error *err);

/* One .hpcrun or .hpctrace file. */
CN_CHECK bool cn_hpc_meas_dump_contents(struct cn_hpc_dump *dump, struct cn_error *err);

#endif
