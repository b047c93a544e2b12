/* Every rule of a v4 database, checked; every violation reported.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_VERIFY_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_V4_VERIFY_VERIFY_H

#include "model/format.h"

struct cn_hpc_v4_files;

/* Report each broken rule of the database at `path`, and go on where that is
 * possible. */
CN_CHECK bool cn_hpc_v4_verify(const char *path, const struct cn_progress *progress,
                               cn_finding_fn report, void *arg, struct cn_error *err);

/* The same for files in memory; what is not there has a NULL pointer. Copied source
 * files are not looked for. */
CN_CHECK bool cn_hpc_v4_verify_bytes(const struct cn_hpc_v4_files *files,
                                     const struct cn_progress *progress,
                                     cn_finding_fn report, void *arg,
                                     struct cn_error *err);

#endif
