/* A function, wherever it is called: what it costs, who calls it, what it calls. */
#include <string.h>

#include "server/api/api.h"
#include "server/api/request.h"
#include "server/served/rows_json.h"
#include "server/served/served.h"

enum { OTHER_MAX = 1000 };

struct question {
    struct cn_served_view *entry; /* the callers' view */
    const struct cn_context_index *index;
    size_t column;
    uint64_t limit;
};

/* A function and where it is: the path to the context in which it costs most. */
static bool add_other(const struct question *question, struct cn_json *json,
                      const struct cn_row *row, struct cn_error *err)
{
    struct cn_context context;

    if (!cn_context_at(question->entry->costs.db, row->example, &context, err))
        return false;
    cn_json_object(json);
    cn_json_path(json, question->index,
                 cn_context_index_find(question->index, context.id));
    cn_json_key(json, "row");
    if (!cn_json_row(json, question->entry->view, row, err))
        return false;
    cn_json_end(json);
    return true;
}

static bool add_others(const struct question *question, struct cn_json *json,
                       const char *name, struct cn_row_list *list, struct cn_error *err)
{
    bool ok = true;

    cn_row_list_sort(list, question->column, false);
    cn_json_key(json, name);
    cn_json_array(json);
    for (size_t i = 0; ok && i < list->count && i < question->limit; i++)
        ok = add_other(question, json, &list->rows[i], err);
    cn_json_end(json);
    return ok;
}

static bool add_callers(const struct question *question, struct cn_json *json,
                        const struct cn_row *function, struct cn_error *err)
{
    struct cn_row_list list = {0};
    bool ok = cn_view_children(question->entry->view, function, question->column, false,
                               &list, err) &&
              add_others(question, json, "callers", &list, err);

    cn_row_list_done(&list);
    return ok;
}

static bool add_callees(const struct question *question, struct cn_json *json,
                        const struct cn_row *function, struct cn_error *err)
{
    struct cn_row_list list = {0};
    bool ok;

    cn_view_callees(question->entry->view, function, &list);
    ok = add_others(question, json, "callees", &list, err);
    cn_row_list_done(&list);
    return ok;
}

static bool answer(struct cn_served *served, struct cn_served_view *entry,
                   struct cn_request *request, struct cn_error *err)
{
    struct question question = {.entry = entry};
    struct cn_json *json = &request->json;
    double values[CN_COST_COLUMN_MAX];
    struct cn_row function;
    struct cn_context context;
    const struct cn_frames *frames;
    uint64_t row;

    if (!cn_request_u64(request, "row", 0, UINT64_MAX, 0, &row, err) ||
        !cn_request_u64(request, "limit", 1, OTHER_MAX, 50, &question.limit, err) ||
        !cn_request_column(request, &entry->costs, &question.column, err) ||
        !cn_served_frames(served, &frames, err) ||
        !cn_context_at(served->db, row, &context, err) ||
        !cn_view_function_of(entry->view, &context, values, &function, err))
        return false;
    question.index = &frames->index;
    cn_json_object(json);
    cn_json_columns(json, &entry->costs);
    cn_json_key(json, "function");
    if (!cn_json_row(json, entry->view, &function, err) ||
        !add_callers(&question, json, &function, err) ||
        !add_callees(&question, json, &function, err))
        return false;
    cn_json_end(json);
    return true;
}

/* It is answered from the bottom-up view. */
static bool choose_view(struct cn_request *request, struct cn_error *err)
{
    const char *view = cn_request_value(request, "view");

    if (view && strcmp(view, "bottom-up") != 0)
        return cn_fail(err, CN_ERR_USAGE, "view is not to be chosen here");
    if (view)
        return true;
    if (request->parameter_count == CN_REQUEST_PARAMETER_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "more than %d parameters",
                       CN_REQUEST_PARAMETER_MAX - 1);
    request->parameters[request->parameter_count++] =
        (struct cn_parameter){"view", "bottom-up"};
    return true;
}

bool cn_api_function(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err)
{
    if (!cn_request_value(request, "row"))
        return cn_fail(err, CN_ERR_USAGE, "row is missing: a context of which function?");
    return choose_view(request, err) && cn_served_answer(served, request, answer, err);
}
