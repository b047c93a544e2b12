/* Checks every rule of an experiment.xml database and reports every violation.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_VERIFY_VERIFY_H
#define CN_FORMATS_HPCTOOLKIT_XML_VERIFY_VERIFY_H

#include "base/bytes/bytes.h"
#include "base/map.h"
#include "formats/hpctoolkit/check.h"
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

/* The rules of experiment.xml itself: well-formed XML, valid nesting, valid numbers, unique
 * ids, references to existing rows. */

/* What the value files must agree with. */
struct cn_hpc_xml_document {
    bool is_readable; /* it is well-formed XML */
    struct cn_hpc_set thread_ids, summary_ids;
    struct cn_hpc_set contexts; /* ids of elements of the tree */
    uint32_t context_last;
    uint32_t kind_count;
    struct cn_map sample_ids;
};

/* Findings are about the file that `f` has begun. */
void cn_hpc_xml_document_verify(struct cn_hpc_xml_document *out, struct cn_findings *f,
                                struct cn_bytes text, unsigned major);
void cn_hpc_xml_document_done(struct cn_hpc_xml_document *document);

#endif
