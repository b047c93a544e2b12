/* Writing the measurements: profile.db, cct.db and trace.db.
 * Threads: each works on w->workers threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_WRITE_VALUE_WRITER_H
#define CN_FORMATS_HPCTOOLKIT_V4_WRITE_VALUE_WRITER_H

#include "formats/hpctoolkit/v4/write/writing.h"

/* All profiles. Refuses a plane with two values for the same context and metric; one that is
 * not sorted is sorted in memory. */
CN_CHECK bool cn_hpc_profiles_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* The same values by context, through model/contexts/transpose.h. Needs w->context_count. */
CN_CHECK bool cn_hpc_cct_write(const struct cn_hpc_writing *w, struct cn_error *err);

/* Timelines; no file at all when there is no sample. Refuses time that runs backwards. */
CN_CHECK bool cn_hpc_traces_write(const struct cn_hpc_writing *w, struct cn_error *err);

#endif
