/* State shared by the parts of the verifier.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_VERIFY_RUN_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_VERIFY_RUN_H

#include "base/findings.h"
#include "formats/hpctoolkit/meas/profile/node_ids.h"
#include "formats/hpctoolkit/meas/profile/run_reader.h"

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
