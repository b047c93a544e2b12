/* What several processes agree on before each of them analyses its own profiles.
 *
 * The numbers of contexts and metrics follow from the order in which all profiles meet
 * them. So each rank goes through its profiles once for their contexts and metrics
 * alone. How these came about (sampled_log.h) is put together in the order of ranks,
 * which is that of profiles, and all ranks do it again from the start: contexts then
 * have the same numbers everywhere, those of one process, and nothing new is met when
 * the profiles are analysed.
 * Threads: one thread at a time; uses threads of its own.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_SCOUT_H
#define CN_ANALYZE_SAMPLES_SAMPLED_SCOUT_H

#include "analyze/samples/sampled_parts.h"
#include "base/run/ranks.h"

/* Which profiles this process analyses: by the size of their files. */
CN_CHECK bool cn_sampled_choose(const struct cn_measurements *measurements,
                                struct cn_ranks *ranks, struct cn_ranks_part *out,
                                struct cn_error *err);

/* Fill in the contexts and metrics of `self`. Called by all ranks. GPU work that was
 * measured in ranges comes from several profiles at once: `*is_for_one` says that it was
 * found, that nothing is filled in, and that one rank has to do all. */
CN_CHECK bool cn_sampled_scout(struct cn_sampled_database *self,
                               const struct cn_sampled_options *options,
                               struct cn_ranks_part own, bool *is_for_one,
                               struct cn_error *err);

#endif
