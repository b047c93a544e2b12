/* Check every rule of a v4 database; report each violation.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_VERIFY_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_V4_VERIFY_VERIFY_H

#include "model/format.h"

struct cn_hpc_v4_files;

/* Check the database at `path`. Fails only if files cannot be read or the user asks to
 * stop. */
CN_CHECK bool cn_hpc_v4_verify(const char *path, const struct cn_progress *progress,
                               cn_finding_fn report, void *arg, struct cn_error *err);

/* The same for files in memory; missing files have a NULL pointer. Copied source files are
 * not checked. */
CN_CHECK bool cn_hpc_v4_verify_bytes(const struct cn_hpc_v4_files *files,
                                     const struct cn_progress *progress,
                                     cn_finding_fn report, void *arg,
                                     struct cn_error *err);

#endif
