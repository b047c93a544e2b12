/* The summary over the threads of several processes, with sums in the order of threads, as one
 * process takes them.
 *
 * Sums of floating-point numbers depend on their order, so ranks must not combine partial sums.
 * Instead each rank sums up some of the contexts. While profiles are analysed, values are
 * spooled for the rank of their context, which then reads them rank by rank, that is in the
 * order of profiles. Rank 0 collects the results.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_SUMMARY_H
#define CN_ANALYZE_SAMPLES_SAMPLED_SUMMARY_H

#include "analyze/samples/sampled_values.h"
#include "base/files/spool.h"
#include "base/run/ranks.h"

struct cn_sampled_summary;

struct cn_sampled_summary *cn_sampled_summary_new(struct cn_ranks *ranks,
                                                  struct cn_spool *spool);
void cn_sampled_summary_free(struct cn_sampled_summary *summary);

/* Spool the value of a thread in each scope; `arg` is the summary, for `take` of struct
 * cn_sampled_values. A failure to write is returned by cn_sampled_summary_collect(). */
void cn_sampled_summary_add(void *arg, uint32_t context, uint32_t metric,
                            const double of_scope[CN_SAMPLED_SCOPE_COUNT]);

/* Called by all ranks when all profiles are analysed: the whole summary on rank 0, nothing on
 * the others. This rank sums up in `values`. */
CN_CHECK bool cn_sampled_summary_collect(struct cn_sampled_summary *summary,
                                         struct cn_sampled_values *values,
                                         struct cn_value_list *out, struct cn_error *err);

#endif
