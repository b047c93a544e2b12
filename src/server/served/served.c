#include "server/served/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/outdir.h"
#include "formats/formats.h"
#include "server/served/served_analysis.h"
#include "server/served/thread_label.h"
#include "store/store_format.h"

static const char *last_part(const char *path)
{
    const char *end = path + strlen(path), *begin;

    while (end > path + 1 && end[-1] == '/')
        end--;
    for (begin = end; begin > path && begin[-1] != '/'; begin--) {
    }
    return begin;
}

/* What people look at next is made before they ask. */
static void warm_up(void *arg)
{
    cn_served_warm_up(arg);
}

static struct cn_served *new_served(const char *path, const char *format)
{
    struct cn_served *served = cn_alloc(1, sizeof(*served));
    size_t len;

    served->path = cn_strdup(path);
    served->name = cn_strdup(last_part(path));
    for (len = strlen(served->name); len > 1 && served->name[len - 1] == '/'; len--)
        served->name[len - 1] = '\0';
    served->format = format;
    (void)pthread_mutex_init(&served->lock, NULL);
    cn_prepared_init(&served->prepared);
    served->prepared.after = warm_up;
    served->prepared.arg = served;
    cn_chore_group_init(&served->chores);
    cn_task_pieces_init(&served->pieces);
    cn_served_ranges_init(&served->ranges, &served->chores);
    for (size_t i = 0; i < CN_SERVED_VIEW_MAX; i++)
        (void)pthread_mutex_init(&served->views[i].lock, NULL);
    cn_served_pyramids_init(&served->pyramids);
    return served;
}

static bool open_store(struct cn_served **out, const char *path, struct cn_error *err)
{
    struct cn_served *served = new_served(path, "zorka");

    served->kind = CN_SERVED_STORE;
    served->state = CN_SERVED_READY;
    if (!cn_served_store_open(&served->store, path, err)) {
        cn_served_close(served);
        return false;
    }
    *out = served;
    return true;
}

bool cn_served_open(struct cn_served **out, const char *path, struct cn_error *err)
{
    return cn_store_probe(path) ? open_store(out, path, err)
                                : cn_served_open_costs(out, path, err);
}

bool cn_served_open_costs(struct cn_served **out, const char *path, struct cn_error *err)
{
    const struct cn_format *format;
    struct cn_served *served;
    bool ok;

    if (!cn_format_probe(path, &format, err))
        return false;
    if (!format->open_database && !format->open_recording && !format->open_traces)
        return cn_fail(err, CN_ERR_USAGE, "%s: a %s cannot be served", path,
                       format->name);
    served = new_served(path, format->name);
    if (format->open_database) {
        served->kind = CN_SERVED_DATABASE;
        served->state = CN_SERVED_READY;
        ok = format->open_database(&served->db, path, err) &&
             cn_prepared_start(&served->prepared, served->db, err);
    } else {
        served->kind = CN_SERVED_RECORDING;
        ok = (format->open_recording
                  ? format->open_recording(&served->recording, path, NULL, err)
                  : format->open_traces(&served->recording, path, "", err));
        if (ok)
            served->profiled_tasks =
                cn_recording_profiled_tasks(served->recording, &served->profiled_count);
        ok = ok && cn_served_analyse(served, err);
    }
    if (!ok) {
        cn_served_close(served);
        return false;
    }
    *out = served;
    return true;
}

void cn_served_close(struct cn_served *served)
{
    if (!served)
        return;
    cn_served_analysis_end(served);
    cn_chore_group_stop(&served->chores);
    cn_prepared_stop(&served->prepared);
    cn_served_ranges_done(&served->ranges);
    cn_served_pyramids_done(&served->pyramids);
    cn_served_views_done(served);
    cn_chore_group_done(&served->chores);
    cn_prepared_done(&served->prepared);
    cn_served_store_close(&served->store);
    cn_database_close(served->db);
    cn_task_pieces_done(&served->pieces);
    cn_recording_close(served->recording);
    if (served->folder)
        cn_outdir_remove(served->folder);
    free(served->folder);
    free(served->profiled_tasks);
    free(served->default_metric);
    free(served->path);
    free(served->name);
    (void)pthread_mutex_destroy(&served->lock);
    free(served);
}

bool cn_served_lock(struct cn_served *served, struct cn_error *err)
{
    (void)pthread_mutex_lock(&served->lock);
    if (served->state == CN_SERVED_READY)
        return true;
    if (served->state == CN_SERVED_FAILED)
        *err = served->failure;
    else
        (void)cn_fail(err, CN_ERR_INTERRUPTED, "%s is being analysed: %.0f %% done",
                      served->name, served->share_done * 100);
    (void)pthread_mutex_unlock(&served->lock);
    return false;
}

void cn_served_unlock(struct cn_served *served)
{
    (void)pthread_mutex_unlock(&served->lock);
}

bool cn_served_ready(struct cn_served *served, struct cn_error *err)
{
    if (!cn_served_lock(served, err))
        return false;
    cn_served_unlock(served);
    return true;
}

bool cn_served_frames(struct cn_served *served, const struct cn_frames **out,
                      struct cn_error *err)
{
    *out = &served->prepared.frames;
    return cn_prepared_wait(&served->prepared, CN_PIECE_FRAMES, err);
}

bool cn_served_labels(struct cn_served *served, const struct cn_context_labels **out,
                      struct cn_error *err)
{
    *out = &served->prepared.labels;
    return cn_prepared_wait(&served->prepared, CN_PIECE_LABELS, err);
}

bool cn_served_depth(struct cn_served *served, uint32_t *out, struct cn_error *err)
{
    if (!cn_prepared_wait(&served->prepared, CN_PIECE_DEPTH, err))
        return false;
    *out = served->prepared.depth;
    return true;
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
    enum { MAPPED_MAX = 32 << 20 };
    struct cn_error err;

    if (mapped_size() < MAPPED_MAX || !cn_served_lock(served, &err))
        return;
    if (served->kind == CN_SERVED_STORE)
        cn_served_store_forget(&served->store);
    else
        cn_database_forget(served->db);
    cn_served_unlock(served);
}
