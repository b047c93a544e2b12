/* The analysis of a recording in the background of a server. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/calls/call_filter.h"
#include "analyze/cct/calls_to_database.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "formats/formats.h"
#include "server/served/served.h"

/* Write the database of all calls to a folder and open it there. */
static bool make_database(struct cn_served *served, const struct cn_call_query *query,
                          const struct cn_progress *progress, struct cn_error *err)
{
    const struct cn_format *v4 = cn_format_find("hpctoolkit-v4");
    struct cn_calls_options options = {
        .workers = cn_pool_default_workers(),
        .folder = served->folder,
        .has_all_statistics = true,
        .progress = progress,
    };
    struct cn_write_options write = {.progress = progress};
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
    return ok && v4->open_database(&served->db, path, err);
}

bool cn_served_analyse(void *arg, const struct cn_progress *progress,
                       struct cn_error *err)
{
    struct cn_served *served = arg;
    const struct cn_recording *rec = served->recording;
    uint32_t *tasks = cn_alloc(rec->task_count, sizeof(*tasks));
    struct cn_call_filter filter;
    struct cn_call_query query = {
        .rec = rec,
        .filter = &filter,
        .range = cn_time_always,
        .tasks = tasks,
        .task_count = rec->task_count,
    };
    bool ok;

    for (uint32_t i = 0; i < rec->task_count; i++)
        tasks[i] = i;
    cn_call_filter_init(&filter, rec);
    filter.depth = UINT32_MAX;
    cn_call_filter_ready(&filter);
    ok = make_database(served, &query, progress, err) && cn_served_start(served, err);
    cn_call_filter_done(&filter);
    free(tasks);
    return ok;
}
