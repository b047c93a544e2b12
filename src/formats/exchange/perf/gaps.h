/* When records were lost: between the last record of a processor and the one that counts them.
 *
 *     cn_perf_gaps_see(&gaps, cpu, time_ns);      each record
 *     cn_perf_gaps_add(&gaps, cpu, time_ns);      records of losses
 *     cn_perf_gaps_finish(&gaps);                 then ask
 *     cn_perf_gaps_done(&gaps);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_GAPS_H
#define CN_FORMATS_EXCHANGE_PERF_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cn_perf_gaps {
    struct cn_perf_gap *list;
    struct cn_map seen_of; /* by processor: in `seen_ns` */
    uint64_t *seen_ns;     /* the last record of a processor */
    size_t count, capacity, seen_count, seen_capacity;
};

void cn_perf_gaps_done(struct cn_perf_gaps *gaps); /* a zeroed one is fine */

void cn_perf_gaps_see(struct cn_perf_gaps *gaps, uint32_t cpu, uint64_t time_ns);
void cn_perf_gaps_add(struct cn_perf_gaps *gaps, uint32_t cpu, uint64_t time_ns);
void cn_perf_gaps_finish(struct cn_perf_gaps *gaps);

/* True if no record was lost in this time. */
bool cn_perf_gaps_is_sure(const struct cn_perf_gaps *gaps, uint64_t begin_ns,
                          uint64_t end_ns);

#endif
