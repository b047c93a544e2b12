#include "analyze/timeline/gpu_use.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "model/contexts/database.h"

enum { SAMPLES_AT_ONCE = 4096 };

/* A stream is a profile of its device. */
struct used_stream {
    uint64_t node;
    uint32_t number, profile;
};

/* A time in which a stream had work. */
struct busy_run {
    uint64_t begin_ns, end_ns;
    uint32_t context, profile;
};

struct busy_runs {
    struct busy_run *list;
    size_t count, capacity;
};

static const struct cn_identity *id_of(const struct cn_database *db,
                                       const struct cn_identity_tuple *tuple,
                                       const char *kind)
{
    for (size_t i = 0; i < tuple->count; i++)
        if (tuple->ids[i].kind < db->kinds.count &&
            strcmp(db->kinds.list[tuple->ids[i].kind], kind) == 0)
            return &tuple->ids[i];
    return NULL;
}

/* Read a timeline: a run lasts until the next sample. */
static bool add_runs(struct busy_runs *runs, struct cn_database *db, uint32_t profile,
                     struct cn_error *err)
{
    struct cn_sample samples[SAMPLES_AT_ONCE];
    struct cn_timeline timeline;
    struct busy_run open = {0};

    if (!cn_timeline_open(db, profile, &timeline, err))
        return false;
    for (uint64_t at = 0; at < timeline.count && runs->count <= CN_GPU_RUN_MAX;) {
        uint64_t rest = timeline.count - at;
        size_t count = rest < SAMPLES_AT_ONCE ? (size_t)rest : SAMPLES_AT_ONCE;

        if (!cn_timeline_read(db, &timeline, at, count, samples, err))
            return false;
        for (size_t i = 0; i < count; i++) {
            open.end_ns = samples[i].time_ns;
            if (open.context != 0 && open.end_ns > open.begin_ns)
                CN_PUSH(runs->list, runs->count, runs->capacity, open);
            open = (struct busy_run){samples[i].time_ns, 0, samples[i].context, profile};
        }
        at += count;
    }
    return true;
}

/* Keep a gap if it is one of the longest. */
static void offer_gap(struct cn_gpu_use *use, struct cn_gpu_gap gap)
{
    size_t at = use->listed_count;

    use->gap_count++;
    while (at > 0 && use->gaps[at - 1].end_ns - use->gaps[at - 1].begin_ns <
                         gap.end_ns - gap.begin_ns) {
        if (at < CN_GPU_GAP_MAX)
            use->gaps[at] = use->gaps[at - 1];
        at--;
    }
    if (at < CN_GPU_GAP_MAX)
        use->gaps[at] = gap;
    if (use->listed_count < CN_GPU_GAP_MAX)
        use->listed_count++;
}

static void use_runs(struct cn_gpu_use *use, struct busy_runs *runs)
{
    CN_SORT(runs->list, runs->count, CN_UP(struct busy_run, begin_ns));
    use->begin_ns = use->end_ns = runs->list[0].begin_ns;
    for (size_t i = 0; i < runs->count; i++) {
        const struct busy_run *run = &runs->list[i];

        if (run->begin_ns > use->end_ns)
            offer_gap(use, (struct cn_gpu_gap){use->end_ns, run->begin_ns, run->context,
                                               run->profile});
        if (run->end_ns <= use->end_ns)
            continue;
        use->busy_ns +=
            run->end_ns - (run->begin_ns > use->end_ns ? run->begin_ns : use->end_ns);
        use->end_ns = run->end_ns;
    }
}

/* The streams of all devices, ordered by them. */
static bool find_streams(struct cn_database *db, struct used_stream **out, size_t *count,
                         struct cn_error *err)
{
    struct used_stream *list = NULL;
    size_t capacity = 0;

    *count = 0;
    for (uint32_t i = 0; db->has_timelines && i < db->profile_count; i++) {
        const struct cn_identity *device, *node;
        struct cn_profile profile;

        if (!cn_database_profile(db, i, &profile, err)) {
            free(list);
            return false;
        }
        device = id_of(db, &profile.identity, "GPUDEVICE");
        node = id_of(db, &profile.identity, "NODE");
        if (!profile.is_summary && device)
            CN_PUSH(list, *count, capacity,
                    (struct used_stream){node ? node->physical : 0, device->logical, i});
    }
    CN_SORT(list, *count, CN_UP(struct used_stream, node),
            CN_UP(struct used_stream, number), CN_UP(struct used_stream, profile));
    *out = list;
    return true;
}

static bool use_device(struct cn_gpu_uses *uses, struct cn_database *db,
                       const struct used_stream *streams, size_t count,
                       struct cn_error *err)
{
    struct cn_gpu_use use = {.node = streams[0].node,
                             .number = streams[0].number,
                             .stream_count = (uint32_t)count};
    struct busy_runs runs = {0};
    bool ok = true;

    for (size_t i = 0; ok && i < count; i++)
        ok = add_runs(&runs, db, streams[i].profile, err);
    if (ok && runs.count > 0 && runs.count <= CN_GPU_RUN_MAX) {
        use_runs(&use, &runs);
        CN_PUSH(uses->list, uses->count, uses->capacity, use);
    }
    free(runs.list);
    return ok;
}

bool cn_gpu_uses_find(struct cn_gpu_uses *uses, struct cn_database *db,
                      struct cn_error *err)
{
    struct used_stream *streams = NULL;
    size_t count;
    bool ok;

    *uses = (struct cn_gpu_uses){0};
    ok = find_streams(db, &streams, &count, err);
    for (size_t i = 0, next; ok && i < count; i = next) {
        next = i + 1;
        while (next < count && streams[next].node == streams[i].node &&
               streams[next].number == streams[i].number)
            next++;
        ok = use_device(uses, db, &streams[i], next - i, err);
    }
    free(streams);
    if (!ok)
        cn_gpu_uses_done(uses);
    return ok;
}

void cn_gpu_uses_done(struct cn_gpu_uses *uses)
{
    free(uses->list);
    *uses = (struct cn_gpu_uses){0};
}
