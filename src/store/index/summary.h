/* What a segment contains, in numbers. */
#ifndef CN_STORE_INDEX_SUMMARY_H
#define CN_STORE_INDEX_SUMMARY_H

#include <stdint.h>

struct cn_segment_summary {
    uint64_t first_ns,
        last_ns; /* of its spans; the first is above the last without any */
    uint64_t spans, failed_spans;
    uint64_t traces, failed_traces;
    uint64_t records; /* stored calls */
    uint64_t words;
    uint64_t disk_len; /* bytes of its files */
};

#endif
