/* What processes exchange after each has analysed its profiles: offsets of the values of all
 * threads, their identities, and damage.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SHARE_H
#define CN_ANALYZE_SAMPLES_SHARE_H

#include "analyze/samples/internal.h"
#include "base/run/ranks.h"
#include "base/text.h"

/* Messages to rank 0, collected during the analysis; zero-initialised. */
struct cn_sampled_messages {
    struct cn_text identities; /* of threads, as measured */
    struct cn_text damages;    /* texts */
};
void cn_sampled_messages_done(struct cn_sampled_messages *messages);

void cn_sampled_messages_add_identity(struct cn_sampled_messages *messages,
                                      const struct cn_sampled_profile *profile);
void cn_sampled_messages_add_damage(struct cn_sampled_messages *messages,
                                    const char *text);

/* Called by all ranks: combine their threads to one list, in the order of ranks, their totals
 * and titles. `thread_count` is that of this rank. Damage is reported on rank 0. */
CN_CHECK bool cn_sampled_share(struct cn_sampled_database *self,
                               const struct cn_sampled_options *options,
                               const struct cn_sampled_messages *messages,
                               uint32_t thread_count, struct cn_sampled_totals *totals,
                               struct cn_error *err);

#endif
