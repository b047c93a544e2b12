/* What a database holds beside its binary files: the taxonomy of metrics and the
 * documents that explain it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_COMPANIONS_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_COMPANIONS_H

#include "formats/hpctoolkit/v4/write/writing.h"

/* metrics/default.yaml. Formulas over statistics that the database does not have are left
 * out and counted as lost: readers refuse the whole file for one of them. */
CN_CHECK bool cn_hpc_taxonomy_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* FORMATS.md and metrics/METRICS.yaml.ex. */
CN_CHECK bool cn_hpc_documents_write(const struct cn_hpc_writing *w,
                                     struct cn_error *err);

#endif
