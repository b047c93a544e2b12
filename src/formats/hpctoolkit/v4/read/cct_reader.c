#include "formats/hpctoolkit/v4/read/cct_reader.h"

#include <inttypes.h>

/* The values of one context: pairs (profile, value), and where each metric's
 * begin. */
struct block {
    struct cn_bytes values, index;
    uint64_t value_count, values_off, index_off;
    uint16_t metric_count;
};

bool cn_hpc_cct_open(struct cn_bytes file, struct cn_hpc_cct *out, struct cn_error *err)
{
    struct cn_hpc_cct cct = {0};
    const struct cn_hpc_span *section = &cct.sections.list[CN_HPC_CONTEXT_INFOS];
    struct cn_hpc_context_infos_header head;

    if (!cn_hpc_sections_open(file, &cn_hpc_cct_kind, &cct.sections, err))
        return false;
    if (!cn_hpc_context_infos_header_decode(section->bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "section CtxInfos is too short for its header: %zu bytes",
                       section->bytes.len);
    if (!cn_hpc_table_open(*section,
                           &(struct cn_hpc_array){.what = "contexts",
                                                  .off = head.infos_off,
                                                  .count = head.context_count,
                                                  .stride = head.info_len,
                                                  .least = cn_hpc_context_info_size},
                           &cct.table, err))
        return false;
    *out = cct;
    return true;
}

static bool check_block(const struct cn_hpc_cct *cct,
                        const struct cn_hpc_context_info *record, struct block *out,
                        struct cn_error *err)
{
    struct cn_bytes file = cct->sections.file.bytes;
    struct block block = {.value_count = record->value_count,
                          .values_off = record->values_off,
                          .index_off = record->index_off,
                          .metric_count = record->metric_count};

    if (block.value_count > 0 &&
        !cn_bytes_array(file, block.values_off, block.value_count,
                        cn_hpc_context_value_size, &block.values))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " values at 0x%" PRIx64 " do not fit the file of %zu",
                       block.value_count, block.values_off, file.len + CN_HPC_FOOTER_LEN);
    if (block.metric_count > 0 &&
        !cn_bytes_array(file, block.index_off, block.metric_count,
                        cn_hpc_context_index_size, &block.index))
        return cn_fail(err, CN_ERR_FORMAT,
                       "index of %u metrics at 0x%" PRIx64
                       " does not fit the file of %zu",
                       block.metric_count, block.index_off, file.len + CN_HPC_FOOTER_LEN);
    *out = block;
    return true;
}

static bool find_block(const struct cn_hpc_cct *cct, uint32_t context, struct block *out,
                       struct cn_error *err)
{
    struct cn_hpc_context_info record;

    if (cn_hpc_context_info_decode(cn_hpc_table_at(&cct->table, context), &record) &&
        check_block(cct, &record, out, err))
        return true;
    return cn_fail_in(err, "context %" PRIu32 " at 0x%" PRIx64, context,
                      cn_hpc_table_off(&cct->table, context));
}

static struct cn_hpc_context_index index_entry(const struct block *block, uint64_t i)
{
    struct cn_hpc_context_index entry = {.start = block->value_count};

    if (i < block->metric_count)
        (void)cn_hpc_context_index_decode(
            cn_bytes_element(block->index, i, cn_hpc_context_index_size), &entry);
    return entry;
}

bool cn_hpc_cct_values_begin(const struct cn_hpc_cct *cct, struct cn_value_cursor *cursor,
                             struct cn_error *err)
{
    struct block block;

    if (!find_block(cct, cursor->owner, &block, err))
        return false;
    cursor->index_at = 0;
    cursor->index_end = block.metric_count;
    cursor->at = cursor->run_end = 0;
    return true;
}

/* Move to the values of the next metric; index_at stays where it is on failure. */
static bool begin_run(const struct block *block, struct cn_value_cursor *cursor,
                      struct cn_error *err)
{
    uint64_t i = cursor->index_at;
    uint64_t off = block->index_off + i * cn_hpc_context_index_size;
    struct cn_hpc_context_index entry = index_entry(block, i);
    uint64_t end = index_entry(block, i + 1).start;

    if (i > 0 && entry.metric <= index_entry(block, i - 1).metric)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": metric %u after %u, not ascending", off,
                       entry.metric, index_entry(block, i - 1).metric);
    if (entry.start > end || end > block->value_count)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": metric %u has values %" PRIu64
                       " to %" PRIu64 " of %" PRIu64,
                       off, entry.metric, entry.start, end, block->value_count);
    cursor->metric = entry.metric;
    cursor->at = entry.start;
    cursor->run_end = end;
    cursor->index_at++;
    return true;
}

/* Decode values of the current metric into `out`, at most `room` of them; stops
 * before a profile that does not exist. */
static size_t decode_run(const struct block *block, struct cn_value_cursor *cursor,
                         uint32_t profile_limit, struct cn_value *out, size_t room)
{
    uint64_t left = cursor->run_end - cursor->at;
    size_t count = left < room ? (size_t)left : room;
    struct cn_hpc_context_value value = {0};
    size_t i;

    for (i = 0; i < count; i++) {
        (void)cn_hpc_context_value_decode(
            cn_bytes_element(block->values, cursor->at + i, cn_hpc_context_value_size),
            &value);
        if (value.profile >= profile_limit)
            break;
        out[i] = (struct cn_value){value.value, value.profile, cursor->metric};
    }
    cursor->at += i;
    return i;
}

static bool no_such_profile(const struct block *block,
                            const struct cn_value_cursor *cursor, uint32_t profile_limit,
                            struct cn_error *err)
{
    struct cn_hpc_context_value value = {0};

    (void)cn_hpc_context_value_decode(
        cn_bytes_element(block->values, cursor->at, cn_hpc_context_value_size), &value);
    return cn_fail(err, CN_ERR_FORMAT,
                   "value at 0x%" PRIx64 ": profile %" PRIu32
                   " does not exist: there are %" PRIu32,
                   block->values_off + cursor->at * cn_hpc_context_value_size,
                   value.profile, profile_limit);
}

/* Decode until the batch is full or the plane ends. False at damage, after what came
 * before it. */
static bool fill_batch(const struct block *block, struct cn_value_cursor *cursor,
                       uint32_t profile_limit, size_t *count, struct cn_error *err)
{
    while (*count < CN_VALUE_BATCH) {
        if (cursor->at < cursor->run_end) {
            size_t decoded = decode_run(block, cursor, profile_limit,
                                        cursor->batch + *count, CN_VALUE_BATCH - *count);

            *count += decoded;
            if (decoded == 0)
                return no_such_profile(block, cursor, profile_limit, err);
        } else if (cursor->index_at == cursor->index_end) {
            break;
        } else if (!begin_run(block, cursor, err)) {
            return false;
        }
    }
    return true;
}

enum cn_step cn_hpc_cct_values_next(const struct cn_hpc_cct *cct,
                                    struct cn_value_cursor *cursor,
                                    uint32_t profile_limit, struct cn_value_batch *out,
                                    struct cn_error *err)
{
    struct cn_error damage;
    struct block block;
    size_t count = 0;

    if (!find_block(cct, cursor->owner, &block, err))
        return CN_FAIL;
    if (!fill_batch(&block, cursor, profile_limit, &count, &damage) && count == 0) {
        *err = damage;
        return cn_fail_in(err, "context %" PRIu32, cursor->owner);
    }
    if (count == 0)
        return CN_END;
    *out = (struct cn_value_batch){cursor->batch, count};
    return CN_ITEM;
}
