#include "analyze/timeline/launched.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"

enum { SAMPLES_AT_ONCE = 4096 };

/* Operations of one stream, and the last of its samples that was read. */
struct joining {
    struct cn_launched_op *at, *end;
    struct cn_sample last;
};

/* What ran from the last sample to the next one, UINT64_MAX: to the end of the timeline. Operations of a
 * context that follow without a gap have one sample. */
static void join(struct joining *j, uint64_t next_ns)
{
    struct cn_launched_op *first = NULL;
    size_t count = 0;

    for (; j->at < j->end && j->at->launch.to_ns < next_ns; j->at++) {
        if (j->last.context == 0 || j->at->launch.to_ns < j->last.time_ns)
            continue;
        j->at->context = j->last.context;
        first = first ? first : j->at;
        count++;
    }
    if (count == 1 && first->launch.to_ns == j->last.time_ns && next_ns != UINT64_MAX)
        first->end_ns = next_ns;
}

static bool join_stream(struct cn_database *db, struct cn_launched_op *list, size_t count,
                        struct cn_error *err)
{
    struct joining j = {.at = list, .end = list + count};
    struct cn_sample samples[SAMPLES_AT_ONCE];
    struct cn_timeline timeline;

    if (!cn_timeline_open(db, list[0].launch.to_profile, &timeline, err))
        return false;
    for (uint64_t at = 0; at < timeline.count && j.at < j.end;) {
        uint64_t rest = timeline.count - at;
        size_t n = rest < SAMPLES_AT_ONCE ? (size_t)rest : SAMPLES_AT_ONCE;

        if (!cn_timeline_read(db, &timeline, at, n, samples, err))
            return false;
        for (size_t i = 0; i < n; i++) {
            join(&j, samples[i].time_ns);
            j.last = samples[i];
        }
        at += n;
    }
    join(&j, UINT64_MAX);
    cn_database_forget(db);
    return true;
}

/* Without the times of samples, only the launches are known. */
static bool join_all(struct cn_launched *launched, struct cn_database *db,
                     struct cn_error *err)
{
    const struct cn_launched_op *list = launched->list;

    for (size_t i = 0, next; db->has_timelines && i < launched->count; i = next) {
        next = i + 1;
        while (next < launched->count &&
               list[next].launch.to_profile == list[i].launch.to_profile)
            next++;
        if (list[i].launch.to_profile < db->profile_count &&
            !join_stream(db, launched->list + i, next - i, err))
            return false;
    }
    return true;
}

bool cn_launched_find(struct cn_launched *launched, struct cn_database *db,
                      struct cn_error *err)
{
    *launched = (struct cn_launched){
        .list = cn_alloc(db->launch_count, sizeof(*launched->list)),
        .count = db->launch_count,
    };
    for (size_t i = 0; i < launched->count; i++)
        launched->list[i].launch = db->launches[i];
    CN_SORT(launched->list, launched->count,
            CN_UP(struct cn_launched_op, launch.to_profile),
            CN_UP(struct cn_launched_op, launch.to_ns),
            CN_UP(struct cn_launched_op, launch.from_ns),
            CN_UP(struct cn_launched_op, launch.from_profile));
    if (join_all(launched, db, err))
        return true;
    cn_launched_done(launched);
    return false;
}

void cn_launched_done(struct cn_launched *launched)
{
    free(launched->list);
    *launched = (struct cn_launched){0};
}
