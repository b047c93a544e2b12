/* Checks every rule of an experiment.xml database and reports every violation.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_VERIFY_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_XML_VERIFY_VERIFY_H

#include "model/format.h"

struct cn_hpc_legacy_files;
struct cn_hpc_xml_files;

/* Check the database at `path`; continues after a violation where possible. */
CN_CHECK bool cn_hpc_xml_verify(const char *path, const struct cn_progress *progress,
                                cn_finding_fn report, void *arg, struct cn_error *err);
CN_CHECK bool cn_hpc_legacy_verify(const char *path, const struct cn_progress *progress,
                                   cn_finding_fn report, void *arg, struct cn_error *err);

/* The same for files in memory; a missing file has a NULL pointer. */
CN_CHECK bool cn_hpc_xml_verify_bytes(const struct cn_hpc_xml_files *files,
                                      const struct cn_progress *progress,
                                      cn_finding_fn report, void *arg,
                                      struct cn_error *err);
CN_CHECK bool cn_hpc_legacy_verify_bytes(const struct cn_hpc_legacy_files *files,
                                         cn_finding_fn report, void *arg);

#endif
