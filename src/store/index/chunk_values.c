#include "store/index/chunk_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/crc32c.h"
#include "base/run/lock.h"
#include "base/search.h"
#include "store/index/columns_layout.h"

/* An entry that was checked. */
struct chunk_part {
    struct cn_bytes bytes;
    uint64_t lowest;
    uint32_t first, count;
    unsigned bits;
};

struct cn_chunk_values {
    const struct cn_block_file *file;
    const struct cn_file *data;
    struct cn_content content; /* of it */
    struct cn_store_column runs;
    struct cn_bytes section, entries;
    uint32_t count; /* of entries */
    uint32_t row_count;
    _Atomic(bool) is_ordered;     /* each value is in one entry */
    _Atomic(uint8_t) *is_checked; /* by entry */
    struct cn_lock lock;          /* while all are checked */
    _Atomic(bool) has_all;
    struct chunk_part
        *parts; /* by entry, from then on; NULL if content is read by range */
};

bool cn_chunk_values_open(struct cn_chunk_values **out, const struct cn_block_file *file,
                          const struct cn_file *data, const struct cn_store_column *runs,
                          uint32_t row_count, struct cn_bytes section, size_t at,
                          struct cn_error *err)
{
    struct cn_bytes count_bytes, entries;
    uint64_t count;

    if (!data || !runs->groups ||
        !cn_bytes_slice(section, at, sizeof(uint64_t), &count_bytes) ||
        !cn_block_file_check(file, count_bytes, err))
        return cn_fail(err, CN_ERR_FORMAT, "no chunks have its values");
    count = cn_u64_get(count_bytes.ptr);
    if (count > runs->value_count ||
        !cn_bytes_array(section, at + sizeof(uint64_t), count, cn_chunk_values_entry_size,
                        &entries))
        return cn_fail(err, CN_ERR_FORMAT, "values in %" PRIu64 " chunks do not fit",
                       count);
    struct cn_chunk_values *values = cn_alloc(1, sizeof(*values));
    values->file = file;
    values->data = data;
    values->content = cn_file_content(data);
    values->runs = *runs;
    values->row_count = row_count;
    values->section = section;
    values->entries = entries;
    values->count = (uint32_t)count;
    values->is_checked = cn_alloc((size_t)count + 1, sizeof(*values->is_checked));
    cn_lock_init(&values->lock);
    *out = values;
    return true;
}

void cn_chunk_values_free(struct cn_chunk_values *values)
{
    if (!values)
        return;
    free(values->is_checked);
    free(values->parts);
    cn_lock_done(&values->lock);
    free(values);
}

static struct cn_bytes entry_bytes(const struct cn_chunk_values *values, uint32_t run)
{
    return cn_bytes_element(values->entries, run, cn_chunk_values_entry_size);
}

static bool is_sound(const struct cn_chunk_values_entry *entry)
{
    return entry->bits > 0 &&
           (entry->bits <= CN_META_BITS_MAX - 1 || entry->bits == CN_META_WORD_BITS);
}

/* The bytes of the values of a chunk. */
static bool slice_values(const struct cn_chunk_values *values,
                         const struct cn_chunk_values_entry *entry, struct cn_bytes *out)
{
    uint64_t len = ((uint64_t)entry->count * entry->bits + 7) / 8;

    return is_sound(entry) &&
           (entry->is_here ? cn_bytes_slice(values->section, entry->off, len, out)
                           : cn_content_slice(values->content, entry->off, len, out));
}

static bool check_entry(struct cn_chunk_values *values, uint32_t run,
                        struct cn_error *err)
{
    struct cn_chunk_values_entry entry;
    struct cn_bytes bytes;

    if (values->is_checked[run])
        return true;
    if (!cn_block_file_check(values->file, entry_bytes(values, run), err))
        return false;
    if (!cn_chunk_values_entry_decode(entry_bytes(values, run), &entry) ||
        !slice_values(values, &entry, &bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "ids at 0x%" PRIx64 " of chunk %" PRIu32
                       " are outside of its file",
                       entry.off, run);
    if (entry.is_here) {
        if (!cn_block_file_check(values->file, bytes, err))
            return false;
    } else if (!cn_file_need(values->data, bytes, err)) {
        return false;
    } else if (cn_crc32c(bytes) != entry.checksum) {
        return cn_fail(err, CN_ERR_FORMAT, "traces.dat: ids at 0x%" PRIx64 " are damaged",
                       entry.off);
    }
    values->is_checked[run] = 1;
    return true;
}

/* Check that entries follow each other: then the bytes of all of them are no more than those of the
 * values of all rows. */
static bool check_order(struct cn_chunk_values *values, struct cn_error *err)
{
    uint64_t next = 0;

    if (values->is_ordered)
        return true;
    if (!cn_block_file_check(values->file, values->entries, err))
        return false;
    for (uint32_t i = 0; i < values->count; i++) {
        struct cn_chunk_values_entry entry;

        if (!cn_chunk_values_entry_decode(entry_bytes(values, i), &entry) ||
            entry.first != next || entry.count > values->row_count - next)
            return cn_fail(err, CN_ERR_FORMAT,
                           "values in chunk %" PRIu32 " are out of order", i);
        next += entry.count;
    }
    values->is_ordered = true;
    return true;
}

static bool begins_by(const void *arg, uint64_t run, uint64_t i)
{
    const struct cn_chunk_values *values = arg;
    struct cn_chunk_values_entry entry = {0};

    (void)cn_chunk_values_entry_decode(entry_bytes(values, (uint32_t)run), &entry);
    return entry.first <= i;
}

/* The entry with value `i`, which is that of the chunk `run`, if not of one before. */
static uint32_t run_of(const struct cn_chunk_values *values, uint32_t run, uint64_t i)
{
    if (run == 0 || begins_by(values, run, i))
        return run;
    return (uint32_t)cn_search(1, run, begins_by, values, i) - 1;
}

bool cn_chunk_values_check(struct cn_chunk_values *values, uint32_t row, uint64_t i,
                           struct cn_error *err)
{
    struct cn_bytes group;

    if (values->has_all)
        return true;
    if (!cn_bytes_slice(values->runs.bytes,
                        (uint64_t)(row / CN_COLUMN_GROUP_ROWS) * CN_COLUMN_GROUP_LEN,
                        CN_COLUMN_GROUP_LEN, &group) ||
        !cn_block_file_check(values->file, group, err))
        return false;
    uint32_t run = cn_store_column_index(&values->runs, row);
    if (run >= values->count)
        return cn_fail(err, CN_ERR_FORMAT, "the ids of row %" PRIu32 " are in no chunk",
                       row);
    return check_order(values, err) && check_entry(values, run_of(values, run, i), err);
}

/* Fetch all of a file that is elsewhere that has values: one request is faster than one for each. */
static bool need_all(const struct cn_chunk_values *values, struct cn_error *err)
{
    uint64_t begin = UINT64_MAX, end = 0;
    struct cn_chunk_values_entry entry;
    struct cn_bytes bytes;

    for (uint32_t i = 0; values->data->source && i < values->count; i++) {
        if (!cn_chunk_values_entry_decode(entry_bytes(values, i), &entry) ||
            entry.is_here || !slice_values(values, &entry, &bytes))
            continue;
        begin = entry.off < begin ? entry.off : begin;
        end = entry.off + bytes.len > end ? entry.off + bytes.len : end;
    }
    return begin >= end ||
           !cn_content_slice(values->content, begin, end - begin, &bytes) ||
           cn_file_need(values->data, bytes, err);
}

/* Find the values of all entries, which are sound. */
static void find_parts(struct cn_chunk_values *values)
{
    values->parts = cn_alloc((size_t)values->count + 1, sizeof(*values->parts));
    for (uint32_t i = 0; i < values->count; i++) {
        struct chunk_part *part = &values->parts[i];
        struct cn_chunk_values_entry entry;

        if (!cn_chunk_values_entry_decode(entry_bytes(values, i), &entry) ||
            !slice_values(values, &entry, &part->bytes))
            continue;
        part->lowest = entry.lowest;
        part->first = entry.first;
        part->count = entry.count;
        part->bits = entry.bits;
    }
}

static bool check_all(struct cn_chunk_values *values, struct cn_error *err)
{
    if (!cn_block_file_check(values->file, values->runs.bytes, err) ||
        !check_order(values, err) || !need_all(values, err))
        return false;
    for (uint32_t i = 0; i < values->count; i++)
        if (!check_entry(values, i, err))
            return false;
    if (!values->content.ranges)
        find_parts(values);
    return true;
}

bool cn_chunk_values_check_all(struct cn_chunk_values *values, struct cn_error *err)
{
    if (values->has_all)
        return true;
    cn_lock_take(&values->lock);
    bool ok = values->has_all || check_all(values, err);
    values->has_all = ok;
    cn_lock_release(&values->lock);
    return ok;
}

static uint64_t number_in(struct cn_bytes bytes, uint64_t lowest, unsigned bits,
                          uint64_t i)
{
    uint64_t bit = i * bits, mask = UINT64_MAX >> (CN_META_WORD_BITS - bits);
    size_t at = (size_t)(bit / 8);
    uint8_t last[sizeof(uint64_t)] = {0};

    if (bytes.len - at >= sizeof(uint64_t))
        return (cn_u64_get(bytes.ptr + at) >> bit % 8 & mask) + lowest;
    /* The last values are not followed by 8 bytes. */
    memcpy(last, bytes.ptr + at, bytes.len - at);
    return (cn_u64_get(last) >> bit % 8 & mask) + lowest;
}

uint64_t cn_chunk_values_at(const struct cn_chunk_values *values, uint32_t row,
                            uint64_t i)
{
    uint32_t run = cn_store_column_index(&values->runs, row);
    struct cn_chunk_values_entry entry;
    struct cn_bytes bytes;

    if (run >= values->count)
        return 0;
    if (values->has_all && values->parts && i >= values->parts[run].first) {
        const struct chunk_part *part = &values->parts[run];

        return i - part->first < part->count
                   ? number_in(part->bytes, part->lowest, part->bits, i - part->first)
                   : 0;
    }
    run = run_of(values, run, i);
    if (!cn_chunk_values_entry_decode(entry_bytes(values, run), &entry) ||
        i - entry.first >= entry.count || !slice_values(values, &entry, &bytes))
        return 0;
    return number_in(bytes, entry.lowest, entry.bits, i - entry.first);
}

/* The values `i` to `end` - 1 of a part. */
static void numbers_in(const struct chunk_part *part, uint32_t i, uint32_t end,
                       uint64_t *out)
{
    uint64_t mask = UINT64_MAX >> (CN_META_WORD_BITS - part->bits);
    uint64_t bit = (uint64_t)i * part->bits;
    /* Values that are followed by enough bytes. */
    uint64_t whole = part->bytes.len < sizeof(uint64_t)
                         ? 0
                         : (part->bytes.len - sizeof(uint64_t)) * 8 / part->bits + 1;

    for (; i < end && i < whole; i++, bit += part->bits)
        *out++ = (cn_u64_get(part->bytes.ptr + bit / 8) >> bit % 8 & mask) + part->lowest;
    for (; i < end; i++)
        *out++ = number_in(part->bytes, part->lowest, part->bits, i);
}

void cn_chunk_values_read(const struct cn_chunk_values *values, uint32_t row,
                          uint32_t count, uint64_t *out)
{
    uint32_t done = 0;

    while (done < count) {
        uint32_t run = cn_store_column_index(&values->runs, row + done), i, end;
        const struct chunk_part *part =
            values->has_all && values->parts && run < values->count ? &values->parts[run]
                                                                    : NULL;

        if (!part || row + done - part->first >= part->count) {
            out[done] = cn_chunk_values_at(values, row + done, row + done);
            done++;
            continue;
        }
        i = row + done - part->first;
        end = part->count - i < count - done ? part->count : i + (count - done);
        numbers_in(part, i, end, out + done);
        done += end - i;
    }
}

bool cn_chunk_values_has_list(const struct cn_chunk_values *values)
{
    return values->has_all && values->parts;
}

void cn_chunk_values_list(const struct cn_chunk_values *values, uint32_t row, uint32_t i,
                          uint32_t count, uint64_t *out)
{
    uint32_t run = cn_store_column_index(&values->runs, row), end = i + count;

    if (run < values->count)
        run = run_of(values, run, i);
    for (; run < values->count && i < end; run++) {
        const struct chunk_part *part = &values->parts[run];
        uint32_t last = part->count < end - part->first ? part->first + part->count : end;

        if (i < part->first || i >= last)
            continue;
        numbers_in(part, i - part->first, last - part->first, out);
        out += last - i;
        i = last;
    }
    memset(out, 0, (end - i) * sizeof(*out));
}
