#include "formats/hpctoolkit/values/planes_reader.h"

#include <inttypes.h>

#include "base/search.h"
#include "formats/hpctoolkit/values/planes_fill.h"

struct cn_hpc_plane_record cn_hpc_planes_record(const struct cn_hpc_planes *planes,
                                                uint32_t number)
{
    return planes->encoding->decode_record(cn_hpc_table_at(&planes->records, number),
                                           number);
}

/* A block that was never written reads as zeros: without the marker they would look like
 * values. */
static bool check_end(struct cn_content file, const struct cn_hpc_block *block,
                      struct cn_error *err)
{
    const struct cn_hpc_plane_encoding *e = block->encoding;
    struct cn_bytes last;
    uint32_t key = 0;

    if (cn_content_slice(file,
                         block->index_off + (uint64_t)block->key_count * e->index->size,
                         e->index->size, &last))
        key = (uint32_t)cn_field_get(e->index, &e->index->fields[0], last.ptr);
    if (key == e->end_key)
        return true;
    return cn_fail(err, CN_ERR_FORMAT,
                   "index at 0x%" PRIx64 " ends with 0x%" PRIx32 " instead of 0x%" PRIx32,
                   block->index_off, key, e->end_key);
}

/* An array in the file; where `is_read` is false, its bytes are not asked for. */
static inline bool find_array(struct cn_content file, uint64_t off, uint64_t count,
                              uint64_t size, bool is_read, struct cn_bytes *out)
{
    uint64_t len;

    return is_read ? cn_content_array(file, off, count, size, out)
                   : cn_u64_mul(count, size, &len) && cn_content_has(file, off, len);
}

/* Fills in the caller's struct at once: planes of contexts are small, and this is most of
 * the work of reading one. */
static inline bool find_block(const struct cn_hpc_planes *planes,
                              const struct cn_hpc_plane_record *record, bool is_read,
                              struct cn_hpc_block *out, struct cn_error *err)
{
    const struct cn_hpc_plane_encoding *e = planes->encoding;
    bool needs_end = e->is_end_read && (record->value_count > 0 || record->key_count > 0);

    *out = (struct cn_hpc_block){.encoding = e,
                                 .value_count = record->value_count,
                                 .values_off = record->values_off,
                                 .index_off = record->index_off,
                                 .key_count = record->key_count};
    if (out->value_count > 0 &&
        !find_array(planes->file, out->values_off, out->value_count, e->value->size,
                    is_read, &out->values))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " values at 0x%" PRIx64
                       " do not fit the file of %" PRIu64,
                       out->value_count, out->values_off, planes->file_len);
    if ((out->key_count > 0 || needs_end) &&
        !find_array(planes->file, out->index_off, (uint64_t)out->key_count + needs_end,
                    e->index->size, is_read, &out->index))
        return cn_fail(err, CN_ERR_FORMAT,
                       "index of %" PRIu32 " %ss at 0x%" PRIx64
                       " does not fit the file of %" PRIu64,
                       out->key_count, e->key, out->index_off, planes->file_len);
    return !needs_end || check_end(planes->file, out, err);
}

static bool fail_in_record(const struct cn_hpc_planes *planes, uint32_t number,
                           struct cn_error *err)
{
    return cn_fail_in(err, "%s %" PRIu32 " at 0x%" PRIx64, planes->encoding->owner,
                      number, cn_hpc_table_off(&planes->records, number));
}

bool cn_hpc_planes_block(const struct cn_hpc_planes *planes, uint32_t number,
                         struct cn_hpc_block *out, struct cn_error *err)
{
    struct cn_hpc_plane_record record = cn_hpc_planes_record(planes, number);

    return find_block(planes, &record, true, out, err) ||
           fail_in_record(planes, number, err);
}

struct cn_hpc_plane_entry cn_hpc_block_entry(const struct cn_hpc_block *block, uint64_t i)
{
    return cn_hpc_entry_at(block->encoding, block, i);
}

struct cn_hpc_plane_value cn_hpc_block_value(const struct cn_hpc_block *block, uint64_t i)
{
    return cn_hpc_value_at(block->encoding, block, i);
}

static bool is_below(const void *data, uint64_t i, uint64_t key)
{
    const struct cn_hpc_block *block = data;

    return cn_hpc_field_at(block->encoding->index, 0, block->index, i) < key;
}

uint64_t cn_hpc_block_find(const struct cn_hpc_block *block, uint64_t key)
{
    return key == 0 ? 0 : cn_search(0, block->key_count, is_below, block, key);
}

bool cn_hpc_block_bad_entry(const struct cn_hpc_block *block, uint64_t i, uint64_t limit,
                            struct cn_error *err)
{
    const struct cn_hpc_plane_encoding *e = block->encoding;
    struct cn_hpc_plane_entry entry = cn_hpc_block_entry(block, i);
    uint64_t off = block->index_off + i * e->index->size;

    if (i > 0 && entry.key <= cn_hpc_block_entry(block, i - 1).key)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": %s %" PRIu32 " after %" PRIu32
                       ", not ascending",
                       off, e->key, entry.key, cn_hpc_block_entry(block, i - 1).key);
    if (entry.key >= limit)
        return cn_fail(err, CN_ERR_FORMAT,
                       "index at 0x%" PRIx64 ": %s %" PRIu32
                       " does not exist, ids end at %" PRIu64,
                       off, e->key, entry.key, limit);
    return cn_fail(err, CN_ERR_FORMAT,
                   "index at 0x%" PRIx64 ": %s %" PRIu32 " has values %" PRIu64
                   " to %" PRIu64 " of %" PRIu64,
                   off, e->key, entry.key, entry.start,
                   cn_hpc_block_entry(block, i + 1).start, block->value_count);
}

bool cn_hpc_planes_no_profile(const struct cn_hpc_plane_read *read, struct cn_error *err)
{
    const struct cn_hpc_plane_encoding *e = read->block.encoding;
    uint64_t at = read->cursor->at;

    return cn_fail(err, CN_ERR_FORMAT,
                   "value at 0x%" PRIx64 ": profile %" PRIu32
                   " does not exist: there are %" PRIu32,
                   read->block.values_off + at * e->value->size,
                   cn_hpc_block_value(&read->block, at).id, read->limit);
}

bool cn_hpc_planes_twice(const struct cn_hpc_plane_read *read,
                         const struct cn_hpc_plane_run *run, struct cn_error *err)
{
    return cn_fail(
        err, CN_ERR_FORMAT,
        "values at 0x%" PRIx64 ": context %" PRIu32 " has two values for metric %" PRId32,
        read->block.values_off + run->start * read->block.encoding->value->size, run->key,
        run->twice);
}

/* Value `i` as the model names it. False when it is dropped or below metric `first`. */
static bool take_value(const struct cn_hpc_plane_read *read,
                       const struct cn_hpc_plane_run *run, uint64_t i, uint64_t first,
                       struct cn_value *out)
{
    struct cn_hpc_plane_value value = cn_hpc_block_value(&read->block, i);

    out->value = value.value;
    out->key = run->key;
    return cn_hpc_metric_ids_find(read->ids, (uint16_t)value.id, &out->metric) &&
           out->metric >= first;
}

/* A part has a window of metric ids: each id has its own slot. */
bool cn_hpc_planes_long_run(struct cn_hpc_plane_read *read, struct cn_hpc_plane_run *run,
                            struct cn_error *err)
{
    struct cn_value_cursor *cursor = read->cursor;
    bool is_there[CN_VALUE_BATCH] = {0}, is_last = true;
    uint64_t first = UINT64_MAX;
    struct cn_value value;

    for (uint64_t i = run->start; i < run->end; i++)
        if (take_value(read, run, i, cursor->at, &value) && value.metric < first)
            first = value.metric;
    for (uint64_t i = run->start; i < run->end; i++) {
        if (!take_value(read, run, i, first, &value))
            continue;
        if (value.metric - first >= CN_VALUE_BATCH) {
            is_last = false;
            continue;
        }
        if (is_there[value.metric - first]) {
            run->twice = value.metric;
            return cn_hpc_planes_twice(read, run, err);
        }
        is_there[value.metric - first] = true;
        cursor->batch[value.metric - first] = value;
    }
    for (size_t i = 0; i < CN_VALUE_BATCH; i++)
        if (is_there[i])
            cursor->batch[read->count++] = cursor->batch[i];
    cursor->at = is_last ? 0 : first + CN_VALUE_BATCH;
    cursor->index_at += is_last;
    return true;
}

bool cn_hpc_planes_tuple(const struct cn_hpc_planes *planes, uint64_t off,
                         uint16_t *id_count, struct cn_bytes *ids, struct cn_error *err)
{
    const struct cn_hpc_plane_encoding *e = planes->encoding;
    struct cn_hpc_span section = planes->tuples;
    struct cn_bytes tuple;

    if (cn_hpc_span_slice(section, off, e->tuple->size, &tuple)) {
        *id_count = (uint16_t)cn_field_get(e->tuple, &e->tuple->fields[0], tuple.ptr);
        if (cn_hpc_span_slice(section, off + e->tuple->size,
                              *id_count * e->identity->size, ids))
            return true;
    }
    return cn_fail(err, CN_ERR_FORMAT,
                   "identity tuple at 0x%" PRIx64 " does not fit its section, 0x%" PRIx64
                   " to 0x%" PRIx64,
                   off, section.off, section.off + section.bytes.len);
}

static bool read_identity(const struct cn_hpc_planes *planes, uint64_t off,
                          struct cn_identity_tuple *out, struct cn_error *err)
{
    const struct cn_hpc_plane_encoding *e = planes->encoding;
    struct cn_bytes ids;
    uint16_t count;

    if (!cn_hpc_planes_tuple(planes, off, &count, &ids, err))
        return false;
    if (count > CN_IDENTITY_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "identity tuple at 0x%" PRIx64 " has %u ids, can read %d", off,
                       count, CN_IDENTITY_MAX);
    for (size_t i = 0; i < count; i++)
        if (!e->decode_identity(cn_bytes_element(ids, i, e->identity->size), &out->ids[i],
                                err))
            return cn_fail_in(err, "identity tuple at 0x%" PRIx64, off);
    out->count = count;
    return true;
}

bool cn_hpc_planes_profile(const struct cn_hpc_planes *planes, uint32_t number,
                           struct cn_profile *out, struct cn_error *err)
{
    struct cn_hpc_plane_record record = cn_hpc_planes_record(planes, number);
    struct cn_profile profile = {.is_summary = record.is_summary,
                                 .value_count = record.value_count,
                                 .context_count = record.key_count};
    struct cn_hpc_block block;

    if (!find_block(planes, &record, false, &block, err) ||
        (number > 0 && record.tuple_off != 0 &&
         !read_identity(planes, record.tuple_off, &profile.identity, err)))
        return fail_in_record(planes, number, err);
    *out = profile;
    return true;
}

bool cn_hpc_planes_begin(const struct cn_hpc_planes *planes,
                         struct cn_value_cursor *cursor, struct cn_error *err)
{
    struct cn_hpc_block block;

    if (!cn_hpc_planes_block(planes, cursor->owner, &block, err))
        return false;
    cursor->index_at = cursor->plane == CN_PLANE_OF_PROFILE
                           ? cn_hpc_block_find(&block, cursor->first_key)
                           : 0;
    cursor->index_end = block.key_count;
    cursor->at = cursor->run_end = 0;
    return true;
}

enum cn_step cn_hpc_planes_next(const struct cn_hpc_planes *planes,
                                const struct cn_hpc_metric_ids *ids, uint32_t limit,
                                struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_hpc_plane_read read;
    struct cn_error damage;
    bool ok;

    if (cursor->index_at == cursor->index_end && cursor->at >= cursor->run_end)
        return CN_END;
    read.ids = ids;
    read.limit = limit;
    read.cursor = cursor;
    read.count = 0;
    if (!cn_hpc_planes_block(planes, cursor->owner, &read.block, err))
        return CN_FAIL;
    do
        ok = planes->encoding->fill(&read, &damage);
    while (ok && read.count == 0 && cursor->index_at < cursor->index_end);
    if (!ok && read.count == 0) {
        *err = damage;
        return cn_fail_in(err, "%s %" PRIu32, planes->encoding->owner, cursor->owner);
    }
    if (read.count == 0)
        return CN_END;
    *out = (struct cn_value_batch){cursor->batch, read.count};
    return CN_ITEM;
}
