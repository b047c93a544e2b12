/* TraceQL, the query language of Grafana Tempo, parsed into a program (docs/traceql.md).
 *
 *     query     = ( pipeline | metrics ) [ "with" "(" hints ")" ]
 *     pipeline  = stage { "|" stage }
 *     stage     = spansets | scalar cmp scalar | by(expr) | coalesce() | select(fields)
 *     spansets  = "{" [ expr ] "}" combined by && || > >> < << ~ and their ! and & forms
 *     scalar    = count() | sum(expr) ... | number, combined by + - * / % ^
 *     metrics   = pipeline "|" rate() ... [ by(fields) ] { "|" topk(n) | cmp number }
 *                 and such in parentheses combined by + - * /
 *
 * An expression inside of braces is a list of steps in postfix order, evaluated with a stack of
 * values; everything around it is a tree whose depth is limited. The program owns everything in it.
 * Threads: one thread at a time, because patterns cache states: each thread parses its own.
 */
#ifndef CN_STORE_TRACEQL_PROGRAM_H
#define CN_STORE_TRACEQL_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "store/traceql/value.h"

enum {
    CN_TQL_LEN_MAX = 1 << 16,
    CN_TQL_STEPS_MAX = 4096,
    CN_TQL_NODES_MAX = 1024,
    CN_TQL_DEPTH_MAX = 64,  /* of parentheses, of trees, of unary signs */
    CN_TQL_STACK_MAX = 256, /* values of an expression at a time */
    CN_TQL_BY_MAX = 5,      /* fields of by(), as in Tempo */
};

enum cn_tql_scope {
    CN_TQL_UNSCOPED, /* the first that has it: span, resource, event, link, instrumentation */
    CN_TQL_OF_SPAN,
    CN_TQL_OF_RESOURCE,
    CN_TQL_OF_EVENT,
    CN_TQL_OF_LINK,
    CN_TQL_OF_INSTRUMENTATION,
};

enum cn_tql_intrinsic {
    CN_TQL_NO_INTRINSIC, /* an attribute */
    CN_TQL_I_DURATION,
    CN_TQL_I_NAME,
    CN_TQL_I_STATUS,
    CN_TQL_I_STATUS_MESSAGE,
    CN_TQL_I_KIND,
    CN_TQL_I_SPAN_ID,
    CN_TQL_I_PARENT_ID,
    CN_TQL_I_TRACE_ID,
    CN_TQL_I_EVENT_NAME,
    CN_TQL_I_EVENT_TIME,
    CN_TQL_I_LINK_TRACE,
    CN_TQL_I_LINK_SPAN,
    CN_TQL_I_SCOPE_NAME,
    CN_TQL_I_SCOPE_VERSION,
    /* From here on all spans of the trace are needed. */
    CN_TQL_I_CHILD_COUNT,
    CN_TQL_I_ROOT_NAME,
    CN_TQL_I_ROOT_SERVICE,
    CN_TQL_I_TRACE_DURATION,
    CN_TQL_I_NESTED_LEFT,
    CN_TQL_I_NESTED_RIGHT,
    CN_TQL_I_NESTED_PARENT,
};

/* What an expression reads of a span. */
struct cn_tql_field {
    enum cn_tql_scope scope;
    enum cn_tql_intrinsic intrinsic;
    bool is_parent;   /* of the span that called it */
    const char *name; /* of an attribute; "" of an intrinsic */
    const char *text; /* as Tempo writes it: "resource.service.name", "name" */
    uint32_t at;      /* the byte of the query where it is first */
};

/* True if it is known from all spans of a trace alone. */
static inline bool cn_tql_field_needs_trace(const struct cn_tql_field *field)
{
    return field->is_parent || field->intrinsic >= CN_TQL_I_CHILD_COUNT;
}

enum cn_tql_step_kind {
    CN_TQL_PUSH,  /* a value */
    CN_TQL_FIELD, /* the value of a field */
    CN_TQL_UNARY,
    CN_TQL_BINARY,
    CN_TQL_SKIP, /* && and ||: go on at `target` if the uppermost value decides */
};

struct cn_tql_step {
    enum cn_tql_step_kind kind;
    enum cn_tql_op op;
    uint32_t field;         /* CN_TQL_FIELD */
    uint32_t target;        /* CN_TQL_SKIP: in the steps of the program */
    struct cn_regex *regex; /* CN_TQL_BINARY with =~ and !~ */
    const char *pattern;    /* the same as text, anchored; "": ignores case */
    struct cn_tql_value value;
};

/* Steps of the program; an empty one holds for every span. */
struct cn_tql_expr {
    uint32_t first, count;
};

enum cn_tql_node_kind {
    CN_TQL_FILTER,     /* { expr } */
    CN_TQL_SPANSET_OP, /* left op right */
    CN_TQL_PIPELINE,   /* `stages`, linked by `next` */
    CN_TQL_BY,
    CN_TQL_COALESCE,
    CN_TQL_SELECT,
    CN_TQL_SCALAR_FILTER, /* left cmp right */
    CN_TQL_AGGREGATE,
    CN_TQL_SCALAR, /* a number */
    CN_TQL_SCALAR_OP,
    CN_TQL_METRICS,    /* a function over the spans of `stages` */
    CN_TQL_MATH,       /* left op right */
    CN_TQL_MATH_LEFT,  /* value op left */
    CN_TQL_MATH_RIGHT, /* left op value */
    CN_TQL_TOPK,       /* of left, `limit` */
    CN_TQL_BOTTOMK,
    CN_TQL_SERIES_FILTER, /* left cmp value */
};

enum cn_tql_function {
    CN_TQL_COUNT,
    CN_TQL_SUM,
    CN_TQL_AVG,
    CN_TQL_MIN,
    CN_TQL_MAX,
    CN_TQL_RATE,
    CN_TQL_COUNT_OVER_TIME,
    CN_TQL_SUM_OVER_TIME,
    CN_TQL_AVG_OVER_TIME,
    CN_TQL_MIN_OVER_TIME,
    CN_TQL_MAX_OVER_TIME,
    CN_TQL_QUANTILE_OVER_TIME,
    CN_TQL_HISTOGRAM_OVER_TIME,
    CN_TQL_COMPARE,
};

struct cn_tql_node {
    enum cn_tql_node_kind kind;
    enum cn_tql_op op;
    enum cn_tql_function function;
    struct cn_tql_node *left, *right;
    const struct cn_tql_node *stages;
    struct cn_tql_node *next;
    struct cn_tql_expr expr;   /* of a filter, by(), an aggregate, compare() */
    uint32_t filter;           /* of a filter: its number in the program */
    struct cn_tql_value value; /* of a scalar */
    double number;             /* of math and filters of series */
    const uint32_t *fields;    /* of select() and by() of metrics */
    size_t field_count;
    uint32_t field; /* that is measured over time; CN_NONE: none */
    const double *quantiles;
    size_t quantile_count;
    int64_t limit; /* of topk(), bottomk(); of compare(): values of an attribute */
    int64_t first_ns, last_ns; /* of compare(): of the selection; 0: all times */
    enum cn_tql_type type;     /* of a scalar */
    unsigned depth;            /* of the tree below it */
    uint32_t at;               /* its byte in the query */
    const char *text;          /* of an aggregate or by(), as Tempo writes it */
};

struct cn_tql_hint {
    const char *name;
    struct cn_tql_value value;
};

/* Braces of the query, and what of it the indexes can answer: a query of store/search about a
 * single span. Every span that matches the braces matches it. */
struct cn_tql_filter {
    struct cn_tql_expr expr;
    const char *condition; /* ""; every span may match */
    bool is_exact;         /* the two match the same spans, */
    const char *doubt;     /* except spans of this query, which may not; "": none */
    bool is_none;          /* no span matches */
    bool needs_trace;      /* it reads fields of the whole trace */
};

struct cn_tql_program {
    struct cn_arena arena;
    const char *text; /* as given */
    struct cn_tql_node *root;
    bool is_metrics;
    struct cn_tql_field *fields;
    struct cn_tql_step *steps;
    struct cn_tql_filter *filters;
    struct cn_tql_hint *hints;
    size_t field_count, step_count, filter_count, hint_count, node_count;
    size_t field_capacity, step_capacity, filter_capacity, hint_capacity;
};

/* Messages give the column. On failure nothing has to be released. What the indexes can answer of it
 * is filled in (store/traceql/condition.h). */
CN_CHECK bool cn_tql_parse(struct cn_tql_program **out, const char *text,
                           struct cn_error *err);
void cn_tql_program_free(struct cn_tql_program *program); /* NULL is fine */

/* The value of a hint; NULL if it is not given. */
const struct cn_tql_value *cn_tql_hint(const struct cn_tql_program *program,
                                       const char *name);

/* Parse the name of one field: "span.http.method", ".a", "name". It belongs to the arena. */
CN_CHECK bool cn_tql_field_parse(struct cn_tql_field *out, struct cn_arena *arena,
                                 const char *text, struct cn_error *err);

/* The name of a function, an intrinsic or a constant in queries, in no order; NULL after the last one.
 * For completion. */
const char *cn_tql_word(size_t i);

#endif
