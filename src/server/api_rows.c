/* Rows of a view: the children of a row, the hot path, rows by name. */
#include <string.h>

#include "analyze/hottest.h"
#include "server/api.h"
#include "server/request.h"
#include "server/rows_json.h"
#include "server/served.h"

enum { ROW_MAX = 1000, HIT_MAX = 500 };

static bool add_children(struct cn_served_view *entry, const struct cn_row *parent,
                         struct cn_request *request, struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_row_list list = {0};
    uint64_t offset, limit;
    size_t column;
    bool ok;

    if (!cn_request_u64(request, "offset", 0, UINT32_MAX, 0, &offset, err) ||
        !cn_request_u64(request, "limit", 1, ROW_MAX, 200, &limit, err) ||
        !cn_request_column(request, &entry->costs, &column, err))
        return false;
    ok = cn_view_children(entry->view, parent, column,
                          cn_request_flag(request, "reverse"), &list, err);
    cn_json_add_u64(json, "count", list.count);
    cn_json_key(json, "rows");
    cn_json_array(json);
    for (size_t i = offset; ok && i < list.count && i - offset < limit; i++)
        ok = cn_json_row(json, entry->view, &list.rows[i], err);
    cn_json_end(json);
    cn_row_list_done(&list);
    return ok;
}

static bool answer_rows(struct cn_served *served, struct cn_request *request,
                        struct cn_error *err)
{
    struct cn_served_view *entry;
    struct cn_row parent;
    bool has_parent;

    if (!cn_served_view(served, request, &entry, err) ||
        !cn_request_row(request, entry->view, &parent, &has_parent, err))
        return false;
    cn_json_object(&request->json);
    cn_json_columns(&request->json, &entry->costs);
    if (!add_children(entry, has_parent ? &parent : NULL, request, err))
        return false;
    cn_json_end(&request->json);
    return true;
}

bool cn_api_rows(struct cn_served *served, struct cn_request *request,
                 struct cn_error *err)
{
    bool ok;

    if (!cn_served_lock(served, err))
        return false;
    ok = answer_rows(served, request, err);
    cn_served_unlock(served);
    return ok;
}

static bool answer_hot_path(struct cn_served *served, struct cn_request *request,
                            struct cn_error *err)
{
    const double share = 0.5; /* a child below half of its parent ends the path */
    struct cn_json *json = &request->json;
    struct cn_served_view *entry;
    struct cn_row_list path;
    size_t column;
    bool ok;

    if (!cn_served_view(served, request, &entry, err) ||
        !cn_request_column(request, &entry->costs, &column, err))
        return false;
    cn_row_list_begin(&path, entry->costs.column_count);
    ok = cn_view_hot_path(entry->view, column, share, &path, err);
    cn_json_object(json);
    cn_json_key(json, "rows");
    cn_json_array(json);
    for (size_t i = 0; ok && i < path.count; i++)
        ok = cn_json_row(json, entry->view, &path.rows[i], err);
    cn_json_end(json);
    cn_json_end(json);
    cn_row_list_done(&path);
    return ok;
}

bool cn_api_hot_path(struct cn_served *served, struct cn_request *request,
                     struct cn_error *err)
{
    bool ok;

    if (!cn_served_lock(served, err))
        return false;
    ok = answer_hot_path(served, request, err);
    cn_served_unlock(served);
    return ok;
}

/* A hit with the rows above it, outermost first, so that a tree can be opened there. */
static bool add_hit(struct cn_served_view *entry, const struct cn_hottest *hottest,
                    uint32_t node, struct cn_json *json, struct cn_error *err)
{
    uint32_t path[CN_VIEW_LOOK_BACK];
    double values[CN_COST_COLUMN_MAX];
    struct cn_row row = {
        .id = hottest->index.nodes[node].at,
        .context = hottest->index.nodes[node].id,
        .values = values,
    };
    struct cn_context context;
    size_t depth = 0;

    if (!cn_context_at(entry->costs.db, row.id, &context, err))
        return false;
    row.kind = cn_row_kind_of(&context);
    cn_cost_rows_values(&entry->costs, &hottest->rows, node, values);
    for (uint32_t at = hottest->index.nodes[node].parent;
         at != CN_NONE && depth < CN_VIEW_LOOK_BACK; at = hottest->index.nodes[at].parent)
        path[depth++] = at;
    cn_json_object(json);
    cn_json_key(json, "path");
    cn_json_array(json);
    while (depth > 0)
        cn_json_id(json, hottest->index.nodes[path[--depth]].at);
    cn_json_end(json);
    cn_json_key(json, "row");
    if (!cn_json_row(json, entry->view, &row, err))
        return false;
    cn_json_end(json);
    return true;
}

static bool find_hits(struct cn_served_view *entry, struct cn_request *request,
                      const struct cn_name_filter *filter, struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_hottest_request wanted = {.kinds = ~0U, .filter = filter};
    struct cn_hottest hottest;
    uint64_t limit;
    bool ok;

    if (!cn_request_u64(request, "limit", 1, HIT_MAX, 100, &limit, err) ||
        !cn_request_column(request, &entry->costs, &wanted.column, err))
        return false;
    wanted.count = limit;
    ok = cn_hottest_find(&hottest, &entry->costs, &wanted, NULL, err);
    cn_json_object(json);
    cn_json_key(json, "hits");
    cn_json_array(json);
    for (size_t i = 0; ok && i < hottest.count; i++)
        ok = add_hit(entry, &hottest, hottest.nodes[i], json, err);
    cn_json_end(json);
    cn_json_end(json);
    cn_hottest_done(&hottest);
    return ok;
}

static bool answer_search(struct cn_served *served, struct cn_request *request,
                          struct cn_error *err)
{
    const char *pattern = cn_request_value(request, "q");
    const char *view = cn_request_value(request, "view");
    struct cn_name_filter filter = {0};
    struct cn_served_view *entry;
    bool ok;

    if (!pattern || !*pattern)
        return cn_fail(err, CN_ERR_USAGE, "q is missing: what should be searched for?");
    if (view && strcmp(view, "top-down") != 0)
        return cn_fail(err, CN_ERR_USAGE, "only the top-down view can be searched");
    ok = cn_name_filter_add(&filter, pattern, CN_MATCH_REGEX, err) &&
         cn_served_view(served, request, &entry, err) &&
         find_hits(entry, request, &filter, err);
    cn_name_filter_done(&filter);
    return ok;
}

bool cn_api_search(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    bool ok;

    if (!cn_served_lock(served, err))
        return false;
    ok = answer_search(served, request, err);
    cn_served_unlock(served);
    return ok;
}
