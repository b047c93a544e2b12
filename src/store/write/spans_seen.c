#include "store/write/spans_seen.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/index/columns.h"
#include "store/segment/scan.h"

enum { FIRST_SLOTS = 1024 };

static uint64_t key_of(uint64_t trace_high, uint64_t trace_low, uint64_t span_id,
                       uint32_t part)
{
    uint64_t key = cn_span_key(trace_high, trace_low, span_id, part);

    return key != 0 ? key : 1;
}

/* The slot of a key, or the free one for it. A segment has millions of keys, each of which is looked up
 * where the cache has nothing: a slot is no more than the key. */
static uint64_t *probe(uint64_t *keys, size_t slots, uint64_t key)
{
    size_t i = key & (slots - 1);

    while (keys[i] != 0 && keys[i] != key)
        i = (i + 1) & (slots - 1);
    return &keys[i];
}

static void grow(struct cn_spans_seen *seen)
{
    size_t slots = seen->key_slots > 0 ? 2 * seen->key_slots : FIRST_SLOTS, capacity = 0;
    uint64_t *keys = NULL;

    CN_RENEW(keys, slots, capacity);
    memset(keys, 0, slots * sizeof(*keys));
    for (size_t i = 0; i < seen->key_slots; i++)
        if (seen->keys[i] != 0)
            *probe(keys, slots, seen->keys[i]) = seen->keys[i];
    free(seen->keys);
    seen->keys = keys;
    seen->key_slots = slots;
}

void cn_spans_seen_done(struct cn_spans_seen *seen)
{
    free(seen->keys);
    free(seen->open);
    *seen = (struct cn_spans_seen){0};
}

bool cn_spans_seen_has(const struct cn_spans_seen *seen, uint64_t trace_high,
                       uint64_t trace_low, uint64_t span_id, uint32_t part)
{
    return seen->key_count > 0 &&
           *probe(seen->keys, seen->key_slots,
                  key_of(trace_high, trace_low, span_id, part)) != 0;
}

static size_t find_open(const struct cn_spans_seen *seen, uint64_t high, uint64_t low)
{
    size_t i = 0;

    while (i < seen->open_count &&
           (seen->open[i].trace_high != high || seen->open[i].trace_low != low))
        i++;
    return i;
}

const struct cn_open_trace *cn_spans_seen_open(const struct cn_spans_seen *seen,
                                               uint64_t trace_high, uint64_t trace_low)
{
    size_t i = find_open(seen, trace_high, trace_low);

    return i == seen->open_count ? NULL : &seen->open[i];
}

static void follow_parts(struct cn_spans_seen *seen, const struct cn_store_row *row)
{
    size_t i = find_open(seen, row->trace_high, row->trace_low);
    struct cn_open_trace open = {
        .trace_high = row->trace_high,
        .trace_low = row->trace_low,
        .next_off = row->part_off + row->part_len,
        .next_part = row->part + 1,
    };

    if (row->flags & CN_ROW_LAST) {
        if (i < seen->open_count)
            seen->open[i] = seen->open[--seen->open_count];
        return;
    }
    if (i == seen->open_count) {
        CN_GROW(seen->open, seen->open_count, seen->open_capacity);
        seen->open_count++;
    }
    seen->open[i] = open;
}

bool cn_spans_seen_add(struct cn_spans_seen *seen, const struct cn_store_row *row)
{
    uint64_t key = key_of(row->trace_high, row->trace_low, row->span_id, row->part);

    if (!(row->flags & CN_ROW_EMBEDDED) &&
        (seen->open_count > 0 || !(row->flags & CN_ROW_LAST)))
        follow_parts(seen, row);
    if (seen->key_count * 8 >= seen->key_slots * 5)
        grow(seen);
    uint64_t *slot = probe(seen->keys, seen->key_slots, key);
    if (*slot != 0)
        return false;
    *slot = key;
    seen->key_count++;
    return true;
}

void cn_spans_seen_add_columns(struct cn_spans_seen *seen,
                               const struct cn_columns *columns)
{
    struct cn_store_row row;
    struct cn_error ignored;

    for (uint32_t i = 0; i < columns->row_count; i++)
        if (cn_columns_row(columns, i, &row, &ignored))
            (void)cn_spans_seen_add(seen, &row);
}
