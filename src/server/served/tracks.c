#include "server/served/tracks.h"

#include <stdlib.h>

#include "analyze/timeline/task_tracks.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "model/contexts/database.h"

enum {
    ITEM_MAX = 1 << 20, /* changes of states and readings of all tasks, 16 bytes each */
    ITEM_MIN = 256,     /* of one task */
};

struct tracks_reading {
    struct cn_served_tracks *tracks;
    const struct cn_progress *progress;
    bool is_stopped;
    struct cn_error err;
};

static void read_task(void *arg, size_t number, unsigned worker)
{
    struct tracks_reading *reading = arg;
    struct cn_served_tracks *tracks = reading->tracks;
    size_t share = ITEM_MAX / tracks->count;
    struct cn_error ignored; /* `take` asks again */

    (void)worker;
    if (!cn_task_tracks_read(&tracks->list[number], tracks->rec, tracks->tasks[number],
                             share > ITEM_MIN ? share : ITEM_MIN, reading->progress,
                             &ignored))
        tracks->list[number] = (struct cn_task_tracks){0};
}

static void take_task(void *arg, size_t number, unsigned worker)
{
    struct tracks_reading *reading = arg;

    (void)worker;
    if (!reading->is_stopped)
        reading->is_stopped =
            !cn_progress_report(reading->progress, "reading events", number + 1,
                                reading->tracks->count, "tasks", &reading->err);
}

static void free_list(struct cn_served_tracks *tracks)
{
    for (size_t i = 0; tracks->list && i < tracks->count; i++)
        cn_task_tracks_done(&tracks->list[i]);
    free(tracks->list);
    tracks->list = NULL;
}

static bool read_all(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served_tracks *tracks = arg;
    struct tracks_reading reading = {.tracks = tracks, .progress = progress};

    tracks->list = cn_alloc(tracks->count, sizeof(*tracks->list));
    cn_pool_run(&(struct cn_jobs){tracks->count, &reading, read_task, take_task, NULL},
                cn_pool_default_workers());
    for (size_t i = 0; i < tracks->count; i++)
        tracks->has_states |= tracks->list[i].has_states;
    if (reading.is_stopped)
        *err = reading.err;
    return !reading.is_stopped;
}

void cn_served_tracks_init_states(struct cn_served_tracks *tracks,
                                  const struct cn_database *db)
{
    *tracks = (struct cn_served_tracks){.count = db->profile_count - 1};
    tracks->list = cn_alloc(tracks->count, sizeof(*tracks->list));
    for (size_t i = 0; i < tracks->count; i++)
        tracks->list[i] = cn_task_tracks_of_profile(db, (uint32_t)i + 1);
}

void cn_served_tracks_init(struct cn_served_tracks *tracks,
                           const struct cn_recording *rec, const uint32_t *tasks,
                           size_t count, struct cn_job_group *group)
{
    *tracks = (struct cn_served_tracks){
        .rec = rec,
        .tasks = tasks,
        .count = count,
        .job = {.group = group,
                .work = read_all,
                .arg = tracks,
                .what = "reading events"},
    };
}

void cn_served_tracks_done(struct cn_served_tracks *tracks)
{
    if (tracks->rec) {
        cn_job_end(&tracks->job);
        free_list(tracks);
    } else {
        free(tracks->list);
    }
}

bool cn_served_counters_ready(struct cn_served_tracks *tracks, bool *is_pending)
{
    struct cn_error err;

    *is_pending = false;
    if (!tracks->rec || tracks->count == 0)
        return false;
    if (cn_job_check(&tracks->job, &err))
        return true;
    if (!atomic_exchange(&tracks->has_started, true) && !cn_job_start(&tracks->job, &err))
        atomic_store(&tracks->has_started, false);
    *is_pending = cn_job_is_running(&tracks->job);
    return cn_job_check(&tracks->job, &err); /* it may have ended meanwhile */
}

/* False if no file has scheduler events. Recordings that were imported have no files. */
static bool may_have_states(const struct cn_recording *rec)
{
    for (uint32_t i = 0; i < rec->source_count; i++)
        if (rec->sources[i].kind == CN_SOURCE_PERF)
            return true;
    return rec->source_count == 0;
}

bool cn_served_states_ready(struct cn_served_tracks *tracks, const struct cn_database *db,
                            bool *is_pending)
{
    *is_pending = false;
    if (!tracks->rec)
        return tracks->list != NULL && db->states != NULL;
    return (cn_metrics_have_waits(&db->metrics) || may_have_states(tracks->rec)) &&
           cn_served_counters_ready(tracks, is_pending) && tracks->has_states;
}

bool cn_served_runs_ready(struct cn_served_tracks *tracks, const struct cn_database *db,
                          bool *is_pending)
{
    if (tracks->rec)
        return cn_served_states_ready(tracks, db, is_pending);
    *is_pending = false;
    return tracks->list != NULL && db->runs != NULL;
}

const struct cn_task_tracks *cn_served_tracks_of(const struct cn_served_tracks *tracks,
                                                 uint32_t profile)
{
    return profile == 0 || profile > tracks->count ? NULL : &tracks->list[profile - 1];
}

const struct cn_thread_runs *cn_served_runs_of(const struct cn_served_tracks *tracks,
                                               uint32_t profile)
{
    const struct cn_task_tracks *of_task = cn_served_tracks_of(tracks, profile);

    return of_task ? &of_task->runs : NULL;
}
