/* Precomputed sums of a timeline: the place with the most time in each cell, for cells of 2,
 * 4, 8, ... times the smallest width.
 *
 * Cells are powers of two nanoseconds wide and begin at multiples of that, counted from the
 * start of the database's timelines, so columns that are such cells are looked up, however many
 * samples there are. Every sample counts in its cell: nothing is estimated. A pyramid
 * belongs to one thread and one depth of stacks; it takes about a byte a sample where
 * threads stay in a few places.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_TIMELINE_TIME_PYRAMID_H
#define CN_ANALYZE_TIMELINE_TIME_PYRAMID_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct cn_database;
struct cn_cut;
struct cn_occupancy_cell;
struct cn_time_pyramid;

/* Reads all samples of a thread. Fails with CN_ERR_FORMAT where they go back in time. */
CN_CHECK bool cn_time_pyramid_build(struct cn_time_pyramid **out, struct cn_database *db,
                                    const struct cn_cut *cut, uint32_t profile,
                                    struct cn_error *err);
void cn_time_pyramid_free(struct cn_time_pyramid *pyramid); /* NULL is fine */

/* Memory in bytes. */
size_t cn_time_pyramid_size(const struct cn_time_pyramid *pyramid);

/* True if it has columns of this width that begin at a time. */
bool cn_time_pyramid_has(const struct cn_time_pyramid *pyramid, uint64_t begin_ns,
                         uint64_t width_ns);

/* Columns that it has. */
void cn_time_pyramid_cells(const struct cn_time_pyramid *pyramid, uint64_t begin_ns,
                           uint64_t width_ns, uint32_t count,
                           struct cn_occupancy_cell *out);

/* Add the time of each function between two times to `function_ns`, which has room for all
 * names of the frames and for waiting. Time before *inner_begin_ns and from *inner_end_ns on is left out: the pyramid is
 * not detailed enough there. */
void cn_time_pyramid_add(const struct cn_time_pyramid *pyramid, uint64_t begin_ns,
                         uint64_t end_ns, uint64_t *function_ns, uint64_t *inner_begin_ns,
                         uint64_t *inner_end_ns);

#endif
