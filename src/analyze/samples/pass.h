/* The pass over profiles, a step of the analysis that the driver (ranks.c) puts together.
 *
 * A process analyses some of the batches. What only the first process needs is collected in
 * messages (share.h).
 * Threads: one thread at a time; starts threads of its own.
 */
#ifndef CN_ANALYZE_SAMPLES_PASS_H
#define CN_ANALYZE_SAMPLES_PASS_H

#include "analyze/samples/batches.h"
#include "analyze/samples/ranges.h"
#include "analyze/samples/scout.h"
#include "analyze/samples/share.h"
#include "analyze/samples/sum.h"
#include "base/run/failures.h"

struct cn_sampled_job;

struct cn_sampled_pass {
    struct cn_sampled_database *self;
    const struct cn_sampled_options *options;
    unsigned workers;
    bool is_first; /* of the processes: set by the driver, like */
    struct cn_sampled_batches batches;
    struct cn_merges sums; /* of batches: struct cn_sampled_sum */
    struct cn_sampled_sum_rules rules;
    struct cn_sampled_sum *gpu_sum;  /* of GPU contexts; NULL: none */
    struct cn_sampled_totals totals; /* of this process */
    struct cn_sampled_ranges ranges;
    struct cn_sampled_scout *scout; /* not NULL: only look for contexts and metrics */
    struct cn_failures failures;
    struct cn_sampled_job *jobs;
    uint32_t thread_count; /* with the summary */
    struct cn_sampled_messages messages;
};

void cn_sampled_pass_init(struct cn_sampled_pass *pass, struct cn_sampled_database *self,
                          const struct cn_sampled_options *options);
void cn_sampled_pass_done(struct cn_sampled_pass *pass);

/* Read the batches of this process for their contexts and metrics. */
CN_CHECK bool cn_sampled_pass_scout(struct cn_sampled_pass *pass,
                                    struct cn_sampled_scout *scout, struct cn_error *err);

/* Analyse the batches of this process: fills in contexts, metrics and threads, writes values
 * and samples to the spool, and puts the statistics of batches into the sums. */
CN_CHECK bool cn_sampled_pass_run(struct cn_sampled_pass *pass, struct cn_error *err);

/* With the sums of all: write the statistics over all threads as the profile of the summary. */
CN_CHECK bool cn_sampled_pass_summarise(struct cn_sampled_pass *pass,
                                        struct cn_error *err);

#endif
