/* The depth at which the threads of a database differ, from some of them. */
#include <math.h>
#include <stdlib.h>

#include "analyze/timeline/occupancy.h"
#include "base/alloc.h"
#include "model/contexts/database.h"
#include "server/served/prepared.h"

enum { THREAD_MAX = 32, COLUMNS = 64, POINTS = 8 };

/* Threads with samples, spread evenly. */
static bool choose_threads(struct cn_database *db, uint32_t profiles[THREAD_MAX],
                           size_t *count, struct cn_error *err)
{
    uint32_t step = db->profile_count / THREAD_MAX + 1;

    *count = 0;
    for (uint32_t i = 0; i < db->profile_count && *count < THREAD_MAX; i += step) {
        struct cn_profile profile;
        struct cn_timeline timeline;

        if (!cn_database_profile(db, i, &profile, err) ||
            !cn_timeline_open(db, i, &timeline, err))
            return false;
        if (!profile.is_summary && timeline.count > 0)
            profiles[(*count)++] = i;
    }
    return true;
}

bool cn_prepared_find_depth(struct cn_database *db, const struct cn_frames *frames,
                            uint32_t *out, struct cn_error *err)
{
    uint64_t span_ns = db->end_ns - db->begin_ns;
    uint32_t profiles[THREAD_MAX];
    struct cn_occupancy_request request = {
        .profiles = profiles,
        .begin_ns = db->begin_ns,
        .end_ns = db->end_ns,
        .column_count = span_ns < COLUMNS ? (uint32_t)span_ns : COLUMNS,
        .points = POINTS,
    };
    struct cn_occupancy occupancy;

    if (!choose_threads(db, profiles, &request.profile_count, err) ||
        !cn_occupancy_build(&occupancy, db, frames, &request, err))
        return false;
    *out = occupancy.depth;
    cn_occupancy_done(&occupancy);
    return true;
}
