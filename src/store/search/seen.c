#include "store/search/seen.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/search/state.h"
#include "store/segment/reader.h"

enum {
    SEGMENTS_MAX = UINT16_MAX,
    FIRST_CAPACITY = 64,
    RESERVE_AHEAD = 8,
    STEPS_MAX =
        64, /* from the first place of an id: more, and many traces use the same ids */
};

struct cn_seen_segment {
    uint32_t segment;
    struct cn_store_column span;  /* ids */
    struct cn_store_column trace; /* lower halves of ids, if `is_by_trace` */
};

void cn_search_seen_done(struct cn_search_seen *seen)
{
    free(seen->segments);
    free(seen->places);
    *seen = (struct cn_search_seen){0};
}

static uint64_t mix(uint64_t id)
{
    uint64_t mixed = id * UINT64_C(0x9e3779b97f4a7c15);

    return (mixed ^ mixed >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

/* What the place of a row follows from: the id of its span, or that and its trace. */
static uint64_t mix_row(const struct cn_search_seen *seen,
                        const struct cn_seen_segment *segment, uint32_t row)
{
    uint64_t span = cn_store_column_at(&segment->span, row);

    return mix(seen->is_by_trace ? span ^ mix(cn_store_column_at(&segment->trace, row))
                                 : span);
}

static uint64_t span_of(const struct cn_search_seen *seen,
                        const struct cn_seen_place *place)
{
    return cn_store_column_at(&seen->segments[place->segment - 1].span, place->row);
}

/* Put all places into a table of `capacity`, by what they follow from now. */
static void place_again(struct cn_search_seen *seen, size_t capacity)
{
    struct cn_seen_place *old = seen->places;
    size_t old_capacity = seen->capacity;

    seen->places = cn_alloc(capacity, sizeof(*seen->places));
    seen->capacity = capacity;
    for (size_t i = 0; i < old_capacity; i++) {
        if (old[i].segment == 0)
            continue;
        uint64_t mixed = mix_row(seen, &seen->segments[old[i].segment - 1], old[i].row);
        size_t at = (size_t)(mixed >> 16);
        while (seen->places[at & (capacity - 1)].segment != 0)
            at++;
        seen->places[at & (capacity - 1)] = old[i];
        seen->places[at & (capacity - 1)].mark = (uint16_t)mixed;
    }
    free(old);
}

/* Make room for `count` more. */
static void reserve(struct cn_search_seen *seen, size_t count)
{
    size_t capacity = seen->capacity ? seen->capacity : FIRST_CAPACITY;

    while (capacity / 4 * 3 < seen->count + count)
        capacity *= 2;
    if (capacity != seen->capacity)
        place_again(seen, capacity);
}

static bool read_traces(struct cn_search *search, struct cn_seen_segment *segment,
                        struct cn_error *err)
{
    const struct cn_store_index *index;

    return cn_search_index(search, segment->segment, &index, err) &&
           cn_columns_field(index->columns, CN_STORE_FIELD_trace_low, &segment->trace,
                            err);
}

/* Tell rows apart by their traces as well, from now on. */
static bool use_traces(struct cn_search *search, struct cn_search_seen *seen,
                       struct cn_error *err)
{
    for (size_t i = 0; i < seen->segment_count; i++)
        if (!read_traces(search, &seen->segments[i], err))
            return false;
    seen->is_by_trace = true;
    place_again(seen, seen->capacity);
    return true;
}

static bool trace_of(struct cn_search *search, uint32_t segment, uint32_t row,
                     uint64_t id[2], struct cn_error *err)
{
    const struct cn_store_index *index;
    struct cn_store_column high, low;

    if (!cn_search_index(search, segment, &index, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_high, &high, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_trace_low, &low, err))
        return false;
    id[0] = cn_store_column_at(&high, row);
    id[1] = cn_store_column_at(&low, row);
    return true;
}

/* Is the span of a row that at a place? */
static bool is_same(struct cn_search *search, const struct cn_search_seen *seen,
                    const struct cn_seen_place *place, const struct cn_seen_place *row,
                    bool *out, struct cn_error *err)
{
    uint64_t id[2], other[2];

    *out = false;
    if (span_of(seen, place) != span_of(seen, row))
        return true;
    if (!trace_of(search, seen->segments[place->segment - 1].segment, place->row, other,
                  err) ||
        !trace_of(search, seen->segments[row->segment - 1].segment, row->row, id, err))
        return false;
    *out = id[0] == other[0] && id[1] == other[1];
    return true;
}

/* Was the span of a row seen in another segment? If not, it is from now on, unless the segment is
 * the last. */
static bool see(struct cn_search *search, struct cn_search_seen *seen, uint32_t row,
                bool *is_double, struct cn_error *err)
{
    uint64_t mixed = mix_row(seen, &seen->segments[seen->segment_count - 1], row);
    struct cn_seen_place this = {row, (uint16_t)seen->segment_count, (uint16_t)mixed};

    for (size_t at = (size_t)(mixed >> 16), steps = 0;; at++, steps++) {
        struct cn_seen_place *place = &seen->places[at & (seen->capacity - 1)];

        if (place->segment == 0) {
            if (seen->segment_count < search->overlap_count) {
                *place = this;
                seen->count++;
            }
            break;
        }
        if (place->mark == this.mark && place->segment != this.segment &&
            !is_same(search, seen, place, &this, is_double, err))
            return false;
        if (*is_double)
            break;
        if (steps == STEPS_MAX && !seen->is_by_trace)
            return use_traces(search, seen, err) &&
                   see(search, seen, row, is_double, err);
    }
    return true;
}

static bool begin_segment(struct cn_search *search, struct cn_search_seen *seen,
                          uint32_t segment, const struct cn_store_index *index,
                          const struct cn_rows *rows, struct cn_error *err)
{
    struct cn_seen_segment added = {.segment = segment};
    size_t left = search->overlap_count - seen->segment_count - 1;

    if (seen->segment_count == SEGMENTS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d segments of the same time",
                       SEGMENTS_MAX);
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_span_id, &added.span, err) ||
        (seen->is_by_trace && !read_traces(search, &added, err)))
        return false;
    CN_PUSH(seen->segments, seen->segment_count, seen->segment_capacity, added);
    /* The others are likely to have as many; of the last one none is noted. */
    size_t count = (size_t)cn_rows_size(rows);
    if (seen->capacity / 4 * 3 < seen->count + (left > 0 ? count : 0) || !seen->places)
        reserve(seen, count * (left < RESERVE_AHEAD ? left : RESERVE_AHEAD));
    return true;
}

bool cn_search_drop_seen(struct cn_search *search, struct cn_search_seen *seen,
                         uint32_t segment, const struct cn_store_index *index,
                         struct cn_rows *rows, bool *is_kept, struct cn_error *err)
{
    const struct cn_rows found = *rows;

    if (!begin_segment(search, seen, segment, index, rows, err))
        return false;
    const struct cn_store_column span = seen->segments[seen->segment_count - 1].span;
    for (uint32_t row = cn_rows_next(&found, 0); row < found.count;
         row = cn_rows_next(&found, row + 1)) {
        bool is_double = false;

        if (cn_store_column_at(&span, row) != 0 &&
            !see(search, seen, row, &is_double, err))
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
