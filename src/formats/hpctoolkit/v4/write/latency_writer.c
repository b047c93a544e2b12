#include "formats/hpctoolkit/v4/write/latency_writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/blocks.h"
#include "base/files/out.h"
#include "base/files/spool.h"
#include "base/run/failures.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/sort.h"
#include "formats/hpctoolkit/v4/latency_format.h"
#include "model/contexts/bucket.h"

enum {
    ID_COUNT = UINT16_MAX + 1,
    NO_BUCKET = UINT16_MAX,
    RANGE_VALUES = 64 * 1024, /* of a range of a plane, about */
    COPY_LEN = 1 << 20,       /* of encoded planes, to and from the spool */
};

struct bucket {
    struct cn_bucket_range range;
    uint16_t prop_id, stat_id;
};

/* The counts of a profile in the contexts first..last; none if these are in reverse order. */
struct latency_range {
    uint32_t profile, first, last;
    bool is_last; /* of its profile */
};

/* The buckets of a context in ascending order, whatever the order of their ids. */
struct waiting {
    struct cn_hpc_latency_count counts[CN_HPC_LATENCY_BUCKET_MAX];
    size_t count;
    uint32_t context;
};

/* A worker has one range. */
struct latency_worker {
    struct cn_value_cursor cursor;
    struct waiting waiting;
    struct cn_text counts; /* encoded */
    uint64_t count_count;
    struct cn_hpc_latency_context *contexts; /* counts are numbered from the first */
    size_t context_count, context_capacity;
};

struct cn_hpc_latency_writer {
    const struct cn_hpc_writing *w;
    struct cn_database *db;
    struct cn_disk disk;
    struct cn_block_writer out;
    struct bucket *buckets; /* ascending */
    size_t bucket_count;
    uint16_t *by_prop_id, *by_stat_id; /* bucket, or NO_BUCKET */
    struct cn_hpc_latency_profile *profiles;
    uint64_t end_off; /* of the planes of this process, from their beginning */
    struct latency_range *ranges;
    size_t range_count, range_capacity;
    struct latency_worker *workers;
    struct cn_failures failures;

    /* The plane that is being written. */
    uint64_t count_count;
    struct cn_text contexts; /* encoded; they follow the counts */

    /* Encoded planes of a process other than the first, until their offset is known. */
    struct cn_spool spool;
    struct cn_text encoded; /* not in the spool yet */
};

static void find_buckets(struct cn_hpc_latency_writer *l)
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
    CN_SORT(l->buckets, l->bucket_count, CN_UP(struct bucket, range.low_ns));
}

static bool check_buckets(const struct cn_hpc_latency_writer *l, struct cn_error *err)
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
static void route_ids(struct cn_hpc_latency_writer *l)
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

static bool write_buckets(struct cn_hpc_latency_writer *l, struct cn_error *err)
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

static void encode_waiting(struct latency_worker *self)
{
    struct waiting *waiting = &self->waiting;

    if (waiting->count == 0)
        return;
    CN_SORT(waiting->counts, waiting->count, CN_UP(struct cn_hpc_latency_count, bucket));
    CN_PUSH(self->contexts, self->context_count, self->context_capacity,
            (struct cn_hpc_latency_context){self->count_count, waiting->context});
    for (size_t i = 0; i < waiting->count; i++) {
        uint8_t bytes[cn_hpc_latency_count_size];

        cn_hpc_latency_count_encode(&waiting->counts[i], bytes);
        cn_text_add(&self->counts, (const char *)bytes, sizeof(bytes));
    }
    self->count_count += waiting->count;
    waiting->count = 0;
}

static bool add_value(struct latency_worker *self, struct cn_value value, uint16_t bucket,
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

static bool encode_range(const struct cn_hpc_latency_writer *l,
                         const struct latency_range *range, struct latency_worker *self,
                         struct cn_error *err)
{
    const uint16_t *routes = range->profile == 0 ? l->by_stat_id : l->by_prop_id;
    struct cn_value_batch batch;
    enum cn_step step;

    self->waiting.count = 0;
    self->waiting.context = 0;
    self->count_count = 0;
    self->context_count = 0;
    cn_text_clear(&self->counts);
    if (range->first > range->last)
        return true;
    if (!cn_profile_values(l->db, range->profile, range->first, range->last,
                           &self->cursor, err))
        return false;
    while ((step = cn_values_next(&self->cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (routes[batch.values[i].metric] != NO_BUCKET &&
                !add_value(self, batch.values[i], routes[batch.values[i].metric], err))
                return false;
    encode_waiting(self);
    return step == CN_END;
}

static void range_run(void *arg, size_t job, unsigned worker)
{
    struct cn_hpc_latency_writer *l = arg;
    struct cn_error *err = cn_failures_error(&l->failures, worker);

    if (cn_failures_stopped(&l->failures, worker) ||
        encode_range(l, &l->ranges[job], &l->workers[worker], err))
        return;
    (void)cn_fail_in(err, "profile %" PRIu32, l->ranges[job].profile);
    cn_failures_note(&l->failures, worker, job);
}

static bool spool_encoded(struct cn_hpc_latency_writer *l, struct cn_error *err)
{
    uint64_t off = cn_spool_reserve(&l->spool, l->encoded.len);
    bool ok = cn_spool_write(&l->spool, off, l->encoded.chars, l->encoded.len, err);

    cn_text_clear(&l->encoded);
    return ok;
}

/* Append to the planes of this process. */
static bool add_bytes(struct cn_hpc_latency_writer *l, struct cn_bytes bytes,
                      struct cn_error *err)
{
    l->end_off += bytes.len;
    if (l->w->is_first)
        return cn_block_writer_add(&l->out, bytes.ptr, bytes.len, err);
    cn_text_add(&l->encoded, (const char *)bytes.ptr, bytes.len);
    return l->encoded.len < COPY_LEN || spool_encoded(l, err);
}

static bool write_range(struct cn_hpc_latency_writer *l,
                        const struct latency_range *range, struct latency_worker *self,
                        struct cn_error *err)
{
    if (l->count_count == 0 && l->contexts.len == 0)
        l->profiles[range->profile].counts_off = l->end_off;
    if (!add_bytes(l, cn_wire_view(&self->counts), err))
        return false;
    for (size_t i = 0; i < self->context_count; i++) {
        uint8_t bytes[cn_hpc_latency_context_size];

        self->contexts[i].first += l->count_count;
        cn_hpc_latency_context_encode(&self->contexts[i], bytes);
        cn_text_add(&l->contexts, (const char *)bytes, sizeof(bytes));
    }
    l->count_count += self->count_count;
    if (!range->is_last)
        return true;
    l->profiles[range->profile].count_count = l->count_count;
    l->profiles[range->profile].context_count =
        (uint32_t)(l->contexts.len / cn_hpc_latency_context_size);
    if (!add_bytes(l, cn_wire_view(&l->contexts), err))
        return false;
    l->count_count = 0;
    cn_text_clear(&l->contexts);
    return true;
}

static void range_take(void *arg, size_t job, unsigned worker)
{
    struct cn_hpc_latency_writer *l = arg;
    const struct latency_range *range = &l->ranges[job];
    struct cn_error *err = cn_failures_error(&l->failures, worker);

    if (!cn_failures_share(&l->failures, worker))
        return;
    if (range->is_last)
        cn_database_forget(l->db);
    if (!write_range(l, range, &l->workers[worker], err) ||
        !cn_progress_report(l->w->options->progress, "writing " CN_HPC_LATENCY_NAME,
                            job + 1, l->range_count, "parts", err))
        cn_failures_note(&l->failures, worker, job);
}

static void add_range(struct cn_hpc_latency_writer *l, struct latency_range range)
{
    CN_PUSH(l->ranges, l->range_count, l->range_capacity, range);
}

/* Divide the planes of this process into ranges. */
static bool plan_ranges(struct cn_hpc_latency_writer *l, struct cn_error *err)
{
    uint32_t end = cn_database_own_end(l->db);

    for (uint32_t i = l->db->own_first; i < end; i++) {
        uint64_t limit = l->db->context_limit, count = 1;
        struct cn_profile profile;

        if (!cn_database_profile(l->db, i, &profile, err))
            return false;
        if (profile.value_count / RANGE_VALUES < limit)
            count += profile.value_count / RANGE_VALUES;
        /* Of several summaries the first counts. */
        if ((i == 0) != profile.is_summary)
            count = 0;
        for (uint64_t k = 0; k < count; k++)
            add_range(l, (struct latency_range){i, (uint32_t)(limit * k / count),
                                                (uint32_t)(limit * (k + 1) / count - 1),
                                                false});
        if (count == 0)
            add_range(l, (struct latency_range){.profile = i, .first = 1});
        else
            l->ranges[l->range_count - 1].last = UINT32_MAX;
        l->ranges[l->range_count - 1].is_last = true;
    }
    return true;
}

/* Encode the planes of this process. */
static bool write_own(struct cn_hpc_latency_writer *l, struct cn_error *err)
{
    unsigned count = l->w->workers;
    bool ok = plan_ranges(l, err);

    l->workers = cn_alloc(count, sizeof(*l->workers));
    cn_failures_init(&l->failures, count);
    if (ok)
        cn_pool_run(&(struct cn_jobs){l->range_count, l, range_run, range_take, NULL},
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

/* Copy the encoded planes to `first_off` of the file; appends their checksums. */
static bool place_planes(const struct cn_hpc_latency_writer *l, uint64_t first_off,
                         struct cn_text *crcs, struct cn_error *err)
{
    uint8_t *chunk = cn_alloc(COPY_LEN, 1);
    struct cn_out out = {0};
    bool ok =
        cn_out_join_at(&out, l->w->dir, CN_HPC_LATENCY_NAME CN_BLOCK_WRITER_ENDING, err);

    for (uint64_t at = 0; ok && at < l->end_off;) {
        uint64_t left = l->end_off - at;
        struct cn_bytes copied = {chunk, left < COPY_LEN ? (size_t)left : COPY_LEN};

        ok = cn_spool_read(&l->spool, at, chunk, copied.len, err) &&
             cn_out_write_at(&out, first_off + at, chunk, copied.len, err);
        cn_block_checksums_add(first_off, first_off + at, copied, crcs);
        at += copied.len;
    }
    cn_out_abandon(&out);
    free(chunk);
    return ok;
}

/* The message has the checksums of the planes, and the records of the profiles. */
bool cn_hpc_latency_place(struct cn_hpc_latency_writer *l, uint64_t off,
                          struct cn_text *message, struct cn_error *err)
{
    uint32_t first = l->db->own_first, end = cn_database_own_end(l->db);
    struct cn_text crcs = {0};
    bool ok = place_planes(l, off, &crcs, err);

    cn_wire_bytes(message, crcs.chars, crcs.len);
    cn_text_done(&crcs);
    cn_wire_u32(message, first);
    for (uint32_t i = first; i < end; i++) {
        cn_wire_u64(message, l->profiles[i].counts_off);
        cn_wire_u64(message, l->profiles[i].count_count);
        cn_wire_u32(message, l->profiles[i].context_count);
    }
    return ok || cn_fail_in(err, CN_HPC_LATENCY_NAME);
}

bool cn_hpc_latency_add(struct cn_hpc_latency_writer *l, struct cn_bytes message,
                        uint64_t len, struct cn_error *err)
{
    struct cn_bytes crcs;
    uint32_t profile;

    if (!cn_wire_bytes_take(&message, &crcs) || !cn_wire_u32_take(&message, &profile))
        return cn_fail(err, CN_ERR_FORMAT, "damaged message about durations");
    for (; message.len > 0; profile++) {
        if (profile >= l->db->profile_count)
            return cn_fail(err, CN_ERR_FORMAT, "durations of profile %" PRIu32, profile);
        struct cn_hpc_latency_profile *record = &l->profiles[profile];
        if (!cn_wire_u64_take(&message, &record->counts_off) ||
            !cn_wire_u64_take(&message, &record->count_count) ||
            !cn_wire_u32_take(&message, &record->context_count) ||
            !cn_u64_add(record->counts_off, l->end_off, &record->counts_off))
            return cn_fail(err, CN_ERR_FORMAT, "damaged message about durations");
    }
    l->end_off += len;
    return cn_block_writer_add_written(&l->out, crcs, len, err);
}

static bool write_profiles(struct cn_hpc_latency_writer *l, struct cn_error *err)
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

/* Make the file, up to the planes. */
static bool begin_file(struct cn_hpc_latency_writer *l, struct cn_error *err)
{
    l->disk = cn_hpc_unsynced_disk();
    return cn_block_writer_open(&l->out, &l->disk, l->w->dir, CN_HPC_LATENCY_NAME,
                                CN_HPC_LATENCY_MAGIC, CN_HPC_LATENCY_VERSION, err) &&
           write_buckets(l, err) &&
           cn_block_writer_section(&l->out, CN_HPC_LATENCY_PLANES, err);
}

bool cn_hpc_latency_encode(struct cn_hpc_latency_writer *l, uint64_t *len,
                           uint64_t *end_off, struct cn_error *err)
{
    bool is_first = l->w->is_first;
    bool ok =
        check_buckets(l, err) &&
        (is_first ? begin_file(l, err) : cn_spool_open(&l->spool, l->w->dir, err)) &&
        write_own(l, err) && (is_first || spool_encoded(l, err));

    *len = l->end_off;
    *end_off = is_first ? l->out.end_off : 0;
    return ok || cn_fail_in(err, CN_HPC_LATENCY_NAME);
}

bool cn_hpc_latency_end(struct cn_hpc_latency_writer *l, struct cn_error *err)
{
    return (write_profiles(l, err) && cn_block_writer_commit(&l->out, err)) ||
           cn_fail_in(err, CN_HPC_LATENCY_NAME);
}

struct cn_hpc_latency_writer *cn_hpc_latency_new(const struct cn_hpc_writing *w,
                                                 struct cn_database *source)
{
    struct cn_hpc_latency_writer *l = cn_alloc(1, sizeof(*l));

    l->w = w;
    l->db = source;
    find_buckets(l);
    if (l->bucket_count == 0) {
        cn_hpc_latency_free(l);
        return NULL;
    }
    l->profiles = cn_alloc(source->profile_count, sizeof(*l->profiles));
    route_ids(l);
    return l;
}

void cn_hpc_latency_free(struct cn_hpc_latency_writer *l)
{
    if (!l)
        return;
    cn_block_writer_abandon(&l->out);
    free(l->buckets);
    free(l->by_prop_id);
    free(l->by_stat_id);
    free(l->profiles);
    free(l->ranges);
    cn_text_done(&l->contexts);
    cn_text_done(&l->encoded);
    cn_spool_close(&l->spool);
    free(l);
}
