#include "server/served/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/cct/members.h"
#include "base/alloc.h"
#include "base/text.h"

enum {
    REQUESTS_MAX = 4,    /* views and ranges computed at a time */
    BACKGROUND_MAX = 16, /* all of them: analysis, structure, pyramids */
    MAPPED_MAX = 32 << 20,
};

/* "b" of "a/b//", to be freed. */
static char *last_component(const char *path)
{
    size_t end = strlen(path), begin;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--) {
    }
    char *name = cn_strdup(path + begin);
    name[end - begin] = '\0';
    return name;
}

static struct cn_served *new_served(const struct cn_opened *opened)
{
    struct cn_served *served = cn_alloc(1, sizeof(*served));

    served->opened = *opened;
    served->kind = opened->contains & CN_TRACES  ? CN_SERVED_STORE
                   : opened->contains & CN_CALLS ? CN_SERVED_RECORDING
                                                 : CN_SERVED_DATABASE;
    served->path = opened->path;
    served->name = last_component(opened->path);
    served->format = served->kind == CN_SERVED_STORE ? "zorka" : opened->format->name;
    (void)pthread_mutex_init(&served->lock, NULL);
    served->tracks = &served->own_tracks;
    cn_call_parts_init(&served->call_parts);
    cn_served_lenses_init(&served->lenses);
    cn_served_parts_init(served);
    return served;
}

void cn_served_parts_init(struct cn_served *served)
{
    cn_job_group_init(&served->requests, REQUESTS_MAX);
    cn_job_group_init(&served->background, BACKGROUND_MAX);
    cn_structure_init(&served->structure, &served->requests, &served->background);
    cn_served_views_init(&served->views, &served->structure);
    cn_served_ranges_init(&served->range_flames, &served->range_views,
                          &served->structure);
    cn_served_pyramids_init(&served->pyramids, &served->structure);
    cn_served_waits_init(&served->waits, &served->structure);
}

void cn_served_parts_done(struct cn_served *served)
{
    cn_job_group_cancel(&served->background);
    cn_job_group_cancel(&served->requests);
    cn_job_end(&served->analysis);
    cn_job_end(&served->warm_up);
    cn_served_ranges_done(&served->range_flames);
    cn_served_ranges_done(&served->range_views);
    cn_served_pyramids_done(&served->pyramids);
    cn_served_waits_done(&served->waits);
    cn_served_tracks_done(&served->own_tracks);
    cn_slowest_calls_done(&served->slowest);
    cn_served_views_done(&served->views);
    cn_structure_done(&served->structure);
    cn_job_group_done(&served->requests);
    cn_job_group_done(&served->background);
}

void cn_served_close(struct cn_served *served)
{
    if (!served)
        return;
    cn_served_lenses_done(&served->lenses);
    cn_served_parts_done(served);
    cn_served_store_close(&served->store);
    cn_call_parts_done(&served->call_parts);
    cn_opened_close(&served->opened);
    free(served->analysis_what);
    free(served->profiled_tasks);
    free(served->name);
    (void)pthread_mutex_destroy(&served->lock);
    free(served);
}

static bool warm_up(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_served *served = arg;

    (void)progress;
    if (!cn_structure_finish(&served->structure, err))
        return false;
    cn_served_views_warm_up(&served->views);
    return true;
}

/* Compute the structure of the database and the views that clients open first. */
static bool start_warm_up(struct cn_served *served, struct cn_error *err)
{
    if (!served->recording && (served->db->states || served->db->runs))
        cn_served_tracks_init_states(served->tracks, served->db);
    cn_structure_set_database(&served->structure, served->db);
    if (served->is_lazy)
        return true;
    served->warm_up = (struct cn_job){.group = &served->background,
                                      .work = warm_up,
                                      .arg = served,
                                      .what = "reading contexts"};
    return cn_job_start(&served->warm_up, err);
}

static bool open_contexts(void *arg, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct cn_served *served = arg;

    if (!cn_opened_load(&served->opened, CN_CONTEXTS, progress, err))
        return false;
    served->db = served->opened.db;
    return start_warm_up(served, err);
}

static bool start_analysis(struct cn_served *served, struct cn_error *err)
{
    struct cn_text what = {0};

    cn_text_printf(&what, "analysing %s", served->name);
    served->analysis_what = what.chars;
    served->analysis = (struct cn_job){.group = &served->background,
                                       .work = open_contexts,
                                       .arg = served,
                                       .what = served->analysis_what};
    return cn_job_start(&served->analysis, err);
}

static bool open_calls(struct cn_served *served, struct cn_error *err)
{
    if (!cn_opened_load(&served->opened, CN_CALLS, NULL, err))
        return false;
    served->recording = served->opened.rec;
    served->profiled_tasks =
        cn_alloc(served->recording->task_count, sizeof(*served->profiled_tasks));
    served->profiled_count =
        cn_cct_member_tasks(served->recording, served->profiled_tasks);
    cn_served_tracks_init(served->tracks, served->recording, served->profiled_tasks,
                          served->profiled_count, &served->background);
    cn_slowest_calls_init(&served->slowest, served->recording,
                          served->opened.options.is_raw, &served->background);
    return true;
}

static bool open_kind(struct cn_served *served, struct cn_error *err)
{
    if (served->kind == CN_SERVED_STORE)
        return cn_served_store_open(&served->store, served->path, err);
    if (served->kind == CN_SERVED_RECORDING && !open_calls(served, err))
        return false;
    return cn_opened_is_analysed(&served->opened) ? start_analysis(served, err)
                                                  : open_contexts(served, NULL, err);
}

bool cn_served_open(struct cn_served **out, const char *path,
                    const struct cn_open_options *options, bool is_lazy,
                    struct cn_error *err)
{
    struct cn_opened opened;

    if (!cn_open(&opened, path, 0, options, err))
        return false;
    struct cn_served *served = new_served(&opened);
    served->is_lazy = is_lazy;
    if (!open_kind(served, err)) {
        cn_served_close(served);
        return false;
    }
    *out = served;
    return true;
}

bool cn_served_ready(struct cn_served *served, struct cn_error *err)
{
    return !served->analysis.work || cn_job_check(&served->analysis, err);
}

void cn_served_lock(struct cn_served *served)
{
    (void)pthread_mutex_lock(&served->lock);
}

bool cn_served_try_lock(struct cn_served *served)
{
    return pthread_mutex_trylock(&served->lock) == 0;
}

void cn_served_unlock(struct cn_served *served)
{
    (void)pthread_mutex_unlock(&served->lock);
}

/* The pages of mapped files that this process has at the moment. */
static uint64_t mapped_size(void)
{
    unsigned long total, resident, shared;
    FILE *file = fopen("/proc/self/statm", "re");

    if (!file)
        return 0;
    int got = fscanf(file, "%lu %lu %lu", &total, &resident, &shared);
    (void)fclose(file);
    return got == 3 ? (uint64_t)shared * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void cn_served_tidy(struct cn_served *served)
{
    struct cn_error err;

    if (mapped_size() < MAPPED_MAX)
        return;
    if (served->kind == CN_SERVED_STORE) {
        cn_served_lock(served);
        cn_served_store_forget(&served->store);
        cn_served_unlock(served);
    } else if (cn_served_ready(served, &err)) {
        cn_database_forget(served->db);
    }
}
