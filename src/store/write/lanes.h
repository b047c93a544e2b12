/* The lanes of a store: writers that work side by side, each with a segment, a dictionary and
 * commits of its own. Readers see one store.
 *
 *     cn_store_lanes_open(&lanes, path, count, &options, err)
 *     cn_store_writer_add(cn_store_lane(lanes, i), &trace, &added, err) ...   a thread per lane
 *     cn_store_lanes_close(lanes, err)
 *
 * A lane is named after the machine and its index, "node7-3"; the first one has no name. The
 * name is in the config of its segments. A lane continues its own open segment; segments that
 * other lanes left open are sealed. Numbers of segments are unique in the store.
 *
 * A trace that a lane had before the store was opened is known to all of them. Later ones are
 * known to their own lane: everything of a sender goes to one lane, see cn_store_lane_of().
 *
 * One process has all lanes of a store: the lock is that of the store.
 * Threads: each lane is used by one thread at a time, opening and closing by one.
 */
#ifndef CN_STORE_WRITE_LANES_H
#define CN_STORE_WRITE_LANES_H

#include <stdint.h>

#include "base/error.h"
#include "store/segment/config.h"

struct cn_segment_numbers;
struct cn_store_lanes;
struct cn_store_writer;

enum { CN_STORE_LANES_MAX = 64 };

/* Fails if another process is writing to the store. */
CN_CHECK bool cn_store_lanes_open(struct cn_store_lanes **out, const char *path,
                                  unsigned count, const struct cn_store_options *options,
                                  struct cn_error *err);

/* The writer of a lane; borrowed. NULL after it was dropped. */
struct cn_store_writer *cn_store_lane(const struct cn_store_lanes *lanes, unsigned i);

/* The numbers of its new segments, for segments that others make meanwhile. Any thread. */
struct cn_segment_numbers *cn_store_lanes_numbers(struct cn_store_lanes *lanes);

/* Close a lane without a commit, after a failure; open it again. The other lanes may be written
 * meanwhile. */
void cn_store_lane_drop(struct cn_store_lanes *lanes, unsigned i);
CN_CHECK bool cn_store_lane_reopen(struct cn_store_lanes *lanes, unsigned i,
                                   struct cn_error *err);

/* The lane of a sender, by a stable hash of its name. */
unsigned cn_store_lane_of(const char *sender, unsigned count);

/* The lane of a trace, by a stable hash of its id. */
unsigned cn_store_lane_of_trace(uint64_t id_high, uint64_t id_low, unsigned count);

/* Commit and close all lanes; also closes on failure, with the error of the first one. */
CN_CHECK bool cn_store_lanes_close(struct cn_store_lanes *lanes, struct cn_error *err);

/* Close without a commit. NULL is fine. */
void cn_store_lanes_abandon(struct cn_store_lanes *lanes);

#endif
