/* TraceQL over a store: the traces that match with their spans, or series over time.
 *
 *     cn_tql_parse(&program, "{ span.http.status_code >= 500 } | select(name)", err)
 *     cn_tql_search(search, program, &range, &found, err)
 *     ... found.traces[i].sets[k].spans[j].values[v] ...
 *     cn_tql_found_done(&found)
 *     cn_tql_program_free(program)
 *
 *     cn_tql_query(&query, search, program, &range, err)     for everything that takes a query:
 *     cn_search_traces(search, query, &order, &traces, err)  lists, counts, groups, facets
 *     cn_query_free(query)
 *
 * Indexes choose the traces that may match; only those are read, and decide. A result owns its
 * memory and can outlive search and program, except texts that are said to belong to the program. A
 * failure leaves nothing to release; cn_search_check() tells afterwards whether damage may have hidden
 * something. store/traceql/series.h has the series of metrics.
 * Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_TRACEQL_H
#define CN_STORE_TRACEQL_TRACEQL_H

#include "store/traceql/program.h"

struct cn_query;
struct cn_search;

struct cn_tql_range {
    uint64_t first_ns, last_ns; /* only spans that begin between them can match */
    size_t trace_max;           /* the newest traces, by their first spans; 0: all */
    size_t span_max;            /* spans of a spanset that are listed; 0: all */
};

struct cn_tql_found_span {
    uint64_t id, parent_id; /* 0: none */
    uint64_t time_ns, duration_ns;
    const char *name;
    const struct cn_tql_value *values; /* one for each field of cn_tql_found; nil: none */
};

struct cn_tql_found_set {
    const struct cn_tql_found_span *spans; /* the earliest first */
    size_t span_count;
    size_t matched;           /* spans, listed or not */
    const char *const *names; /* of by() and aggregates: "by(name)", "count()" */
    const struct cn_tql_value *values;
    size_t attribute_count;
};

struct cn_tql_found_trace {
    uint64_t high, low;
    uint64_t time_ns, duration_ns;        /* from the first start to the last end */
    const char *root_name, *root_service; /* "" if the root has not arrived */
    size_t span_count;
    const struct cn_tql_found_set *sets;
    size_t set_count;
};

struct cn_tql_found {
    struct cn_arena arena;
    const char *const *fields; /* that select() names, and those of conditions */
    size_t field_count;
    struct cn_tql_found_trace *traces; /* the newest first */
    size_t count, capacity;
    uint64_t candidates; /* traces that the indexes chose */
};

/* The program must not be one of metrics. */
CN_CHECK bool cn_tql_search(struct cn_search *search,
                            const struct cn_tql_program *program,
                            const struct cn_tql_range *range, struct cn_tql_found *out,
                            struct cn_error *err);
void cn_tql_found_done(struct cn_tql_found *found);

/* A query that finds what the program does: its spans, and traces with such a span. It is valid for
 * this search alone, and must be freed before it. */
CN_CHECK bool cn_tql_query(struct cn_query **out, struct cn_search *search,
                           const struct cn_tql_program *program,
                           const struct cn_tql_range *range, struct cn_error *err);

/* True if a text is TraceQL: it begins with a brace, maybe after parentheses. */
bool cn_tql_is_text(const char *text);

/* Parse TraceQL with times after it, as in "{ status = error } since 2026-01-01 last 2h"; "last" counts
 * from `now_ns`. */
CN_CHECK bool cn_tql_ask(struct cn_tql_program **out, struct cn_tql_range *range,
                         const char *text, uint64_t now_ns, struct cn_error *err);

/* A query of either language: of TraceQL if cn_tql_is_text(). The other is cn_query_parse(). */
CN_CHECK bool cn_tql_query_of(struct cn_query **out, struct cn_search *search,
                              const char *text, uint64_t now_ns, struct cn_error *err);

/* The same for cn_store_query_open(). */
struct cn_store_query;
CN_CHECK bool cn_tql_store_query_open(struct cn_store_query *out, const char *path,
                                      const char *text, struct cn_error *err);

/* What select() names, for rows that a query found. */
struct cn_tql_selection;
struct cn_tql_selection *cn_tql_selection_new(struct cn_search *search,
                                              const struct cn_tql_program *program);
void cn_tql_selection_free(struct cn_tql_selection *selection); /* NULL is fine */
size_t cn_tql_selection_count(const struct cn_tql_selection *selection);
const char *cn_tql_selection_name(const struct cn_tql_selection *selection, size_t i);

/* The value of a row; valid until the next call. */
CN_CHECK bool cn_tql_selection_value(struct cn_tql_selection *selection, uint32_t segment,
                                     uint32_t row, size_t i, struct cn_tql_value *out,
                                     struct cn_error *err);

/* Append "no attribute 'duraton'; did you mean duration" for names that no span has. */
struct cn_text;
void cn_tql_print_unknown(struct cn_search *search, const struct cn_tql_program *program,
                          struct cn_text *out);

#endif
