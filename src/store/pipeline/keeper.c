#include "store/pipeline/keeper.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "store/maintenance/care.h"

enum {
    GRACE_S = 30, /* that readers can read what was removed */
    RUN_MIN = 4,  /* segments that are joined: fewer would be copied too often */
    SHARES = 8,   /* of the age limit, that the spans of joined segments may take */
};

static const uint64_t second_ns = 1000000000;
static const uint64_t every_ns = 10 * second_ns, every_remote_ns = 600 * second_ns;

struct cn_keeper {
    struct cn_keeper_options options;
    char *path, *address;
    struct cn_store_care care;
    struct cn_sampler *sampler; /* NULL: none, or not yet */
    char
        told[sizeof(((struct cn_error *)0)->text)]; /* the last failure that was logged */
    pthread_t thread;
    pthread_mutex_t lock; /* of the following */
    pthread_cond_t is_ending_now;
    bool is_ending;
    struct cn_keeper_counts counts;
};

static void tell(const struct cn_keeper *keeper, struct cn_text *text)
{
    if (keeper->options.log)
        keeper->options.log(keeper->options.log_arg, cn_text_str(text));
    cn_text_done(text);
}

static void note_expired(struct cn_keeper *keeper, const struct cn_store_expiry *done)
{
    struct cn_text text = {0};

    if (done->segments == 0)
        return;
    (void)pthread_mutex_lock(&keeper->lock);
    keeper->counts.segments += done->segments;
    keeper->counts.rows += done->rows;
    keeper->counts.len += done->len;
    keeper->counts.pinned += done->pinned_count;
    (void)pthread_mutex_unlock(&keeper->lock);
    cn_store_expiry_print(&text, done);
    cn_text_printf(&text, " (%s)", keeper->address ? keeper->address : keeper->path);
    tell(keeper, &text);
}

static void note_joined(struct cn_keeper *keeper, const struct cn_store_compaction *done)
{
    uint32_t joined = done->before - done->after;
    struct cn_text text = {0};

    if (joined == 0)
        return;
    (void)pthread_mutex_lock(&keeper->lock);
    keeper->counts.joined += joined + 1;
    (void)pthread_mutex_unlock(&keeper->lock);
    cn_store_compaction_print(&text, done);
    cn_text_printf(&text, " (%s)", keeper->address ? keeper->address : keeper->path);
    tell(keeper, &text);
}

static void note_sampled(struct cn_keeper *keeper, const struct cn_sampling_counts *done)
{
    struct cn_text text = {0};

    (void)pthread_mutex_lock(&keeper->lock);
    cn_sampling_counts_add(&keeper->counts.sampled, done);
    (void)pthread_mutex_unlock(&keeper->lock);
    if (done->segments == 0)
        return;
    cn_sampling_counts_print(&text, done);
    cn_text_printf(&text, " (%s)", keeper->path);
    tell(keeper, &text);
}

/* The same failure is logged once. */
static void note_failure(struct cn_keeper *keeper, const struct cn_error *err)
{
    struct cn_text text = {0};

    (void)pthread_mutex_lock(&keeper->lock);
    keeper->counts.failures++;
    (void)pthread_mutex_unlock(&keeper->lock);
    if (strcmp(keeper->told, err->text) == 0)
        return;
    memcpy(keeper->told, err->text, sizeof(keeper->told));
    cn_text_printf(&text, "cannot remove, sample or join segments: %s", err->text);
    tell(keeper, &text);
}

static struct cn_store_limits limits_now(const struct cn_keeper *keeper)
{
    const struct cn_keeper_limits *limits = &keeper->options.limits;
    uint64_t now_ns = cn_clock_date_ns();

    return (struct cn_store_limits){
        .before_ns = limits->age_ns == 0       ? 0
                     : now_ns > limits->age_ns ? now_ns - limits->age_ns
                                               : 1,
        .len_max = limits->len_max,
        .count_max = limits->count_max,
        .disk_max = limits->disk_max,
    };
}

static bool expire(struct cn_keeper *keeper, struct cn_error *err)
{
    struct cn_store_limits limits = limits_now(keeper);
    struct cn_store_expiry done = {0};

    if (!cn_keeper_has_limits(&keeper->options.limits))
        return true;
    bool ok = keeper->address ? cn_store_expire(keeper->address, &limits, &done, err)
                              : cn_care_expire(&keeper->care, &limits, &done, err);
    note_expired(keeper, &done);
    return ok;
}

static bool sample(struct cn_keeper *keeper, struct cn_error *err)
{
    const struct cn_keeper_limits *limits = &keeper->options.limits;
    struct cn_sampling_counts done = {0};

    if (!limits->sample)
        return true;
    if (!keeper->sampler &&
        !cn_sampler_open(&keeper->sampler, keeper->path, limits->sample, err))
        return false;
    bool ok = cn_sampler_run(keeper->sampler, &keeper->care, cn_keeper_settle_ns(limits),
                             &done, err);
    note_sampled(keeper, &done);
    return ok;
}

/* Segments that are too old, or that should be settled by now, end. */
static void retire(struct cn_keeper *keeper)
{
    uint64_t before_ns = limits_now(keeper).before_ns, now_ns = cn_clock_date_ns();
    uint64_t settle_ns = cn_keeper_settle_ns(&keeper->options.limits);

    if (keeper->options.limits.sample && now_ns > settle_ns &&
        now_ns - settle_ns > before_ns)
        before_ns = now_ns - settle_ns;
    if (before_ns > 0)
        keeper->options.retire(keeper->options.retire_arg, before_ns);
}

/* One run at a time: senders need the disk as well. */
static bool join(struct cn_keeper *keeper, struct cn_error *err)
{
    const struct cn_care_runs runs = {
        .len_min = RUN_MIN,
        .count_max = 1,
        .span_max_ns = keeper->options.limits.age_ns / SHARES,
        .is_even = true,
        .only_sampled = keeper->options.limits.sample != NULL,
    };
    struct cn_store_compaction done = {0};

    if (!keeper->options.limits.joins && !keeper->options.limits.sample)
        return true;
    bool ok = keeper->address ? cn_bucket_compact(keeper->address, CN_STORE_FORM_SAME,
                                                  &runs, &done, err)
                              : cn_care_compact(&keeper->care, &runs, &done, err);
    if (ok)
        note_joined(keeper, &done);
    return ok;
}

static void look(struct cn_keeper *keeper)
{
    struct cn_error err;

    retire(keeper);
    if ((keeper->address || cn_care_clean(&keeper->care, &err)) && expire(keeper, &err) &&
        sample(keeper, &err) && join(keeper, &err))
        keeper->told[0] = '\0';
    else
        note_failure(keeper, &err);
}

/* False at the end. */
static bool pause_for(struct cn_keeper *keeper, uint64_t ns)
{
    struct timespec until = cn_clock_date_in(ns);
    int code = 0;

    (void)pthread_mutex_lock(&keeper->lock);
    while (!keeper->is_ending && code == 0)
        code = pthread_cond_timedwait(&keeper->is_ending_now, &keeper->lock, &until);
    bool is_ending = keeper->is_ending;
    (void)pthread_mutex_unlock(&keeper->lock);
    return !is_ending;
}

static void *run(void *arg)
{
    struct cn_keeper *keeper = arg;

    do
        look(keeper);
    while (pause_for(keeper, keeper->options.limits.every_ns));
    return NULL;
}

static void free_keeper(struct cn_keeper *keeper)
{
    (void)pthread_mutex_destroy(&keeper->lock);
    (void)pthread_cond_destroy(&keeper->is_ending_now);
    cn_sampler_close(keeper->sampler);
    free(keeper->path);
    free(keeper->address);
    free(keeper);
}

bool cn_keeper_start(struct cn_keeper **out, const struct cn_keeper_options *options,
                     struct cn_error *err)
{
    struct cn_keeper *keeper = cn_alloc(1, sizeof(*keeper));
    sigset_t all, before;

    keeper->options = *options;
    keeper->path = cn_strdup(options->path);
    keeper->address = options->address ? cn_strdup(options->address) : NULL;
    if (keeper->options.limits.every_ns == 0)
        keeper->options.limits.every_ns = options->address ? every_remote_ns : every_ns;
    keeper->care = (struct cn_store_care){
        .base = keeper->path,
        .numbers = options->numbers,
        .grace_ns = GRACE_S * second_ns,
        .settle = options->settle,
        .settle_arg = options->settle_arg,
    };
    (void)pthread_mutex_init(&keeper->lock, NULL);
    (void)pthread_cond_init(&keeper->is_ending_now, NULL);
    /* Signals are for the main thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int code = pthread_create(&keeper->thread, NULL, run, keeper);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0) {
        free_keeper(keeper);
        return cn_fail(err, CN_ERR_IO, "cannot start a thread");
    }
    *out = keeper;
    return true;
}

void cn_keeper_stop(struct cn_keeper *keeper)
{
    if (!keeper)
        return;
    (void)pthread_mutex_lock(&keeper->lock);
    keeper->is_ending = true;
    (void)pthread_cond_signal(&keeper->is_ending_now);
    (void)pthread_mutex_unlock(&keeper->lock);
    (void)pthread_join(keeper->thread, NULL);
    free_keeper(keeper);
}

struct cn_keeper_counts cn_keeper_counts(struct cn_keeper *keeper)
{
    (void)pthread_mutex_lock(&keeper->lock);
    struct cn_keeper_counts counts = keeper->counts;
    (void)pthread_mutex_unlock(&keeper->lock);
    return counts;
}
