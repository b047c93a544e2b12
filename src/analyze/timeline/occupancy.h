/* Threads over time: the function of each thread in each slice of time.
 *
 * A sample lasts until the next one of its thread; time before the first and after the last
 * sample is not counted. A cell shows the place with the most time in its slice, waiting
 * included unless `prefers_running` or stacks are not cut: then it shows waiting only if the thread did
 * not run in the slice. `busy` tells how much of it the thread ran.
 *
 * With `points`, a cell with many samples reads that many moments of its slice instead of
 * all samples: the work is bounded by the number of cells. The number of samples of a cell
 * is exact in any case.
 *
 * The caller owns the result. Place numbers are those of the frames it was made with.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_TIMELINE_OCCUPANCY_H
#define CN_ANALYZE_TIMELINE_OCCUPANCY_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/timeline/spans.h"
#include "base/error.h"

struct cn_database;
struct cn_cut;
struct cn_frames;
struct cn_time_pyramid;
struct cn_occupancy;
struct cn_occupancy_cell;

struct cn_occupancy_request {
    const uint32_t *profiles; /* a row each */
    size_t profile_count;
    uint64_t begin_ns, end_ns; /* begin < end; end is not part of it */
    uint32_t column_count;     /* at least 1, at most end - begin */

    /* Where to cut stacks: 1 shows what entry points call, and so on; stacks that are
     * less deep show their innermost frame. 0: see cn_occupancy. CN_DEPTH_ALL: places
     * are frames, and a cell has the last frame of its main path (main_path.h). */
    uint32_t depth;
    uint32_t crowd_min;   /* cells with so many samples are crowded; 0: 17, the most */
    uint64_t crowded_max; /* samples of crowded cells a row that all count nevertheless */
    const bool *is_brief; /* rows of which `crowded_max` is 0; NULL: none */
    uint32_t points; /* moments looked at in a crowded cell, 1: its beginning; 0: every
                             sample counts */

    /* By row, NULL where there is none: spare reading samples where columns are their
     * cells. Made with the same frames and depth; the list itself may be NULL. */
    const struct cn_time_pyramid *const *pyramids;
    const struct cn_cut *cut; /* of this depth, to spare making it; may be NULL */

    /* A cell shows waiting only if its thread was blocked for all of the slice: one that ran or
     * was pre-empted there shows its function. Not with CN_DEPTH_ALL or `pyramids`. A thread
     * that waits is pre-empted if it was never blocked in the context before. */
    bool prefers_running;
    unsigned workers; /* 0: as many as there are processors */
};

struct cn_occupancy_cell {
    uint32_t place; /* `idle` when the thread did not run, CN_NONE without samples */
    uint32_t sample_count; /* that begin in the slice; only with `points` */
    double share; /* of the slice, 0 to 1; that of a frame includes its callees */
    double busy;  /* part of the slice in which the thread ran, 0 to 1 */
};

struct cn_occupancy {
    size_t row_count;
    uint32_t column_count;
    uint64_t begin_ns, end_ns;

    /* As asked for; else the smallest depth at which threads show more than one function
     * for more than a tenth of the time they run. */
    uint32_t depth;
    uint32_t idle;                   /* the place of not running: one past all places */
    bool is_estimate;                /* some cells did not look at every sample */
    bool *is_estimated;              /* by row */
    struct cn_occupancy_cell *cells; /* row after row */
    uint64_t
        *function_ns; /* time by name of the frames, last of waiting, over all rows */
};

/* Fails with CN_ERR_FORMAT where the samples of a thread go back in time. On failure
 * nothing is left to release. */
CN_CHECK bool cn_occupancy_build(struct cn_occupancy *out, struct cn_database *db,
                                 const struct cn_frames *frames,
                                 const struct cn_occupancy_request *request,
                                 struct cn_error *err);

/* When a column begins; for column_count, when the last one ends. */
uint64_t cn_occupancy_column_ns(const struct cn_occupancy *occupancy, uint32_t column);

void cn_occupancy_done(struct cn_occupancy *occupancy);

/* What a thread did in each of many slices of time, with work that is bounded by the number of
 * slices, not of samples: of a slice with many samples, a few moments are looked at.
 *
 * A zeroed one with a database and points is ready for use, for any number of threads. */

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
