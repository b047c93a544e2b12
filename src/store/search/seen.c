#include "store/search/seen.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/search/state.h"
#include "store/segment/reader.h"
#include "store/segment/scan.h"

void cn_search_seen_done(struct cn_search_seen *seen)
{
    cn_map_done(&seen->keys);
    free(seen->rows);
    *seen = (struct cn_search_seen){0};
}

/* The row that has this key; if none has it, this one, from now on unless it is of the last segment. */
static struct cn_seen_row see(struct cn_search_seen *seen, uint64_t key,
                              struct cn_seen_row row, bool is_last)
{
    uint32_t at = is_last ? cn_map_find(&seen->keys, key, UINT32_MAX)
                          : *cn_map_at(&seen->keys, key, (uint32_t)seen->count);

    if (at == UINT32_MAX)
        return row;
    if (at == seen->count)
        CN_PUSH(seen->rows, seen->count, seen->capacity, row);
    return seen->rows[at];
}

static bool trace_of(struct cn_search *search, struct cn_seen_row row, uint64_t id[2],
                     struct cn_error *err)
{
    const struct cn_store_index *index;
    struct cn_store_column high, low;

    if (!cn_search_index(search, row.segment, &index, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_high, &high, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_low, &low, err))
        return false;
    id[0] = cn_store_column_at(&high, row.row);
    id[1] = cn_store_column_at(&low, row.row);
    return true;
}

/* Note a row, and tell whether its span was seen in another segment. Most ids of spans are there
 * once: then the columns of traces are not read. */
static bool is_seen(struct cn_search *search, struct cn_search_seen *seen,
                    struct cn_seen_row row, uint64_t span_id, bool *out,
                    struct cn_error *err)
{
    bool is_last = seen->segment_count == search->overlap_count;
    struct cn_seen_row first = see(seen, span_id, row, is_last);
    uint64_t id[2], first_id[2];

    *out = false;
    if (first.segment == row.segment && first.row == row.row)
        return true;
    if (!trace_of(search, row, id, err) || !trace_of(search, first, first_id, err))
        return false;
    if (id[0] != first_id[0] || id[1] != first_id[1])
        first = see(seen, cn_span_key(id[0], id[1], span_id, 0), row, is_last);
    *out = first.segment != row.segment;
    return true;
}

bool cn_search_drop_seen(struct cn_search *search, struct cn_search_seen *seen,
                         uint32_t segment, const struct cn_store_index *index,
                         struct cn_rows *rows, bool *is_kept, struct cn_error *err)
{
    const struct cn_rows found = *rows;
    struct cn_store_column span;

    if (!cn_columns_field(index->columns, CN_STORE_FIELD_span_id, &span, err))
        return false;
    if (++seen->segment_count < search->overlap_count)
        cn_map_reserve(&seen->keys, (size_t)cn_rows_size(rows));
    for (uint32_t row = cn_rows_next(&found, 0); row < found.count;
         row = cn_rows_next(&found, row + 1)) {
        uint64_t span_id = cn_store_column_at(&span, row);
        bool is_double = false;

        if (span_id != 0 && !is_seen(search, seen, (struct cn_seen_row){segment, row},
                                     span_id, &is_double, err))
            return false;
        if (!is_double)
            continue;
        if (*is_kept) {
            cn_rows_init(rows, found.count);
            cn_rows_or(rows, &found);
            *is_kept = false;
        }
        cn_rows_clear(rows, row);
    }
    return true;
}
