#include "server/served/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/text.h"
#include "formats/exchange/perf/perf.h"
#include "open/formats.h"
#include "store/format.h"

enum {
    REQUESTS_MAX = 4,    /* views and ranges computed at a time */
    BACKGROUND_MAX = 16, /* all of them: analysis, structure, pyramids */
    MAPPED_MAX = 32 << 20,
};

/* "b" of "a/b//", to be freed. */
static char *last_component(const char *path)
{
    size_t end = strlen(path), begin;
    char *name;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/'; begin--) {
    }
    name = cn_strdup(path + begin);
    name[end - begin] = '\0';
    return name;
}

static struct cn_served *new_served(const char *path, const char *format,
                                    enum cn_served_kind kind)
{
    struct cn_served *served = cn_alloc(1, sizeof(*served));

    served->kind = kind;
    served->path = cn_strdup(path);
    served->name = last_component(path);
    served->format = format;
    (void)pthread_mutex_init(&served->lock, NULL);
    cn_job_group_init(&served->requests, REQUESTS_MAX);
    cn_job_group_init(&served->background, BACKGROUND_MAX);
    cn_call_parts_init(&served->call_parts);
    cn_structure_init(&served->structure, &served->requests, &served->background);
    cn_served_views_init(&served->views, &served->structure);
    cn_served_ranges_init(&served->range_flames, &served->range_views,
                          &served->structure);
    cn_served_pyramids_init(&served->pyramids, &served->structure);
    return served;
}

void cn_served_close(struct cn_served *served)
{
    if (!served)
        return;
    cn_job_group_cancel(&served->background);
    cn_job_group_cancel(&served->requests);
    cn_job_end(&served->analysis);
    cn_job_end(&served->warm_up);
    cn_served_ranges_done(&served->range_flames);
    cn_served_ranges_done(&served->range_views);
    cn_served_pyramids_done(&served->pyramids);
    cn_served_tracks_done(&served->tracks);
    cn_slowest_calls_done(&served->slowest);
    cn_served_views_done(&served->views);
    cn_structure_done(&served->structure);
    cn_job_group_done(&served->requests);
    cn_job_group_done(&served->background);
    cn_served_store_close(&served->store);
    cn_database_close(served->db);
    cn_database_close(served->samples);
    cn_call_parts_done(&served->call_parts);
    cn_recording_close(served->recording);
    if (served->folder && !served->is_given)
        cn_outdir_remove(served->folder);
    free(served->folder);
    cn_analysis_extras_done(&served->extras);
    free(served->analysis_what);
    free(served->profiled_tasks);
    free(served->path);
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
    if (!served->recording && served->db->states)
        cn_served_tracks_init_states(&served->tracks, served->db);
    cn_structure_set_database(&served->structure, served->db);
    if (served->is_lazy)
        return true;
    served->warm_up = (struct cn_job){.group = &served->background,
                                      .work = warm_up,
                                      .arg = served,
                                      .what = "reading contexts"};
    return cn_job_start(&served->warm_up, err);
}

static bool open_given(struct cn_served *served, struct cn_error *err)
{
    return cn_analysis_open(&served->db, served->folder, &served->extras, err);
}

/* Samples with symbols of this machine are shown as the database that a page of them contains: the
 * same rows with the same numbers. Costs of instructions come from the samples; contexts, modules,
 * threads and metrics have the same numbers in both. */
static bool open_samples(struct cn_served *served, struct cn_error *err)
{
    if (!(served->folder = cn_temporary_make("serve", err)) ||
        !cn_format_perf.open_database(&served->samples, served->path, err) ||
        !cn_analysis_of_samples(served->samples, served->folder, err) ||
        !open_given(served, err))
        return false;
    served->db->points = served->samples->points;
    served->db->modules = served->samples->modules; /* with build ids */
    return true;
}

static bool analyse_measurements(void *arg, const struct cn_progress *progress,
                                 struct cn_error *err)
{
    struct cn_served *served = arg;

    return cn_analysis_of_measurements(served->path, served->folder, progress, err) &&
           open_given(served, err) && start_warm_up(served, err);
}

static bool analyse_calls(void *arg, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct cn_served *served = arg;

    return (served->is_given
                ? open_given(served, err)
                : cn_analysis_of_calls(&served->db, served->recording, served->is_raw,
                                       cn_time_always, served->folder, &served->extras,
                                       progress, err)) &&
           start_warm_up(served, err);
}

static bool start_analysis(struct cn_served *served, cn_job_fn analyse,
                           struct cn_error *err)
{
    struct cn_text what = {0};

    if (!served->is_given && !(served->folder = cn_temporary_make("serve", err)))
        return false;
    cn_text_printf(&what, "analysing %s", served->name);
    served->analysis_what = what.chars;
    served->analysis = (struct cn_job){.group = &served->background,
                                       .work = analyse,
                                       .arg = served,
                                       .what = served->analysis_what};
    return cn_job_start(&served->analysis, err);
}

static bool open_recording(struct cn_served *served, const struct cn_format *format,
                           struct cn_error *err)
{
    if (!(format->open_recording
              ? format->open_recording(&served->recording, served->path, NULL, err)
              : format->open_traces(&served->recording, served->path, "", err)))
        return false;
    served->is_of_traces = !format->open_recording;
    served->profiled_tasks =
        cn_alloc(served->recording->task_count, sizeof(*served->profiled_tasks));
    for (uint32_t i = 0; i < served->recording->task_count; i++)
        if (served->recording->tasks[i].data_len > 0)
            served->profiled_tasks[served->profiled_count++] = i;
    cn_served_tracks_init(&served->tracks, served->recording, served->profiled_tasks,
                          served->profiled_count, &served->background);
    cn_slowest_calls_init(&served->slowest, served->recording, &served->background);
    return start_analysis(served, analyse_calls, err);
}

static void set_options(struct cn_served *served, const struct cn_served_options *options)
{
    served->is_raw = options->is_raw;
    served->is_lazy = options->is_lazy;
    served->is_given = options->folder != NULL;
    served->folder = options->folder ? cn_strdup(options->folder) : NULL;
}

bool cn_served_open(struct cn_served **out, const char *path,
                    struct cn_served_options options, struct cn_error *err)
{
    const struct cn_format *format;
    struct cn_served *served;
    bool ok;

    if (options.format)
        format = cn_format_find(options.format);
    else if (!cn_format_probe(path, &format, err))
        return false;
    if (!format)
        return cn_fail(err, CN_ERR_FORMAT, "%s: no format '%s'", path, options.format);
    if (!format->open_database && !format->open_recording && !format->open_traces &&
        !format->open_measurements)
        return cn_fail(err, CN_ERR_USAGE, "%s: a %s cannot be served", path,
                       format->name);
    if (format == &cn_format_store) {
        served = new_served(path, "zorka", CN_SERVED_STORE);
        ok = cn_served_store_open(&served->store, path, err);
    } else if (format->open_database) {
        served = new_served(path, format->name, CN_SERVED_DATABASE);
        set_options(served, &options);
        ok = (served->is_given ? open_given(served, err)
              : format == &cn_format_perf
                  ? open_samples(served, err)
                  : format->open_database(&served->db, path, err)) &&
             start_warm_up(served, err);
    } else if (format->open_measurements) {
        served = new_served(path, format->name, CN_SERVED_DATABASE);
        set_options(served, &options);
        ok = start_analysis(served, analyse_measurements, err);
    } else {
        served = new_served(path, format->name, CN_SERVED_RECORDING);
        set_options(served, &options);
        ok = open_recording(served, format, err);
    }
    if (!ok) {
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

const char *cn_served_analysed(struct cn_served *served, struct cn_error *err)
{
    return cn_job_finish(&served->analysis, err) ? served->folder : NULL;
}

void cn_served_lock(struct cn_served *served)
{
    (void)pthread_mutex_lock(&served->lock);
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
    int got;

    if (!file)
        return 0;
    got = fscanf(file, "%lu %lu %lu", &total, &resident, &shared);
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
