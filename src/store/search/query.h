/* The query language of `cairn store search`.
 *
 *     query  = [ either ]                    the empty query matches everything
 *     either = both { "OR" both }
 *     both   = not { [ "AND" ] not }
 *     not    = "NOT" not | "(" either ")" | term
 *     term   = "since" TIME | "until" TIME | "last" DURATION | "errors"
 *            | NAME ( "=" | "!=" | "<" | "<=" | ">" | ">=" | "~" | "!~" ) VALUE
 *            | NAME ( "contains" | "starts" | "ends" ) VALUE | NAME "exists"
 *            | TEXT                          the same as: text contains TEXT
 *
 * A NAME may be @"any text", an attribute whose name has blanks or operators.
 *
 * AND, OR and NOT may be in lower case. A value ends at a blank or a ")"; in quotes it may
 * contain any character, with \" and \\ for a quote and a backslash.
 *
 * A condition is about a span. In a search for spans, all of them are about the same span. In a
 * search for traces, each may hold in another span, except that times that must all hold are one
 * condition; duration, calls, records and errors are those of the trace.
 *
 * A parsed query is a list of steps in postfix order: evaluate them from the first to the last
 * with a stack of sets. The query owns everything in it.
 * Threads: one thread at a time, because patterns cache states: each thread parses its own.
 */
#ifndef CN_STORE_SEARCH_QUERY_H
#define CN_STORE_SEARCH_QUERY_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_regex;
struct cn_rows;
struct cn_segment;

enum {
    CN_QUERY_LEN_MAX = 1 << 16,
    CN_QUERY_STEPS_MAX = 1024,
    CN_QUERY_DEPTH_MAX = 64, /* of parentheses */
};

enum cn_query_field {
    CN_QUERY_TIME,
    CN_QUERY_DURATION,
    CN_QUERY_ERRORS,
    CN_QUERY_CALLS,
    CN_QUERY_RECORDS,
    CN_QUERY_ID,
    CN_QUERY_SPAN,
    CN_QUERY_PARENT,
    CN_QUERY_TYPE,
    CN_QUERY_SERVICE,
    CN_QUERY_ROOT,      /* method of the first call */
    CN_QUERY_METHOD,    /* of any call, the first included */
    CN_QUERY_CLASS,     /* of any call */
    CN_QUERY_EXCEPTION, /* class or message */
    CN_QUERY_EXCEPTION_CLASS,
    CN_QUERY_EXCEPTION_MESSAGE,
    CN_QUERY_ATTRIBUTE,      /* of any call */
    CN_QUERY_ROOT_ATTRIBUTE, /* of the first call */
    CN_QUERY_TEXT,           /* any of the texts above, and names of attributes */
    CN_QUERY_FOUND,          /* rows that another language has found */
};

enum cn_query_op {
    CN_QUERY_EXISTS,
    CN_QUERY_EQUAL,
    CN_QUERY_LESS,
    CN_QUERY_LESS_EQUAL,
    CN_QUERY_GREATER,
    CN_QUERY_GREATER_EQUAL,
    CN_QUERY_CONTAINS,
    CN_QUERY_STARTS,
    CN_QUERY_ENDS,
    CN_QUERY_MATCHES, /* a regular expression */
};

/* Rows that were found in another way, as TraceQL does, for everything that takes a query. */
struct cn_query_found {
    const struct cn_segment **segments; /* of the store that was searched */
    struct cn_rows *rows;               /* of each; without words: none */
    size_t count;
    /* How many traces they are of, and the range of the starts of these, where it is known. */
    bool has_traces;
    uint64_t trace_count, first_ns, last_ns;
};

/* 128 bits, for ids; fields of 64 bits use `low` alone. */
struct cn_query_number {
    uint64_t high, low;
};

struct cn_query_term {
    enum cn_query_field field;
    enum cn_query_op op;

    /* "!=" and "!~": there is a value, but the comparison does not hold. */
    bool is_negated;
    const char *name; /* of an attribute */

    /* Of fields that are numbers (up to CN_QUERY_PARENT): the range of the value, both ends
     * included; empty if `first` is above `last`. */
    struct cn_query_number first, last;

    /* Of fields that are texts. */
    struct cn_bytes text;
    bool is_number; /* the text is a number: compare values that are numbers as numbers */
    double number;
    struct cn_regex *regex;             /* CN_QUERY_MATCHES */
    const struct cn_query_found *found; /* CN_QUERY_FOUND */
};

enum cn_query_step_kind {
    CN_QUERY_STEP_TERM, /* push what matches `term` */
    CN_QUERY_STEP_AND,  /* replace the upper two sets by one */
    CN_QUERY_STEP_OR,
    CN_QUERY_STEP_NOT,  /* invert the uppermost set */
    CN_QUERY_STEP_SKIP, /* continue at step `target` if the uppermost set is empty */
};

struct cn_query_step {
    enum cn_query_step_kind kind;
    uint32_t target;
    struct cn_query_term term;
    const char *text; /* of a term: what it was parsed from */
    uint32_t
        at; /* of a term: the byte of the query where the name of its attribute begins */
    bool is_top; /* of a term: nothing matches unless it does */
};

struct cn_query {
    struct cn_arena arena;
    const char *text;            /* as given */
    uint64_t now_ns;             /* the time that "last" counts from; 0 without "last" */
    struct cn_query_step *steps; /* none: everything matches */
    size_t count, capacity;

    /* The range of times that can match, both ends included; empty if the first is above the
     * last. */
    uint64_t first_ns, last_ns;
    bool has_id; /* only this trace can match */
    bool
        joins; /* a trace may match although none of its spans does, or the other way round */
    struct cn_query_number id;
    struct cn_query_found *found; /* NULL: it is evaluated by its steps */
};

/* "last" counts from `now_ns`, since the epoch. Messages give the column. */
CN_CHECK bool cn_query_parse(struct cn_query **out, const char *text, uint64_t now_ns,
                             struct cn_error *err);
void cn_query_free(struct cn_query *query); /* NULL is fine */

/* A query for rows that were found between two times; takes them over. It matches in the snapshot of
 * the store alone that was searched. `text` tells it from others. */
struct cn_query *cn_query_of_found(const struct cn_query_found *found, const char *text,
                                   uint64_t first_ns, uint64_t last_ns);

/* A query of its own for one condition of another. */
CN_CHECK bool cn_query_of_step(struct cn_query **out, const struct cn_query *query,
                               const struct cn_query_step *step, struct cn_error *err);

/* A copy for another thread, or that lives longer. */
CN_CHECK bool cn_query_copy(struct cn_query **out, const struct cn_query *query,
                            struct cn_error *err);

/* Fill in a term whose op and is_negated are set. `value` is NULL for CN_QUERY_EXISTS; strings
 * must outlive the term. Names include "since", "until" and "last". */
CN_CHECK bool cn_query_term_init(struct cn_query_term *term, const char *name,
                                 const char *value, uint64_t now_ns,
                                 struct cn_error *err);

/* The name of field `i` in queries, in no order; NULL after the last one. */
const char *cn_query_field_name(size_t i);

/* True if a condition of a search for traces is about a number of the trace, not of one of its
 * spans: its duration, calls, records or errors. */
static inline bool cn_query_term_is_of_trace(const struct cn_query_term *term)
{
    return term->field >= CN_QUERY_DURATION && term->field <= CN_QUERY_RECORDS;
}

/* True if a text satisfies the comparison of a term, without is_negated. */
bool cn_query_text_matches(const struct cn_query_term *term, struct cn_bytes text);

/* The same for names of methods and classes, where "= Dao.query" also matches
 * "com.example.Dao.query". */
bool cn_query_name_matches(const struct cn_query_term *term, struct cn_bytes name);

#endif
