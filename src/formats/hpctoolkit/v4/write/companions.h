/* The text files of a database: the taxonomy of metrics and the documents that explain it.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_COMPANIONS_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_COMPANIONS_H

#include "formats/hpctoolkit/v4/write/writing.h"

/* Write metrics/default.yaml. Formulas over statistics that the database lacks are left out
 * and reported as lost: one of them would make readers reject the file. */
CN_CHECK bool cn_hpc_taxonomy_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* Write FORMATS.md and metrics/METRICS.yaml.ex. */
CN_CHECK bool cn_hpc_documents_write(const struct cn_hpc_writing *w,
                                     struct cn_error *err);

#endif
