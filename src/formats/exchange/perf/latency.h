/* The metric `latency (sec)` of samples: running time, while n threads run only 1/n of it
 * (analyze/concurrency.h).
 *
 * Threads are all of the import, of all ranks, but not idle processors. When they ran is known
 * from switches; else a thread ran for one tick of its clock before each sample. A sample has a weight, which is
 * divided by the number of threads that ran when it was taken, or during its tick; then the samples
 * of a thread are scaled so that their sum is the latency of its runs.
 *
 *     cn_perf_latency_tick(&latency, thread, spot, time_ns, tick_ns);             or
 *     cn_concurrency_add(&latency.concurrency, thread, begin_ns, end_ns);  and
 *     cn_perf_latency_sample(&latency, thread, spot, ns, time_ns, weight);
 *     cn_perf_latency_finish(&latency, import, err)    adds the metric to the import
 *     cn_perf_latency_done(&latency);
 *
 * A zeroed one is empty. Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_LATENCY_H
#define CN_FORMATS_EXCHANGE_PERF_LATENCY_H

#include <stdbool.h>

#include "analyze/concurrency.h"
#include "base/error.h"

struct cn_import;

/* Where a sample was taken. */
struct cn_perf_spot {
    uint32_t context; /* 0: unknown */
    uint32_t point;   /* 1 + number of the instruction in the context; 0: unknown */
};

struct cn_perf_latency {
    struct cn_concurrency concurrency;
    struct cn_perf_latency_sample *samples;
    size_t sample_count, sample_capacity;
    bool is_of_ticks; /* some threads ran for ticks */
    bool has_lost;    /* records, which may be switches */
};

/* A sample of the last `ns` before a time, at least one. */
void cn_perf_latency_sample(struct cn_perf_latency *latency, uint32_t thread,
                            struct cn_perf_spot spot, uint64_t ns, uint64_t time_ns,
                            double weight);

/* A sample of a thread that ran for a tick, or since the sample before if that is at most two ticks
 * ago. Without a tick, it says nothing. */
void cn_perf_latency_tick(struct cn_perf_latency *latency, uint32_t thread,
                          struct cn_perf_spot spot, uint64_t time_ns, uint64_t tick_ns);

/* Without runs there is no such metric. */
CN_CHECK bool cn_perf_latency_finish(struct cn_perf_latency *latency,
                                     struct cn_import *import, struct cn_error *err);
void cn_perf_latency_done(struct cn_perf_latency *latency);

#endif
