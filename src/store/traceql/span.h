/* A span as TraceQL sees it: the adapter between expressions and what the store has.
 *
 *     struct cn_tql_view *view = cn_tql_view_new(search, program);
 *     cn_tql_view_row(view, segment, row, &span, err)
 *     cn_tql_span_field(view, &span, field, &value, err) ...
 *     cn_tql_view_free(view);
 *
 * Names, services, kinds, ids and times come from the columns of a segment. Attributes, events and
 * links are read from the data of the span, when they are first asked for; what was read last is
 * kept. Values are valid until the view is cleared.
 * Threads: one thread at a time for each view. All indexes must be open before the second view is
 * used: cn_tql_view_open_all().
 */
#ifndef CN_STORE_TRACEQL_SPAN_H
#define CN_STORE_TRACEQL_SPAN_H

#include "store/search/search.h"
#include "store/traceql/program.h"

struct cn_tql_view;
struct cn_tql_trace;

struct cn_tql_span {
    uint32_t segment, row;
    uint64_t id, parent_id; /* if has_ids; otherwise ask cn_tql_view_ids() */
    bool has_ids;
    uint32_t part; /* likewise */
    uint64_t time_ns, duration_ns;
    uint32_t flags; /* of its row */
    /* Of a span in a trace; 0 and CN_NONE otherwise. */
    uint32_t parent; /* in the trace; CN_NONE: there is none, or it is missing */
    uint32_t child_count;
    uint32_t left, right; /* nested set; 0: in a cycle of parent ids */
    bool is_rooted;       /* a span without a parent id is above it, or it is one */
    const struct cn_tql_trace *trace; /* NULL: unknown */
};

/* All spans of a trace, by the time of their starts; of equals the longer first, then by id. */
struct cn_tql_trace {
    uint64_t high, low;
    struct cn_tql_span *spans;
    size_t count, capacity;
    uint64_t begin_ns, end_ns; /* of all spans */
    uint32_t root;             /* the first span without a parent id; CN_NONE */
    uint32_t *order;           /* spans that are in no cycle, parents before children */
    size_t order_count, order_capacity;
};

/* `program` must outlive the view; its patterns are used by the thread of the view. */
struct cn_tql_view *cn_tql_view_new(struct cn_search *search,
                                    const struct cn_tql_program *program);
void cn_tql_view_free(struct cn_tql_view *view); /* NULL is fine */

const struct cn_tql_program *cn_tql_view_program(const struct cn_tql_view *view);
struct cn_search *cn_tql_view_search(const struct cn_tql_view *view);

/* Forget what was read: values of earlier spans are no longer valid. */
void cn_tql_view_clear(struct cn_tql_view *view);

/* Open the index of every segment that can be opened. */
void cn_tql_view_open_all(struct cn_search *search);

/* The span of a row. */
CN_CHECK bool cn_tql_view_row(struct cn_tql_view *view, uint32_t segment, uint32_t row,
                              struct cn_tql_span *out, struct cn_error *err);

/* The same without its ids, which take longest to read. */
CN_CHECK bool cn_tql_view_row_alone(struct cn_tql_view *view, uint32_t segment,
                                    uint32_t row, struct cn_tql_span *out,
                                    struct cn_error *err);

/* The ids of a span. */
CN_CHECK bool cn_tql_view_ids(struct cn_tql_view *view, const struct cn_tql_span *span,
                              uint64_t *id, uint64_t *parent_id, struct cn_error *err);

/* What the span stands for, where its trace was sampled. */
CN_CHECK bool cn_tql_span_weight(struct cn_tql_view *view, const struct cn_tql_span *span,
                                 double *out, struct cn_error *err);

/* The id of the trace of a row. */
CN_CHECK bool cn_tql_view_trace_id(struct cn_tql_view *view, uint32_t segment,
                                   uint32_t row, uint64_t *high, uint64_t *low,
                                   struct cn_error *err);

/* All spans with an id, of all segments; a span that is stored twice once. */
CN_CHECK bool cn_tql_view_trace(struct cn_tql_view *view, uint64_t high, uint64_t low,
                                struct cn_tql_trace *out, struct cn_error *err);
void cn_tql_trace_done(struct cn_tql_trace *trace);

/* The value of a field; nil if the span has none. */
CN_CHECK bool cn_tql_span_field(struct cn_tql_view *view, const struct cn_tql_span *span,
                                const struct cn_tql_field *field,
                                struct cn_tql_value *out, struct cn_error *err);

/* The value of an expression; a true boolean for an empty one. */
CN_CHECK bool cn_tql_span_value(struct cn_tql_view *view, const struct cn_tql_span *span,
                                const struct cn_tql_expr *expr, struct cn_tql_value *out,
                                struct cn_error *err);

/* Call `visit` for each attribute and intrinsic of a span that values are compared by: compare(). */
typedef void (*cn_tql_visit)(void *arg, const char *name,
                             const struct cn_tql_value *value);
CN_CHECK bool cn_tql_span_each(struct cn_tql_view *view, const struct cn_tql_span *span,
                               cn_tql_visit visit, void *arg, struct cn_error *err);

#endif
