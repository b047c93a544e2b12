/* Counters of the processor, for triggers such as `-T FUNC@read=pmu-cycle`.
 * Threads: any thread, its own counters.
 */
#ifndef CN_RECORD_CALLS_PMU_H
#define CN_RECORD_CALLS_PMU_H

#include <stdint.h>

struct cn_rec_thread;

/* Read a pair of counters (CN_REC_PMU_*); both are 0 when they cannot be read. */
void cn_rec_pmu_read(struct cn_rec_thread *self, uint32_t pair, uint64_t out[static 2]);

/* Close the counters of a thread that ends. */
void cn_rec_pmu_close(struct cn_rec_thread *self);

#endif
