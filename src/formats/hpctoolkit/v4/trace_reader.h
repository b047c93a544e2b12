/* trace.db: what each thread did, sample by sample.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_TRACE_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_TRACE_READER_H

#include "formats/hpctoolkit/v4/sections.h"
#include "model/database.h"

struct cn_hpc_traces {
    struct cn_hpc_sections sections;
    struct cn_hpc_table table;
    uint64_t begin_ns, end_ns; /* as declared */
};

CN_CHECK bool cn_hpc_traces_open(struct cn_bytes file, struct cn_hpc_traces *out,
                                 struct cn_error *err);

/* The samples of trace number `index`, which must exist. They lie inside the file. */
CN_CHECK bool cn_hpc_traces_at(const struct cn_hpc_traces *traces, uint32_t index,
                               struct cn_timeline *out, struct cn_error *err);

/* The samples of a profile; none when no trace belongs to it. */
CN_CHECK bool cn_hpc_traces_find(const struct cn_hpc_traces *traces, uint32_t profile,
                                 struct cn_timeline *out, struct cn_error *err);

/* Decode `count` samples from number `first` on, inside the timeline. */
CN_CHECK bool cn_hpc_traces_samples(const struct cn_hpc_traces *traces,
                                    const struct cn_timeline *timeline, uint64_t first,
                                    size_t count, struct cn_sample *out,
                                    struct cn_error *err);

#endif
