/* Values of TraceQL: what a literal is, what a span has under a name, what an expression gives.
 *
 * A value borrows its text and its elements. Comparisons that make no sense, such as a text with a
 * number, do not hold; arithmetic that makes none gives nil. A list compares as each of its
 * elements: one has to match, for != and !~ all. Values of several events or links compare in turn,
 * and one of them has to match whatever the operator is.
 * Threads: any thread; a regular expression belongs to one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_VALUE_H
#define CN_STORE_TRACEQL_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/text.h"

struct cn_regex;

enum cn_tql_type {
    CN_TQL_NIL,
    CN_TQL_INT,
    CN_TQL_FLOAT,
    CN_TQL_STRING,
    CN_TQL_BOOL,
    CN_TQL_DURATION,  /* nanoseconds */
    CN_TQL_STATUS,    /* enum cn_tql_status */
    CN_TQL_KIND,      /* as in OpenTelemetry: 0 unspecified, 1 internal, 2 server ... */
    CN_TQL_LIST,      /* of scalars */
    CN_TQL_ATTRIBUTE, /* of expressions alone: known when a span is looked at */
};

enum cn_tql_status { CN_TQL_UNSET, CN_TQL_OK, CN_TQL_ERROR };

enum cn_tql_op {
    CN_TQL_OP_NONE,
    CN_TQL_ADD,
    CN_TQL_SUB,
    CN_TQL_MUL,
    CN_TQL_DIV,
    CN_TQL_MOD,
    CN_TQL_POW,
    CN_TQL_EQ,
    CN_TQL_NE,
    CN_TQL_LT,
    CN_TQL_LE,
    CN_TQL_GT,
    CN_TQL_GE,
    CN_TQL_RE,
    CN_TQL_NRE, /* of spansets: not a sibling */
    CN_TQL_AND,
    CN_TQL_OR,
    CN_TQL_NOT,
    CN_TQL_NEGATE,
    CN_TQL_EXISTS,
    CN_TQL_NOT_EXISTS,
    /* Of spansets alone, beside AND, OR, GT (child), LT (parent) and NRE. */
    CN_TQL_DESCENDANT,
    CN_TQL_ANCESTOR,
    CN_TQL_SIBLING,
    CN_TQL_NOT_CHILD,
    CN_TQL_NOT_PARENT,
    CN_TQL_NOT_DESCENDANT,
    CN_TQL_NOT_ANCESTOR,
    CN_TQL_BOTH_CHILD,
    CN_TQL_BOTH_PARENT,
    CN_TQL_BOTH_DESCENDANT,
    CN_TQL_BOTH_ANCESTOR,
    CN_TQL_BOTH_SIBLING,
};

struct cn_tql_value {
    enum cn_tql_type type;
    bool is_any;    /* of a list: the values of several events or links */
    uint32_t count; /* of a list */
    union {
        int64_t integer; /* int, duration, status, kind */
        double real;
        bool boolean;
        struct cn_bytes text;
        const struct cn_tql_value *list;
    };
};

static inline struct cn_tql_value cn_tql_nil(void)
{
    return (struct cn_tql_value){.type = CN_TQL_NIL};
}

static inline struct cn_tql_value cn_tql_bool(bool value)
{
    return (struct cn_tql_value){.type = CN_TQL_BOOL, .boolean = value};
}

static inline struct cn_tql_value cn_tql_int(int64_t value)
{
    return (struct cn_tql_value){.type = CN_TQL_INT, .integer = value};
}

static inline struct cn_tql_value cn_tql_float(double value)
{
    return (struct cn_tql_value){.type = CN_TQL_FLOAT, .real = value};
}

static inline struct cn_tql_value cn_tql_duration(int64_t ns)
{
    return (struct cn_tql_value){.type = CN_TQL_DURATION, .integer = ns};
}

static inline struct cn_tql_value cn_tql_text(struct cn_bytes text)
{
    return (struct cn_tql_value){.type = CN_TQL_STRING, .text = text};
}

static inline bool cn_tql_is_numeric(enum cn_tql_type type)
{
    return type == CN_TQL_INT || type == CN_TQL_FLOAT || type == CN_TQL_DURATION;
}

static inline bool cn_tql_is_true(const struct cn_tql_value *value)
{
    return value->type == CN_TQL_BOOL && value->boolean;
}

static inline bool cn_tql_is_comparison(enum cn_tql_op op)
{
    return op >= CN_TQL_EQ && op <= CN_TQL_NRE;
}

/* Whether an operator can have an operand of this type, and whether two types can meet. */
bool cn_tql_op_takes(enum cn_tql_op op, enum cn_tql_type type);
bool cn_tql_types_meet(enum cn_tql_type a, enum cn_tql_type b);

/* The number; NaN if the value is none. */
double cn_tql_as_float(const struct cn_tql_value *value);

/* Arithmetic and comparisons. `regex` is that of =~ and !~. */
struct cn_tql_value cn_tql_apply(enum cn_tql_op op, const struct cn_tql_value *a,
                                 const struct cn_tql_value *b, struct cn_regex *regex);
struct cn_tql_value cn_tql_apply_unary(enum cn_tql_op op, const struct cn_tql_value *a);

/* Order two values: numbers by value, others by type, then by value. */
int cn_tql_compare(const struct cn_tql_value *a, const struct cn_tql_value *b);

/* Order two values by type, then by value; 0: they are the same group. */
int cn_tql_order(const struct cn_tql_value *a, const struct cn_tql_value *b);

static inline bool cn_tql_same(const struct cn_tql_value *a, const struct cn_tql_value *b)
{
    return a->type == b->type && cn_tql_order(a, b) == 0;
}

uint64_t cn_tql_hash(const struct cn_tql_value *value);

/* A copy whose text and elements are in the arena. */
struct cn_arena;
struct cn_tql_value cn_tql_keep(struct cn_arena *arena, const struct cn_tql_value *value);

/* Append a value as people read it: "1.5s", "error", "server", a text without quotes. */
void cn_tql_print(const struct cn_tql_value *value, struct cn_text *out);

/* "ok", "client"; NULL for a number without a name. */
const char *cn_tql_status_name(int64_t status);
const char *cn_tql_kind_name(int64_t kind);

/* The sign of an operator: "&&", "!>>". */
const char *cn_tql_op_sign(enum cn_tql_op op);

#endif
