/* GPU work measured in ranges: samples belong to all launches of a GPU context in a range of
 * time, not to a single launch.
 *
 * The values of profiles are noted. At the end each GPU context becomes a profile: the samples
 * of a range are split among its launches. Memory grows with the values in ranges. Zeroed
 * ranges are empty, except for `identities`.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_RANGES_H
#define CN_ANALYZE_SAMPLES_RANGES_H

#include "analyze/samples/identity.h"
#include "analyze/samples/nodes.h"
#include "analyze/samples/values.h"

struct cn_sampled_ranges {
    struct cn_sampled_identities *identities; /* borrowed */
    struct cn_names keys;                     /* of GPU contexts: their identities */
    struct cn_range_context *contexts;
    size_t count, capacity;
    struct cn_sampled_reach reach;
};

/* Check that all nodes of a profile can be noted. */
CN_CHECK bool cn_sampled_ranges_check(const struct cn_sampled_profile *profile,
                                      struct cn_error *err);

/* Note a value of a profile whose nodes are placed; `metric` is the number of its metric over
 * all profiles. */
CN_CHECK bool cn_sampled_ranges_note(struct cn_sampled_ranges *ranges,
                                     const struct cn_sampled_profile *profile,
                                     const struct cn_sampled_nodes *nodes,
                                     const struct cn_sampled_value *value,
                                     uint32_t metric, struct cn_error *err);

/* The identity of GPU context number `index`; and add its values. */
const struct cn_identity *
cn_sampled_ranges_identity(const struct cn_sampled_ranges *ranges, size_t index,
                           size_t *count);
CN_CHECK bool cn_sampled_ranges_add(struct cn_sampled_ranges *ranges, size_t index,
                                    struct cn_sampled_contexts *contexts,
                                    struct cn_sampled_values *values,
                                    struct cn_error *err);

void cn_sampled_ranges_done(struct cn_sampled_ranges *ranges);

#endif
