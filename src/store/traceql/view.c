#include "store/traceql/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/context.h"
#include "store/search/segments.h"
#include "store/search/state.h"
#include "store/segment/index.h"

enum { LOADED_MAX = 4096 }; /* data that is kept at a time */

static const uint64_t of_span =
    CN_TQL_COLUMN(time_ns) | CN_TQL_COLUMN(duration_ns) | CN_TQL_COLUMN(flags);
static const uint64_t of_ids = CN_TQL_COLUMN(span_id) | CN_TQL_COLUMN(parent_id);
static const uint64_t of_trace = CN_TQL_COLUMN(trace_high) | CN_TQL_COLUMN(trace_low);

struct cn_tql_view *cn_tql_view_new(struct cn_search *search,
                                    const struct cn_tql_program *program)
{
    struct cn_tql_view *view = cn_alloc(1, sizeof(*view));

    view->search = search;
    view->program = program;
    view->segment_count = search->count;
    view->segments = cn_alloc(search->count + 1, sizeof(*view->segments));
    view->loader = cn_segment_loader_new();
    return view;
}

const struct cn_tql_program *cn_tql_view_program(const struct cn_tql_view *view)
{
    return view->program;
}

struct cn_search *cn_tql_view_search(const struct cn_tql_view *view)
{
    return view->search;
}

void cn_tql_view_clear(struct cn_tql_view *view)
{
    for (size_t i = 0; i < view->loaded_count; i++) {
        cn_map_done(&view->loaded[i].spans);
        cn_trace_clear(&view->loaded[i].trace);
    }
    view->loaded_count = 0;
    cn_arena_done(&view->arena);
}

void cn_tql_view_free(struct cn_tql_view *view)
{
    if (!view)
        return;
    cn_tql_view_clear(view);
    for (size_t i = 0; i < view->loaded_capacity; i++)
        cn_trace_done(&view->loaded[i].trace);
    for (size_t i = 0; i < view->segment_count; i++) {
        cn_map_done(&view->segments[i].rows);
        free(view->segments[i].before);
    }
    free(view->loaded);
    free(view->segments);
    free(view->values);
    cn_map_done(&view->words);
    cn_arena_done(&view->kept);
    cn_segment_loader_free(view->loader);
    free(view);
}

void cn_tql_view_open_all(struct cn_search *search)
{
    const struct cn_store_index *index;

    for (uint32_t i = 0; i < search->count; i++) {
        struct cn_error err;

        if (!cn_search_index(search, i, &index, &err) ||
            !cn_store_index_postings(index, &err))
            search->failures[i] = err;
    }
}

static bool open_segment(struct cn_tql_view *view, uint32_t number, struct cn_error *err)
{
    struct cn_tql_segment *segment = &view->segments[number];
    const struct cn_store_index *index;

    if (!cn_search_index(view->search, number, &index, err))
        return false;
    segment->durations = (struct cn_column_cursor){
        .column = &segment->columns[CN_STORE_FIELD_duration_ns],
        .row_count = index->columns->row_count,
    };
    segment->weights = cn_segment_weights(index->segment);
    segment->index = index;
    return true;
}

bool cn_tql_view_segment(struct cn_tql_view *view, uint32_t number, uint64_t columns,
                         struct cn_tql_segment **out, struct cn_error *err)
{
    struct cn_tql_segment *segment = &view->segments[number];
    uint64_t missing = columns & ~segment->open_columns;

    *out = segment;
    if (!segment->index && !open_segment(view, number, err))
        return false;
    for (; missing; missing &= missing - 1) {
        enum cn_store_field field = (enum cn_store_field)__builtin_ctzll(missing);

        if (!cn_columns_field(segment->index->columns, field, &segment->columns[field],
                              err))
            return false;
        segment->open_columns |= UINT64_C(1) << field;
    }
    return true;
}

bool cn_tql_span_weight(struct cn_tql_view *view, const struct cn_tql_span *span,
                        double *out, struct cn_error *err)
{
    struct cn_tql_segment *segment;

    if (!cn_tql_view_segment(view, span->segment, 0, &segment, err))
        return false;
    *out = cn_row_weight(&segment->weights, span->row);
    return true;
}

static uint64_t number_at(const struct cn_tql_segment *segment, enum cn_store_field field,
                          uint32_t row)
{
    return cn_store_column_at(&segment->columns[field], row);
}

/* The first rows are read without checking the columns whole, which takes longer for few traces. */
static bool read_row(struct cn_tql_view *view, uint32_t number, uint32_t row,
                     struct cn_tql_span *out, struct cn_error *err)
{
    struct cn_tql_segment *segment;
    struct cn_store_row stored;

    if (!cn_tql_view_segment(view, number, 0, &segment, err) ||
        !cn_columns_part_of_row(segment->index->columns, row,
                                of_span | of_ids | CN_TQL_COLUMN(part), &stored, err))
        return false;
    view->row_count++;
    *out = (struct cn_tql_span){
        .segment = number,
        .row = row,
        .id = stored.span_id,
        .parent_id = stored.parent_id,
        .time_ns = stored.time_ns,
        .duration_ns = cn_joined_number(
            &segment->index->joined, CN_STORE_FIELD_duration_ns, row, stored.duration_ns),
        .flags = stored.flags,
        .part = stored.part,
        .parent = CN_NONE,
        .has_ids = true,
    };
    return true;
}

bool cn_tql_view_row(struct cn_tql_view *view, uint32_t number, uint32_t row,
                     struct cn_tql_span *out, struct cn_error *err)
{
    enum { FEW = 2048 };
    struct cn_tql_segment *segment;

    if (!view->places && view->row_count < FEW)
        return read_row(view, number, row, out, err);
    if (!cn_tql_view_row_alone(view, number, row, out, err) ||
        !cn_tql_view_ids(view, out, &out->id, &out->parent_id, err) ||
        !cn_tql_view_segment(view, number, CN_TQL_COLUMN(part), &segment, err))
        return false;
    out->part = (uint32_t)number_at(segment, CN_STORE_FIELD_part, row);
    out->has_ids = true;
    return true;
}

bool cn_tql_view_ids(struct cn_tql_view *view, const struct cn_tql_span *span,
                     uint64_t *id, uint64_t *parent_id, struct cn_error *err)
{
    struct cn_tql_segment *segment;

    *id = span->id;
    *parent_id = span->parent_id;
    if (span->has_ids)
        return true;
    if (!cn_tql_view_segment(view, span->segment, of_ids, &segment, err))
        return false;
    *id = number_at(segment, CN_STORE_FIELD_span_id, span->row);
    *parent_id = number_at(segment, CN_STORE_FIELD_parent_id, span->row);
    return true;
}

bool cn_tql_view_row_alone(struct cn_tql_view *view, uint32_t number, uint32_t row,
                           struct cn_tql_span *out, struct cn_error *err)
{
    struct cn_tql_segment *segment;

    if (!cn_tql_view_segment(view, number, of_span, &segment, err))
        return false;
    *out = (struct cn_tql_span){
        .segment = number,
        .row = row,
        .time_ns = number_at(segment, CN_STORE_FIELD_time_ns, row),
        .duration_ns = cn_column_cursor_at(&segment->durations, row),
        .flags = (uint32_t)number_at(segment, CN_STORE_FIELD_flags, row),
        .parent = CN_NONE,
    };
    if (segment->index->joined.trace_count > 0)
        out->duration_ns = cn_joined_number(
            &segment->index->joined, CN_STORE_FIELD_duration_ns, row, out->duration_ns);
    return true;
}

bool cn_tql_view_trace_id(struct cn_tql_view *view, uint32_t number, uint32_t row,
                          uint64_t *high, uint64_t *low, struct cn_error *err)
{
    struct cn_tql_segment *segment;

    if (!cn_tql_view_segment(view, number, of_trace, &segment, err))
        return false;
    *high = number_at(segment, CN_STORE_FIELD_trace_high, row);
    *low = number_at(segment, CN_STORE_FIELD_trace_low, row);
    return true;
}

/* The text of a word of a segment, printed once. */
static bool print_word(struct cn_tql_view *view, const struct cn_tql_segment *segment,
                       uint32_t word, struct cn_tql_value *out, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = cn_store_index_print(segment->index, word, &text, err);

    if (ok)
        *out = cn_tql_text((struct cn_bytes){
            (const uint8_t *)cn_arena_copy(&view->kept, cn_text_str(&text), text.len),
            text.len});
    cn_text_done(&text);
    return ok;
}

bool cn_tql_view_word(struct cn_tql_view *view, const struct cn_tql_span *span,
                      enum cn_store_field field, struct cn_tql_value *out,
                      struct cn_error *err)
{
    struct cn_tql_segment *segment;
    struct cn_tql_value value;
    uint32_t word, *known;

    if (!cn_tql_view_segment(view, span->segment, UINT64_C(1) << field, &segment, err))
        return false;
    word = (uint32_t)number_at(segment, field, span->row);
    *out = cn_tql_nil();
    if (word == 0)
        return true;
    uint64_t key = (uint64_t)span->segment << 32 | word;
    if (key == view->last_keys[field]) {
        *out = view->values[view->last_values[field]];
        return true;
    }
    known = cn_map_at(&view->words, key, CN_NONE);
    if (*known == CN_NONE) {
        if (!print_word(view, segment, word, &value, err))
            return false;
        *known = (uint32_t)view->value_count;
        CN_PUSH(view->values, view->value_count, view->value_capacity, value);
    }
    view->last_keys[field] = key;
    view->last_values[field] = *known;
    *out = view->values[*known];
    return true;
}

/* The row whose data contains that of a row: a span inside of another follows it. */
static uint32_t container_of(const struct cn_tql_segment *segment, uint32_t row)
{
    while (row > 0 && number_at(segment, CN_STORE_FIELD_flags, row) & CN_ROW_EMBEDDED)
        row--;
    return row;
}

static struct cn_tql_loaded *find_loaded(struct cn_tql_view *view, uint32_t segment,
                                         uint32_t row)
{
    for (size_t i = view->loaded_count; i-- > 0;)
        if (view->loaded[i].row == row && view->loaded[i].segment == segment)
            return &view->loaded[i];
    return NULL;
}

static bool load(struct cn_tql_view *view, uint32_t segment, uint32_t row,
                 struct cn_tql_loaded **out, struct cn_error *err)
{
    const struct cn_store *store = cn_search_store(view->search);
    struct cn_tql_loaded *loaded;

    if (view->loaded_count == LOADED_MAX)
        view->loaded_count = 0;
    if (view->loaded_count == view->loaded_capacity) {
        size_t before = view->loaded_capacity;

        CN_GROW(view->loaded, view->loaded_count, view->loaded_capacity);
        memset(view->loaded + before, 0,
               (view->loaded_capacity - before) * sizeof(*view->loaded));
    }
    loaded = &view->loaded[view->loaded_count];
    cn_map_done(&loaded->spans);
    if (!cn_segment_load(view->loader, cn_store_segment(store, segment), row,
                         &loaded->trace, err))
        return false;
    loaded->segment = segment;
    loaded->row = row;
    for (uint32_t i = loaded->trace.span_count; i-- > 0;)
        *cn_map_at(&loaded->spans, loaded->trace.spans[i].id, i) = i;
    view->loaded_count++;
    *out = loaded;
    return true;
}

bool cn_tql_view_data(struct cn_tql_view *view, const struct cn_tql_span *span,
                      const struct cn_trace **trace, uint32_t *number,
                      struct cn_error *err)
{
    struct cn_tql_segment *segment;
    struct cn_tql_loaded *loaded;

    if (!cn_tql_view_segment(view, span->segment, CN_TQL_COLUMN(flags), &segment, err))
        return false;
    uint32_t row = container_of(segment, span->row);
    loaded = find_loaded(view, span->segment, row);
    if (!loaded && !load(view, span->segment, row, &loaded, err))
        return false;
    *trace = &loaded->trace;
    *number = 0;
    if (row != span->row) {
        uint64_t id, parent_id;

        if (!cn_tql_view_ids(view, span, &id, &parent_id, err))
            return false;
        *number = cn_map_find(&loaded->spans, id, CN_NONE);
    }
    return *number < loaded->trace.span_count ||
           cn_fail(err, CN_ERR_FORMAT, "row %u: its span is not in its data", span->row);
}
