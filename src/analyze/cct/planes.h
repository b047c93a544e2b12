/* The values of all profiles of an analysis: those of threads, and the summary.
 * Threads: one thread at a time; starts threads of its own.
 */
#ifndef CN_ANALYZE_CCT_PLANES_H
#define CN_ANALYZE_CCT_PLANES_H

#include "analyze/cct/calls_to_database.h"
#include "analyze/cct/database.h"
#include "analyze/cct/metrics.h"
#include "model/contexts/transpose.h"

/* The metrics that are used. */
struct cn_cct_used {
    bool has_bucket[CN_BUCKET_COUNT];
    bool has_counter[CN_COUNTER_COUNT];
};

/* Write the planes of the threads of this process to the spool of the database. */
CN_CHECK bool cn_cct_threads_write(struct cn_cct_database *self,
                                   const struct cn_calls_options *options,
                                   struct cn_cct_used *used, struct cn_error *err);

/* What others need of the threads of this process, and taking it: messages in their order.
 * `*next` is the first thread that is still unknown. */
void cn_cct_threads_encode(const struct cn_cct_database *self,
                           const struct cn_cct_used *used, struct cn_text *message);
CN_CHECK bool cn_cct_threads_take(struct cn_cct_database *self, struct cn_cct_used *used,
                                  size_t *next, struct cn_bytes message,
                                  struct cn_error *err);

/* When all used metrics are known: build those of the database, and write the summary, or
 * the part of a process, at `off`. Sets the length of what was written, its values and
 * contexts. */
struct cn_cct_summary {
    uint64_t off, len, value_count, context_count;
};
CN_CHECK bool cn_cct_summary_write(struct cn_cct_database *self,
                                   const struct cn_calls_options *options,
                                   const struct cn_cct_used *used,
                                   const struct cn_transpose_part *part,
                                   struct cn_cct_summary *summary, struct cn_error *err);

#endif
