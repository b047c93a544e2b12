/* Write profile.db, cct.db and trace.db.
 * Threads: each function works on w->workers threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_VALUE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_VALUE_WRITER_H

#include "formats/hpctoolkit/v4/write/writing.h"

/* Fails on a plane with two values for the same context and metric. A plane that is not
 * sorted is sorted in memory. */
CN_CHECK bool cn_hpc_profiles_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* Needs w->context_count. */
CN_CHECK bool cn_hpc_cct_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* Fails if time runs backwards. */
CN_CHECK bool cn_hpc_traces_write(struct cn_hpc_writing *w, struct cn_error *err);

#endif
