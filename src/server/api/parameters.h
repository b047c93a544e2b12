/* Parameters that several questions have in common.
 * Threads: any thread.
 */
#ifndef CN_SERVER_API_PARAMETERS_H
#define CN_SERVER_API_PARAMETERS_H

#include "analyze/views/view.h"
#include "base/error.h"
#include "server/served/question.h"
#include "server/served/thread_list.h"

struct cn_lens;
struct cn_query;
struct cn_request;
struct cn_served;
struct cn_served_view;

/* All values of a parameter. */
void cn_request_list(const struct cn_request *request, const char *name,
                     struct cn_question_list *out);

/* `view`, `metric`, `waits`, `thread`, `percentiles` and `sort`. */
CN_CHECK bool cn_request_view(const struct cn_request *request,
                              struct cn_view_question *out, struct cn_error *err);

/* The same for a view that is known: all but `view`. */
CN_CHECK bool cn_request_view_as(const struct cn_request *request, enum cn_view_kind kind,
                                 struct cn_view_question *out, struct cn_error *err);

/* `hide`, `collapse`, `focus`, `drop`, `prune`, `mycode` and `mine`; *is_given is false without
 * them. The caller releases the lens. */
CN_CHECK bool cn_request_lens(const struct cn_request *request, struct cn_lens *out,
                              bool *is_given, struct cn_error *err);

/* `row`, a context of the top-down view. */
CN_CHECK bool cn_request_context(const struct cn_request *request, struct cn_database *db,
                                 uint64_t *id, struct cn_context *out,
                                 struct cn_error *err);

/* `row`, a row of a view; *is_given is false without it. */
CN_CHECK bool cn_request_row(const struct cn_request *request, const struct cn_view *view,
                             struct cn_row *out, bool *is_given, struct cn_error *err);

/* `sort`, the name of a column; the first column without it. */
CN_CHECK bool cn_request_column(const struct cn_request *request,
                                const struct cn_costs *costs, size_t *out,
                                struct cn_error *err);

/* `begin` and `end`, nanoseconds from the start of the timelines; all of the time
 * without them. */
CN_CHECK bool cn_request_range(const struct cn_request *request,
                               const struct cn_database *db, uint64_t *begin_ns,
                               uint64_t *end_ns, struct cn_error *err);

/* Some time of some threads: `begin`, `end` and `thread`. Times are those of the recording, if the
 * source is one. The caller releases the threads, which are those of cn_thread_list_build(). */
struct cn_time_question {
    struct cn_thread_list threads;
    uint64_t origin_ns, begin_ns, end_ns;
};
CN_CHECK bool cn_request_time(const struct cn_request *request, struct cn_served *served,
                              bool needs_samples, struct cn_time_question *out,
                              struct cn_error *err);

/* Answer with the view of a question, which the caller has for itself while `answer`
 * runs. */
typedef bool cn_view_answer(struct cn_served *served, struct cn_served_view *view,
                            struct cn_request *request, struct cn_error *err);
CN_CHECK bool cn_api_with_view(struct cn_served *served,
                               const struct cn_view_question *question,
                               struct cn_request *request, cn_view_answer *answer,
                               struct cn_error *err);

/* The same; with `begin` or `end`, the view of that time range and the threads of the question. */
CN_CHECK bool cn_api_with_ranged_view(struct cn_served *served,
                                      const struct cn_view_question *question,
                                      struct cn_request *request, cn_view_answer *answer,
                                      struct cn_error *err);

/* The same with the view that the request asks for. */
CN_CHECK bool cn_api_with_asked_view(struct cn_served *served, struct cn_request *request,
                                     cn_view_answer *answer, struct cn_error *err);

/* Answer with `q`, a query of a store, on the current snapshot of the store. */
typedef bool cn_query_answer(struct cn_served *served, struct cn_request *request,
                             const struct cn_query *query, struct cn_error *err);
CN_CHECK bool cn_api_with_query(struct cn_served *served, struct cn_request *request,
                                cn_query_answer *answer, struct cn_error *err);

#endif
