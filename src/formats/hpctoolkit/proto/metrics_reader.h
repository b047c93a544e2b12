/* The metrics of a prototype's meta.db, with their scopes and statistics.
 * Threads: any thread, each with an arena of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_METRICS_READER_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_METRICS_READER_H

#include "base/error.h"
#include "model/contexts/metric.h"

struct cn_arena;
struct cn_hpc_proto_meta;

/* Decode all metrics. Tables live in the arena, names are borrowed from the file. */
CN_CHECK bool cn_hpc_proto_metrics_read(const struct cn_hpc_proto_meta *meta,
                                        struct cn_arena *arena, struct cn_metrics *out,
                                        struct cn_error *err);

#endif
