/* Counters that samples read (PERF_SAMPLE_READ): each sample has the values of all counters of
 * its group, which count from the beginning of the recording.
 *
 * Zero-initialised means that none was read.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_READ_H
#define CN_FORMATS_EXCHANGE_PERF_READ_H

#include "formats/exchange/perf/file.h"

struct cn_perf_counters {
    struct cn_map slot_of; /* by id */
    uint64_t *last;        /* values at the sample before */
    size_t count, capacity;
};

struct cn_perf_counted {
    uint32_t event;
    uint64_t value; /* since the sample before */
};

/* Take the next counter of a sample off `sample->reads`. False at the end, or if counters
 * have no ids. */
bool cn_perf_read_next(struct cn_perf_counters *counters, const struct cn_perf_file *file,
                       struct cn_perf_sample *sample, struct cn_perf_counted *out);

void cn_perf_counters_done(struct cn_perf_counters *counters);

#endif
