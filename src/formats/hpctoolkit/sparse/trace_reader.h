/* trace.db: what each thread did, sample by sample.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_SPARSE_TRACE_READER_H
#define CN_FORMATS_HPCTOOLKIT_SPARSE_TRACE_READER_H

#include "formats/hpctoolkit/sparse/frame.h"
#include "model/contexts/database.h"

struct cn_hpc_sparse_traces {
    struct cn_hpc_sparse_frame frame;
    uint64_t begin_ns, end_ns; /* as declared; 0 where the file does not say */
};

/* Traces do not overlap. */
CN_CHECK bool cn_hpc_sparse_traces_open(struct cn_bytes file,
                                        struct cn_hpc_sparse_traces *out,
                                        struct cn_error *err);

/* The record of trace number `index`, which must exist. */
struct cn_hpc_sparse_trace
cn_hpc_sparse_traces_record(const struct cn_hpc_sparse_traces *traces, uint32_t index);
uint64_t cn_hpc_sparse_traces_off(const struct cn_hpc_sparse_traces *traces,
                                  uint32_t index);

/* Its samples, which lie inside the file. */
CN_CHECK bool cn_hpc_sparse_traces_at(const struct cn_hpc_sparse_traces *traces,
                                      uint32_t index, struct cn_timeline *out,
                                      struct cn_error *err);

/* The samples of a profile; none when no trace of contexts belongs to it. */
CN_CHECK bool cn_hpc_sparse_traces_find(const struct cn_hpc_sparse_traces *traces,
                                        uint32_t profile, struct cn_timeline *out,
                                        struct cn_error *err);

/* Decode `count` samples from number `first` on, inside the timeline. */
CN_CHECK bool cn_hpc_sparse_traces_samples(const struct cn_hpc_sparse_traces *traces,
                                           const struct cn_timeline *timeline,
                                           uint64_t first, size_t count,
                                           struct cn_sample *out, struct cn_error *err);

#endif
