/* Values of a v4 database with those of latency.db merged in. */
#include <inttypes.h>

#include "formats/hpctoolkit/v4/read/latency_reader.h"
#include "formats/hpctoolkit/v4/read/open.h"

bool cn_hpc_v4_values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                            struct cn_error *err)
{
    const struct cn_hpc_latency *latency = &cn_hpc_v4_of(db)->latency;
    struct cn_value_side *side = &cursor->side;

    if (!cn_hpc_database_values_begin(db, cursor, err))
        return false;
    *side = (struct cn_value_side){.rest_count = 0};
    if (latency->bucket_count == 0)
        return true;
    if (cursor->plane == CN_PLANE_OF_CONTEXT) {
        side->owner = 1; /* the plane of a context has no summary */
        return true;
    }
    side->owner = cursor->owner;
    if (cursor->first_key > 0) {
        struct cn_hpc_latency_plane plane = cn_hpc_latency_plane(latency, side->owner);

        return cn_hpc_latency_find(latency, &plane, cursor->first_key, &side->row, err);
    }
    return true;
}

/* The next counts of the current row, as values. */
static enum cn_step take_counts(const struct cn_hpc_latency *latency,
                                struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_value_side *side = &cursor->side;
    struct cn_hpc_latency_plane plane = cn_hpc_latency_plane(latency, side->owner);
    /* Summary profiles are numbered by statistic. */
    uint16_t first_id =
        side->owner == 0 ? latency->first_stat_id : latency->first_prop_id;
    size_t count = 0;

    while (side->at < side->end && count < CN_VALUE_SIDE_BATCH) {
        struct cn_hpc_latency_count record;

        if (!cn_hpc_latency_count(latency, &plane, side->at++, &record, err))
            return CN_FAIL;
        side->batch[count++] = (struct cn_value){record.calls, side->key,
                                                 (uint16_t)(first_id + record.bucket)};
    }
    *out = (struct cn_value_batch){side->batch, count};
    return CN_ITEM;
}

/* How many values of the rest belong to `context` or one before it. */
static size_t count_up_to(const struct cn_value_side *side, uint32_t context)
{
    size_t count = 0;

    while (count < side->rest_count && side->rest[count].key <= context)
        count++;
    return count;
}

/* Get the next values of profile.db if there are none left. */
static bool refill(struct cn_value_cursor *cursor, struct cn_error *err)
{
    struct cn_value_side *side = &cursor->side;
    struct cn_value_batch batch;

    if (side->rest_count > 0 || side->has_ended)
        return true;
    enum cn_step step = cn_hpc_database_values_next(cursor, &batch, err);
    if (step == CN_FAIL)
        return false;
    side->has_ended = step == CN_END;
    if (step == CN_ITEM) {
        side->rest = batch.values;
        side->rest_count = batch.count;
    }
    return true;
}

static enum cn_step next_of_profile(const struct cn_hpc_latency *latency,
                                    struct cn_value_cursor *cursor,
                                    struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_value_side *side = &cursor->side;
    struct cn_hpc_latency_plane plane = cn_hpc_latency_plane(latency, side->owner);

    while (side->at == side->end) {
        struct cn_hpc_latency_row row = {.context = UINT32_MAX};
        bool has_row = side->row < plane.context_count;

        if (has_row && !cn_hpc_latency_row(latency, &plane, side->row, &row, err))
            return CN_FAIL;
        has_row = has_row && row.context <= cursor->last_key;
        if (has_row && row.context >= cursor->db->context_limit) {
            (void)cn_fail(err, CN_ERR_FORMAT,
                          CN_HPC_LATENCY_NAME ": context %" PRIu32 ", there are %" PRIu32,
                          row.context, cursor->db->context_limit);
            return CN_FAIL;
        }
        if (!refill(cursor, err))
            return CN_FAIL;
        size_t count = has_row ? count_up_to(side, row.context) : side->rest_count;
        if (count > 0) {
            *out = (struct cn_value_batch){side->rest, count};
            side->rest += count;
            side->rest_count -= count;
            return CN_ITEM;
        }
        if (!has_row)
            return CN_END;
        side->row++;
        side->key = row.context;
        side->at = row.first;
        side->end = row.end;
    }
    return take_counts(latency, cursor, out, err);
}

/* After the values of cct.db, those of one profile after the other. */
static enum cn_step next_of_context(const struct cn_hpc_latency *latency,
                                    struct cn_value_cursor *cursor,
                                    struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_value_side *side = &cursor->side;

    if (!side->has_ended) {
        enum cn_step step = cn_hpc_database_values_next(cursor, out, err);

        if (step != CN_END)
            return step;
        side->has_ended = true;
    }
    while (side->at == side->end) {
        struct cn_hpc_latency_plane plane;
        struct cn_hpc_latency_row row;

        side->owner += side->key != 0;
        if (side->owner >= latency->profile_count)
            return CN_END;
        plane = cn_hpc_latency_plane(latency, side->owner);
        side->key = side->owner;
        if (!cn_hpc_latency_find(latency, &plane, cursor->owner, &side->row, err))
            return CN_FAIL;
        if (side->row == plane.context_count)
            continue;
        if (!cn_hpc_latency_row(latency, &plane, side->row, &row, err))
            return CN_FAIL;
        if (row.context != cursor->owner)
            continue;
        side->at = row.first;
        side->end = row.end;
    }
    return take_counts(latency, cursor, out, err);
}

enum cn_step cn_hpc_v4_values_next(struct cn_value_cursor *cursor,
                                   struct cn_value_batch *out, struct cn_error *err)
{
    const struct cn_hpc_latency *latency = &cn_hpc_v4_of(cursor->db)->latency;

    if (latency->bucket_count == 0)
        return cn_hpc_database_values_next(cursor, out, err);
    return cursor->plane == CN_PLANE_OF_CONTEXT
               ? next_of_context(latency, cursor, out, err)
               : next_of_profile(latency, cursor, out, err);
}
