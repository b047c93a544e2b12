/* States and counters of threads over time, for timelines: those of a recording are read by a job
 * when a timeline first asks for them, those of a database are there.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_TRACKS_H
#define CN_SERVER_SERVED_TRACKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/run/job.h"

struct cn_database;
struct cn_recording;
struct cn_task_tracks;
struct cn_thread_runs;

struct cn_served_tracks {
    const struct cn_recording *rec; /* NULL: of a database, or none */
    const uint32_t *tasks;          /* of profile 1, 2, ... */
    size_t count;
    struct cn_task_tracks *list; /* by profile - 1, when the job is done; NULL: none */
    struct cn_job job;
    atomic_bool has_started; /* the job; it runs once */
    bool has_states;         /* of any task, when the job is done */
};

/* Those of a database with states or runs, which outlives them. */
void cn_served_tracks_init_states(struct cn_served_tracks *tracks,
                                  const struct cn_database *db);

/* The recording and the list of tasks outlive the tracks. */
void cn_served_tracks_init(struct cn_served_tracks *tracks,
                           const struct cn_recording *rec, const uint32_t *tasks,
                           size_t count, struct cn_job_group *group);
void cn_served_tracks_done(struct cn_served_tracks *tracks); /* a zeroed one is fine */

/* True if the tracks were read; else *is_pending tells whether they are being read. */
bool cn_served_counters_ready(struct cn_served_tracks *tracks, bool *is_pending);

/* The same for states: false if there are no scheduler events; nothing is read if the files show
 * that. */
bool cn_served_states_ready(struct cn_served_tracks *tracks, const struct cn_database *db,
                            bool *is_pending);

/* The same for times on processors. */
bool cn_served_runs_ready(struct cn_served_tracks *tracks, const struct cn_database *db,
                          bool *is_pending);

/* Those of a profile, after one of these; NULL: none. */
const struct cn_task_tracks *cn_served_tracks_of(const struct cn_served_tracks *tracks,
                                                 uint32_t profile);

/* Its runs on processors, after cn_served_runs_ready(); NULL: none. */
const struct cn_thread_runs *cn_served_runs_of(const struct cn_served_tracks *tracks,
                                               uint32_t profile);

#endif
