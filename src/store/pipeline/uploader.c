#include "store/pipeline/uploader.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/run/clock.h"
#include "base/run/progress.h"
#include "store/bucket/bucket.h"
#include "store/maintenance/replica.h"
#include "store/maintenance/unsealed_list.h"
#include "store/maintenance/upload.h"
#include "store/segment/segments.h"

enum { PAUSE_MS = 500, PAUSE_FAILED_MS = 3000, TOGETHER = 32 };
static const uint64_t measure_ns = 500000000; /* from one measurement to the next */
static const uint64_t register_ns = CN_COLLECTOR_GONE_S * UINT64_C(1000000000) / 3;

struct cn_uploader {
    char *path, *address, *url;
    char id[CN_MANIFEST_ID_LEN + 1]; /* of the collector */
    uint64_t registered_ns;          /* 0: not so far */
    unsigned kept;
    bool replicates;
    struct cn_map cleaned; /* numbers of segments whose commits were removed */
    uint64_t len_max;
    struct cn_bucket *bucket; /* of the thread; NULL: not reached so far */
    pthread_t thread;
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t is_ending_now;
    bool is_ending;
    struct cn_uploader_counts counts;
    uint64_t measured_ns;    /* when the local store was measured */
    struct cn_error failure; /* of the last attempt */
};

static bool is_ending(void *arg)
{
    struct cn_uploader *uploader = arg;

    (void)pthread_mutex_lock(&uploader->lock);
    bool is_ending = uploader->is_ending;
    (void)pthread_mutex_unlock(&uploader->lock);
    return is_ending;
}

/* Register the collector, or do so again. */
static bool sign_up(struct cn_uploader *uploader, struct cn_error *err)
{
    uint64_t now_ns = cn_clock_ns();

    if (uploader->registered_ns > 0 && now_ns - uploader->registered_ns < register_ns)
        return true;
    if (!cn_bucket_register(uploader->bucket, uploader->id, uploader->url, err))
        return false;
    uploader->registered_ns = now_ns;
    return true;
}

/* Remove the commits of a segment, once, when the manifest names it. A sweep removes what a crash
 * leaves. */
static bool remove_commits(struct cn_uploader *uploader, uint32_t number,
                           struct cn_error *err)
{
    char id[CN_MANIFEST_ID_LEN + 1], *dir;
    bool is_named, ok;

    if (!uploader->replicates || cn_map_find(&uploader->cleaned, number, 0) ||
        !cn_upload_is_done(uploader->path, number))
        return true;
    dir = cn_segment_dir(uploader->path, number);
    ok = cn_upload_id(dir, id, &is_named, err) &&
         cn_replica_remove(uploader->bucket, uploader->id, id, err);
    if (ok)
        *cn_map_at(&uploader->cleaned, number, 0) = 1;
    free(dir);
    return ok;
}

/* Upload the sealed segments, the oldest first. */
static bool upload_all(struct cn_uploader *uploader, const uint32_t *numbers,
                       size_t count, struct cn_error *err)
{
    const struct cn_progress progress = {.arg = uploader, .is_stopped = is_ending};
    uint32_t sent = 0;
    bool ok;

    if (!uploader->bucket && !cn_bucket_open(&uploader->bucket, uploader->address, err))
        return false;
    for (size_t i = 0; i < count && !is_ending(uploader); i += TOGETHER) {
        size_t n = count - i < TOGETHER ? count - i : TOGETHER;

        sent = 0;
        ok = sign_up(uploader, err) &&
             cn_upload_segments(uploader->bucket, uploader->path, numbers + i, n,
                                &progress, &sent, err);
        (void)pthread_mutex_lock(&uploader->lock);
        uploader->counts.segments += sent;
        (void)pthread_mutex_unlock(&uploader->lock);
        for (size_t k = i; ok && k < i + n; k++)
            ok = remove_commits(uploader, numbers[k], err);
        if (!ok)
            return false;
    }
    return sign_up(uploader, err);
}

/* Remove local copies of named segments except the newest. */
static void evict(const struct cn_uploader *uploader, const uint32_t *numbers,
                  size_t count)
{
    unsigned kept = 0;

    for (size_t i = count; i-- > 0;) {
        struct cn_error ignored;

        if (cn_upload_is_done(uploader->path, numbers[i]) && kept++ >= uploader->kept)
            (void)!cn_segment_remove(uploader->path, numbers[i], &ignored);
    }
}

/* With the lock held: note the bytes of the local store. */
static void measure(struct cn_uploader *uploader)
{
    uint32_t *numbers = NULL;
    struct cn_error ignored;
    uint64_t len = 0;
    size_t count = 0;

    if (!cn_segments_list(uploader->path, &numbers, &count, &ignored))
        return;
    for (size_t i = 0; i < count; i++) {
        char *dir = cn_segment_dir(uploader->path, numbers[i]);

        len += cn_segment_disk_len(dir);
        free(dir);
    }
    free(numbers);
    uploader->counts.local_len = len;
    uploader->measured_ns = cn_clock_ns();
}

static bool pass(struct cn_uploader *uploader)
{
    uint32_t *numbers = NULL;
    size_t count = 0;
    struct cn_error err = {0};
    bool ok = cn_segments_list(uploader->path, &numbers, &count, &err) &&
              upload_all(uploader, numbers, count, &err);

    evict(uploader, numbers, count);
    free(numbers);
    (void)pthread_mutex_lock(&uploader->lock);
    measure(uploader);
    uploader->counts.failures += !ok;
    uploader->failure = err;
    (void)pthread_mutex_unlock(&uploader->lock);
    return ok;
}

static void pause_for(struct cn_uploader *uploader, unsigned ms)
{
    struct timespec until = cn_clock_date_in((uint64_t)ms * 1000000);

    (void)pthread_mutex_lock(&uploader->lock);
    if (!uploader->is_ending)
        (void)pthread_cond_timedwait(&uploader->is_ending_now, &uploader->lock, &until);
    (void)pthread_mutex_unlock(&uploader->lock);
}

static void *run(void *arg)
{
    struct cn_uploader *uploader = arg;

    while (!is_ending(uploader))
        pause_for(uploader, pass(uploader) ? PAUSE_MS : PAUSE_FAILED_MS);
    return NULL;
}

static void free_uploader(struct cn_uploader *uploader)
{
    cn_bucket_close(uploader->bucket);
    (void)pthread_mutex_destroy(&uploader->lock);
    (void)pthread_cond_destroy(&uploader->is_ending_now);
    free(uploader->path);
    free(uploader->address);
    free(uploader->url);
    cn_map_done(&uploader->cleaned);
    free(uploader);
}

/* Signals are for the main thread. */
static bool start_thread(struct cn_uploader *uploader, struct cn_error *err)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int code = pthread_create(&uploader->thread, NULL, run, uploader);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0 || cn_fail(err, CN_ERR_IO, "cannot start a thread");
}

bool cn_uploader_start(struct cn_uploader **out,
                       const struct cn_uploader_options *options, struct cn_error *err)
{
    char id[CN_MANIFEST_ID_LEN + 1];
    struct cn_s3 *s3;

    if (!cn_collector_id(options->path, id, err) ||
        !cn_s3_open(&s3, options->address, err))
        return false;
    cn_s3_close(s3);
    struct cn_uploader *uploader = cn_alloc(1, sizeof(*uploader));
    uploader->path = cn_strdup(options->path);
    uploader->address = cn_strdup(options->address);
    uploader->url = cn_strdup(options->url ? options->url : "");
    memcpy(uploader->id, id, sizeof(id));
    uploader->kept = options->kept;
    uploader->replicates = options->replicates;
    uploader->len_max = options->len_max;
    (void)pthread_mutex_init(&uploader->lock, NULL);
    (void)pthread_cond_init(&uploader->is_ending_now, NULL);
    if (!start_thread(uploader, err)) {
        free_uploader(uploader);
        return false;
    }
    *out = uploader;
    return true;
}

void cn_uploader_stop(struct cn_uploader *uploader)
{
    struct cn_error ignored;

    if (!uploader)
        return;
    (void)pthread_mutex_lock(&uploader->lock);
    uploader->is_ending = true;
    (void)pthread_cond_signal(&uploader->is_ending_now);
    (void)pthread_mutex_unlock(&uploader->lock);
    (void)pthread_join(uploader->thread, NULL);
    if (uploader->registered_ns > 0 && uploader->failure.kind == CN_ERR_NONE)
        (void)!cn_collector_sign_off(uploader->bucket, uploader->path, &ignored);
    free_uploader(uploader);
}

bool cn_uploader_has_room(struct cn_uploader *uploader, struct cn_error *err)
{
    if (!uploader || uploader->len_max == 0)
        return true;
    (void)pthread_mutex_lock(&uploader->lock);
    /* A pass may wait for minutes, while traces arrive. */
    if (cn_clock_ns() - uploader->measured_ns > measure_ns)
        measure(uploader);
    bool ok = uploader->counts.local_len <= uploader->len_max;
    if (!ok)
        (void)cn_fail(err, CN_ERR_BUSY,
                      "%s has %" PRIu64 " bytes that wait for their upload, the limit is "
                      "%" PRIu64 "; %s",
                      uploader->path, uploader->counts.local_len, uploader->len_max,
                      uploader->failure.kind == CN_ERR_NONE ? "try again later"
                                                            : uploader->failure.text);
    (void)pthread_mutex_unlock(&uploader->lock);
    return ok;
}

struct cn_uploader_counts cn_uploader_counts(struct cn_uploader *uploader)
{
    (void)pthread_mutex_lock(&uploader->lock);
    struct cn_uploader_counts counts = uploader->counts;
    (void)pthread_mutex_unlock(&uploader->lock);
    return counts;
}
