#include "formats/hpctoolkit/v4/read/profile_reader.h"

#include <inttypes.h>

/* The values of one profile: pairs (metric, value), and where each context's
 * begin. */
struct block {
    struct cn_bytes values, index;
    uint64_t value_count, values_off, index_off;
    uint32_t context_count;
};

bool cn_hpc_profiles_open(struct cn_bytes file, struct cn_hpc_profiles *out,
                          struct cn_error *err)
{
    struct cn_hpc_profiles profiles = {0};
    const struct cn_hpc_span *section = &profiles.sections.list[CN_HPC_PROFILE_INFOS];
    struct cn_hpc_profiles_header head;

    if (!cn_hpc_sections_open(file, &cn_hpc_profile_kind, &profiles.sections, err))
        return false;
    if (!cn_hpc_profiles_header_decode(section->bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "section ProfileInfos is too short for its header: %zu bytes",
                       section->bytes.len);
    if (head.profile_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "no profiles, not even a summary");
    if (!cn_hpc_table_open(*section,
                           &(struct cn_hpc_array){.what = "profiles",
                                                  .off = head.profiles_off,
                                                  .count = head.profile_count,
                                                  .stride = head.profile_len,
                                                  .least = cn_hpc_draft_profile_size},
                           &profiles.table, err))
        return false;
    profiles.has_flags = head.profile_len >= cn_hpc_profile_size;
    *out = profiles;
    return true;
}

static bool decode_draft(struct cn_bytes bytes, uint32_t index,
                         struct cn_hpc_profile *out)
{
    struct cn_hpc_draft_profile draft;

    if (!cn_hpc_draft_profile_decode(bytes, &draft))
        return false;
    *out = (struct cn_hpc_profile){
        .value_count = draft.value_count,
        .values_off = draft.values_off,
        .context_count = draft.context_count,
        .index_off = draft.index_off,
        .tuple_off = draft.tuple_off,
        .flags = index == 0 ? CN_HPC_IS_SUMMARY : 0,
    };
    return true;
}

bool cn_hpc_profiles_record(const struct cn_hpc_profiles *profiles, uint32_t index,
                            struct cn_hpc_profile *out, struct cn_error *err)
{
    struct cn_bytes bytes = cn_hpc_table_at(&profiles->table, index);

    if (profiles->has_flags ? cn_hpc_profile_decode(bytes, out)
                            : decode_draft(bytes, index, out))
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "profile %" PRIu32 " is cut off", index);
}

static bool check_block(const struct cn_hpc_profiles *profiles,
                        const struct cn_hpc_profile *record, struct block *out,
                        struct cn_error *err)
{
    struct cn_bytes file = profiles->sections.file.bytes;
    struct block block = {.value_count = record->value_count,
                          .values_off = record->values_off,
                          .index_off = record->index_off,
                          .context_count = record->context_count};

    if (block.value_count > 0 &&
        !cn_bytes_array(file, block.values_off, block.value_count,
                        cn_hpc_profile_value_size, &block.values))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " values at 0x%" PRIx64 " do not fit the file of %zu",
                       block.value_count, block.values_off, file.len + CN_HPC_FOOTER_LEN);
    if (block.context_count > 0 &&
        !cn_bytes_array(file, block.index_off, block.context_count,
                        cn_hpc_profile_index_size, &block.index))
        return cn_fail(
            err, CN_ERR_FORMAT,
            "index of %" PRIu32 " contexts at 0x%" PRIx64 " does not fit the file of %zu",
            block.context_count, block.index_off, file.len + CN_HPC_FOOTER_LEN);
    *out = block;
    return true;
}

static bool find_block(const struct cn_hpc_profiles *profiles, uint32_t index,
                       struct block *out, struct cn_error *err)
{
    struct cn_hpc_profile record;

    if (cn_hpc_profiles_record(profiles, index, &record, err) &&
        check_block(profiles, &record, out, err))
        return true;
    return cn_fail_in(err, "profile %" PRIu32 " at 0x%" PRIx64, index,
                      cn_hpc_table_off(&profiles->table, index));
}

static bool read_identity(const struct cn_hpc_profiles *profiles, uint64_t off,
                          struct cn_identity_tuple *out, struct cn_error *err)
{
    struct cn_hpc_span section = profiles->sections.list[CN_HPC_ID_TUPLES];
    struct cn_hpc_tuple tuple;
    struct cn_hpc_identity id;
    struct cn_bytes bytes;

    if (!cn_hpc_span_slice(section, off, cn_hpc_tuple_size, &bytes) ||
        !cn_hpc_tuple_decode(bytes, &tuple) ||
        !cn_hpc_span_slice(section, off + cn_hpc_tuple_size,
                           (uint64_t)tuple.id_count * cn_hpc_identity_size, &bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "identity tuple at 0x%" PRIx64 " does not fit section IdTuples",
                       off);
    if (tuple.id_count > CN_IDENTITY_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "identity tuple at 0x%" PRIx64 " has %u ids, can read %u", off,
                       tuple.id_count, CN_IDENTITY_MAX);
    for (size_t i = 0; i < tuple.id_count; i++) {
        if (!cn_hpc_identity_decode(cn_bytes_element(bytes, i, cn_hpc_identity_size),
                                    &id))
            return cn_fail(err, CN_ERR_FORMAT, "identity %zu is cut off", i);
        out->ids[i] = (struct cn_identity){
            .kind = id.kind,
            .is_physical = id.flags & CN_HPC_IS_PHYSICAL,
            .logical = id.logical,
            .physical = id.flags & CN_HPC_IS_PHYSICAL ? id.physical : id.logical,
        };
    }
    out->count = tuple.id_count;
    return true;
}

bool cn_hpc_profiles_at(const struct cn_hpc_profiles *profiles, uint32_t index,
                        struct cn_profile *out, struct cn_error *err)
{
    struct cn_profile profile = {0};
    struct cn_hpc_profile record;
    struct block block;

    if (!cn_hpc_profiles_record(profiles, index, &record, err) ||
        !check_block(profiles, &record, &block, err) ||
        (record.tuple_off != 0 &&
         !read_identity(profiles, record.tuple_off, &profile.identity, err)))
        return cn_fail_in(err, "profile %" PRIu32 " at 0x%" PRIx64, index,
                          cn_hpc_table_off(&profiles->table, index));
    profile.is_summary = record.flags & CN_HPC_IS_SUMMARY;
    profile.value_count = record.value_count;
    profile.context_count = record.context_count;
    *out = profile;
    return true;
}

/* Entry `i` of the index; behind the last one stands the number of values. */
static inline struct cn_hpc_profile_index index_entry(const struct block *block,
                                                      uint64_t i)
{
    struct cn_hpc_profile_index entry = {.start = block->value_count};

    if (i < block->context_count)
        (void)cn_hpc_profile_index_decode(
            cn_bytes_element(block->index, i, cn_hpc_profile_index_size), &entry);
    return entry;
}

bool cn_hpc_profiles_last_context(const struct cn_hpc_profiles *profiles, uint32_t index,
                                  uint32_t *out, struct cn_error *err)
{
    struct block block;

    if (!find_block(profiles, index, &block, err))
        return false;
    *out = block.context_count == 0
               ? 0
               : index_entry(&block, block.context_count - 1).context;
    return true;
}

/* The first entry of the index whose context is not below `context`. */
static uint64_t search_index(const struct block *block, uint32_t context)
{
    uint64_t low = 0, high = block->context_count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (index_entry(block, middle).context < context)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool cn_hpc_profile_values_begin(const struct cn_hpc_profiles *profiles,
                                 struct cn_value_cursor *cursor, struct cn_error *err)
{
    struct block block;

    if (!find_block(profiles, cursor->owner, &block, err))
        return false;
    cursor->index_at =
        cursor->first_key == 0 ? 0 : search_index(&block, cursor->first_key);
    cursor->index_end = block.context_count;
    cursor->at = cursor->run_end = 0;
    return true;
}

/* Values of one context that are still to be decoded. A copy of the cursor's
 * position: the compiler keeps it in registers, which it cannot do with the
 * cursor itself. */
struct run {
    uint64_t at, end;
    uint64_t next; /* entry of the index that follows */
    uint32_t context;
};

/* Why entry `i` of the index cannot be followed. */
static bool bad_entry(const struct block *block, uint64_t i, uint32_t context_limit,
                      struct cn_error *err)
{
    uint64_t off = block->index_off + i * cn_hpc_profile_index_size;
    struct cn_hpc_profile_index entry = index_entry(block, i);
    uint64_t end = index_entry(block, i + 1).start;

    if (i > 0 && entry.context <= index_entry(block, i - 1).context)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": context %" PRIu32 " after %" PRIu32
                       ", not ascending",
                       off, entry.context, index_entry(block, i - 1).context);
    if (entry.context >= context_limit)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": context %" PRIu32
                       " does not exist, ids end at %" PRIu32,
                       off, entry.context, context_limit);
    return cn_fail(err, CN_ERR_FORMAT,
                   "index at 0x%" PRIx64 ": context %" PRIu32 " has values %" PRIu64
                   " to %" PRIu64 " of %" PRIu64,
                   off, entry.context, entry.start, end, block->value_count);
}

/* Move to the values of the next context. False when its entry is damaged. */
static inline bool begin_run(const struct block *block, uint32_t context_limit,
                             struct run *run)
{
    struct cn_hpc_profile_index entry = index_entry(block, run->next);
    uint64_t end = index_entry(block, run->next + 1).start;

    if (entry.context >= context_limit || entry.start > end || end > block->value_count ||
        (run->next > 0 && entry.context <= index_entry(block, run->next - 1).context))
        return false;
    *run = (struct run){entry.start, end, run->next + 1, entry.context};
    return true;
}

/* Decode values of the current context into `out`, at most `room` of them. */
static inline size_t decode_run(const struct block *block, struct run *run,
                                struct cn_value *out, size_t room)
{
    uint64_t left = run->end - run->at;
    size_t count = left < room ? (size_t)left : room;
    struct cn_hpc_profile_value value = {0};

    for (size_t i = 0; i < count; i++) {
        (void)cn_hpc_profile_value_decode(
            cn_bytes_element(block->values, run->at + i, cn_hpc_profile_value_size),
            &value);
        out[i] = (struct cn_value){value.value, run->context, value.metric};
    }
    run->at += count;
    return count;
}

/* Decode until the batch is full or the range of keys ends. False at damage,
 * after what came before it. */
static bool fill_batch(const struct block *block, struct cn_value_cursor *cursor,
                       uint32_t context_limit, size_t *count, struct cn_error *err)
{
    struct run run = {cursor->at, cursor->run_end, cursor->index_at, cursor->key};
    uint64_t index_end = cursor->index_end;
    size_t filled = 0;
    bool ok = true;

    while (ok && filled < CN_VALUE_BATCH) {
        if (run.at < run.end)
            filled +=
                decode_run(block, &run, cursor->batch + filled, CN_VALUE_BATCH - filled);
        else if (run.next == index_end ||
                 index_entry(block, run.next).context > cursor->last_key)
            break;
        else
            ok = begin_run(block, context_limit, &run);
    }
    cursor->at = run.at;
    cursor->run_end = run.end;
    cursor->index_at = run.next;
    cursor->key = run.context;
    *count = filled;
    return ok || bad_entry(block, run.next, context_limit, err);
}

enum cn_step cn_hpc_profile_values_next(const struct cn_hpc_profiles *profiles,
                                        struct cn_value_cursor *cursor,
                                        uint32_t context_limit,
                                        struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_error damage;
    struct block block;
    size_t count = 0;

    if (!find_block(profiles, cursor->owner, &block, err))
        return CN_FAIL;
    if (!fill_batch(&block, cursor, context_limit, &count, &damage) && count == 0) {
        *err = damage;
        return cn_fail_in(err, "profile %" PRIu32, cursor->owner);
    }
    if (count == 0)
        return CN_END;
    *out = (struct cn_value_batch){cursor->batch, count};
    return CN_ITEM;
}
