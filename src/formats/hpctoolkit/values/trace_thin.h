/* Timelines with fewer samples: of the samples in a cell of `resolution` nanoseconds, the last
 * is written, so that no two have the same time and the context at every multiple of the
 * resolution is right.
 *
 * With a limit of samples per timeline, the resolution of a timeline is doubled until it has
 * no more. Cells nest, so the result does not depend on how a timeline is divided in parts.
 * Threads: works on the job's threads and returns when all have ended.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_TRACE_THIN_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_TRACE_THIN_H

#include "formats/hpctoolkit/values/trace_lines.h"

/* A timeline being thinned. Set the first two and zero the rest; free the list. */
struct cn_hpc_thinner {
    uint64_t resolution_ns, sample_max; /* no limit: 0 */
    struct cn_sample *list;
    size_t count, capacity;
    uint64_t cell_last_ns; /* of the last sample's cell */
};

/* Add samples, which must not run backwards in time. */
CN_CHECK bool cn_hpc_thinner_add(struct cn_hpc_thinner *thinner,
                                 const struct cn_sample *samples, size_t count,
                                 struct cn_error *err);

/* Make cells larger until the limit holds. */
void cn_hpc_thinner_end(struct cn_hpc_thinner *thinner);

/* cn_hpc_trace_lines_write() with the resolution and the limit of the job's options. */
CN_CHECK bool cn_hpc_trace_thin_write(struct cn_hpc_trace_lines *lines,
                                      const struct cn_hpc_value_job *job,
                                      const struct cn_hpc_trace_encoding *encoding,
                                      const struct cn_hpc_trace_contexts *contexts,
                                      struct cn_out *out, struct cn_error *err);

#endif
