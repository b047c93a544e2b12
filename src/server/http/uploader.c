#include "server/http/uploader.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "base/run/progress.h"
#include "store/bucket/bucket.h"
#include "store/care/upload.h"
#include "store/segment/segments.h"

enum { PAUSE_MS = 500, PAUSE_FAILED_MS = 3000 };
static const uint64_t measure_ns = 500000000; /* from one measurement to the next */

struct cn_uploader {
    char *path, *address;
    unsigned kept;
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
    bool is_ending;

    (void)pthread_mutex_lock(&uploader->lock);
    is_ending = uploader->is_ending;
    (void)pthread_mutex_unlock(&uploader->lock);
    return is_ending;
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
    ok = cn_upload_segments(uploader->bucket, uploader->path, numbers, count, &progress,
                            &sent, err);
    (void)pthread_mutex_lock(&uploader->lock);
    uploader->counts.segments += sent;
    (void)pthread_mutex_unlock(&uploader->lock);
    return ok;
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
    struct timespec until;

    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_nsec -= 1000000000;
        until.tv_sec++;
    }
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
    free(uploader);
}

/* Signals are for the main thread. */
static bool start_thread(struct cn_uploader *uploader, struct cn_error *err)
{
    sigset_t all, before;
    int code;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    code = pthread_create(&uploader->thread, NULL, run, uploader);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0 || cn_fail(err, CN_ERR_IO, "cannot start a thread");
}

bool cn_uploader_start(struct cn_uploader **out,
                       const struct cn_uploader_options *options, struct cn_error *err)
{
    struct cn_uploader *uploader;
    struct cn_s3 *s3;

    if (!cn_s3_open(&s3, options->address, err))
        return false;
    cn_s3_close(s3);
    uploader = cn_alloc(1, sizeof(*uploader));
    uploader->path = cn_strdup(options->path);
    uploader->address = cn_strdup(options->address);
    uploader->kept = options->kept;
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
    if (!uploader)
        return;
    (void)pthread_mutex_lock(&uploader->lock);
    uploader->is_ending = true;
    (void)pthread_cond_signal(&uploader->is_ending_now);
    (void)pthread_mutex_unlock(&uploader->lock);
    (void)pthread_join(uploader->thread, NULL);
    free_uploader(uploader);
}

bool cn_uploader_has_room(struct cn_uploader *uploader, struct cn_error *err)
{
    bool ok;

    if (!uploader || uploader->len_max == 0)
        return true;
    (void)pthread_mutex_lock(&uploader->lock);
    /* A pass may wait for minutes, while traces arrive. */
    if (cn_clock_ns() - uploader->measured_ns > measure_ns)
        measure(uploader);
    ok = uploader->counts.local_len <= uploader->len_max;
    if (!ok)
        (void)cn_fail(err, CN_ERR_IO,
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
    struct cn_uploader_counts counts;

    (void)pthread_mutex_lock(&uploader->lock);
    counts = uploader->counts;
    (void)pthread_mutex_unlock(&uploader->lock);
    return counts;
}
