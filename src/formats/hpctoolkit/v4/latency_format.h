/* latency.db, byte by byte: the calls of each context by duration. HPCToolkit has no such
 * file; its readers ignore it.
 *
 * A file of checksummed blocks (base/files/blocks.h) with three sections: the buckets of
 * durations, a record for each profile of profile.db, and the planes of the profiles one after
 * the other. A plane is its counts, by context, then its contexts, ascending. The counts of a
 * context end where those of the next begin, so no two share any.
 * Threads: immutable.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_LATENCY_FORMAT_H
#define CN_FORMATS_HPCTOOLKIT_V4_LATENCY_FORMAT_H

#include "base/bytes/record.h"

#define CN_HPC_LATENCY_NAME  "latency.db"
#define CN_HPC_LATENCY_MAGIC UINT64_C(0x79636e6574616c63) /* "clatency" */

enum {
    CN_HPC_LATENCY_VERSION = 1,
    CN_HPC_LATENCY_BUCKET_MAX = 4096,
};

enum cn_hpc_latency_section {
    CN_HPC_LATENCY_BUCKETS = 1,
    CN_HPC_LATENCY_PROFILES,
    CN_HPC_LATENCY_PLANES,
};

#define CN_HPC_LATENCY_BUCKET(F)                     \
    F(0x00, u64, low_ns, "shortest duration it has") \
    F(0x08, u64, high_ns, "longest duration it has")
CN_RECORD(cn_hpc_latency_bucket, CN_HPC_LATENCY_BUCKET, 0x10);

#define CN_HPC_LATENCY_PROFILE(F)                                                \
    F(0x00, u64, counts_off, "counts, in the section; the contexts follow them") \
    F(0x08, u64, count_count, "number of counts")                                \
    F(0x10, u32, context_count, "number of contexts")
CN_RECORD(cn_hpc_latency_profile, CN_HPC_LATENCY_PROFILE, 0x18);

#define CN_HPC_LATENCY_CONTEXT(F)                                 \
    F(0x00, u64, first, "its first count, an index in the plane") \
    F(0x08, u32, context, "id in meta.db")
CN_RECORD(cn_hpc_latency_context, CN_HPC_LATENCY_CONTEXT, 0x0c);

#define CN_HPC_LATENCY_COUNT(F)                           \
    F(0x00, u16, bucket, "index; ascending in a context") \
    F(0x02, f64, calls, "calls in the bucket")
CN_RECORD(cn_hpc_latency_count, CN_HPC_LATENCY_COUNT, 0x0a);

#endif
