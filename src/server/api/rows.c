/* Rows of a view: the children of a row, and the hot path. */
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"

enum { ROW_MAX = 1000 };

/* Rows of functions: one below which there are only lines and loops is a leaf. */
static bool add_row(struct cn_json *json, struct cn_view *view, const struct cn_row *row,
                    bool is_skipping, struct cn_error *err)
{
    struct cn_row_list below = {0};
    bool is_leaf = view->ops->is_leaf(view, row), ok = true;

    if (is_skipping && !is_leaf) {
        ok = cn_view_functions(view, row, 0, false, &below, err);
        is_leaf = below.count == 0;
        cn_row_list_done(&below);
    }
    return ok && cn_json_row_as(json, view, row, is_leaf, err);
}

/* "label": the name of the row whose children are listed. */
static bool add_label(struct cn_json *json, struct cn_view *view,
                      const struct cn_row *parent, struct cn_error *err)
{
    struct cn_text label = {0};
    bool ok = view->ops->label(view, parent, &label, err);

    if (ok)
        cn_json_add_str(json, "label", cn_text_str(&label));
    cn_text_done(&label);
    return ok;
}

static bool answer_rows(struct cn_served *served, struct cn_served_view *view,
                        struct cn_request *request, struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_row_list list = {0};
    struct cn_row parent;
    uint64_t offset, limit;
    size_t column;
    bool has_parent, is_skipping = cn_request_flag(request, "skip"), ok;

    (void)served;
    if (!cn_request_row(request, view->view, &parent, &has_parent, err) ||
        !cn_request_u64(request, "offset", 0, UINT32_MAX, 0, &offset, err) ||
        !cn_request_u64(request, "limit", 1, ROW_MAX, 200, &limit, err) ||
        !cn_request_column(request, &view->costs, &column, err))
        return false;
    ok = (is_skipping ? cn_view_functions : cn_view_children)(
        view->view, has_parent ? &parent : NULL, column,
        cn_request_flag(request, "reverse"), &list, err);
    if (view->is_estimate)
        cn_json_add_bool(json, "isPartial", true);
    cn_json_columns(json, &view->costs);
    ok = ok && (!has_parent || add_label(json, view->view, &parent, err));
    cn_json_add_u64(json, "count", list.count);
    cn_json_add_array(json, "rows");
    for (uint64_t i = offset; ok && i < list.count && i - offset < limit; i++)
        ok = add_row(json, view->view, &list.rows[i], is_skipping, err);
    cn_json_end(json);
    cn_row_list_done(&list);
    return ok;
}

bool cn_api_rows(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err)
{
    struct cn_view_question question;

    if (!cn_request_view(request, &question, err))
        return false;
    /* Callers are numbered when they are listed. */
    question.takes_estimate =
        question.kind != CN_VIEW_BOTTOM_UP || !cn_request_value(request, "row");
    return cn_api_with_ranged_view(served, &question, request, answer_rows, err);
}

bool cn_api_hot_path(struct cn_served *served, struct cn_served_view *view,
                     struct cn_request *request, struct cn_error *err)
{
    struct cn_json *json = &request->json;
    size_t column;

    (void)served;
    if (!cn_request_column(request, &view->costs, &column, err))
        return false;
    if (!cn_json_hot_path(json, "rows", view->view, column, err))
        return false;
    return true;
}
