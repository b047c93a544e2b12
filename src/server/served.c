#include "server/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/outdir.h"
#include "formats/formats.h"
#include "server/served_analysis.h"

static const char *last_part(const char *path)
{
    const char *end = path + strlen(path), *begin;

    while (end > path + 1 && end[-1] == '/')
        end--;
    for (begin = end; begin > path && begin[-1] != '/'; begin--) {
    }
    return begin;
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
    (void)pthread_mutex_init(&served->frames_lock, NULL);
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
    const struct cn_format *format;
    struct cn_served *served;
    bool ok;

    if (cn_served_store_probe(path))
        return open_store(out, path, err);
    if (!cn_format_probe(path, &format, err))
        return false;
    if (!format->open_database && !format->open_recording)
        return cn_fail(err, CN_ERR_USAGE, "%s: a %s cannot be served", path,
                       format->name);
    served = new_served(path, format->name);
    if (format->open_database) {
        served->kind = CN_SERVED_DATABASE;
        served->state = CN_SERVED_READY;
        ok = format->open_database(&served->db, path, err);
    } else {
        served->kind = CN_SERVED_RECORDING;
        ok = format->open_recording(&served->recording, path, NULL, err) &&
             cn_served_analyse(served, err);
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
    cn_served_pyramids_done(&served->pyramids);
    cn_served_views_done(served);
    if (served->frames)
        cn_frames_done(served->frames);
    free(served->frames);
    if (served->labels)
        cn_context_labels_done(served->labels);
    free(served->labels);
    cn_served_store_close(&served->store);
    cn_database_close(served->db);
    cn_recording_close(served->recording);
    if (served->folder)
        cn_outdir_remove(served->folder);
    free(served->folder);
    free(served->path);
    free(served->name);
    (void)pthread_mutex_destroy(&served->frames_lock);
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

/* With the lock of frames held. */
static bool make_frames(struct cn_served *served, struct cn_error *err)
{
    struct cn_frames *frames = cn_alloc(1, sizeof(*frames));

    if (!cn_frames_build(frames, served->db, err)) {
        free(frames);
        return false;
    }
    served->frames = frames;
    return true;
}

bool cn_served_frames(struct cn_served *served, struct cn_frames **out,
                      struct cn_error *err)
{
    bool ok;

    (void)pthread_mutex_lock(&served->frames_lock);
    ok = served->frames || make_frames(served, err);
    if (ok)
        *out = served->frames;
    (void)pthread_mutex_unlock(&served->frames_lock);
    return ok;
}

/* With the lock of frames held. */
static bool make_labels(struct cn_served *served, struct cn_error *err)
{
    struct cn_context_labels *labels = cn_alloc(1, sizeof(*labels));

    if (!cn_context_labels_build(labels, served->db, &served->frames->index, err)) {
        free(labels);
        return false;
    }
    served->labels = labels;
    return true;
}

bool cn_served_labels(struct cn_served *served, const struct cn_context_labels **out,
                      struct cn_error *err)
{
    bool ok;

    (void)pthread_mutex_lock(&served->frames_lock);
    ok = (served->frames || make_frames(served, err)) &&
         (served->labels || make_labels(served, err));
    if (ok)
        *out = served->labels;
    (void)pthread_mutex_unlock(&served->frames_lock);
    return ok;
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
    enum { MAPPED_MAX = 64 << 20 };
    struct cn_error err;

    if (mapped_size() < MAPPED_MAX || !cn_served_lock(served, &err))
        return;
    if (served->kind == CN_SERVED_STORE)
        cn_served_store_forget(&served->store);
    else
        cn_database_forget(served->db);
    cn_served_unlock(served);
}
