#include "store/traceql/view.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/context.h"
#include "store/search/segments.h"
#include "store/search/state.h"
#include "store/segment/index.h"

enum { LOADED_MAX = 4096 }; /* data that is kept at a time */

static const enum cn_store_field used[] = {
    CN_STORE_FIELD_trace_high, CN_STORE_FIELD_trace_low, CN_STORE_FIELD_span_id,
    CN_STORE_FIELD_parent_id,  CN_STORE_FIELD_time_ns,   CN_STORE_FIELD_duration_ns,
    CN_STORE_FIELD_flags,      CN_STORE_FIELD_method,    CN_STORE_FIELD_type,
    CN_STORE_FIELD_service,    CN_STORE_FIELD_part,
};

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

bool cn_tql_view_segment(struct cn_tql_view *view, uint32_t number,
                         struct cn_tql_segment **out, struct cn_error *err)
{
    struct cn_tql_segment *segment = &view->segments[number];

    *out = segment;
    if (segment->index)
        return true;
    const struct cn_store_index *index;
    if (!cn_search_index(view->search, number, &index, err))
        return false;
    for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
        if (!cn_columns_field(index->columns, used[i], &segment->columns[used[i]], err))
            return false;
    segment->durations = (struct cn_column_cursor){
        .column = &segment->columns[CN_STORE_FIELD_duration_ns],
        .row_count = index->columns->row_count,
    };
    segment->weights = cn_segment_weights(index->segment);
    segment->index = index;
    return true;
}

bool cn_tql_span_weight(struct cn_tql_view *view, const struct cn_tql_span *span,
                        double *out, struct cn_error *err)
{
    struct cn_tql_segment *segment;

    if (!cn_tql_view_segment(view, span->segment, &segment, err))
        return false;
    *out = cn_row_weight(&segment->weights, span->row);
    return true;
}

static uint64_t number_at(const struct cn_tql_segment *segment, enum cn_store_field field,
                          uint32_t row)
{
    return cn_store_column_at(&segment->columns[field], row);
}

bool cn_tql_view_row(struct cn_tql_view *view, uint32_t number, uint32_t row,
                     struct cn_tql_span *out, struct cn_error *err)
{
    if (!cn_tql_view_row_alone(view, number, row, out, err))
        return false;
    out->id = cn_tql_span_id(view, out);
    out->parent_id = cn_tql_parent_id(view, out);
    out->has_ids = true;
    return true;
}

uint64_t cn_tql_span_id(const struct cn_tql_view *view, const struct cn_tql_span *span)
{
    return span->has_ids ? span->id
                         : number_at(&view->segments[span->segment],
                                     CN_STORE_FIELD_span_id, span->row);
}

uint64_t cn_tql_parent_id(const struct cn_tql_view *view, const struct cn_tql_span *span)
{
    return span->has_ids ? span->parent_id
                         : number_at(&view->segments[span->segment],
                                     CN_STORE_FIELD_parent_id, span->row);
}

bool cn_tql_view_row_alone(struct cn_tql_view *view, uint32_t number, uint32_t row,
                           struct cn_tql_span *out, struct cn_error *err)
{
    struct cn_tql_segment *segment;

    if (!cn_tql_view_segment(view, number, &segment, err))
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

    if (!cn_tql_view_segment(view, number, &segment, err))
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

    if (!cn_tql_view_segment(view, span->segment, &segment, err))
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

    if (!cn_tql_view_segment(view, span->segment, &segment, err))
        return false;
    uint32_t row = container_of(segment, span->row);
    loaded = find_loaded(view, span->segment, row);
    if (!loaded && !load(view, span->segment, row, &loaded, err))
        return false;
    *trace = &loaded->trace;
    *number = row == span->row
                  ? 0
                  : cn_map_find(&loaded->spans, cn_tql_span_id(view, span), CN_NONE);
    return *number < loaded->trace.span_count ||
           cn_fail(err, CN_ERR_FORMAT, "row %u: its span is not in its data", span->row);
}
