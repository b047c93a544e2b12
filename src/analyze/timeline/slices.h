/* What a thread did in each of many slices of time, with work that is bounded by the number of
 * slices, not of samples: of a slice with many samples, a few moments are looked at.
 *
 * A zeroed one with a database and points is ready for use, for any number of threads.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_TIMELINE_SLICES_H
#define CN_ANALYZE_TIMELINE_SLICES_H

#include "analyze/timeline/spans.h"

struct cn_occupancy;
struct cn_occupancy_cell;

struct cn_slices {
    struct cn_database *db;
    uint32_t points;       /* as of struct cn_occupancy_request */
    uint32_t crowd_min;    /* the same */
    uint64_t crowded_left; /* samples of crowded slices that all count */
    bool has_estimated; /* a slice was looked at in a few moments; set, never cleared */

    /* Private. */
    uint32_t profile;
    cn_span_fn add;
    void *arg;
    uint64_t unread_len; /* bytes of the timeline that were not mapped yet, at most */
    uint64_t read_len;   /* mapped since the last were given back, at most */
};

/* Visit what a thread did in the columns of an occupancy, in order. Unless `cells` is NULL,
 * they receive the exact numbers of samples. Fails as cn_spans_visit() does. */
CN_CHECK bool cn_slices_scan(struct cn_slices *slices, uint32_t profile,
                             const struct cn_occupancy *columns,
                             struct cn_occupancy_cell *cells, cn_span_fn add, void *arg,
                             struct cn_error *err);

#endif
