/* How the writer of a lane is opened: store/write/lanes.h plans it.
 *
 * Internal to the store. Threads: any thread.
 */
#ifndef CN_STORE_WRITE_LANE_H
#define CN_STORE_WRITE_LANE_H

#include <stdint.h>

#include "base/error.h"
#include "store/segment/config.h"

struct cn_spans_seen;
struct cn_store_lanes;
struct cn_store_writer;

#define CN_LANE_NO_SEGMENT UINT32_MAX

struct cn_lane_plan {
    const char *path;              /* of the store */
    struct cn_store_config config; /* of its segments, with the name of the lane */
    uint32_t current;              /* segment to continue; or CN_LANE_NO_SEGMENT */
    uint32_t previous;             /* of the same lane; or CN_LANE_NO_SEGMENT */
    uint32_t next, step;           /* numbers of new segments */
    const struct cn_spans_seen
        *before; /* spans of all lanes, borrowed; NULL: no others */
};

/* On failure nothing has to be released. */
CN_CHECK bool cn_store_writer_open_lane(struct cn_store_writer **out,
                                        const struct cn_lane_plan *plan,
                                        const struct cn_store_options *options,
                                        struct cn_error *err);

/* Release lanes whose only writer was closed. NULL is fine. */
void cn_store_lanes_release(struct cn_store_lanes *lanes);

/* Add the spans of a segment, as far as it can be read. */
void cn_spans_seen_add_segment(struct cn_spans_seen *seen, const char *path,
                               uint32_t number);

#endif
