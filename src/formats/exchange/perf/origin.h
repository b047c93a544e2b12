/* Where the samples of a perf.data file come from, by its features. Those of perf name the machine
 * and the command; how stacks were taken is in one of cairn, CN_PERF_FEATURE_ORIGIN.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_ORIGIN_H
#define CN_FORMATS_EXCHANGE_PERF_ORIGIN_H

#include <stdint.h>

#include "base/bytes/bytes.h"

struct cn_arena;
struct cn_origin;

/* Add what a feature says; others and damaged ones say nothing. */
void cn_perf_origin_read(struct cn_origin *origin, uint64_t feature,
                         struct cn_bytes bytes, struct cn_arena *arena);

#endif
