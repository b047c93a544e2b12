/* The Metrics section of meta.db: metrics, propagation scopes, statistics, in the final
 * layout and in that of draft A.
 * Threads: any thread, each with an arena of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_V4_READ_METRICS_READER_H
#define CN_FORMATS_HPCTOOLKIT_V4_READ_METRICS_READER_H

#include "base/error.h"

struct cn_arena;
struct cn_hpc_meta;
struct cn_metrics;

/* Decode all metrics. Tables live in the arena, names are borrowed from the file. */
CN_CHECK bool cn_hpc_metrics_read(const struct cn_hpc_meta *meta, struct cn_arena *arena,
                                  struct cn_metrics *out, struct cn_error *err);

#endif
