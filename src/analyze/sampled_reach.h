/* How instructions were reached of which only the kernel is known that they ran in: GPU
 * samples have no call paths.
 *
 * All ways through the module's call graph are possible that begin at a function that was
 * launched. A sample is shared among them: on its way out it is split at each function by
 * what was sampled at the calls of that function, and scaled up by how many of the
 * launches were sampled.
 *
 * Begin with a profile, note all its values, then find the shares of one sample after the
 * other. A zeroed one is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLED_REACH_H
#define CN_ANALYZE_SAMPLED_REACH_H

#include "analyze/sampled_contexts.h"

/* A part of a sample and where it belongs. */
struct cn_sampled_share {
    uint32_t first, last; /* contexts: the outermost and the innermost of the sample */
    double weight;
    bool is_last; /* of its sample */
};

struct cn_sampled_reach {
    struct cn_sampled_share *shares;
    size_t share_count, share_capacity;
    size_t share_max; /* samples beyond it are not spread */

    /* The profile's metrics that matter; CN_NONE when there is none. */
    uint32_t launches, sampled_launches, instructions;
    struct cn_map launched; /* context -> number of its launches */
    struct cn_reach_launches *launch_list;
    size_t launch_count, launch_capacity;
    struct cn_reach_sample *samples; /* of calls and others, sorted by spot */
    size_t sample_count, sample_capacity;
    struct cn_reach_way *ways; /* of the sample in question */
    size_t way_capacity;
    struct cn_reach_group *groups;
    size_t group_capacity;
};

void cn_sampled_reach_begin(struct cn_sampled_reach *reach,
                            const struct cn_sampled_profile *profile);
void cn_sampled_reach_note_value(struct cn_sampled_reach *reach, uint32_t context,
                                 const struct cn_sampled_value *value);
void cn_sampled_reach_note_sample(struct cn_sampled_reach *reach,
                                  const struct cn_sampled_spot *spot,
                                  const struct cn_sampled_value *value);
void cn_sampled_reach_ready(struct cn_sampled_reach *reach); /* all are noted */

/* The first share of the sample at a spot; CN_NONE when nobody knows how it was
 * reached. */
CN_CHECK bool cn_sampled_reach_find(struct cn_sampled_reach *reach,
                                    struct cn_sampled_contexts *contexts,
                                    const struct cn_sampled_spot *spot, uint32_t *out,
                                    struct cn_error *err);

void cn_sampled_reach_done(struct cn_sampled_reach *reach);

#endif
