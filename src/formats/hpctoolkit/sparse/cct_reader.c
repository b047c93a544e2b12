#include "formats/hpctoolkit/sparse/cct_reader.h"

#include <inttypes.h>

struct cn_hpc_sparse_context cn_hpc_sparse_cct_record(const struct cn_hpc_sparse_cct *cct,
                                                      uint32_t context)
{
    struct cn_hpc_sparse_context record = {0};

    (void)cn_hpc_sparse_context_decode(
        cn_bytes_element(cct->frame.records, context, cn_hpc_sparse_context_size),
        &record);
    return record;
}

uint64_t cn_hpc_sparse_cct_off(const struct cn_hpc_sparse_cct *cct, uint32_t context)
{
    return cct->frame.head.infos_off + (uint64_t)context * cn_hpc_sparse_context_size;
}

static bool is_zero(struct cn_bytes bytes)
{
    for (size_t i = 0; i < bytes.len; i++)
        if (bytes.ptr[i] != 0)
            return false;
    return true;
}

static bool out_of_order(const struct cn_hpc_sparse_cct *cct, uint32_t i, uint32_t id,
                         struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT,
                   "context %" PRIu32 " at 0x%" PRIx64 ": has id %" PRIu32
                   ", ids must be dense and ascending",
                   i, cn_hpc_sparse_cct_off(cct, i), id);
}

/* Blocks that add up to more than the file would make its work more than linear. */
static bool check_records(struct cn_hpc_sparse_cct *cct, struct cn_error *err)
{
    struct cn_bytes file = cct->frame.file, values;
    uint64_t total = 0;

    for (uint32_t i = 0; i < cct->frame.head.count; i++) {
        struct cn_hpc_sparse_context record = cn_hpc_sparse_cct_record(cct, i);

        if (record.context != i)
            return out_of_order(cct, i, record.context, err);
        if (record.value_count == 0)
            continue;
        /* One that does not fit says so when it is read. */
        if (!cn_bytes_array(file, record.block_off, record.value_count,
                            cn_hpc_sparse_context_value_size, &values))
            continue;
        if (!cct->has_values)
            cct->is_zeroed = is_zero(values);
        cct->has_values = true;
        total += values.len;
        if (total > file.len)
            return cn_fail(err, CN_ERR_FORMAT,
                           "context %" PRIu32 " at 0x%" PRIx64
                           ": blocks overlap: %" PRIu64 " bytes of them in a file of %zu",
                           i, cn_hpc_sparse_cct_off(cct, i), total, file.len);
    }
    return true;
}

bool cn_hpc_sparse_cct_open(struct cn_bytes file, struct cn_hpc_sparse_cct *out,
                            struct cn_error *err)
{
    struct cn_hpc_sparse_cct cct = {0};

    if (!cn_hpc_sparse_frame_open(file, &cn_hpc_sparse_cct_kind, &cct.frame, err) ||
        !check_records(&cct, err))
        return false;
    *out = cct;
    return true;
}

static struct cn_hpc_sparse_context_index
index_entry(const struct cn_hpc_sparse_context_block *block, uint64_t i)
{
    struct cn_hpc_sparse_context_index entry = {0};

    (void)cn_hpc_sparse_context_index_decode(
        cn_bytes_element(block->index, i, cn_hpc_sparse_context_index_size), &entry);
    return entry;
}

static bool check_block(const struct cn_hpc_sparse_cct *cct,
                        struct cn_hpc_sparse_context_block *block, struct cn_error *err)
{
    struct cn_bytes file = cct->frame.file;
    struct cn_hpc_sparse_context_index end;

    if (!cn_bytes_array(file, block->values_off, block->value_count,
                        cn_hpc_sparse_context_value_size, &block->values))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " values at 0x%" PRIx64
                       " do not fit the file of %zu bytes",
                       block->value_count, block->values_off, file.len);
    if (!cn_bytes_array(file, block->index_off, (uint64_t)block->metric_count + 1,
                        cn_hpc_sparse_context_index_size, &block->index))
        return cn_fail(err, CN_ERR_FORMAT,
                       "index of %u metrics at 0x%" PRIx64
                       " does not fit the file of %zu bytes",
                       block->metric_count, block->index_off, file.len);
    /* A block that was never written reads as zeros: without the marker they would
     * look like values. */
    end = index_entry(block, block->metric_count);
    if (end.metric != CN_HPC_SPARSE_CONTEXT_END)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 " ends with 0x%x instead of its marker 0x%x",
                       block->index_off, end.metric, CN_HPC_SPARSE_CONTEXT_END);
    return true;
}

bool cn_hpc_sparse_cct_block(const struct cn_hpc_sparse_cct *cct, uint32_t context,
                             struct cn_hpc_sparse_context_block *out,
                             struct cn_error *err)
{
    struct cn_hpc_sparse_context record = cn_hpc_sparse_cct_record(cct, context);
    struct cn_hpc_sparse_context_block block = {
        .value_count = record.value_count,
        .values_off = record.block_off,
        .index_off =
            record.block_off + record.value_count * cn_hpc_sparse_context_value_size,
        .metric_count = record.metric_count,
    };

    if ((block.value_count > 0 || block.metric_count > 0) &&
        !check_block(cct, &block, err))
        return cn_fail_in(err, "context %" PRIu32 " at 0x%" PRIx64, context,
                          cn_hpc_sparse_cct_off(cct, context));
    *out = block;
    return true;
}

bool cn_hpc_sparse_cct_values_begin(const struct cn_hpc_sparse_cct *cct,
                                    struct cn_value_cursor *cursor, struct cn_error *err)
{
    struct cn_hpc_sparse_context_block block;

    if (!cn_hpc_sparse_cct_block(cct, cursor->owner, &block, err))
        return false;
    cursor->index_at = 0;
    cursor->index_end = block.metric_count;
    cursor->at = cursor->run_end = 0;
    return true;
}

/* Move to the values of the next metric, past those to be dropped. False at
 * damage. */
static bool begin_run(const struct cn_hpc_sparse_context_block *block,
                      const struct cn_hpc_sparse_ids *ids, struct cn_value_cursor *cursor,
                      struct cn_error *err)
{
    uint64_t i = cursor->index_at;
    uint64_t off = block->index_off + i * cn_hpc_sparse_context_index_size;
    struct cn_hpc_sparse_context_index entry = index_entry(block, i);
    uint64_t end = i + 1 == block->metric_count ? block->value_count
                                                : index_entry(block, i + 1).start;

    if (i > 0 && entry.metric <= index_entry(block, i - 1).metric)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": metric %u after %u, not ascending", off,
                       entry.metric, index_entry(block, i - 1).metric);
    if (entry.start > end || end > block->value_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": metric %u has values %" PRIu64
                       " to %" PRIu64 " of %" PRIu64,
                       off, entry.metric, entry.start, end, block->value_count);
    cursor->index_at++;
    if (cn_hpc_sparse_ids_find(ids, entry.metric, &cursor->metric)) {
        cursor->at = entry.start;
        cursor->run_end = end;
    }
    return true;
}

static bool no_such_profile(const struct cn_hpc_sparse_context_block *block,
                            const struct cn_value_cursor *cursor, uint32_t profile,
                            uint32_t profile_limit, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT,
                   "value at 0x%" PRIx64 ": profile %" PRIu32
                   " does not exist: there are %" PRIu32,
                   block->values_off + cursor->at * cn_hpc_sparse_context_value_size,
                   profile, profile_limit);
}

/* Decode until the batch is full or the plane ends. False at damage, after what came
 * before it. */
static bool fill_batch(const struct cn_hpc_sparse_context_block *block,
                       const struct cn_hpc_sparse_ids *ids,
                       struct cn_value_cursor *cursor, uint32_t profile_limit,
                       size_t *count, struct cn_error *err)
{
    struct cn_hpc_sparse_context_value value = {0};

    while (*count < CN_VALUE_BATCH) {
        if (cursor->at < cursor->run_end) {
            (void)cn_hpc_sparse_context_value_decode(
                cn_bytes_element(block->values, cursor->at,
                                 cn_hpc_sparse_context_value_size),
                &value);
            if (value.profile >= profile_limit)
                return no_such_profile(block, cursor, value.profile, profile_limit, err);
            cursor->batch[(*count)++] =
                (struct cn_value){value.value, value.profile, cursor->metric};
            cursor->at++;
        } else if (cursor->index_at == cursor->index_end) {
            break;
        } else if (!begin_run(block, ids, cursor, err)) {
            return false;
        }
    }
    return true;
}

enum cn_step cn_hpc_sparse_cct_values_next(const struct cn_hpc_sparse_cct *cct,
                                           const struct cn_hpc_sparse_ids *ids,
                                           uint32_t profile_limit,
                                           struct cn_value_cursor *cursor,
                                           struct cn_value_batch *out,
                                           struct cn_error *err)
{
    struct cn_hpc_sparse_context_block block;
    struct cn_error damage;
    size_t count = 0;

    if (!cn_hpc_sparse_cct_block(cct, cursor->owner, &block, err))
        return CN_FAIL;
    if (!fill_batch(&block, ids, cursor, profile_limit, &count, &damage) && count == 0) {
        *err = damage;
        return cn_fail_in(err, "context %" PRIu32, cursor->owner);
    }
    if (count == 0)
        return CN_END;
    *out = (struct cn_value_batch){cursor->batch, count};
    return CN_ITEM;
}
