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
#ifndef CN_ANALYZE_SAMPLES_SAMPLED_REACH_H
#define CN_ANALYZE_SAMPLES_SAMPLED_REACH_H

#include "analyze/samples/sampled_contexts.h"
#include "analyze/samples/sampled_metrics.h"

/* Names of the metrics that matter: launches, those with samples, instructions. */
#define CN_REACH_LAUNCHES         "GKER:COUNT"
#define CN_REACH_SAMPLED_LAUNCHES "GKER:SAMPLED_COUNT"
#define CN_REACH_INSTRUCTIONS     "GINS"

/* The parent of spots that any of the points may lie above. */
#define CN_REACH_POINTS CN_NONE

/* A launch among several: its context, the kernel below it, and its part of samples in
 * that kernel. */
struct cn_reach_point {
    uint32_t parent, entry;
    uint32_t function; /* of the kernel */
    double share;
};

/* A part of a sample and where it belongs. */
struct cn_sampled_share {
    uint32_t first, last; /* contexts: the outermost and the innermost of the sample */
    double weight;
    bool is_last; /* of its sample */
};

struct cn_sampled_reach {
    struct cn_sampled_share *shares;
    size_t share_count, share_capacity;
    size_t share_max;   /* samples beyond it are not spread */
    size_t tried_count; /* launches that a sample was tried to be shared with */

    /* Numbers of the metrics that matter; CN_NONE when there is none. */
    uint32_t launches, sampled_launches, instructions;
    struct cn_map launched; /* context -> number of its launches */
    struct cn_reach_launches *launch_list;
    size_t launch_count, launch_capacity;
    struct cn_reach_sample *samples; /* of calls and others, sorted by spot */
    size_t sample_count, sample_capacity;
    struct cn_reach_point *points;
    size_t point_count, point_capacity;
    struct cn_map points_of;   /* function -> its first point; they are sorted */
    struct cn_reach_way *ways; /* of the sample in question */
    size_t way_capacity;
    struct cn_reach_group *groups;
    size_t group_capacity;
};

/* With the metrics of a profile, or of all profiles and so many samples. */
void cn_sampled_reach_begin(struct cn_sampled_reach *reach,
                            const struct cn_sampled_profile *profile);
void cn_sampled_reach_begin_measured(struct cn_sampled_reach *reach,
                                     const struct cn_sampled_metrics *metrics,
                                     size_t sample_count);

void cn_sampled_reach_note_value(struct cn_sampled_reach *reach, uint32_t context,
                                 uint32_t metric, double value);
void cn_sampled_reach_note_sample(struct cn_sampled_reach *reach,
                                  const struct cn_sampled_spot *spot, uint32_t metric,
                                  double value);

/* Forget samples, or points, to note others. */
void cn_sampled_reach_begin_samples(struct cn_sampled_reach *reach);
void cn_sampled_reach_begin_points(struct cn_sampled_reach *reach);

/* Points of one function follow each other. */
void cn_sampled_reach_add_point(struct cn_sampled_reach *reach,
                                struct cn_reach_point point);
void cn_sampled_reach_ready(struct cn_sampled_reach *reach); /* all are noted */

/* The first share of the sample at a spot; CN_NONE when nobody knows how it was
 * reached. */
CN_CHECK bool cn_sampled_reach_find(struct cn_sampled_reach *reach,
                                    struct cn_sampled_contexts *contexts,
                                    const struct cn_sampled_spot *spot, uint32_t *out,
                                    struct cn_error *err);

void cn_sampled_reach_done(struct cn_sampled_reach *reach);

#endif
