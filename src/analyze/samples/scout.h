/* The scouting pass: several processes agree on contexts and metrics before each analyses its
 * own profiles.
 *
 * Contexts and metrics are numbered in the order of all profiles. So each rank first reads its
 * profiles for their contexts and metrics alone, and logs the steps that added contexts
 * (log.h). Logs are combined in the order of ranks, which is that of profiles, and all
 * ranks replay the whole log: contexts then have the numbers that one process would give, and
 * the analysis meets no new ones.
 * Threads: one thread at a time; starts threads of its own.
 */
#ifndef CN_ANALYZE_SAMPLES_SCOUT_H
#define CN_ANALYZE_SAMPLES_SCOUT_H

#include "analyze/samples/batches.h"

/* Called by all ranks: fill in the contexts and metrics of `self`. If a profile has GPU work
 * measured in ranges, which needs several profiles at once, nothing is filled in:
 * `*is_for_one`, and rank 0 has to do all the work. */
CN_CHECK bool cn_sampled_scout(struct cn_sampled_database *self,
                               const struct cn_sampled_options *options,
                               const struct cn_sampled_batches *batches, bool *is_for_one,
                               struct cn_error *err);

#endif
