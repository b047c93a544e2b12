/* Identities of the threads of sampled measurements, with the logical numbers that the
 * measurements leave to their readers.
 *
 * Zeroed identities are empty.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_IDENTITY_H
#define CN_ANALYZE_SAMPLES_IDENTITY_H

#include "base/map.h"
#include "model/contexts/samples.h"

struct cn_sampled_identities {
    struct cn_names kinds; /* in the order of the first profile */
    struct cn_map numbers; /* by hash of prefix and physical id */
    struct cn_map counts;  /* of numbers given, by hash of the prefix */
};

/* The identity of a profile: `*count` ids. */
CN_CHECK bool cn_sampled_identities_add(struct cn_sampled_identities *identities,
                                        const struct cn_sampled_profile *profile,
                                        struct cn_identity ids[CN_IDENTITY_MAX],
                                        size_t *count, struct cn_error *err);

void cn_sampled_identities_done(struct cn_sampled_identities *identities);

#endif
