/* Evaluates a pipeline of TraceQL on the spans of one trace, exactly.
 *
 * A pipeline takes spansets and gives spansets; it begins with one of all spans that began in the
 * times asked for. Spansets live in an arena of the caller.
 * Threads: one thread at a time for each view.
 */
#ifndef CN_STORE_TRACEQL_EVAL_H
#define CN_STORE_TRACEQL_EVAL_H

#include "store/index/rows.h"
#include "store/traceql/span.h"

/* What by() and aggregates add to a spanset. */
struct cn_tql_attribute {
    const char *name; /* "by(name)", "count()"; belongs to the program */
    struct cn_tql_value value;
};

struct cn_tql_spanset {
    uint32_t *spans; /* numbers in the trace, ascending */
    size_t count;
    struct cn_tql_attribute *attributes;
    size_t attribute_count;
    struct cn_tql_value scalar; /* of a pipeline that ends with an aggregate */
};

struct cn_tql_spansets {
    struct cn_tql_spanset *list;
    size_t count;
};

/* The rows that may match a filter, by segment: words NULL where none does. */
struct cn_tql_rows {
    struct cn_rows *segments; /* NULL: every row may match */
    bool is_exact;            /* they do match, */
    struct cn_rows *doubts;   /* except that these, by segment, may not; NULL: none */
};

struct cn_tql_eval {
    struct cn_tql_view *view;
    const struct cn_tql_trace *trace;
    const struct cn_tql_rows *filters; /* by filter of the program; NULL: unknown */
    uint64_t first_ns, last_ns;        /* of the spans, both ends included */
    struct cn_arena *arena;
};

/* `root` is a pipeline, a spanset operation, a filter or a comparison of pipelines. */
CN_CHECK bool cn_tql_eval(struct cn_tql_eval *eval, const struct cn_tql_node *root,
                          struct cn_tql_spansets *out, struct cn_error *err);

/* The same for the stages before a function of metrics. */
CN_CHECK bool cn_tql_eval_stages(struct cn_tql_eval *eval,
                                 const struct cn_tql_node *stages,
                                 struct cn_tql_spansets *out, struct cn_error *err);

/* Whether a span matches a filter of the program. */
CN_CHECK bool cn_tql_eval_filter(struct cn_tql_eval *eval, uint32_t filter,
                                 const struct cn_tql_span *span, bool *is_match,
                                 struct cn_error *err);

/* The spans of `right` that have the relation to spans of `left`; those of both for the & forms.
 * Bits by number of the span, a byte each. */
void cn_tql_relate(const struct cn_tql_trace *trace, enum cn_tql_op op,
                   const uint8_t *left, const uint8_t *right, uint8_t *out);

#endif
