/* Checks every rule of measurement files and reports every violation.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_VERIFY_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_VERIFY_VERIFY_H

#include "base/findings.h"
#include "formats/hpctoolkit/meas/profile/node_ids.h"
#include "formats/hpctoolkit/meas/profile/run_reader.h"
#include "model/format.h"

/* Check all profiles, traces and structure files of a directory, or one profile and its
 * trace. */
CN_CHECK bool cn_hpc_meas_verify(const char *path, const struct cn_progress *progress,
                                 cn_finding_fn report, void *arg, struct cn_error *err);

/* One profile and its trace, which may be empty. */
void cn_hpc_meas_verify_bytes(const char *run_name, struct cn_bytes run,
                              const char *trace_name, struct cn_bytes trace,
                              cn_finding_fn report, void *arg);

/* State shared by the parts of the verifier. */

struct cn_hpc_verify {
    struct cn_findings f;
    struct cn_bytes bytes;      /* of the file that findings are about */
    struct cn_hpc_node_ids ids; /* of the profile, for its trace */
};

CN_PRINTF(5, 6)
void cn_hpc_verify_report(struct cn_hpc_verify *v, bool is_error, struct cn_bytes where,
                          const char *rule, const char *fmt, ...);

/* Check the contents of a profile whose sections are known to fit the file. */
void cn_hpc_verify_run(struct cn_hpc_verify *v, const struct cn_hpc_run *run);

#endif
