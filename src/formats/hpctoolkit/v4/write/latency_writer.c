#include "formats/hpctoolkit/v4/write/latency_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/block_file.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/run/ranks.h"
#include "formats/hpctoolkit/v4/latency_format.h"
#include "model/contexts/bucket.h"

enum {
    ID_COUNT = UINT16_MAX + 1,
    NO_BUCKET = UINT16_MAX,
    PART_VALUES = 64 * 1024,    /* of a part of a plane, about */
    MESSAGE_LEN_MAX = 64 << 20, /* of planes before they are sent */
};

struct bucket {
    struct cn_bucket_range range;
    uint16_t prop_id, stat_id;
};

/* The counts of a profile in the contexts first..last; none if these are in reverse order. */
struct part {
    uint32_t profile, first, last;
    bool is_last; /* of its profile */
};

/* The buckets of a context in ascending order, whatever the order of their ids. */
struct waiting {
    struct cn_hpc_latency_count counts[CN_HPC_LATENCY_BUCKET_MAX];
    size_t count;
    uint32_t context;
};

/* A worker has one part. */
struct worker {
    struct cn_value_cursor cursor;
    struct waiting waiting;
    struct cn_text counts; /* encoded */
    uint64_t count_count;
    struct cn_hpc_latency_context *contexts; /* counts are numbered from the first */
    size_t context_count, context_capacity;
};

/* Rank 0 writes the file. The others encode the planes of their profiles and send them. */
struct latency_writer {
    const struct cn_hpc_writing *w;
    struct cn_database *db;
    struct cn_block_writer out;
    struct bucket *buckets; /* ascending */
    size_t bucket_count;
    uint16_t *by_prop_id, *by_stat_id; /* bucket, or NO_BUCKET */
    struct cn_hpc_latency_profile *profiles;
    uint64_t end_off; /* in the section of planes */
    struct part *parts;
    size_t part_count, part_capacity;
    struct worker *workers;
    struct cn_failures failures;

    /* The plane that is being written. */
    uint64_t count_count;
    struct cn_text contexts; /* encoded; they follow the counts */
    struct cn_text message;  /* to rank 0 */
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

static int compare_counts(const void *left, const void *right)
{
    const struct cn_hpc_latency_count *a = left, *b = right;

    return (a->bucket > b->bucket) - (a->bucket < b->bucket);
}

static void encode_waiting(struct worker *self)
{
    struct waiting *waiting = &self->waiting;

    if (waiting->count == 0)
        return;
    qsort(waiting->counts, waiting->count, sizeof(*waiting->counts), compare_counts);
    self->contexts = cn_grow(self->contexts, self->context_count, &self->context_capacity,
                             sizeof(*self->contexts));
    self->contexts[self->context_count++] =
        (struct cn_hpc_latency_context){self->count_count, waiting->context};
    for (size_t i = 0; i < waiting->count; i++) {
        uint8_t bytes[cn_hpc_latency_count_size];

        cn_hpc_latency_count_encode(&waiting->counts[i], bytes);
        cn_text_add(&self->counts, (const char *)bytes, sizeof(bytes));
    }
    self->count_count += waiting->count;
    waiting->count = 0;
}

static bool add_value(struct worker *self, struct cn_value value, uint16_t bucket,
                      struct cn_error *err)
{
    struct waiting *waiting = &self->waiting;

    if (value.key != waiting->context)
        encode_waiting(self);
    waiting->context = value.key;
    if (waiting->count == CN_HPC_LATENCY_BUCKET_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "context %" PRIu32 " has two values of a metric", value.key);
    waiting->counts[waiting->count++] =
        (struct cn_hpc_latency_count){bucket, value.value};
    return true;
}

static bool encode_part(const struct latency_writer *l, const struct part *part,
                        struct worker *self, struct cn_error *err)
{
    const uint16_t *routes = part->profile == 0 ? l->by_stat_id : l->by_prop_id;
    struct cn_value_batch batch;
    enum cn_step step;

    self->waiting.count = 0;
    self->waiting.context = 0;
    self->count_count = 0;
    self->context_count = 0;
    cn_text_clear(&self->counts);
    if (part->first > part->last)
        return true;
    if (!cn_profile_values(l->db, part->profile, part->first, part->last, &self->cursor,
                           err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (routes[batch.values[i].metric] != NO_BUCKET &&
                !add_value(self, batch.values[i], routes[batch.values[i].metric], err))
                return false;
    encode_waiting(self);
    return step == CN_END;
}

static void part_run(void *arg, size_t job, unsigned worker)
{
    struct latency_writer *l = arg;
    struct cn_error *err = cn_failures_error(&l->failures, worker);

    if (cn_failures_stopped(&l->failures, worker) ||
        encode_part(l, &l->parts[job], &l->workers[worker], err))
        return;
    (void)cn_fail_in(err, "profile %" PRIu32, l->parts[job].profile);
    cn_failures_note(&l->failures, worker, job);
}

/* Append to the plane that is being written. */
static bool add_bytes(struct latency_writer *l, struct cn_bytes bytes,
                      struct cn_error *err)
{
    if (cn_ranks_is_first(l->w->ranks))
        return cn_block_writer_add(&l->out, bytes.ptr, bytes.len, err);
    cn_text_add(&l->message, (const char *)bytes.ptr, bytes.len);
    return true;
}

/* Send what is encoded, in front of it whether more follows. */
static bool send_message(struct latency_writer *l, bool is_last, struct cn_error *err)
{
    struct cn_text message = {0};
    bool ok;

    cn_wire_u32(&message, is_last);
    cn_text_add(&message, cn_text_str(&l->message), l->message.len);
    ok = cn_ranks_send(l->w->ranks, 0, &message, err);
    cn_text_done(&message);
    cn_text_clear(&l->message);
    return ok;
}

/* A plane is complete on rank 0: its counts are written, its contexts follow. */
static bool end_plane(struct latency_writer *l, uint32_t profile, uint64_t count_count,
                      struct cn_bytes contexts, struct cn_error *err)
{
    uint64_t context_count = contexts.len / cn_hpc_latency_context_size;

    if (!cn_block_writer_add(&l->out, contexts.ptr, contexts.len, err))
        return false;
    l->profiles[profile] = (struct cn_hpc_latency_profile){
        .counts_off = l->end_off,
        .count_count = count_count,
        .context_count = (uint32_t)context_count,
    };
    l->end_off += count_count * cn_hpc_latency_count_size + contexts.len;
    return true;
}

static bool add_part(struct latency_writer *l, const struct part *part,
                     struct worker *self, struct cn_error *err)
{
    bool ok;

    if (!cn_ranks_is_first(l->w->ranks))
        cn_wire_u64(&l->message, self->counts.len);
    if (!add_bytes(l, cn_wire_view(&self->counts), err))
        return false;
    for (size_t i = 0; i < self->context_count; i++) {
        uint8_t bytes[cn_hpc_latency_context_size];

        self->contexts[i].first += l->count_count;
        cn_hpc_latency_context_encode(&self->contexts[i], bytes);
        cn_text_add(&l->contexts, (const char *)bytes, sizeof(bytes));
    }
    l->count_count += self->count_count;
    if (!part->is_last) {
        if (!cn_ranks_is_first(l->w->ranks))
            cn_wire_u64(&l->message, CN_NONE);
        return true;
    }
    if (cn_ranks_is_first(l->w->ranks)) {
        ok = end_plane(l, part->profile, l->count_count, cn_wire_view(&l->contexts), err);
    } else {
        cn_wire_u64(&l->message, part->profile);
        cn_wire_bytes(&l->message, cn_text_str(&l->contexts), l->contexts.len);
        ok = l->message.len < MESSAGE_LEN_MAX || send_message(l, false, err);
    }
    l->count_count = 0;
    cn_text_clear(&l->contexts);
    return ok;
}

static void part_take(void *arg, size_t job, unsigned worker)
{
    struct latency_writer *l = arg;
    const struct part *part = &l->parts[job];
    struct cn_error *err = cn_failures_error(&l->failures, worker);

    if (!cn_failures_share(&l->failures, worker))
        return;
    if (part->is_last)
        cn_database_forget(l->db);
    if (!add_part(l, part, &l->workers[worker], err) ||
        !cn_progress_report(l->w->options->progress, "writing " CN_HPC_LATENCY_NAME,
                            job + 1, l->part_count, "parts", err))
        cn_failures_note(&l->failures, worker, job);
}

static void add_range(struct latency_writer *l, struct part part)
{
    l->parts = cn_grow(l->parts, l->part_count, &l->part_capacity, sizeof(*l->parts));
    l->parts[l->part_count++] = part;
}

/* Divide the planes of this process into parts. */
static bool plan_parts(struct latency_writer *l, struct cn_error *err)
{
    uint32_t end = cn_database_own_end(l->db);

    for (uint32_t i = cn_database_own_first(l->db); i < end; i++) {
        uint64_t limit = l->db->context_limit, count = 1;
        struct cn_profile profile;

        if (!cn_database_profile(l->db, i, &profile, err))
            return false;
        if (profile.value_count / PART_VALUES < limit)
            count += profile.value_count / PART_VALUES;
        /* Of several summaries the first counts. */
        if ((i == 0) != profile.is_summary)
            count = 0;
        for (uint64_t k = 0; k < count; k++)
            add_range(l, (struct part){i, (uint32_t)(limit * k / count),
                                       (uint32_t)(limit * (k + 1) / count - 1), false});
        if (count == 0)
            add_range(l, (struct part){.profile = i, .first = 1});
        else
            l->parts[l->part_count - 1].last = UINT32_MAX;
        l->parts[l->part_count - 1].is_last = true;
    }
    return true;
}

/* Encode the planes of this process. */
static bool write_own(struct latency_writer *l, struct cn_error *err)
{
    unsigned count = l->w->workers;
    bool ok = plan_parts(l, err);

    l->workers = cn_alloc(count, sizeof(*l->workers));
    cn_failures_init(&l->failures, count);
    if (ok)
        cn_pool_run(&(struct cn_jobs){l->part_count, l, part_run, part_take, NULL},
                    count);
    ok = ok && cn_failures_result(&l->failures, err);
    cn_failures_done(&l->failures);
    for (unsigned i = 0; i < count; i++) {
        cn_text_done(&l->workers[i].counts);
        free(l->workers[i].contexts);
    }
    free(l->workers);
    return ok;
}

/* Take the plane of a profile out of a message. */
static bool take_plane(struct latency_writer *l, struct cn_bytes *from,
                       struct cn_error *err)
{
    uint64_t profile = CN_NONE, count_count = 0;
    struct cn_bytes bytes;

    while (profile == CN_NONE) {
        if (!cn_wire_bytes_take(from, &bytes) || !cn_wire_u64_take(from, &profile) ||
            bytes.len % cn_hpc_latency_count_size != 0)
            return cn_fail(err, CN_ERR_FORMAT, "damaged message about durations");
        if (!cn_block_writer_add(&l->out, bytes.ptr, bytes.len, err))
            return false;
        count_count += bytes.len / cn_hpc_latency_count_size;
    }
    if (!cn_wire_bytes_take(from, &bytes) || profile >= l->db->profile_count ||
        bytes.len % cn_hpc_latency_context_size != 0)
        return cn_fail(err, CN_ERR_FORMAT, "damaged message about durations");
    return end_plane(l, (uint32_t)profile, count_count, bytes, err);
}

/* Write the planes of the other ranks, in their order. After a failure their messages are
 * received all the same. */
static bool write_others(struct latency_writer *l, bool ok, struct cn_error *err)
{
    struct cn_ranks *ranks = l->w->ranks;

    for (unsigned i = 1; i < ranks->size; i++) {
        uint32_t is_last = 0;

        while (!is_last) {
            struct cn_error ignored = {0};
            struct cn_text message = {0};
            struct cn_bytes bytes;
            bool is_here = cn_ranks_receive(ranks, i, &message, ok ? err : &ignored);

            bytes = cn_wire_view(&message);
            is_here = is_here && cn_wire_u32_take(&bytes, &is_last);
            while (ok && is_here && bytes.len > 0)
                ok = take_plane(l, &bytes, err);
            cn_text_done(&message);
            if (!is_here)
                return ok ? cn_fail(err, CN_ERR_FORMAT, "rank %u sent no durations", i)
                          : false;
        }
    }
    return ok;
}

static bool write_planes(struct latency_writer *l, bool ok, struct cn_error *err)
{
    ok = ok && cn_block_writer_section(&l->out, CN_HPC_LATENCY_PLANES, err) &&
         write_own(l, err);
    return write_others(l, ok, err);
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
    bool ok;

    disk.sync = no_sync;
    disk.sync_dir = no_sync_dir;
    ok = cn_block_writer_open(&l->out, &disk, l->w->dir, CN_HPC_LATENCY_NAME,
                              CN_HPC_LATENCY_MAGIC, CN_HPC_LATENCY_VERSION, err) &&
         write_buckets(l, err);
    return write_planes(l, ok, err) && write_profiles(l, err) &&
           cn_block_writer_commit(&l->out, err);
}

/* Encode the planes of this rank, and send them. */
static bool send_planes(struct latency_writer *l, struct cn_error *err)
{
    struct cn_error ignored = {0};
    bool ok = write_own(l, err);

    return send_message(l, true, ok ? err : &ignored) && ok;
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
        ok = cn_ranks_agree(w->ranks, check_buckets(&l, err), err) &&
             (cn_ranks_is_first(w->ranks) ? write_file(&l, err) : send_planes(&l, err));
        cn_block_writer_abandon(&l.out);
    }
    free(l.buckets);
    free(l.by_prop_id);
    free(l.by_stat_id);
    free(l.profiles);
    free(l.parts);
    cn_text_done(&l.contexts);
    cn_text_done(&l.message);
    return ok || cn_fail_in(err, CN_HPC_LATENCY_NAME);
}
