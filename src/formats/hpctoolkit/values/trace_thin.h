/* Timelines with fewer samples (model/contexts/thinner.h).
 *
 * Threads: works on the job's threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_TRACE_THIN_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_TRACE_THIN_H

#include "formats/hpctoolkit/values/trace_lines.h"

/* Steps of cn_hpc_trace_lines_encode() and of cn_hpc_trace_lines_place(), with the resolution
 * and the limit of the job's options. */
CN_CHECK bool cn_hpc_trace_thin_encode(struct cn_hpc_trace_lines *lines,
                                       const struct cn_hpc_value_job *job,
                                       const struct cn_hpc_trace_encoding *encoding,
                                       const struct cn_hpc_trace_contexts *contexts,
                                       struct cn_error *err);
CN_CHECK bool cn_hpc_trace_thin_place(struct cn_hpc_trace_lines *lines,
                                      const struct cn_hpc_value_job *job,
                                      const struct cn_hpc_trace_encoding *encoding,
                                      struct cn_out *out, struct cn_error *err);

#endif
