/* What threads did in a range of time: flame graph and functions of exactly that range, summed
 * from the samples, or from some of them.
 * Threads: immutable after it was built.
 */
#ifndef CN_SERVER_SERVED_RANGE_FLAME_H
#define CN_SERVER_SERVED_RANGE_FLAME_H

#include "base/error.h"
#include "base/run/progress.h"
#include "server/served/flame.h"
#include "server/served/function_times.h"

struct cn_frames;
struct cn_database;
struct cn_range_request;

struct cn_range_flame {
    struct cn_flame flame;
    struct cn_function_times functions;
    double total_s, waiting_s;
    uint64_t sample_count;
    bool is_estimate; /* not all samples were read */
};

/* `codes` may be NULL, and outlive it. Nodes that have no more than `min_share` of the whole are left out. On failure nothing is left
 * to release. */
CN_CHECK bool cn_range_flame_build(struct cn_range_flame *out, struct cn_database *db,
                                   const struct cn_frames *frames,
                                   const struct cn_codes *codes,
                                   const struct cn_range_request *request,
                                   double min_share, const struct cn_progress *progress,
                                   struct cn_error *err);
void cn_range_flame_done(struct cn_range_flame *range);

#endif
