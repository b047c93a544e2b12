/* The counters of the processor that triggers read, in pairs (CN_REC_PMU_*): for the recorder,
 * and for the launcher, which tries them before the program starts.
 * Threads: any thread.
 */
#ifndef CN_RECORD_PMU_EVENTS_H
#define CN_RECORD_PMU_EVENTS_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "record/shared.h"

static const uint64_t cn_rec_pmu_events[CN_REC_PMU_COUNT][2] = {
    [CN_REC_PMU_CYCLES] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS},
    [CN_REC_PMU_CACHE] = {PERF_COUNT_HW_CACHE_REFERENCES, PERF_COUNT_HW_CACHE_MISSES},
    [CN_REC_PMU_BRANCHES] = {PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
                             PERF_COUNT_HW_BRANCH_MISSES},
};

static inline struct perf_event_attr cn_rec_pmu_attr(unsigned pair, unsigned which)
{
    return (struct perf_event_attr){
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof(struct perf_event_attr),
        .config = cn_rec_pmu_events[pair][which],
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
}

#endif
