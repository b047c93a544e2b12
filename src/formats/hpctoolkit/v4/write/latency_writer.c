#include "formats/hpctoolkit/v4/write/latency_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/block_file.h"
#include "base/run/progress.h"
#include "formats/hpctoolkit/v4/latency_format.h"
#include "model/contexts/bucket.h"

enum { ID_COUNT = UINT16_MAX + 1, NO_BUCKET = UINT16_MAX };

struct bucket {
    struct cn_bucket_range range;
    uint16_t prop_id, stat_id;
};

struct latency_writer {
    const struct cn_hpc_writing *w;
    struct cn_database *db;
    struct cn_block_writer out;
    struct bucket *buckets; /* ascending */
    size_t bucket_count;
    uint16_t *by_prop_id, *by_stat_id; /* bucket, or NO_BUCKET */
    struct cn_hpc_latency_profile *profiles;
    uint64_t end_off;                        /* in the section of planes */
    struct cn_hpc_latency_context *contexts; /* of the plane being written */
    size_t context_count, context_capacity;
};

static int compare_buckets(const void *left, const void *right)
{
    const struct bucket *a = left, *b = right;

    return (a->range.low_ns > b->range.low_ns) - (a->range.low_ns < b->range.low_ns);
}

static void find_buckets(struct latency_writer *l)
{
    const struct cn_metrics *metrics = &l->db->metrics;

    l->buckets = cn_alloc(metrics->count + 1, sizeof(*l->buckets));
    for (size_t i = 0; i < metrics->count; i++) {
        struct bucket *bucket = &l->buckets[l->bucket_count];

        if (!cn_metric_bucket(&metrics->list[i], &bucket->range))
            continue;
        bucket->prop_id = metrics->list[i].instances[0].prop_id;
        bucket->stat_id = metrics->list[i].statistics[0].stat_id;
        l->bucket_count++;
    }
    qsort(l->buckets, l->bucket_count, sizeof(*l->buckets), compare_buckets);
}

static bool check_buckets(const struct latency_writer *l, struct cn_error *err)
{
    if (l->bucket_count > CN_HPC_LATENCY_BUCKET_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu buckets of durations, can write %d",
                       l->bucket_count, CN_HPC_LATENCY_BUCKET_MAX);
    for (size_t i = 1; i < l->bucket_count; i++)
        if (l->buckets[i].range.low_ns <= l->buckets[i - 1].range.high_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "buckets of durations overlap at %" PRIu64 " ns",
                           l->buckets[i].range.low_ns);
    return true;
}

/* From metric ids to buckets. */
static void route_ids(struct latency_writer *l)
{
    l->by_prop_id = cn_realloc(NULL, ID_COUNT, sizeof(*l->by_prop_id));
    l->by_stat_id = cn_realloc(NULL, ID_COUNT, sizeof(*l->by_stat_id));
    memset(l->by_prop_id, 0xff, ID_COUNT * sizeof(*l->by_prop_id));
    memset(l->by_stat_id, 0xff, ID_COUNT * sizeof(*l->by_stat_id));
    for (size_t i = 0; i < l->bucket_count; i++) {
        l->by_prop_id[l->buckets[i].prop_id] = (uint16_t)i;
        l->by_stat_id[l->buckets[i].stat_id] = (uint16_t)i;
    }
}

static bool write_buckets(struct latency_writer *l, struct cn_error *err)
{
    if (!cn_block_writer_section(&l->out, CN_HPC_LATENCY_BUCKETS, err))
        return false;
    for (size_t i = 0; i < l->bucket_count; i++) {
        struct cn_hpc_latency_bucket record = {l->buckets[i].range.low_ns,
                                               l->buckets[i].range.high_ns};
        uint8_t bytes[cn_hpc_latency_bucket_size];

        cn_hpc_latency_bucket_encode(&record, bytes);
        if (!cn_block_writer_add(&l->out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

/* The buckets of a context in ascending order, whatever the order of their ids. */
struct waiting {
    struct cn_hpc_latency_count counts[CN_HPC_LATENCY_BUCKET_MAX];
    size_t count;
    uint32_t context;
};

static int compare_counts(const void *left, const void *right)
{
    const struct cn_hpc_latency_count *a = left, *b = right;

    return (a->bucket > b->bucket) - (a->bucket < b->bucket);
}

static bool write_waiting(struct latency_writer *l,
                          struct cn_hpc_latency_profile *profile, struct waiting *waiting,
                          struct cn_error *err)
{
    if (waiting->count == 0)
        return true;
    qsort(waiting->counts, waiting->count, sizeof(*waiting->counts), compare_counts);
    l->contexts = cn_grow(l->contexts, l->context_count, &l->context_capacity,
                          sizeof(*l->contexts));
    l->contexts[l->context_count++] =
        (struct cn_hpc_latency_context){profile->count_count, waiting->context};
    for (size_t i = 0; i < waiting->count; i++) {
        uint8_t bytes[cn_hpc_latency_count_size];

        cn_hpc_latency_count_encode(&waiting->counts[i], bytes);
        if (!cn_block_writer_add(&l->out, bytes, sizeof(bytes), err))
            return false;
    }
    profile->count_count += waiting->count;
    waiting->count = 0;
    return true;
}

static bool add_value(struct latency_writer *l, struct cn_hpc_latency_profile *profile,
                      struct waiting *waiting, struct cn_value value, uint16_t bucket,
                      struct cn_error *err)
{
    if (value.key != waiting->context && !write_waiting(l, profile, waiting, err))
        return false;
    waiting->context = value.key;
    if (waiting->count == CN_HPC_LATENCY_BUCKET_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "context %" PRIu32 " has two values of a metric", value.key);
    waiting->counts[waiting->count++] =
        (struct cn_hpc_latency_count){bucket, value.value};
    return true;
}

static bool write_counts(struct latency_writer *l, uint32_t number,
                         const uint16_t *routes, struct cn_hpc_latency_profile *profile,
                         struct cn_error *err)
{
    struct waiting *waiting = cn_realloc(NULL, 1, sizeof(*waiting));
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step = CN_FAIL;
    bool ok = true;

    waiting->count = 0;
    waiting->context = 0;
    if (cn_profile_values(l->db, number, 0, UINT32_MAX, &cursor, err))
        while (ok && (step = cn_values_next(&cursor, &batch, err)) == CN_ITEM)
            for (size_t i = 0; ok && i < batch.count; i++)
                if (routes[batch.values[i].metric] != NO_BUCKET)
                    ok = add_value(l, profile, waiting, batch.values[i],
                                   routes[batch.values[i].metric], err);
    ok = ok && step == CN_END && write_waiting(l, profile, waiting, err);
    free(waiting);
    return ok;
}

static bool write_plane(struct latency_writer *l, uint32_t number, struct cn_error *err)
{
    struct cn_hpc_latency_profile *profile = &l->profiles[number];
    struct cn_profile from;

    *profile = (struct cn_hpc_latency_profile){.counts_off = l->end_off};
    l->context_count = 0;
    if (!cn_database_profile(l->db, number, &from, err))
        return false;
    /* Of several summaries the first counts. */
    if ((number == 0) == from.is_summary &&
        !write_counts(l, number, number == 0 ? l->by_stat_id : l->by_prop_id, profile,
                      err))
        return false;
    profile->context_count = (uint32_t)l->context_count;
    for (size_t i = 0; i < l->context_count; i++) {
        uint8_t bytes[cn_hpc_latency_context_size];

        cn_hpc_latency_context_encode(&l->contexts[i], bytes);
        if (!cn_block_writer_add(&l->out, bytes, sizeof(bytes), err))
            return false;
    }
    l->end_off += profile->count_count * cn_hpc_latency_count_size +
                  profile->context_count * (uint64_t)cn_hpc_latency_context_size;
    return true;
}

static bool write_planes(struct latency_writer *l, struct cn_error *err)
{
    uint32_t count = l->db->profile_count;

    if (!cn_block_writer_section(&l->out, CN_HPC_LATENCY_PLANES, err))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!write_plane(l, i, err))
            return cn_fail_in(err, "profile %" PRIu32, i);
        cn_database_forget(l->db);
        if (!cn_progress_report(l->w->options->progress, "writing " CN_HPC_LATENCY_NAME,
                                i + 1, count, "threads", err))
            return false;
    }
    return true;
}

static bool write_profiles(struct latency_writer *l, struct cn_error *err)
{
    if (!cn_block_writer_section(&l->out, CN_HPC_LATENCY_PROFILES, err))
        return false;
    for (uint32_t i = 0; i < l->db->profile_count; i++) {
        uint8_t bytes[cn_hpc_latency_profile_size];

        cn_hpc_latency_profile_encode(&l->profiles[i], bytes);
        if (!cn_block_writer_add(&l->out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

/* A database is complete or absent after a crash of the program, not of the machine. */
static bool no_sync(void *arg, int fd, struct cn_error *err)
{
    (void)arg;
    (void)fd;
    (void)err;
    return true;
}

static bool no_sync_dir(void *arg, const char *path, struct cn_error *err)
{
    (void)arg;
    (void)path;
    (void)err;
    return true;
}

static bool write_file(struct latency_writer *l, struct cn_error *err)
{
    struct cn_disk disk = cn_disk_files;

    disk.sync = no_sync;
    disk.sync_dir = no_sync_dir;
    return cn_block_writer_open(&l->out, &disk, l->w->dir, CN_HPC_LATENCY_NAME,
                                CN_HPC_LATENCY_MAGIC, CN_HPC_LATENCY_VERSION, err) &&
           write_buckets(l, err) && write_planes(l, err) && write_profiles(l, err) &&
           cn_block_writer_commit(&l->out, err);
}

bool cn_hpc_latency_write(const struct cn_hpc_writing *w, struct cn_database *source,
                          struct cn_error *err)
{
    struct latency_writer l = {.w = w, .db = source};
    bool ok = true;

    find_buckets(&l);
    if (l.bucket_count > 0) {
        l.profiles = cn_alloc(source->profile_count, sizeof(*l.profiles));
        route_ids(&l);
        ok = check_buckets(&l, err) && write_file(&l, err);
        cn_block_writer_abandon(&l.out);
    }
    free(l.buckets);
    free(l.by_prop_id);
    free(l.by_stat_id);
    free(l.profiles);
    free(l.contexts);
    return ok || cn_fail_in(err, CN_HPC_LATENCY_NAME);
}
