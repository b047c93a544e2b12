/* The rules of experiment.xml itself: well-formed XML, valid nesting, valid numbers, unique
 * ids, references to existing rows.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_VERIFY_DOCUMENT_H
#define CN_FORMATS_HPCTOOLKIT_XML_VERIFY_DOCUMENT_H

#include "base/bytes/bytes.h"
#include "base/map.h"
#include "formats/hpctoolkit/check.h"

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
