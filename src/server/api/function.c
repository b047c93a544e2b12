/* A function in all its contexts: costs, callers and callees. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "server/api/api.h"
#include "server/api/code_json.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"

enum { OTHER_MAX = 1000 };

struct function_question {
    struct cn_served_view *view; /* the bottom-up view */
    const struct cn_context_index *index;
    size_t column;
    uint64_t limit;
};

static bool add_others(const struct function_question *question, struct cn_json *json,
                       const char *name, struct cn_row_list *list, struct cn_error *err)
{
    bool ok = true;

    cn_row_list_sort(list, question->column, false);
    cn_json_add_array(json, name);
    for (size_t i = 0; ok && i < list->count && i < question->limit; i++) {
        ok = cn_json_row_begin(json, question->view->view, question->index,
                               &list->rows[i], err);
        cn_json_end(json);
    }
    cn_json_end(json);
    return ok;
}

/* With percentiles, the durations of all calls of the function. */
static void add_latency(const struct cn_served_view *view, const struct cn_row *function,
                        struct cn_json *json)
{
    const struct cn_costs *costs = &view->costs;
    double seconds[CN_PERCENTILES_SHOWN] = {NAN, NAN, NAN};

    if (costs->latency_count == 0)
        return;
    for (size_t i = 0; i < costs->column_count; i++)
        for (size_t k = 0; k < CN_PERCENTILES_SHOWN; k++)
            if (costs->columns[i].fraction == cn_percentile_fractions[k])
                seconds[k] = function->values[i];
    struct cn_bucket_calls *buckets = cn_alloc(costs->latency_count, sizeof(*buckets));
    cn_json_latency(json, costs, seconds, buckets,
                    cn_view_function_latencies(view->view, function, buckets));
    free(buckets);
}

static bool answer(struct cn_served *served, struct cn_served_view *view,
                   struct cn_request *request, struct cn_error *err)
{
    struct function_question question = {.view = view};
    struct cn_json *json = &request->json;
    double values[CN_COST_COLUMN_MAX];
    struct cn_row function;
    struct cn_row_list list = {0};
    struct cn_context context;
    uint64_t row;
    bool ok, has_source;

    if (!cn_request_context(request, served->db, &row, &context, err) ||
        !cn_api_has_source(served->db, &context, &has_source, err) ||
        !cn_request_u64(request, "limit", 1, OTHER_MAX, 50, &question.limit, err) ||
        !cn_request_column(request, &view->costs, &question.column, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_FRAMES, err) ||
        !cn_view_function_of(view->view, &context, values, &function, err))
        return false;
    question.index = &served->structure.frames.index;
    if (view->is_estimate)
        cn_json_add_bool(json, "isPartial", true);
    cn_json_columns(json, &view->costs);
    cn_json_key(json, "function");
    ok = cn_json_row(json, view->view, &function, err);
    cn_json_add_code_reason(json, cn_view_code(view->view, &function));
    cn_json_add_id(json, "context", row);
    cn_json_add_bool(json, "hasSource", has_source);
    add_latency(view, &function, json);
    ok = ok &&
         cn_view_children(view->view, &function, question.column, false, &list, err) &&
         add_others(&question, json, "callers", &list, err);
    cn_row_list_done(&list);
    cn_view_callees(view->view, &function, &list);
    ok = ok && add_others(&question, json, "callees", &list, err);
    cn_row_list_done(&list);
    return ok;
}

/* A context that belongs to no function is refused before a view is computed for it. */
static bool check_function(struct cn_served *served, const struct cn_request *request,
                           struct cn_error *err)
{
    struct cn_structure *structure = &served->structure;
    struct cn_context context;
    uint64_t at;
    uint32_t row;

    return cn_served_ready(served, err) &&
           cn_request_context(request, served->db, &at, &context, err) &&
           cn_structure_wait(structure, CN_STRUCTURE_CALLERS, err) &&
           cn_view_shape_function(structure->callers, context.id, &row, err);
}

bool cn_api_function(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err)
{
    const char *view = cn_request_value(request, "view");
    struct cn_view_question question;

    if (!cn_request_value(request, "row"))
        return cn_fail(err, CN_ERR_USAGE,
                       "parameter row is missing: a context of the function");
    if (!cn_request_view(request, &question, err))
        return false;
    if (view && question.kind != CN_VIEW_BOTTOM_UP)
        return cn_fail(err, CN_ERR_USAGE, "functions are rows of the bottom-up view");
    question.kind = CN_VIEW_BOTTOM_UP;
    question.takes_estimate = true;
    return check_function(served, request, err) &&
           cn_api_with_view(served, &question, request, answer, err);
}
