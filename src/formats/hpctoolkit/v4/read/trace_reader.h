/* trace.db: what each thread did, sample by sample.
 * Threads: immutable after open.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_TRACE_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_TRACE_READER_H

#include "base/arena.h"
#include "formats/hpctoolkit/v4/read/sections.h"
#include "model/contexts/database.h"

struct cn_hpc_trace_place {
    uint32_t profile, index;
};

struct cn_hpc_traces {
    struct cn_hpc_sections sections;
    struct cn_hpc_table table;
    /* In the order of profiles; NULL when trace i belongs to profile i + 1, as usual. */
    const struct cn_hpc_trace_place *by_profile;
    uint64_t begin_ns, end_ns; /* as declared */
};

CN_CHECK bool cn_hpc_traces_open(struct cn_bytes file, struct cn_hpc_traces *out,
                                 struct cn_error *err);

/* Writers list one trace for every profile but the summary, in order, but the format does not
 * promise it: find out, and remember the order where it is another. */
void cn_hpc_traces_sort(struct cn_hpc_traces *traces, struct cn_arena *arena);

/* The samples of trace number `index`, which must exist. They lie inside the
 * file. */
CN_CHECK bool cn_hpc_traces_at(const struct cn_hpc_traces *traces, uint32_t index,
                               struct cn_timeline *out, struct cn_error *err);

/* The samples of a profile; none when no trace belongs to it. Sort first. */
CN_CHECK bool cn_hpc_traces_find(const struct cn_hpc_traces *traces, uint32_t profile,
                                 struct cn_timeline *out, struct cn_error *err);

/* Decode `count` samples from number `first` on, inside the timeline. */
CN_CHECK bool cn_hpc_traces_samples(const struct cn_hpc_traces *traces,
                                    const struct cn_timeline *timeline, uint64_t first,
                                    size_t count, struct cn_sample *out,
                                    struct cn_error *err);

#endif
