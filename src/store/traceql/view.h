/* What a view of spans keeps: columns of segments, words that were printed, data that was read.
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_VIEW_H
#define CN_STORE_TRACEQL_VIEW_H

#include "base/map.h"
#include "model/traces/trace.h"
#include "store/index/columns.h"
#include "store/segment/weights.h"
#include "store/traceql/span.h"

struct cn_segment_loader;
struct cn_store_index;

/* A segment whose columns are open. */
struct cn_tql_segment {
    const struct cn_store_index *index;                   /* NULL: not opened yet */
    struct cn_store_column columns[CN_STORE_FIELD_COUNT]; /* those that are used: */
    uint64_t open_columns;                                /* CN_TQL_COLUMN() */
    struct cn_map rows; /* of a segment without a table of ids: by id, the last row + 1 */
    uint32_t *before;   /* of such: the row before of the same id, + 1 */
    bool is_hashed;
    struct cn_row_weights weights;
    struct cn_column_cursor durations;
};

/* The data of a row with all spans inside of it. */
struct cn_tql_loaded {
    uint32_t segment, row;
    struct cn_trace trace;
    struct cn_map spans; /* by id: the number of the span in the trace */
};

struct cn_tql_view {
    struct cn_search *search;
    const struct cn_tql_program *program;
    const struct cn_tql_places *places; /* of traces that are asked for; NULL: unknown */
    struct cn_tql_segment *segments;
    size_t segment_count;
    uint32_t row_count;  /* that were read one at a time, see cn_tql_view_row() */
    struct cn_map words; /* by segment and word: a number in `values` */
    struct cn_tql_value *values;
    size_t value_count, value_capacity;
    uint64_t last_keys
        [CN_STORE_FIELD_COUNT]; /* of `words`, by field: the one asked for last */
    uint32_t last_values[CN_STORE_FIELD_COUNT];
    struct cn_arena kept;  /* texts of words */
    struct cn_arena arena; /* values, until the view is cleared */
    struct cn_segment_loader *loader;
    struct cn_tql_loaded *loaded; /* the first `loaded_count` are in use */
    size_t loaded_count, loaded_capacity;
};

/* A segment with some of its columns: checking all takes longer than most queries. */
#define CN_TQL_COLUMN(field) (UINT64_C(1) << CN_STORE_FIELD_##field)
CN_CHECK bool cn_tql_view_segment(struct cn_tql_view *view, uint32_t number,
                                  uint64_t columns, struct cn_tql_segment **out,
                                  struct cn_error *err);

/* The text of a column of words: method, service or type; nil if the row has none. */
CN_CHECK bool cn_tql_view_word(struct cn_tql_view *view, const struct cn_tql_span *span,
                               enum cn_store_field field, struct cn_tql_value *out,
                               struct cn_error *err);

/* The data of a span: a trace, and the number of the span in it. */
CN_CHECK bool cn_tql_view_data(struct cn_tql_view *view, const struct cn_tql_span *span,
                               const struct cn_trace **trace, uint32_t *number,
                               struct cn_error *err);

#endif
