/* Rows by name, in views whose rows stand for many contexts: the hottest that match, each
 * with the rows above it. Of the bottom-up view, the functions themselves. */
#include <stdlib.h>
#include <string.h>

#include "analyze/views/cost_tree.h"
#include "base/alloc.h"
#include "base/name_filter.h"
#include "base/text.h"
#include "server/api/api.h"
#include "server/api/context_search.h"
#include "server/api/hottest_hits.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"

enum known { NOT_KNOWN, MATCHES, MATCHES_NOT };

struct search {
    struct cn_view *view;
    const struct cn_name_filter *filter;
    size_t column;
    const struct cn_context_labels *labels;
    bool *is_match;           /* by label */
    unsigned char *functions; /* what is known about the names of functions */
    struct cn_text text;
    struct cn_hits hits;
};

static bool label_matches(struct search *search, const struct cn_row *row, bool *out,
                          struct cn_error *err)
{
    cn_text_clear(&search->text);
    if (!search->view->ops->label(search->view, row, &search->text, err))
        return false;
    *out = cn_name_filter_matches(search->filter, cn_text_str(&search->text));
    return true;
}

/* Rows share most of their labels: functions by number, lines and loops with contexts. */
static bool group_matches(struct search *search, const struct cn_cost_group *group,
                          uint32_t number, bool *out, struct cn_error *err)
{
    const struct cn_row_place *place = &group->place;
    struct cn_row row = {.id = number, .kind = place->kind, .context = CN_NONE};
    unsigned char *known;

    if ((place->kind == CN_ROW_LINE || place->kind == CN_ROW_LOOP) &&
        place->file != CN_NONE) {
        *out = search->is_match[search->labels->of_node[group->node]];
        return true;
    }
    if (place->kind != CN_ROW_FUNCTION || place->function == CN_NONE)
        return label_matches(search, &row, out, err);
    known = &search->functions[place->function];
    if (*known == NOT_KNOWN) {
        if (!label_matches(search, &row, out, err))
            return false;
        *known = *out ? MATCHES : MATCHES_NOT;
    }
    *out = *known == MATCHES;
    return true;
}

static void add_path(const struct cn_cost_group *groups, uint32_t row,
                     struct cn_json *json)
{
    uint32_t path[CN_VIEW_LOOK_BACK];
    size_t depth = 0;

    for (; row != CN_NONE && depth < CN_VIEW_LOOK_BACK; row = groups[row].parent)
        path[depth++] = row;
    cn_json_key(json, "path");
    cn_json_array(json);
    while (depth > 0)
        cn_json_id(json, path[--depth]);
    cn_json_end(json);
}

/* With the path begun by the caller. */
static bool add_hit(struct search *search, const struct cn_row *row, struct cn_json *json,
                    struct cn_error *err)
{
    cn_json_key(json, "row");
    if (!cn_json_row(json, search->view, row, err))
        return false;
    cn_json_end(json);
    return true;
}

static void begin_hits(const struct search *search, struct cn_json *json)
{
    cn_json_object(json);
    cn_json_add_u64(json, "count", search->hits.match_count);
    cn_json_key(json, "hits");
    cn_json_array(json);
}

static void end_hits(struct cn_json *json)
{
    cn_json_end(json);
    cn_json_end(json);
}

static bool add_group_hits(struct search *search, const struct cn_cost_group *groups,
                           struct cn_json *json, struct cn_error *err)
{
    double values[CN_COST_COLUMN_MAX];
    bool ok = true;

    begin_hits(search, json);
    for (size_t i = 0; ok && i < search->hits.count; i++) {
        uint32_t number = search->hits.list[i].number;
        struct cn_row row = cn_cost_tree_view_row(search->view, number, values);

        cn_json_object(json);
        add_path(groups, groups[number].parent, json);
        ok = add_hit(search, &row, json, err);
    }
    end_hits(json);
    return ok;
}

/* All rows of a flat or collapsed view. */
static bool search_groups(struct search *search, struct cn_json *json,
                          struct cn_error *err)
{
    size_t count;
    const struct cn_cost_group *groups = cn_cost_tree_view_groups(search->view, &count);
    size_t function_count = search->view->costs->db->function_count;
    bool is_match;

    search->is_match = cn_context_search_labels(search->labels, search->filter);
    search->functions = cn_alloc(function_count, sizeof(*search->functions));
    for (size_t i = 0; i < count; i++) {
        if (!group_matches(search, &groups[i], (uint32_t)i, &is_match, err))
            return false;
        if (is_match)
            cn_hits_add(
                &search->hits, (uint32_t)i,
                cn_cost_tree_view_value(search->view, (uint32_t)i, search->column));
    }
    cn_hits_sort(&search->hits);
    return add_group_hits(search, groups, json, err);
}

static bool add_top_hits(struct search *search, const struct cn_row_list *rows,
                         struct cn_json *json, struct cn_error *err)
{
    bool ok = true;

    begin_hits(search, json);
    for (size_t i = 0; ok && i < search->hits.count; i++) {
        cn_json_object(json);
        add_path(NULL, CN_NONE, json);
        ok = add_hit(search, &rows->rows[search->hits.list[i].number], json, err);
    }
    end_hits(json);
    return ok;
}

/* The rows at the top of any view. */
static bool search_top(struct search *search, struct cn_json *json, struct cn_error *err)
{
    struct cn_row_list rows = {0};
    bool is_match, ok;

    ok = cn_view_children(search->view, NULL, search->column, false, &rows, err);
    for (size_t i = 0; ok && i < rows.count; i++) {
        ok = label_matches(search, &rows.rows[i], &is_match, err);
        if (ok && is_match)
            cn_hits_add(&search->hits, (uint32_t)i, rows.rows[i].values[search->column]);
    }
    cn_hits_sort(&search->hits);
    ok = ok && add_top_hits(search, &rows, json, err);
    cn_row_list_done(&rows);
    return ok;
}

bool cn_context_search_rows(struct cn_served *served, struct cn_served_view *entry,
                            struct cn_request *request, struct cn_error *err)
{
    struct search search = {.view = entry->view, .labels = &served->structure.labels};
    struct cn_name_filter filter = {0};
    uint64_t limit;
    bool ok;

    if (!cn_request_u64(request, "limit", 1, CN_CONTEXT_HIT_MAX, 100, &limit, err) ||
        !cn_request_column(request, &entry->costs, &search.column, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_LABELS, err) ||
        !cn_name_filter_add(&filter, cn_request_value(request, "q"), CN_MATCH_REGEX, err))
        return false;
    search.filter = &filter;
    cn_hits_begin(&search.hits, limit);
    ok = strcmp(cn_request_value(request, "view"), "bottom-up") == 0
             ? search_top(&search, &request->json, err)
             : search_groups(&search, &request->json, err);
    cn_name_filter_done(&filter);
    cn_hits_done(&search.hits);
    cn_text_done(&search.text);
    free(search.is_match);
    free(search.functions);
    return ok;
}
