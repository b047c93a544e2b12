#include "store/index/posting_block.h"

#include <inttypes.h>

#include "base/bytes/varint.h"
#include "base/files/blocks.h"
#include "base/files/crc32c.h"
#include "base/search.h"
#include "store/index/posting_steps.h"
#include "store/index/rows.h"

static bool decode_header(struct cn_bytes bytes, struct cn_posting_header *out,
                          struct cn_error *err)
{
    struct cn_bytes covered;

    if (!cn_posting_header_decode(bytes, out) ||
        (out->magic != CN_POSTING_MAGIC && out->magic != CN_POSTING_OWN_MAGIC))
        return cn_fail(err, CN_ERR_FORMAT, "not a block of postings");
    if (!cn_bytes_slice(bytes, 0, cn_posting_header_size - sizeof(out->header_checksum),
                        &covered) ||
        cn_crc32c(covered) != out->header_checksum)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the header of a block of postings is damaged");
    if (out->row_count > UINT32_MAX - out->first_row)
        return cn_fail(err, CN_ERR_FORMAT, "postings of %" PRIu32 " rows from %" PRIu32,
                       out->row_count, out->first_row);
    return true;
}

bool cn_posting_block_take(struct cn_bytes *rest, struct cn_posting_block *out,
                           struct cn_error *err)
{
    struct cn_posting_header header;
    struct cn_bytes body, lists, entries, samples;
    uint64_t len, all;

    if (!decode_header(*rest, &header, err))
        return false;
    if (!cn_u64_add(header.lists_len, header.entries_len, &len) ||
        !cn_u64_add(len, header.samples_len, &all) ||
        !cn_bytes_slice(*rest, cn_posting_header_size, all, &body) ||
        !cn_bytes_slice(body, 0, header.lists_len, &lists) ||
        !cn_bytes_slice(body, header.lists_len, header.entries_len, &entries) ||
        !cn_bytes_slice(body, len, header.samples_len, &samples))
        return cn_fail(err, CN_ERR_FORMAT, "a block of postings does not fit the file");
    if (cn_crc32c(body) != header.checksum)
        return cn_fail(err, CN_ERR_FORMAT,
                       "postings of %" PRIu32 " rows from %" PRIu32 " are damaged",
                       header.row_count, header.first_row);
    *out = (struct cn_posting_block){
        .first_row = header.first_row,
        .row_count = header.row_count,
        .key_count = header.key_count,
        .is_own = header.magic == CN_POSTING_OWN_MAGIC,
        .lists = lists,
        .entries = entries,
        .samples = samples,
    };
    return cn_bytes_from(*rest, cn_posting_header_size + all, rest);
}

static bool check(const struct cn_posting_block *block, struct cn_bytes part,
                  struct cn_error *err)
{
    return !block->file || cn_block_file_check(block->file, part, err);
}

static bool sample_at(const struct cn_posting_block *block, uint64_t i,
                      struct cn_posting_sample *out, struct cn_error *err)
{
    struct cn_bytes bytes = cn_bytes_element(block->samples, i, cn_posting_sample_size);

    return check(block, bytes, err) && cn_posting_sample_decode(bytes, out);
}

struct group_search {
    const struct cn_posting_block *block;
    bool *ok;
    struct cn_error *err;
};

static bool begins_by(const void *arg, uint64_t i, uint64_t key)
{
    const struct group_search *search = arg;
    struct cn_posting_sample sample = {0};

    *search->ok = *search->ok && sample_at(search->block, i, &sample, search->err);
    return *search->ok && sample.key <= key;
}

/* The last group whose first key is not above `key`; 0 if there is none. */
static bool find_group(const struct cn_posting_block *block, cn_posting_key key,
                       uint64_t *out, struct cn_error *err)
{
    uint64_t count = block->samples.len / cn_posting_sample_size, i;
    bool ok = true;
    struct group_search search = {block, &ok, err};

    i = cn_search(1, count, begins_by, &search, key);
    *out = i - 1;
    return ok;
}

static bool enter_group(struct cn_posting_walk *walk, struct cn_error *err)
{
    const struct cn_posting_block *block = walk->block;
    struct cn_posting_sample sample, next = {.entries_off = block->entries.len};
    struct cn_bytes entries;

    if (!sample_at(block, walk->group, &sample, err) ||
        (walk->group + 1 < walk->group_count &&
         !sample_at(block, walk->group + 1, &next, err)))
        return false;
    if (next.entries_off < sample.entries_off ||
        !cn_bytes_slice(block->entries, sample.entries_off,
                        next.entries_off - sample.entries_off, &entries))
        return cn_fail(err, CN_ERR_FORMAT,
                       "postings: group %" PRIu64 " exceeds the entries", walk->group);
    if (!check(block, entries, err))
        return false;
    walk->group++;
    walk->entries = entries;
    walk->lists_off = sample.lists_off;
    walk->is_first = true;
    return true;
}

/* The next entry, also if its key is below the first wanted one. */
static enum cn_step step(struct cn_posting_walk *walk, struct cn_posting_entry *out,
                         struct cn_error *err)
{
    uint64_t delta, value;
    struct cn_posting_entry entry = {0};

    while (walk->entries.len == 0) {
        if (walk->group == walk->group_count)
            return CN_END;
        if (!enter_group(walk, err))
            return CN_FAIL;
    }
    if (!cn_varint_take(&walk->entries, &delta) ||
        !cn_varint_take(&walk->entries, &value))
        return cn_fail(err, CN_ERR_FORMAT, "postings: truncated entry");
    entry.key = walk->is_first ? delta : walk->key + delta;
    if (!walk->is_first && entry.key <= walk->key)
        return cn_fail(err, CN_ERR_FORMAT, "postings: keys are not ascending");
    entry.form = (enum cn_posting_form)(value & 3);
    value >>= 2;
    if (entry.form == CN_POSTING_ONE && value < walk->block->row_count) {
        entry.row = (uint32_t)value;
    } else if (entry.form == CN_POSTING_ONE ||
               !cn_bytes_slice(walk->block->lists, walk->lists_off, value, &entry.list)) {
        return cn_fail(err, CN_ERR_FORMAT,
                       "postings: the rows of an entry exceed its block");
    } else {
        walk->lists_off += value;
        if (entry.form == CN_POSTING_ALL && value > 0)
            entry.form = CN_POSTING_STEPS;
    }
    walk->key = entry.key;
    walk->is_first = false;
    *out = entry;
    return CN_ITEM;
}

bool cn_posting_walk_begin(struct cn_posting_walk *walk,
                           const struct cn_posting_block *block, cn_posting_key from,
                           struct cn_error *err)
{
    struct cn_posting_walk begun = {
        .block = block,
        .group_count = block->samples.len / cn_posting_sample_size,
        .from = from,
    };

    if (begun.group_count > 0 && !find_group(block, from, &begun.group, err))
        return false;
    *walk = begun;
    return true;
}

enum cn_step cn_posting_walk_next(struct cn_posting_walk *walk,
                                  struct cn_posting_entry *out, struct cn_error *err)
{
    struct cn_posting_entry entry;
    enum cn_step result;

    do {
        result = step(walk, &entry, err);
    } while (result == CN_ITEM && entry.key < walk->from);
    if (result == CN_ITEM)
        *out = entry;
    return result;
}

bool cn_posting_block_find(const struct cn_posting_block *block, cn_posting_key key,
                           struct cn_posting_entry *out, bool *is_found,
                           struct cn_error *err)
{
    struct cn_posting_walk walk;
    struct cn_posting_entry entry;

    if (!cn_posting_walk_begin(&walk, block, key, err))
        return false;
    enum cn_step result = cn_posting_walk_next(&walk, &entry, err);
    *is_found = result == CN_ITEM && entry.key == key;
    if (*is_found)
        *out = entry;
    return result != CN_FAIL;
}

static bool fail_rows(struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "postings: a row is outside of its block");
}

/* The next row of a list: above `row`, which is UINT64_MAX before the first. */
static inline bool take_row(uint32_t row_count, struct cn_bytes *list, uint64_t *row)
{
    bool is_first = *row == UINT64_MAX;
    uint64_t step;

    if (!cn_varint_take(list, &step) || step >= row_count || (step == 0 && !is_first))
        return false;
    *row = is_first ? step : *row + step;
    return *row < row_count;
}

static bool add_list(const struct cn_posting_block *block, struct cn_bytes list,
                     struct cn_rows *rows, struct cn_error *err)
{
    uint32_t first_row = block->first_row, row_count = block->row_count;
    struct cn_rows set = *rows;
    uint64_t row = UINT64_MAX;

    while (list.len > 0) {
        if (!take_row(row_count, &list, &row))
            return fail_rows(err);
        cn_rows_set(&set, first_row + (uint32_t)row);
    }
    return true;
}

static bool add_steps(const struct cn_posting_block *block, struct cn_bytes list,
                      struct cn_rows *rows, struct cn_error *err)
{
    struct cn_rows set = *rows;
    struct cn_posting_steps steps;
    uint32_t row = 0;

    if (!cn_posting_steps_begin(&steps, list, block->row_count))
        return fail_rows(err);
    while (steps.left > 0) {
        if (!cn_posting_steps_next(&steps, &row))
            return fail_rows(err);
        cn_rows_set(&set, block->first_row + row);
    }
    return true;
}

bool cn_posting_rows_add(const struct cn_posting_block *block,
                         const struct cn_posting_entry *entry, struct cn_rows *rows,
                         struct cn_error *err)
{
    if (!check(block, entry->list, err))
        return false;
    switch (entry->form) {
    case CN_POSTING_ONE:
        cn_rows_set(rows, block->first_row + entry->row);
        return true;
    case CN_POSTING_ALL:
        cn_rows_set_range(rows, block->first_row, block->first_row + block->row_count);
        return true;
    case CN_POSTING_BITS:
        if (entry->list.len < (block->row_count + UINT64_C(7)) / 8)
            return fail_rows(err);
        cn_rows_set_bits(rows, block->first_row, entry->list.ptr, block->row_count);
        return true;
    case CN_POSTING_LIST:
        return add_list(block, entry->list, rows, err);
    case CN_POSTING_STEPS:
        return add_steps(block, entry->list, rows, err);
    }
    return fail_rows(err);
}

static void walk_bits(const struct cn_posting_block *block, struct cn_bytes bits,
                      cn_posting_visit visit, void *arg)
{
    for (uint32_t row = 0; row < block->row_count; row++) {
        unsigned byte = (unsigned)bits.ptr[row / 8] >> row % 8;

        if (byte == 0)
            row |= 7; /* no bit of this byte is left */
        else if (byte & 1)
            visit(arg, block->first_row + row);
    }
}

static bool walk_list(const struct cn_posting_block *block, struct cn_bytes list,
                      cn_posting_visit visit, void *arg, struct cn_error *err)
{
    uint64_t row = UINT64_MAX;

    while (list.len > 0) {
        if (!take_row(block->row_count, &list, &row))
            return fail_rows(err);
        visit(arg, block->first_row + (uint32_t)row);
    }
    return true;
}

static bool walk_steps(const struct cn_posting_block *block, struct cn_bytes list,
                       cn_posting_visit visit, void *arg, struct cn_error *err)
{
    struct cn_posting_steps steps;
    uint32_t row = 0;

    if (!cn_posting_steps_begin(&steps, list, block->row_count))
        return fail_rows(err);
    while (steps.left > 0) {
        if (!cn_posting_steps_next(&steps, &row))
            return fail_rows(err);
        visit(arg, block->first_row + row);
    }
    return true;
}

bool cn_posting_rows_walk(const struct cn_posting_block *block,
                          const struct cn_posting_entry *entry, cn_posting_visit visit,
                          void *arg, struct cn_error *err)
{
    if (!check(block, entry->list, err))
        return false;
    switch (entry->form) {
    case CN_POSTING_ONE:
        visit(arg, block->first_row + entry->row);
        return true;
    case CN_POSTING_ALL:
        for (uint32_t row = 0; row < block->row_count; row++)
            visit(arg, block->first_row + row);
        return true;
    case CN_POSTING_BITS:
        if (entry->list.len < (block->row_count + UINT64_C(7)) / 8)
            return fail_rows(err);
        walk_bits(block, entry->list, visit, arg);
        return true;
    case CN_POSTING_LIST:
        return walk_list(block, entry->list, visit, arg, err);
    case CN_POSTING_STEPS:
        return walk_steps(block, entry->list, visit, arg, err);
    }
    return fail_rows(err);
}
