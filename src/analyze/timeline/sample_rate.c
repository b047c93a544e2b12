#include "analyze/timeline/task_tracks.h"

#include "analyze/timeline/spans.h"
#include "base/alloc.h"
#include "model/contexts/database.h"

/* The number of samples before a time. */
static bool count_before(struct cn_database *db, const struct cn_timeline *timeline,
                         uint64_t time_ns, uint64_t *out, struct cn_error *err)
{
    struct cn_sample sample;

    *out = 0;
    if (time_ns == 0 || timeline->count == 0)
        return true;
    if (!cn_timeline_find(db, timeline, time_ns - 1, out, err) ||
        !cn_timeline_read(db, timeline, *out, 1, &sample, err))
        return false;
    *out += sample.time_ns < time_ns;
    return true;
}

bool cn_sample_rate_read(struct cn_readings *out, struct cn_database *db,
                         uint32_t profile, uint64_t begin_ns, uint64_t end_ns,
                         struct cn_error *err)
{
    uint64_t from_ns = begin_ns - db->begin_ns, to_ns = end_ns - db->begin_ns;
    struct cn_timeline timeline;
    uint64_t before, until;
    unsigned shift = 0;

    *out = (struct cn_readings){0};
    while ((to_ns - from_ns) >> shift >= CN_SAMPLE_RATE_PARTS_MAX)
        shift++;
    if (!cn_timeline_open(db, profile, &timeline, err) ||
        !count_before(db, &timeline, db->begin_ns + (from_ns >> shift << shift), &before,
                      err))
        return false;
    for (uint64_t part = from_ns >> shift; part << shift < to_ns;
         part++, before = until) {
        if (!count_before(db, &timeline, db->begin_ns + ((part + 1) << shift), &until,
                          err))
            return false;
        CN_PUSH(out->list, out->count, out->capacity,
                (struct cn_reading){db->begin_ns + (part << shift),
                                    (double)(until - before) * 1e9 /
                                        (double)(UINT64_C(1) << shift)});
    }
    return true;
}
