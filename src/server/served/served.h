/* The sources that a server shows: databases, recordings and stores, each opened once.
 *
 * A recording is also analysed in the background, so that it answers all questions that a
 * database answers, and so are measurements; until then requests report how far the analysis is. What all views of
 * a database share is computed from the start (analyze/timeline/structure.h), each view when a request
 * asks for it (views.h).
 * Threads: any thread. A database is immutable and needs no lock.
 */
#ifndef CN_SERVER_SERVED_SERVED_H
#define CN_SERVER_SERVED_SERVED_H

#include <pthread.h>
#include <stddef.h>

#include "analyze/lens/lens.h"
#include "analyze/timeline/structure.h"
#include "base/error.h"
#include "base/map.h"
#include "base/run/job.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/open.h"
#include "server/served/call_parts.h"
#include "server/served/lenses.h"
#include "server/served/pyramids.h"
#include "server/served/ranges.h"
#include "server/served/slowest_calls.h"
#include "server/served/store.h"
#include "server/served/tracks.h"
#include "server/served/views.h"
#include "server/served/waits.h"

enum cn_served_kind { CN_SERVED_DATABASE, CN_SERVED_RECORDING, CN_SERVED_STORE };

struct cn_served {
    enum cn_served_kind kind;
    struct cn_opened opened; /* owns the recording and the database */
    const char *path;        /* as given */
    char *name;              /* its last component */
    const char *format;

    struct cn_recording *recording;  /* NULL unless it is one */
    struct cn_call_parts call_parts; /* of the recording */
    uint32_t *profiled_tasks;        /* of a recording: profile i + 1 is of this task */
    size_t profiled_count;
    struct cn_job analysis; /* makes the database of what has none */
    char *analysis_what;    /* for messages */

    struct cn_database *db;        /* NULL for a store, and until cn_served_ready() */
    struct cn_structure structure; /* of the database */
    struct cn_served_views views;
    struct cn_served_ranges range_flames, range_views;
    struct cn_served_pyramids pyramids;
    struct cn_served_waits waits;
    struct cn_served_tracks *tracks; /* of a lens, those of the whole */
    struct cn_served_tracks own_tracks;
    struct cn_slowest_calls slowest; /* of a recording */
    struct cn_job_group requests;    /* jobs of views and time ranges */
    struct cn_job_group background;  /* all other jobs */
    struct cn_job warm_up;           /* the structure, then the first views */
    bool is_lazy;                    /* there is no warm-up */
    struct cn_served_lenses lenses;  /* the same source through lenses */
    const struct cn_served *whole;   /* of a lens; else NULL */
    struct cn_lens lens;             /* has no rules unless it is one */

    pthread_mutex_t lock; /* of the store */
    struct cn_served_store store;
};

/* Open a database, measurements, a recording or a store; `is_lazy`: compute no view before it is
 * asked for. */
CN_CHECK bool cn_served_open(struct cn_served **out, const char *path,
                             const struct cn_open_options *options, bool is_lazy,
                             struct cn_error *err);
void cn_served_close(struct cn_served *served); /* NULL is fine */

/* For lenses.h: set up and tear down what answers questions about the database. */
void cn_served_parts_init(struct cn_served *served);
void cn_served_parts_done(struct cn_served *served);

/* True once the database is there to be asked. Fails with CN_ERR_BUSY during
 * its analysis. */
CN_CHECK bool cn_served_ready(struct cn_served *served, struct cn_error *err);

/* For requests to a store. */
void cn_served_lock(struct cn_served *served);
bool cn_served_try_lock(
    struct cn_served *served); /* false: another request has the store */
void cn_served_unlock(struct cn_served *served);

/* Give back mapped pages if there are many. */
void cn_served_tidy(struct cn_served *served);

/* Append the label of a thread: "render 4711", name and number of a task, or "RANK 0
 * THREAD 1", an identity; nothing if it cannot be read. */
/* True if a profile is that of a stream of a GPU, which is no thread. */
bool cn_served_is_stream(const struct cn_served *served, uint32_t index);

void cn_served_thread_label(const struct cn_served *served, uint32_t index,
                            struct cn_text *out);

/* The profile that has the name of each process, by number: its main thread, else the first one
 * that has a name. For cn_served_thread_group(). */
void cn_served_name_processes(const struct cn_served *served, struct cn_map *processes);

/* Append the label in two parts: the process, "gzip process 4711", or rank, "" if there is none,
 * and the thread in it. */
void cn_served_thread_group(const struct cn_served *served, uint32_t index,
                            const struct cn_profile *profile,
                            const struct cn_map *processes, struct cn_text *group,
                            struct cn_text *name);

/* The profile of the thread that started a thread of a recording, and when, in nanoseconds
 * from the start of the timelines; false if unknown. */
bool cn_served_thread_creator(const struct cn_served *served, uint32_t index,
                              uint32_t *creator, uint64_t *start_ns);

#endif
