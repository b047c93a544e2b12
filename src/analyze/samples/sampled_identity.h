/* Who the threads of sampled measurements are: identities with the numbers that
 * their readers were left to give.
 *
 * A zeroed one is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_IDENTITY_H
#define CN_ANALYZE_SAMPLES_SAMPLED_IDENTITY_H

#include "base/map.h"
#include "model/contexts/samples.h"

struct cn_sampled_identities {
    struct cn_names kinds; /* in the order of the first profile */
    struct cn_map numbers; /* of what has been met, by a hash of it */
    struct cn_map counts;  /* how many were met, by a hash of where */
};

/* The identity of a profile, in `ids`; its length goes to *count. */
CN_CHECK bool cn_sampled_identities_add(struct cn_sampled_identities *identities,
                                        const struct cn_sampled_profile *profile,
                                        struct cn_identity ids[CN_IDENTITY_MAX],
                                        size_t *count, struct cn_error *err);

void cn_sampled_identities_done(struct cn_sampled_identities *identities);

#endif
