/* GPU work that was measured in ranges: not each launch of a kernel has its samples, but
 * all launches of a GPU context in a stretch of time have them together.
 *
 * What profiles have measured in ranges is noted as they come. In the end each GPU context
 * becomes a profile of its own: the samples of a range are shared among the launches in
 * it. Memory grows with what was measured in ranges. A zeroed one is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_RANGES_H
#define CN_ANALYZE_SAMPLES_SAMPLED_RANGES_H

#include "analyze/samples/sampled_identity.h"
#include "analyze/samples/sampled_nodes.h"
#include "analyze/samples/sampled_values.h"

struct cn_sampled_ranges {
    struct cn_names keys; /* of GPU contexts: their identities */
    struct cn_range_context *contexts;
    size_t count, capacity;
    struct cn_sampled_reach reach;
};

/* Whether all nodes of a profile can be noted. */
CN_CHECK bool cn_sampled_ranges_check(const struct cn_sampled_profile *profile,
                                      struct cn_error *err);

/* Note a value of a profile whose nodes have their places; `metric` is the number of the
 * value's metric over all profiles. */
CN_CHECK bool cn_sampled_ranges_note(struct cn_sampled_ranges *ranges,
                                     struct cn_sampled_identities *identities,
                                     const struct cn_sampled_profile *profile,
                                     const struct cn_sampled_nodes *nodes,
                                     const struct cn_sampled_value *value,
                                     uint32_t metric, struct cn_error *err);

/* Of GPU context number `index`: the identity, and the values, which are added. */
const struct cn_identity *
cn_sampled_ranges_identity(const struct cn_sampled_ranges *ranges, size_t index,
                           size_t *count);
CN_CHECK bool cn_sampled_ranges_add(struct cn_sampled_ranges *ranges, size_t index,
                                    struct cn_sampled_contexts *contexts,
                                    struct cn_sampled_values *values,
                                    struct cn_error *err);

void cn_sampled_ranges_done(struct cn_sampled_ranges *ranges);

#endif
