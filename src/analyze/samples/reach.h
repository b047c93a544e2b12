/* Attribution of GPU samples to call paths: a sample carries an instruction and the kernel it
 * ran in, but not the calls between them.
 *
 * All paths through the call graph of the module are candidates that begin at a launched
 * function. A sample is split among them: from the inside out, at each function in proportion
 * to the samples at its call sites. It is scaled by launches per sampled launch.
 *
 * Begin with a profile, note all its values, then find the shares of each sample. A zeroed one
 * is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_REACH_H
#define CN_ANALYZE_SAMPLES_REACH_H

#include "analyze/samples/contexts.h"
#include "analyze/samples/metrics.h"

/* Names of metrics: launches, launches with samples, samples. */
#define CN_REACH_LAUNCHES         "GKER:COUNT"
#define CN_REACH_SAMPLED_LAUNCHES "GKER:SAMPLED_COUNT"
#define CN_REACH_INSTRUCTIONS     "GINS"

/* The parent of a spot that may be below any of the points. */
#define CN_REACH_POINTS CN_NONE

/* A launch: its context, the context of the kernel below it, and its share of the samples in
 * that kernel. */
struct cn_reach_point {
    uint32_t parent, entry;
    uint32_t function; /* of the kernel */
    double share;
};

/* A share of a sample, and its contexts. */
struct cn_sampled_share {
    uint32_t first, last; /* contexts: the outermost and the innermost of the sample */
    double weight;
    bool is_last; /* of its sample */
};

struct cn_sampled_reach {
    struct cn_sampled_share *shares;
    size_t share_count, share_capacity;
    size_t share_max;   /* further samples are not spread */
    size_t tried_count; /* points tried as starts of paths */

    /* Numbers of the metrics; CN_NONE when there is none. */
    uint32_t launches, sampled_launches, instructions;
    struct cn_map launched; /* context -> number of its launches */
    struct cn_reach_launches *launch_list;
    size_t launch_count, launch_capacity;
    struct cn_reach_sample *samples; /* sorted by spot */
    size_t sample_count, sample_capacity;
    struct cn_reach_point *points;
    size_t point_count, point_capacity;
    struct cn_map points_of;               /* function -> its first point */
    struct cn_reach_candidate *candidates; /* of the current sample */
    size_t candidate_capacity;
    struct cn_reach_group *groups;
    size_t group_capacity;
};

/* Begin with the metrics of a profile, or of all profiles and a number of samples. */
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

/* Clear samples, or points. */
void cn_sampled_reach_begin_samples(struct cn_sampled_reach *reach);
void cn_sampled_reach_begin_points(struct cn_sampled_reach *reach);

/* Points of one function must be adjacent. */
void cn_sampled_reach_add_point(struct cn_sampled_reach *reach,
                                struct cn_reach_point point);
void cn_sampled_reach_ready(struct cn_sampled_reach *reach); /* everything is noted */

/* The first share of the sample at a spot; CN_NONE when no path is known. */
CN_CHECK bool cn_sampled_reach_find(struct cn_sampled_reach *reach,
                                    struct cn_sampled_contexts *contexts,
                                    const struct cn_sampled_spot *spot, uint32_t *out,
                                    struct cn_error *err);

void cn_sampled_reach_done(struct cn_sampled_reach *reach);

#endif
