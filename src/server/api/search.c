/* Rows of a view by name: the hottest that match, each with the rows above it. */
#include <math.h>
#include <stdlib.h>

#include "analyze/views/cost_tree.h"
#include "base/alloc.h"
#include "base/best.h"
#include "base/name_filter.h"
#include "base/text.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"

enum {
    HIT_MAX = 500,
    FORGET_EVERY = 16, /* hits: their values are far from each other in the database */
};

enum known { UNKNOWN, MATCHES, DIFFERS };

struct api_search {
    struct cn_served_view *view;
    const struct cn_context_labels *labels;
    struct cn_name_filter filter;
    size_t column;
    bool *is_match; /* by label */
    unsigned char
        *functions; /* enum known of rows of functions, by label of their context */
    struct cn_text text;
    struct cn_best hits;
};

static void add_match(struct api_search *search, uint32_t number, double value)
{
    struct cn_best_item item = cn_best_of_value(value, number);

    if (search->view->view->hides_empty && isnan(value))
        return;
    cn_best_offer(&search->hits, &item);
}

static void begin_hits(struct api_search *search, struct cn_json *json)
{
    cn_best_sort(&search->hits, 0);
    if (search->view->is_estimate)
        cn_json_add_bool(json, "isPartial", true);
    cn_json_add_u64(json, "count", search->hits.offered);
    cn_json_add_array(json, "hits");
}

static bool add_hit(struct api_search *search, const struct cn_row *row,
                    struct cn_json *json, struct cn_error *err)
{
    cn_json_key(json, "row");
    if (!cn_json_row(json, search->view->view, row, err))
        return false;
    cn_json_end(json);
    return true;
}

/* Each label is matched once. */
static void match_labels(struct api_search *search)
{
    const struct cn_names *names = &search->labels->names;

    search->is_match = cn_alloc(names->count, sizeof(*search->is_match));
    for (size_t i = 0; i < names->count; i++)
        search->is_match[i] = cn_name_filter_matches(&search->filter, names->list[i]);
}

/* All contexts of the top-down view. */
static bool search_contexts(struct api_search *search, struct cn_json *json,
                            struct cn_error *err)
{
    const struct cn_context_index *index = search->view->index;
    struct cn_costs *costs = &search->view->costs;
    double values[CN_COST_COLUMN_MAX];
    bool ok = true;

    match_labels(search);
    for (uint32_t i = 0; i < index->count; i++)
        if (search->is_match[search->labels->of_node[i]])
            add_match(search, i, search->view->node_values[i]);
    begin_hits(search, json);
    for (size_t i = 0; ok && i < search->hits.count; i++) {
        const struct cn_context_node *node =
            &index->nodes[cn_best_number(&search->hits.list[i])];
        struct cn_row row = {.id = node->at, .example = node->at, .values = values};
        struct cn_context context;

        ok = cn_context_at(costs->db, node->at, &context, err) &&
             cn_costs_of_context(costs, context.id, values, err);
        if (!ok)
            break;
        row.kind = cn_row_kind_of(&context);
        row.context = context.id;
        cn_json_object(json);
        cn_json_path(json, index, node->parent);
        ok = add_hit(search, &row, json, err);
        if (i % FORGET_EVERY == FORGET_EVERY - 1)
            cn_database_forget(costs->db);
    }
    cn_json_end(json);
    return ok;
}

static bool label_matches(struct api_search *search, const struct cn_row *row, bool *out,
                          struct cn_error *err)
{
    struct cn_view *view = search->view->view;

    cn_text_clear(&search->text);
    if (!view->ops->label(view, row, &search->text, err))
        return false;
    *out = cn_name_filter_matches(&search->filter, cn_text_str(&search->text));
    return true;
}

/* Rows share most of their labels: lines and loops with contexts, functions with those of which the
 * contexts have the same label. */
static bool group_matches(struct api_search *search, const struct cn_cost_group *group,
                          uint32_t number, bool *out, struct cn_error *err)
{
    uint32_t label = search->labels->of_node[group->node];
    struct cn_row row = {.id = number, .kind = group->kind, .context = CN_NONE};
    unsigned char *known;

    if ((group->kind == CN_ROW_LINE || group->kind == CN_ROW_LOOP) && group->is_known) {
        *out = search->is_match[label];
        return true;
    }
    if (group->kind != CN_ROW_FUNCTION || !group->is_known)
        return label_matches(search, &row, out, err);
    known = &search->functions[label];
    if (*known == UNKNOWN) {
        if (!label_matches(search, &row, out, err))
            return false;
        *known = *out ? MATCHES : DIFFERS;
    }
    *out = *known == MATCHES;
    return true;
}

static void add_group_path(struct cn_json *json, const struct cn_cost_group *groups,
                           uint32_t row)
{
    uint32_t path[CN_VIEW_LOOK_BACK];
    size_t depth = 0;

    for (; row != CN_NONE && depth < CN_VIEW_LOOK_BACK; row = groups[row].parent)
        path[depth++] = row;
    cn_json_add_array(json, "path");
    while (depth > 0)
        cn_json_id(json, path[--depth]);
    cn_json_end(json);
}

/* All rows of a flat or collapsed view. */
static bool search_groups(struct api_search *search, struct cn_json *json,
                          struct cn_error *err)
{
    struct cn_view *view = search->view->view;
    size_t count;
    const struct cn_cost_group *groups = cn_cost_tree_view_groups(view, &count);
    double values[CN_COST_COLUMN_MAX];
    bool is_match, ok = true;

    match_labels(search);
    search->functions = cn_alloc(search->labels->names.count, sizeof(*search->functions));
    for (uint32_t i = 0; i < count; i++) {
        if (!group_matches(search, &groups[i], i, &is_match, err))
            return false;
        if (is_match)
            add_match(search, i, cn_cost_tree_view_value(view, i, search->column));
    }
    begin_hits(search, json);
    for (size_t i = 0; ok && i < search->hits.count; i++) {
        uint32_t number = cn_best_number(&search->hits.list[i]);
        struct cn_row row = cn_cost_tree_view_row(view, number, values);

        cn_json_object(json);
        add_group_path(json, groups, groups[number].parent);
        ok = add_hit(search, &row, json, err);
    }
    cn_json_end(json);
    return ok;
}

/* The functions at the top of the bottom-up view. */
static bool search_functions(struct api_search *search, struct cn_json *json,
                             struct cn_error *err)
{
    struct cn_row_list rows = {0};
    bool is_match, ok;

    ok = cn_view_children(search->view->view, NULL, search->column, false, &rows, err);
    for (uint32_t i = 0; ok && i < rows.count; i++) {
        ok = label_matches(search, &rows.rows[i], &is_match, err);
        if (ok && is_match)
            add_match(search, i, rows.rows[i].values[search->column]);
    }
    begin_hits(search, json);
    for (size_t i = 0; ok && i < search->hits.count; i++) {
        cn_json_object(json);
        add_group_path(json, NULL, CN_NONE);
        ok =
            add_hit(search, &rows.rows[cn_best_number(&search->hits.list[i])], json, err);
    }
    cn_json_end(json);
    cn_row_list_done(&rows);
    return ok;
}

static bool answer(struct cn_served *served, struct cn_served_view *view,
                   struct cn_request *request, struct cn_error *err)
{
    struct api_search search = {.view = view, .labels = &served->structure.labels};
    uint64_t limit;

    if (!cn_request_u64(request, "limit", 1, HIT_MAX, 100, &limit, err) ||
        !cn_request_column(request, &view->costs, &search.column, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_LABELS, err) ||
        !cn_name_filter_add(&search.filter, cn_request_value(request, "q"),
                            CN_MATCH_REGEX, err))
        return false;
    cn_best_init(&search.hits, (size_t)limit);
    bool ok =
        view->kind == CN_VIEW_TOP_DOWN    ? search_contexts(&search, &request->json, err)
        : view->kind == CN_VIEW_BOTTOM_UP ? search_functions(&search, &request->json, err)
                                          : search_groups(&search, &request->json, err);
    cn_name_filter_done(&search.filter);
    cn_text_done(&search.text);
    cn_best_done(&search.hits);
    free(search.is_match);
    free(search.functions);
    return ok;
}

bool cn_api_search(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    const char *pattern = cn_request_value(request, "q");
    struct cn_view_question question;

    if (!pattern || !*pattern)
        return cn_fail(err, CN_ERR_USAGE, "parameter q is missing: the pattern to find");
    if (!cn_request_view(request, &question, err))
        return false;
    question.has_values = question.kind == CN_VIEW_TOP_DOWN;
    question.takes_estimate = true;
    return cn_api_with_ranged_view(served, &question, request, answer, err);
}
