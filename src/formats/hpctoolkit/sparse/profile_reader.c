#include "formats/hpctoolkit/sparse/profile_reader.h"

#include <inttypes.h>

/* A context can have no more values than there are metric ids. */
enum { RUN_MAX = 65536 };

struct cn_hpc_sparse_profile
cn_hpc_sparse_profiles_record(const struct cn_hpc_sparse_profiles *profiles,
                              uint32_t index)
{
    struct cn_hpc_sparse_profile record = {0};

    (void)cn_hpc_sparse_profile_decode(
        cn_bytes_element(profiles->frame.records, index, cn_hpc_sparse_profile_size),
        &record);
    return record;
}

uint64_t cn_hpc_sparse_profiles_off(const struct cn_hpc_sparse_profiles *profiles,
                                    uint32_t index)
{
    return profiles->frame.head.infos_off + (uint64_t)index * cn_hpc_sparse_profile_size;
}

/* Blocks that add up to more than the file would make its work more than linear. */
static bool check_apart(const struct cn_hpc_sparse_profiles *profiles,
                        struct cn_error *err)
{
    uint64_t total = 0, values_len, index_len;

    for (uint32_t i = 0; i < profiles->frame.head.count; i++) {
        struct cn_hpc_sparse_profile record = cn_hpc_sparse_profiles_record(profiles, i);

        /* One that cannot fit says so when it is read. */
        if (!cn_u64_mul(record.value_count, cn_hpc_sparse_profile_value_size,
                        &values_len) ||
            values_len > profiles->frame.file.len)
            continue;
        index_len = (uint64_t)record.context_count * cn_hpc_sparse_profile_index_size;
        if (index_len > profiles->frame.file.len)
            continue;
        total += values_len + index_len;
        if (total > profiles->frame.file.len)
            return cn_fail(err, CN_ERR_FORMAT,
                           "profile %" PRIu32 " at 0x%" PRIx64
                           ": blocks overlap: %" PRIu64 " bytes of them in a file of %zu",
                           i, cn_hpc_sparse_profiles_off(profiles, i), total,
                           profiles->frame.file.len);
    }
    return true;
}

bool cn_hpc_sparse_profiles_open(struct cn_bytes file, struct cn_hpc_sparse_profiles *out,
                                 struct cn_error *err)
{
    struct cn_hpc_sparse_profiles profiles = {0};
    struct cn_hpc_sparse_profile_header head;

    if (!cn_hpc_sparse_frame_open(file, &cn_hpc_sparse_profile_kind, &profiles.frame,
                                  err))
        return false;
    if (!cn_hpc_sparse_profile_header_decode(file, &head))
        return cn_fail(err, CN_ERR_FORMAT, "header is cut off");
    if (profiles.frame.head.count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profiles, not even a summary");
    if (!cn_bytes_slice(profiles.frame.file, head.tuples_off, head.tuples_len,
                        &profiles.tuples))
        return cn_fail(err, CN_ERR_FORMAT,
                       "identity tuples of %" PRIu64 " bytes at 0x%" PRIx64
                       " do not fit the file of %zu",
                       head.tuples_len, head.tuples_off, file.len);
    profiles.tuples_off = head.tuples_off;
    if (!check_apart(&profiles, err))
        return false;
    *out = profiles;
    return true;
}

static bool find_block(const struct cn_hpc_sparse_profiles *profiles,
                       const struct cn_hpc_sparse_profile *record,
                       struct cn_hpc_sparse_profile_block *out, struct cn_error *err)
{
    struct cn_bytes file = profiles->frame.file;
    struct cn_hpc_sparse_profile_block block = {
        .value_count = record->value_count,
        .values_off = record->block_off,
        .index_off =
            record->block_off + record->value_count * cn_hpc_sparse_profile_value_size,
        .context_count = record->context_count,
    };

    if (block.value_count > 0 &&
        !cn_bytes_array(file, block.values_off, block.value_count,
                        cn_hpc_sparse_profile_value_size, &block.values))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " values at 0x%" PRIx64
                       " do not fit the file of %zu bytes",
                       block.value_count, block.values_off, file.len);
    if (block.context_count > 0 &&
        !cn_bytes_array(file, block.index_off, block.context_count,
                        cn_hpc_sparse_profile_index_size, &block.index))
        return cn_fail(err, CN_ERR_FORMAT,
                       "index of %" PRIu32 " contexts at 0x%" PRIx64
                       " does not fit the file of %zu bytes",
                       block.context_count, block.index_off, file.len);
    *out = block;
    return true;
}

bool cn_hpc_sparse_profiles_block(const struct cn_hpc_sparse_profiles *profiles,
                                  uint32_t index, struct cn_hpc_sparse_profile_block *out,
                                  struct cn_error *err)
{
    struct cn_hpc_sparse_profile record = cn_hpc_sparse_profiles_record(profiles, index);

    return find_block(profiles, &record, out, err) ||
           cn_fail_in(err, "profile %" PRIu32 " at 0x%" PRIx64, index,
                      cn_hpc_sparse_profiles_off(profiles, index));
}

static bool read_id(struct cn_bytes bytes, struct cn_identity *out, struct cn_error *err)
{
    struct cn_hpc_sparse_identity id;
    unsigned kind;

    if (!cn_hpc_sparse_identity_decode(bytes, &id))
        return cn_fail(err, CN_ERR_FORMAT, "identity is cut off");
    kind = id.kind & CN_HPC_SPARSE_KIND_MASK;
    if (kind >= CN_KINDS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "identity of kind %u, can read %d", kind,
                       CN_KINDS_MAX - 1);
    if (id.logical > UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "logical id %" PRIu64 " of kind %u, can read %" PRIu32, id.logical,
                       kind, UINT32_MAX);
    out->kind = (uint8_t)kind;
    out->is_physical =
        (id.kind & CN_HPC_SPARSE_LOGICAL_ONLY) != CN_HPC_SPARSE_LOGICAL_ONLY;
    out->logical = (uint32_t)id.logical;
    out->physical = out->is_physical ? id.physical : id.logical;
    return true;
}

static bool read_tuple(const struct cn_hpc_sparse_profiles *profiles, uint64_t off,
                       struct cn_identity_tuple *out, struct cn_error *err)
{
    struct cn_hpc_sparse_tuple tuple;
    struct cn_bytes rest, ids;

    if (off < profiles->tuples_off ||
        !cn_bytes_from(profiles->tuples, off - profiles->tuples_off, &rest) ||
        !cn_hpc_sparse_tuple_decode(rest, &tuple) ||
        !cn_bytes_array(rest, cn_hpc_sparse_tuple_size, tuple.id_count,
                        cn_hpc_sparse_identity_size, &ids))
        return cn_fail(err, CN_ERR_FORMAT,
                       "identity tuple at 0x%" PRIx64
                       " does not fit its section, 0x%" PRIx64 " to 0x%" PRIx64,
                       off, profiles->tuples_off,
                       profiles->tuples_off + profiles->tuples.len);
    if (tuple.id_count > CN_IDENTITY_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "identity tuple at 0x%" PRIx64 " has %u ids, can read %d", off,
                       tuple.id_count, CN_IDENTITY_MAX);
    for (size_t i = 0; i < tuple.id_count; i++)
        if (!read_id(cn_bytes_element(ids, i, cn_hpc_sparse_identity_size), &out->ids[i],
                     err))
            return cn_fail_in(err, "identity tuple at 0x%" PRIx64, off);
    out->count = tuple.id_count;
    return true;
}

bool cn_hpc_sparse_profiles_at(const struct cn_hpc_sparse_profiles *profiles,
                               uint32_t index, struct cn_profile *out,
                               struct cn_error *err)
{
    struct cn_hpc_sparse_profile record = cn_hpc_sparse_profiles_record(profiles, index);
    struct cn_profile profile = {.is_summary = index == 0};
    struct cn_hpc_sparse_profile_block block;

    if (!find_block(profiles, &record, &block, err) ||
        !read_tuple(profiles, record.tuple_off, &profile.identity, err))
        return cn_fail_in(err, "profile %" PRIu32 " at 0x%" PRIx64, index,
                          cn_hpc_sparse_profiles_off(profiles, index));
    /* The tuple of the summary says nothing but that. */
    if (profile.is_summary)
        profile.identity.count = 0;
    profile.value_count = record.value_count;
    profile.context_count = record.context_count;
    *out = profile;
    return true;
}

struct cn_hpc_sparse_profile_index
cn_hpc_sparse_profile_block_entry(const struct cn_hpc_sparse_profile_block *block,
                                  uint64_t i)
{
    struct cn_hpc_sparse_profile_index entry = {.context = CN_HPC_SPARSE_PROFILE_END,
                                                .start = block->value_count};

    if (i < block->context_count)
        (void)cn_hpc_sparse_profile_index_decode(
            cn_bytes_element(block->index, i, cn_hpc_sparse_profile_index_size), &entry);
    return entry;
}

uint64_t cn_hpc_sparse_profile_block_find(const struct cn_hpc_sparse_profile_block *block,
                                          uint32_t context)
{
    uint64_t low = 0, high = block->context_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (cn_hpc_sparse_profile_block_entry(block, middle).context < context)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool cn_hpc_sparse_profile_values_begin(const struct cn_hpc_sparse_profiles *profiles,
                                        struct cn_value_cursor *cursor,
                                        struct cn_error *err)
{
    struct cn_hpc_sparse_profile_block block;

    if (!cn_hpc_sparse_profiles_block(profiles, cursor->owner, &block, err))
        return false;
    cursor->index_at = cursor->first_key == 0
                           ? 0
                           : cn_hpc_sparse_profile_block_find(&block, cursor->first_key);
    cursor->index_end = block.context_count;
    cursor->at = 0; /* metric ids of the current context below this were delivered */
    return true;
}

/* The values of one context. */
struct run {
    const struct cn_hpc_sparse_profile_block *block;
    const struct cn_hpc_sparse_ids *ids;
    uint64_t start, end;
    uint32_t context;
};

/* Value `i` as the model names it. False when it is to be dropped. */
static bool decode_value(const struct run *run, uint64_t i, struct cn_value *out)
{
    struct cn_hpc_sparse_profile_value value = {0};
    uint16_t metric;

    (void)cn_hpc_sparse_profile_value_decode(
        cn_bytes_element(run->block->values, i, cn_hpc_sparse_profile_value_size),
        &value);
    if (!cn_hpc_sparse_ids_find(run->ids, value.metric, &metric))
        return false;
    *out = (struct cn_value){value.value, run->context, metric};
    return true;
}

static bool metric_twice(const struct run *run, uint16_t metric, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT,
                   "values at 0x%" PRIx64 ": context %" PRIu32
                   " has two values for metric %u",
                   run->block->values_off + run->start * cn_hpc_sparse_profile_value_size,
                   run->context, metric);
}

/* All values of a short run, sorted as they are inserted: most come sorted. */
static bool take_short_run(const struct run *run, struct cn_value *out, size_t *count,
                           struct cn_error *err)
{
    struct cn_value value;
    size_t filled = 0, at;

    for (uint64_t i = run->start; i < run->end; i++) {
        if (!decode_value(run, i, &value))
            continue;
        for (at = filled; at > 0 && out[at - 1].metric > value.metric; at--)
            out[at] = out[at - 1];
        out[at] = value;
        if (at > 0 && out[at - 1].metric == value.metric)
            return metric_twice(run, value.metric, err);
        filled++;
    }
    *count += filled;
    return true;
}

/* Of a run longer than a batch, the values whose ids lie in the next window of ids
 * that has any: each has its own place. `*next_id` is where that window may start,
 * and then ends; beyond all ids when none is left. */
static bool take_window(const struct run *run, uint64_t *next_id, struct cn_value *out,
                        size_t *count, struct cn_error *err)
{
    bool is_there[CN_VALUE_BATCH] = {0};
    uint64_t first = RUN_MAX;
    struct cn_value value;
    size_t filled = 0;

    for (uint64_t i = run->start; i < run->end; i++)
        if (decode_value(run, i, &value) && value.metric >= *next_id &&
            value.metric < first)
            first = value.metric;
    for (uint64_t i = run->start; i < run->end; i++) {
        if (!decode_value(run, i, &value) || value.metric < first ||
            value.metric - first >= CN_VALUE_BATCH)
            continue;
        if (is_there[value.metric - first])
            return metric_twice(run, value.metric, err);
        is_there[value.metric - first] = true;
        out[value.metric - first] = value;
    }
    for (size_t i = 0; i < CN_VALUE_BATCH; i++)
        if (is_there[i])
            out[filled++] = out[i];
    *next_id = first + CN_VALUE_BATCH;
    *count = filled;
    return true;
}

static bool open_run(const struct cn_hpc_sparse_profile_block *block, uint64_t i,
                     uint32_t context_limit, struct run *out, struct cn_error *err)
{
    struct cn_hpc_sparse_profile_index entry =
        cn_hpc_sparse_profile_block_entry(block, i);
    uint64_t end = cn_hpc_sparse_profile_block_entry(block, i + 1).start;
    uint64_t off = block->index_off + i * cn_hpc_sparse_profile_index_size;
    uint32_t before =
        i == 0 ? 0 : cn_hpc_sparse_profile_block_entry(block, i - 1).context;

    if (i > 0 && entry.context <= before)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": context %" PRIu32 " after %" PRIu32
                       ", not ascending",
                       off, entry.context, before);
    if (entry.context >= context_limit)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": context %" PRIu32
                       " does not exist, ids end at %" PRIu32,
                       off, entry.context, context_limit);
    if (entry.start > end || end > block->value_count || end - entry.start > RUN_MAX)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": context %" PRIu32 " has values %" PRIu64
                       " to %" PRIu64 " of %" PRIu64,
                       off, entry.context, entry.start, end, block->value_count);
    out->start = entry.start;
    out->end = end;
    out->context = entry.context;
    return true;
}

/* Decode until the batch is full or the range of keys ends. False at damage, after
 * what came before it. */
static bool fill_batch(struct run *run, struct cn_value_cursor *cursor,
                       uint32_t context_limit, size_t *count, struct cn_error *err)
{
    while (cursor->index_at < cursor->index_end) {
        if (cn_hpc_sparse_profile_block_entry(run->block, cursor->index_at).context >
            cursor->last_key)
            return true;
        if (!open_run(run->block, cursor->index_at, context_limit, run, err))
            return false;
        if (run->end - run->start <= CN_VALUE_BATCH - *count) {
            if (!take_short_run(run, cursor->batch + *count, count, err))
                return false;
        } else if (*count > 0) {
            return true;
        } else {
            if (!take_window(run, &cursor->at, cursor->batch, count, err))
                return false;
            if (*count > 0)
                return true;
        }
        cursor->index_at++;
        cursor->at = 0;
    }
    return true;
}

enum cn_step
cn_hpc_sparse_profile_values_next(const struct cn_hpc_sparse_profiles *profiles,
                                  const struct cn_hpc_sparse_ids *ids,
                                  uint32_t context_limit, struct cn_value_cursor *cursor,
                                  struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_hpc_sparse_profile_block block;
    struct run run = {.block = &block, .ids = ids};
    struct cn_error damage;
    size_t count = 0;

    if (!cn_hpc_sparse_profiles_block(profiles, cursor->owner, &block, err))
        return CN_FAIL;
    if (!fill_batch(&run, cursor, context_limit, &count, &damage) && count == 0) {
        *err = damage;
        return cn_fail_in(err, "profile %" PRIu32, cursor->owner);
    }
    if (count == 0)
        return CN_END;
    *out = (struct cn_value_batch){cursor->batch, count};
    return CN_ITEM;
}
