#include "server/api/parameters.h"

#include <inttypes.h>

#include "analyze/lens/lens.h"
#include "base/run/clock.h"
#include "server/api/request.h"
#include "server/served/served.h"
#include "store/search/query.h"
#include "store/traceql/traceql.h"

enum { METRIC_MAX = 32 };

void cn_request_list(const struct cn_request *request, const char *name,
                     struct cn_question_list *out)
{
    const char *value;

    out->count = 0;
    while (out->count < CN_QUESTION_LIST_MAX &&
           (value = cn_request_value_at(request, name, out->count)))
        out->list[out->count++] = value;
}

/* True if the default metric is among the metrics of a question. */
static bool has_default(const struct cn_question_list *metrics)
{
    bool found = metrics->count == 0;

    for (size_t i = 0; i < metrics->count; i++)
        found = found || metrics->list[i][0] == '\0';
    return found;
}

bool cn_request_view(const struct cn_request *request, struct cn_view_question *out,
                     struct cn_error *err)
{
    static const char *const kinds[] = {
        [CN_VIEW_TOP_DOWN] = "top-down",   [CN_VIEW_COLLAPSED] = "collapsed",
        [CN_VIEW_BOTTOM_UP] = "bottom-up", [CN_VIEW_FLAT] = "flat",
        [CN_VIEW_LANGUAGES] = "languages",
    };
    size_t kind;

    return cn_request_choice(request, "view", kinds, sizeof(kinds) / sizeof(kinds[0]),
                             CN_VIEW_TOP_DOWN, &kind, err) &&
           cn_request_view_as(request, (enum cn_view_kind)kind, out, err);
}

bool cn_request_view_as(const struct cn_request *request, enum cn_view_kind kind,
                        struct cn_view_question *out, struct cn_error *err)
{
    *out = (struct cn_view_question){
        .kind = kind,
        .has_percentiles = cn_request_flag(request, "percentiles"),
        .counts_waits = cn_request_flag(request, "waits"),
        .sort = cn_request_value(request, "sort"),
    };
    cn_request_list(request, "metric", &out->metrics);
    cn_request_list(request, "thread", &out->threads);
    cn_request_list(request, "derive", &out->derived);
    if (out->counts_waits && !has_default(&out->metrics))
        return cn_fail(err, CN_ERR_USAGE,
                       "waits=1 and metric exclude each other: it is about the default "
                       "metric");
    return out->metrics.count <= METRIC_MAX ||
           cn_fail(err, CN_ERR_LIMIT, "more than %d metrics", METRIC_MAX);
}

bool cn_request_lens(const struct cn_request *request, struct cn_lens *out,
                     bool *is_given, struct cn_error *err)
{
    struct cn_question_list list;
    bool ok = true;

    *out = (struct cn_lens){0};
    if (cn_request_flag(request, "mycode"))
        ok = cn_lens_add_my_code(out, err);
    for (unsigned i = 0; ok && i < CN_LENS_ACTIONS; i++) {
        cn_request_list(request, cn_lens_action_name(i), &list);
        for (size_t k = 0; ok && k < list.count; k++)
            ok = cn_lens_add(out, (enum cn_lens_action)i, list.list[k], CN_MATCH_GLOB,
                             err);
    }
    cn_request_list(request, "mine", &list);
    for (size_t i = 0; ok && i < list.count; i++)
        ok = cn_lens_add_mine(out, list.list[i], CN_MATCH_GLOB, err);
    *is_given = out->count > 0 || out->mine.count > 0;
    if (!ok)
        cn_lens_done(out);
    return ok;
}

bool cn_request_context(const struct cn_request *request, struct cn_database *db,
                        uint64_t *id, struct cn_context *out, struct cn_error *err)
{
    struct cn_error ignored;

    if (!cn_request_value(request, "row"))
        return cn_fail(err, CN_ERR_USAGE, "parameter row is missing: the context");
    if (!cn_request_u64(request, "row", 0, UINT64_MAX, 0, id, err))
        return false;
    return cn_context_at(db, *id, out, &ignored) ||
           cn_fail(err, CN_ERR_USAGE,
                   "row %" PRIu64 " is not in this data; choose it again in a view", *id);
}

bool cn_request_row(const struct cn_request *request, const struct cn_view *view,
                    struct cn_row *out, bool *is_given, struct cn_error *err)
{
    bool is_checked = view->row_limit < UINT64_MAX;
    struct cn_context context;
    struct cn_error ignored;

    *is_given = cn_request_value(request, "row") != NULL;
    *out = (struct cn_row){.context = CN_NONE};
    if (!*is_given)
        return true;
    if (!cn_request_u64(request, "row", 0, view->row_limit - (view->row_limit > 0), 0,
                        &out->id, err))
        return false;
    /* Other rows are contexts: one that cannot be read was never in a list. */
    return is_checked || cn_context_at(view->costs->db, out->id, &context, &ignored) ||
           cn_fail(err, CN_ERR_USAGE, "parameter row: %" PRIu64 " is not a row", out->id);
}

bool cn_request_column(const struct cn_request *request, const struct cn_costs *costs,
                       size_t *out, struct cn_error *err)
{
    return cn_served_column_find(costs, cn_request_value(request, "sort"), out, err);
}

bool cn_request_range(const struct cn_request *request, const struct cn_database *db,
                      uint64_t *begin_ns, uint64_t *end_ns, struct cn_error *err)
{
    uint64_t span_ns = db->end_ns - db->begin_ns, begin, end;

    if (!db->has_timelines || db->end_ns <= db->begin_ns)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: has no timelines", db->path);
    if (!cn_request_u64(request, "begin", 0, span_ns, 0, &begin, err) ||
        !cn_request_u64(request, "end", 0, span_ns, span_ns, &end, err))
        return false;
    if (begin >= end)
        return cn_fail(err, CN_ERR_USAGE, "the range of time is empty");
    *begin_ns = db->begin_ns + begin;
    *end_ns = db->begin_ns + end;
    return true;
}

bool cn_request_time(const struct cn_request *request, struct cn_served *served,
                     bool needs_samples, struct cn_time_question *out,
                     struct cn_error *err)
{
    struct cn_question_list selections;

    cn_request_list(request, "thread", &selections);
    if (!cn_served_ready(served, err) ||
        !cn_request_range(request, served->db, &out->begin_ns, &out->end_ns, err) ||
        !cn_thread_list_build(&out->threads, served->db, &selections, needs_samples, err))
        return false;
    out->origin_ns = served->recording ? cn_recording_begin_ns(served->recording)
                                       : served->db->begin_ns;
    uint64_t shift_ns = out->origin_ns - served->db->begin_ns;
    out->begin_ns += shift_ns;
    out->end_ns += shift_ns;
    return true;
}

static bool answer_of(struct cn_served_views *views, struct cn_served *served,
                      const struct cn_view_question *question, struct cn_request *request,
                      cn_view_answer *answer, struct cn_error *err)
{
    struct cn_served_view *view;

    if (!cn_served_view_borrow(views, question, &view, err))
        return false;
    bool ok = answer(served, view, request, err);
    cn_served_view_return(view);
    return ok;
}

bool cn_api_with_view(struct cn_served *served, const struct cn_view_question *question,
                      struct cn_request *request, cn_view_answer *answer,
                      struct cn_error *err)
{
    return cn_served_ready(served, err) &&
           answer_of(&served->views, served, question, request, answer, err);
}

bool cn_api_with_ranged_view(struct cn_served *served,
                             const struct cn_view_question *question,
                             struct cn_request *request, cn_view_answer *answer,
                             struct cn_error *err)
{
    struct cn_range_question range = {.threads = question->threads};
    struct cn_view_question of_range = *question;
    struct cn_served_views *views;
    struct cn_cached *entry;

    if (!cn_request_value(request, "begin") && !cn_request_value(request, "end"))
        return cn_api_with_view(served, question, request, answer, err);
    if (!cn_served_ready(served, err) ||
        !cn_request_range(request, served->db, &range.begin_ns, &range.end_ns, err) ||
        !cn_served_range_views(&served->range_views, &range, &views, &entry, err))
        return false;
    of_range.threads.count = 0; /* the range counts only these */
    bool ok = answer_of(views, served, &of_range, request, answer, err);
    cn_served_range_return(&served->range_views, entry);
    return ok;
}

bool cn_api_with_asked_view(struct cn_served *served, struct cn_request *request,
                            cn_view_answer *answer, struct cn_error *err)
{
    struct cn_view_question question;

    return cn_request_view(request, &question, err) &&
           cn_api_with_ranged_view(served, &question, request, answer, err);
}

bool cn_api_with_query(struct cn_served *served, struct cn_request *request,
                       cn_query_answer *answer, struct cn_error *err)
{
    const char *text = cn_request_value(request, "q");
    uint64_t now_ns = cn_clock_date_ns();
    struct cn_query *query = NULL;

    now_ns -= now_ns % 1000000000; /* what a page asks together is about the same hits */
    cn_served_lock(served);
    bool ok =
        cn_served_store_refresh(&served->store, err) &&
        cn_tql_query_of(&query, served->store.search, text ? text : "", now_ns, err) &&
        answer(served, request, query, err);
    cn_query_free(query);
    cn_served_unlock(served);
    return ok;
}
