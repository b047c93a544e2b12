/* Checks every rule of measurement files and reports every violation.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_VERIFY_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_VERIFY_VERIFY_H

#include "model/format.h"

/* Check all profiles, traces and structure files of a directory, or one profile and its
 * trace. */
CN_CHECK bool cn_hpc_meas_verify(const char *path, const struct cn_progress *progress,
                                 cn_finding_fn report, void *arg, struct cn_error *err);

/* One profile and its trace, which may be empty. */
void cn_hpc_meas_verify_bytes(const char *run_name, struct cn_bytes run,
                              const char *trace_name, struct cn_bytes trace,
                              cn_finding_fn report, void *arg);

#endif
