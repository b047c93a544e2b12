/* Runs the spansets of a program over a store: trace by trace, the newest first.
 *
 * Internal to store/traceql. Threads: one thread at a time.
 */
#ifndef CN_STORE_TRACEQL_RUN_H
#define CN_STORE_TRACEQL_RUN_H

#include "store/traceql/candidates.h"

/* Called with each trace that matches; everything is valid during the call. False stops with the
 * error. */
typedef bool (*cn_tql_take)(void *arg, struct cn_tql_eval *eval,
                            const struct cn_tql_spansets *sets, struct cn_error *err);

struct cn_tql_run {
    struct cn_search *search;
    const struct cn_tql_program *program;
    uint64_t first_ns, last_ns;
    /* The newest traces, by the start of their first span; those that are not among them may be taken
     * as well. 0: all. */
    size_t trace_max;
    bool is_once; /* of rows: a span that is stored twice is visited once */
    cn_tql_take take;
    void *arg;
    struct cn_tql_view *view;
    struct cn_tql_candidates candidates;
};

/* Match the filters of the program; done() is needed after success alone. */
CN_CHECK bool cn_tql_run_begin(struct cn_tql_run *run, struct cn_error *err);
void cn_tql_run_done(struct cn_tql_run *run);

/* `root` is a spanset or a list of stages linked by `next`. */
CN_CHECK bool cn_tql_run_traces(struct cn_tql_run *run, const struct cn_tql_node *root,
                                struct cn_error *err);

/* True if stages look at each span alone: filters and select(), of fields of the span. */
bool cn_tql_is_of_spans(const struct cn_tql_program *program,
                        const struct cn_tql_node *stages);

/* What rows that may match have still to meet; without filters they do match. */
struct cn_tql_rest {
    const struct cn_tql_run *run;
    const uint32_t *filters;
    size_t count;
};

/* Whether the span of such a row does. Several threads may ask, each with a view, if no filter has
 * patterns. */
CN_CHECK bool cn_tql_rest_match(const struct cn_tql_rest *rest, struct cn_tql_view *view,
                                const struct cn_tql_span *span, bool *is_match,
                                struct cn_error *err);
bool cn_tql_rest_has_patterns(const struct cn_tql_rest *rest);

/* For such stages: visit the rows that match; in the order of segments. */
typedef bool (*cn_tql_take_row)(void *arg, struct cn_tql_view *view,
                                const struct cn_tql_span *span, struct cn_error *err);
/* Takes rows of a segment that may match; `is_taken` receives false if those that do are to be taken one by
 * one. */
typedef bool (*cn_tql_take_rows)(void *arg, const struct cn_tql_rest *rest,
                                 uint32_t segment, const struct cn_rows *rows,
                                 bool *is_taken, struct cn_error *err);
CN_CHECK bool cn_tql_run_rows(struct cn_tql_run *run, const struct cn_tql_node *stages,
                              cn_tql_take_row take, cn_tql_take_rows take_rows, void *arg,
                              struct cn_error *err);

#endif
