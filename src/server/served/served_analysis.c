#include "server/served/served_analysis.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/calls/call_filter.h"
#include "analyze/cct/calls_to_database.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "formats/formats.h"
#include "server/served/served.h"
#include "server/served/worker.h"

/* Reading the calls is the first half of the work, writing what they cost the second. */
static bool note_progress(void *arg, const char *what, uint64_t done, uint64_t total,
                          const char *unit)
{
    struct cn_served *served = arg;
    bool goes_on;

    (void)what;
    (void)unit;
    (void)pthread_mutex_lock(&served->lock);
    if (total > 0)
        served->share_done = (double)done / (double)total;
    goes_on = !served->is_stopping;
    (void)pthread_mutex_unlock(&served->lock);
    return goes_on;
}

static uint32_t *all_tasks(const struct cn_recording *rec)
{
    uint32_t *tasks = cn_alloc(rec->task_count, sizeof(*tasks));

    for (uint32_t i = 0; i < rec->task_count; i++)
        tasks[i] = i;
    return tasks;
}

/* Write the database of all calls to a folder and open it there. */
static bool make_database(struct cn_served *served, const struct cn_call_query *query,
                          struct cn_database **out, struct cn_error *err)
{
    const struct cn_format *v4 = cn_format_find("hpctoolkit-v4");
    struct cn_progress progress = {.report = note_progress, .arg = served};
    struct cn_calls_options options = {
        .workers = cn_pool_default_workers(),
        .folder = served->folder,
        .has_all_statistics = true,
        .progress = &progress,
    };
    struct cn_write_options write = {.progress = &progress};
    struct cn_calls_result result;
    struct cn_database *calls;
    char path[PATH_MAX];
    bool ok;

    if (!cn_calls_to_database(&calls, query, 1, &options, &result, err))
        return false;
    (void)snprintf(path, sizeof(path), "%s/calls.db", served->folder);
    ok = v4->write_database(calls, path, &write, err);
    cn_calls_result_done(&result);
    cn_database_close(calls);
    return ok && v4->open_database(out, path, err);
}

static void *analyse(void *arg)
{
    struct cn_served *served = arg;
    struct cn_call_filter filter;
    uint32_t *tasks = all_tasks(served->recording);
    struct cn_call_query query = {
        .rec = served->recording,
        .filter = &filter,
        .range = cn_time_always,
        .tasks = tasks,
        .task_count = served->recording->task_count,
    };
    struct cn_database *db = NULL;
    struct cn_error err = {0};
    bool ok;

    cn_call_filter_init(&filter, served->recording);
    filter.depth = UINT32_MAX;
    cn_call_filter_ready(&filter);
    ok = make_database(served, &query, &db, &err) &&
         cn_prepared_start(&served->prepared, db, &err);
    (void)pthread_mutex_lock(&served->lock);
    served->db = db;
    served->failure = err;
    served->state = ok ? CN_SERVED_READY : CN_SERVED_FAILED;
    (void)pthread_mutex_unlock(&served->lock);
    cn_call_filter_done(&filter);
    free(tasks);
    return NULL;
}

static bool make_folder(struct cn_served *served, struct cn_error *err)
{
    const char *base = getenv("TMPDIR");
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/cairn-serve-XXXXXX",
                   base && *base ? base : "/tmp");
    if (!mkdtemp(path))
        return cn_fail_errno(err, "%s: cannot create it", path);
    served->folder = cn_strdup(path);
    return true;
}

bool cn_served_analyse(struct cn_served *served, struct cn_error *err)
{
    if (!make_folder(served, err))
        return false;
    served->state = CN_SERVED_WORKING;
    served->has_analyst = cn_worker_start(&served->analyst, analyse, served, err);
    return served->has_analyst;
}

void cn_served_analysis_end(struct cn_served *served)
{
    if (!served->has_analyst)
        return;
    (void)pthread_mutex_lock(&served->lock);
    served->is_stopping = true;
    (void)pthread_mutex_unlock(&served->lock);
    (void)pthread_join(served->analyst, NULL);
    served->has_analyst = false;
}
