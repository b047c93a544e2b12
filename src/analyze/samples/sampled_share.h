/* What several processes that have analysed their profiles tell each other: where the
 * values of every thread are, who the threads are, and what went wrong.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_SHARE_H
#define CN_ANALYZE_SAMPLES_SAMPLED_SHARE_H

#include "analyze/samples/sampled_parts.h"
#include "base/run/ranks.h"
#include "base/text.h"

/* What ranks but the first keep for it while they analyse; all zero at the start. */
struct cn_sampled_news {
    struct cn_text identities; /* of their threads, as measured */
    struct cn_text damages;    /* what was said about damage */
};
void cn_sampled_news_done(struct cn_sampled_news *news);

void cn_sampled_news_add_identity(struct cn_sampled_news *news,
                                  const struct cn_sampled_profile *profile);
void cn_sampled_news_add_damage(struct cn_sampled_news *news, const char *text);

/* Makes one list of threads of all ranks', in their order; `thread_count` are the own
 * ones. Totals and the title become those of all. Damage is told on rank 0. */
CN_CHECK bool cn_sampled_share(struct cn_sampled_database *self, struct cn_ranks *ranks,
                               const struct cn_sampled_options *options,
                               const struct cn_sampled_news *news, uint32_t thread_count,
                               struct cn_sampled_totals *totals, struct cn_error *err);

#endif
