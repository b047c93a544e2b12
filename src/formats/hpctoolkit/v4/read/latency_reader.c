#include "formats/hpctoolkit/v4/read/latency_reader.h"

#include <inttypes.h>
#include <string.h>

#include "model/contexts/bucket.h"

bool cn_hpc_latency_is(struct cn_bytes file)
{
    struct cn_block_file_header header;

    return cn_block_file_header_decode(file, &header) &&
           header.magic == CN_HPC_LATENCY_MAGIC;
}

static struct cn_hpc_latency_bucket bucket_at(const struct cn_hpc_latency *latency,
                                              uint32_t index)
{
    struct cn_hpc_latency_bucket bucket = {0};
    struct cn_bytes row;

    if (cn_bytes_from(latency->buckets, (uint64_t)index * cn_hpc_latency_bucket_size,
                      &row))
        (void)cn_hpc_latency_bucket_decode(row, &bucket);
    return bucket;
}

struct cn_hpc_latency_plane cn_hpc_latency_plane(const struct cn_hpc_latency *latency,
                                                 uint32_t profile)
{
    struct cn_hpc_latency_plane plane = {0};
    struct cn_hpc_latency_profile record;
    struct cn_bytes row;

    if (profile >= latency->profile_count ||
        !cn_bytes_from(latency->profiles, (uint64_t)profile * cn_hpc_latency_profile_size,
                       &row) ||
        !cn_hpc_latency_profile_decode(row, &record) ||
        !cn_bytes_array(latency->planes, record.counts_off, record.count_count,
                        cn_hpc_latency_count_size, &plane.counts) ||
        !cn_bytes_array(latency->planes, record.counts_off + plane.counts.len,
                        record.context_count, cn_hpc_latency_context_size,
                        &plane.contexts))
        return (struct cn_hpc_latency_plane){0};
    plane.count_count = record.count_count;
    plane.context_count = record.context_count;
    return plane;
}

static bool check_buckets(const struct cn_hpc_latency *latency, struct cn_error *err)
{
    uint64_t last_ns = 0;

    for (uint32_t i = 0; i < latency->bucket_count; i++) {
        struct cn_hpc_latency_bucket bucket = bucket_at(latency, i);

        if (bucket.high_ns < bucket.low_ns || (i > 0 && bucket.low_ns <= last_ns))
            return cn_fail(err, CN_ERR_FORMAT,
                           "bucket %" PRIu32 " from %" PRIu64 " to %" PRIu64
                           " ns is not after the one before",
                           i, bucket.low_ns, bucket.high_ns);
        last_ns = bucket.high_ns;
    }
    return true;
}

/* Planes follow each other, so that they share no bytes. */
static bool check_profiles(const struct cn_hpc_latency *latency, struct cn_error *err)
{
    struct cn_bytes rest = latency->profiles, row;
    struct cn_hpc_latency_profile record = {0};
    uint64_t end = 0;

    for (uint32_t i = 0; i < latency->profile_count; i++) {
        struct cn_hpc_latency_plane plane = cn_hpc_latency_plane(latency, i);

        if (!cn_bytes_take(&rest, cn_hpc_latency_profile_size, &row) ||
            !cn_hpc_latency_profile_decode(row, &record) || record.counts_off < end ||
            plane.count_count != record.count_count ||
            plane.context_count != record.context_count)
            return cn_fail(err, CN_ERR_FORMAT,
                           "profile %" PRIu32 ": %" PRIu64 " counts and %" PRIu32
                           " contexts at 0x%" PRIx64 " do not fit the section",
                           i, record.count_count, record.context_count,
                           record.counts_off);
        end = record.counts_off + plane.counts.len + plane.contexts.len;
    }
    return true;
}

static bool open_tables(struct cn_hpc_latency *latency, struct cn_error *err)
{
    if (!cn_block_file_section(&latency->file, CN_HPC_LATENCY_BUCKETS, &latency->buckets,
                               err) ||
        !cn_block_file_section(&latency->file, CN_HPC_LATENCY_PROFILES,
                               &latency->profiles, err) ||
        !cn_block_file_section(&latency->file, CN_HPC_LATENCY_PLANES, &latency->planes,
                               err) ||
        !cn_block_file_check(&latency->file, latency->buckets, err) ||
        !cn_block_file_check(&latency->file, latency->profiles, err))
        return false;
    if (latency->buckets.len / cn_hpc_latency_bucket_size > CN_HPC_LATENCY_BUCKET_MAX ||
        latency->profiles.len / cn_hpc_latency_profile_size > UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu bytes of buckets, limit %zu",
                       latency->buckets.len,
                       (size_t)CN_HPC_LATENCY_BUCKET_MAX * cn_hpc_latency_bucket_size);
    latency->bucket_count = (uint32_t)(latency->buckets.len / cn_hpc_latency_bucket_size);
    latency->profile_count =
        (uint32_t)(latency->profiles.len / cn_hpc_latency_profile_size);
    return check_buckets(latency, err) && check_profiles(latency, err);
}

bool cn_hpc_latency_open(struct cn_hpc_latency *latency, struct cn_bytes file,
                         struct cn_error *err)
{
    struct cn_hpc_latency opened = {0};

    if (!cn_block_file_init(&opened.file, file, CN_HPC_LATENCY_MAGIC,
                            CN_HPC_LATENCY_VERSION, err))
        return false;
    if (!open_tables(&opened, err)) {
        cn_block_file_close(&opened.file);
        return false;
    }
    *latency = opened;
    return true;
}

void cn_hpc_latency_close(struct cn_hpc_latency *latency)
{
    cn_block_file_close(&latency->file);
    *latency = (struct cn_hpc_latency){0};
}

/* The row `index` of the contexts, checked. */
static bool context_at(const struct cn_hpc_latency *latency,
                       const struct cn_hpc_latency_plane *plane, uint64_t index,
                       struct cn_hpc_latency_context *out, struct cn_error *err)
{
    struct cn_bytes row;

    if (!cn_bytes_slice(plane->contexts, index * cn_hpc_latency_context_size,
                        cn_hpc_latency_context_size, &row) ||
        !cn_hpc_latency_context_decode(row, out))
        return cn_fail(err, CN_ERR_FORMAT, CN_HPC_LATENCY_NAME ": no row %" PRIu64,
                       index);
    return cn_block_file_check(&latency->file, row, err) ||
           cn_fail_in(err, CN_HPC_LATENCY_NAME);
}

bool cn_hpc_latency_row(const struct cn_hpc_latency *latency,
                        const struct cn_hpc_latency_plane *plane, uint32_t index,
                        struct cn_hpc_latency_row *out, struct cn_error *err)
{
    struct cn_hpc_latency_context row, next = {.first = plane->count_count};

    if (!context_at(latency, plane, index, &row, err) ||
        (index + 1 < plane->context_count &&
         !context_at(latency, plane, (uint64_t)index + 1, &next, err)))
        return false;
    if (row.first > next.first || next.first > plane->count_count ||
        (index + 1 < plane->context_count && row.context >= next.context))
        return cn_fail(err, CN_ERR_FORMAT,
                       CN_HPC_LATENCY_NAME ": context %" PRIu32 " with counts %" PRIu64
                                           " to %" PRIu64 " of %" PRIu64
                                           " is not before the next",
                       row.context, row.first, next.first, plane->count_count);
    *out = (struct cn_hpc_latency_row){row.context, row.first, next.first};
    return true;
}

bool cn_hpc_latency_count(const struct cn_hpc_latency *latency,
                          const struct cn_hpc_latency_plane *plane, uint64_t index,
                          struct cn_hpc_latency_count *out, struct cn_error *err)
{
    struct cn_bytes row;

    if (!cn_bytes_slice(plane->counts, index * cn_hpc_latency_count_size,
                        cn_hpc_latency_count_size, &row) ||
        !cn_hpc_latency_count_decode(row, out))
        return cn_fail(err, CN_ERR_FORMAT, CN_HPC_LATENCY_NAME ": no count %" PRIu64,
                       index);
    if (!cn_block_file_check(&latency->file, row, err))
        return cn_fail_in(err, CN_HPC_LATENCY_NAME);
    if (out->bucket >= latency->bucket_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       CN_HPC_LATENCY_NAME ": bucket %u, there are %" PRIu32, out->bucket,
                       latency->bucket_count);
    return true;
}

bool cn_hpc_latency_find(const struct cn_hpc_latency *latency,
                         const struct cn_hpc_latency_plane *plane, uint32_t context,
                         uint32_t *row, struct cn_error *err)
{
    uint64_t low = 0, high = plane->context_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct cn_hpc_latency_context at;

        if (!context_at(latency, plane, middle, &at, err))
            return false;
        if (at.context < context)
            low = middle + 1;
        else
            high = middle;
    }
    *row = (uint32_t)low;
    return true;
}

/* The first ids above all that are used. */
static void find_free_ids(const struct cn_metrics *metrics, uint32_t *prop_id,
                          uint32_t *stat_id)
{
    *prop_id = 0;
    *stat_id = 0;
    for (size_t i = 0; i < metrics->count; i++) {
        const struct cn_metric *metric = &metrics->list[i];

        for (size_t k = 0; k < metric->instance_count; k++)
            if (metric->instances[k].prop_id >= *prop_id)
                *prop_id = metric->instances[k].prop_id + 1U;
        for (size_t k = 0; k < metric->statistic_count; k++)
            if (metric->statistics[k].stat_id >= *stat_id)
                *stat_id = metric->statistics[k].stat_id + 1U;
    }
}

static struct cn_metric make_metric(struct cn_arena *arena,
                                    struct cn_hpc_latency_bucket bucket, uint16_t scope,
                                    uint16_t prop_id, uint16_t stat_id)
{
    struct cn_scope_instance *instance = cn_arena_alloc(arena, 1, sizeof(*instance));
    struct cn_statistic *statistic = cn_arena_alloc(arena, 1, sizeof(*statistic));
    char name[CN_BUCKET_NAME_MAX];

    cn_bucket_name_print((struct cn_bucket_range){bucket.low_ns, bucket.high_ns}, name);
    *instance = (struct cn_scope_instance){scope, prop_id};
    *statistic = (struct cn_statistic){scope, stat_id, CN_COMBINE_SUM, "$$"};
    return (struct cn_metric){
        .name = cn_arena_strdup(arena, name),
        .instances = instance,
        .statistics = statistic,
        .instance_count = 1,
        .statistic_count = 1,
    };
}

bool cn_hpc_latency_add_metrics(struct cn_hpc_latency *latency, struct cn_database *db,
                                struct cn_error *err)
{
    int scope = cn_metrics_find_scope_type(&db->metrics, CN_SCOPE_POINT);
    size_t count = db->metrics.count;
    uint32_t prop_id, stat_id;

    find_free_ids(&db->metrics, &prop_id, &stat_id);
    if (scope == CN_NO_ID)
        return cn_fail(err, CN_ERR_FORMAT, "meta.db has no scope of type point");
    if (prop_id + latency->bucket_count > UINT16_MAX ||
        stat_id + latency->bucket_count > UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%" PRIu32 " buckets, no metric ids are left",
                       latency->bucket_count);
    latency->first_prop_id = (uint16_t)prop_id;
    latency->first_stat_id = (uint16_t)stat_id;
    struct cn_metric *list =
        cn_arena_alloc(&db->arena, count + latency->bucket_count, sizeof(*list));
    if (count > 0)
        memcpy(list, db->metrics.list, count * sizeof(*list));
    for (uint32_t i = 0; i < latency->bucket_count; i++)
        list[count++] = make_metric(&db->arena, bucket_at(latency, i), (uint16_t)scope,
                                    (uint16_t)(prop_id + i), (uint16_t)(stat_id + i));
    db->metrics.list = list;
    db->metrics.count = count;
    return true;
}
