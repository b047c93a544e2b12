/* Rows of a view by name: the hottest that match, each with the rows above it. */
#include <math.h>
#include <stdlib.h>

#include "analyze/views/cost_tree.h"
#include "base/alloc.h"
#include "base/name_filter.h"
#include "base/text.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/served.h"

enum { HIT_MAX = 500 };

struct hit {
    uint32_t number; /* of a node, group or row */
    double value;    /* NAN: none */
};

/* The hottest of many matches, found in one pass. */
struct hits {
    struct hit *list; /* until sorted, a heap with the coldest one first */
    size_t count, limit;
    uint64_t match_count;
};

enum known { UNKNOWN, MATCHES, DIFFERS };

struct search {
    struct cn_served_view *view;
    const struct cn_context_labels *labels;
    struct cn_name_filter filter;
    size_t column;
    bool *is_match;           /* by label */
    unsigned char *functions; /* enum known, by function */
    struct cn_text text;
    struct hits hits;
};

/* Largest value first, those without a value last; of equals, smaller numbers first. */
static int compare_hits(const void *left, const void *right)
{
    const struct hit *a = left, *b = right;
    double x = isnan(a->value) ? -INFINITY : a->value;
    double y = isnan(b->value) ? -INFINITY : b->value;

    return x != y ? (x < y) - (x > y) : (a->number > b->number) - (a->number < b->number);
}

static bool is_hotter(const struct hit *a, const struct hit *b)
{
    return compare_hits(a, b) < 0;
}

static void swap(struct hit *a, struct hit *b)
{
    struct hit other = *a;

    *a = *b;
    *b = other;
}

/* Numbers are added in rising order. */
static void add_match(struct hits *hits, uint32_t number, double value)
{
    struct hit *heap = hits->list;
    size_t i = hits->count;

    hits->match_count++;
    if (i < hits->limit) {
        heap[hits->count++] = (struct hit){number, value};
        for (; i > 0 && is_hotter(&heap[(i - 1) / 2], &heap[i]); i = (i - 1) / 2)
            swap(&heap[(i - 1) / 2], &heap[i]);
        return;
    }
    /* Of equals, the smaller number stays. */
    if (isnan(value) || (!isnan(heap[0].value) && !(value > heap[0].value)))
        return;
    heap[0] = (struct hit){number, value};
    for (size_t at = 0, child = 1; child < hits->count; at = child, child = 2 * at + 1) {
        if (child + 1 < hits->count && is_hotter(&heap[child], &heap[child + 1]))
            child++;
        if (is_hotter(&heap[child], &heap[at]))
            break;
        swap(&heap[child], &heap[at]);
    }
}

static void begin_hits(struct search *search, struct cn_json *json)
{
    struct hits *hits = &search->hits;

    if (hits->count > 1)
        qsort(hits->list, hits->count, sizeof(*hits->list), compare_hits);
    cn_json_object(json);
    cn_json_add_u64(json, "count", hits->match_count);
    cn_json_key(json, "hits");
    cn_json_array(json);
}

static bool add_hit(struct search *search, const struct cn_row *row, struct cn_json *json,
                    struct cn_error *err)
{
    cn_json_key(json, "row");
    if (!cn_json_row(json, search->view->view, row, err))
        return false;
    cn_json_end(json);
    return true;
}

static void end_hits(struct cn_json *json)
{
    cn_json_end(json);
    cn_json_end(json);
}

/* Each label is matched once. */
static void match_labels(struct search *search)
{
    const struct cn_names *names = &search->labels->names;

    search->is_match = cn_alloc(names->count, sizeof(*search->is_match));
    for (size_t i = 0; i < names->count; i++)
        search->is_match[i] = cn_name_filter_matches(&search->filter, names->list[i]);
}

/* All contexts of the top-down view. */
static bool search_contexts(struct search *search, struct cn_json *json,
                            struct cn_error *err)
{
    const struct cn_context_index *index = search->view->index;
    struct cn_costs *costs = &search->view->costs;
    double values[CN_COST_COLUMN_MAX];
    bool ok = true;

    match_labels(search);
    for (uint32_t i = 0; i < index->count; i++)
        if (search->is_match[search->labels->of_node[i]])
            add_match(&search->hits, i, search->view->node_values[i]);
    begin_hits(search, json);
    for (size_t i = 0; ok && i < search->hits.count; i++) {
        const struct cn_context_node *node = &index->nodes[search->hits.list[i].number];
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
    }
    end_hits(json);
    return ok;
}

static bool label_matches(struct search *search, const struct cn_row *row, bool *out,
                          struct cn_error *err)
{
    struct cn_view *view = search->view->view;

    cn_text_clear(&search->text);
    if (!view->ops->label(view, row, &search->text, err))
        return false;
    *out = cn_name_filter_matches(&search->filter, cn_text_str(&search->text));
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
    cn_json_key(json, "path");
    cn_json_array(json);
    while (depth > 0)
        cn_json_id(json, path[--depth]);
    cn_json_end(json);
}

/* All rows of a flat or collapsed view. */
static bool search_groups(struct search *search, struct cn_json *json,
                          struct cn_error *err)
{
    struct cn_view *view = search->view->view;
    size_t count;
    const struct cn_cost_group *groups = cn_cost_tree_view_groups(view, &count);
    double values[CN_COST_COLUMN_MAX];
    bool is_match, ok = true;

    match_labels(search);
    search->functions =
        cn_alloc(view->costs->db->function_count, sizeof(*search->functions));
    for (uint32_t i = 0; i < count; i++) {
        if (!group_matches(search, &groups[i], i, &is_match, err))
            return false;
        if (is_match)
            add_match(&search->hits, i, cn_cost_tree_view_value(view, i, search->column));
    }
    begin_hits(search, json);
    for (size_t i = 0; ok && i < search->hits.count; i++) {
        uint32_t number = search->hits.list[i].number;
        struct cn_row row = cn_cost_tree_view_row(view, number, values);

        cn_json_object(json);
        add_group_path(json, groups, groups[number].parent);
        ok = add_hit(search, &row, json, err);
    }
    end_hits(json);
    return ok;
}

/* The functions at the top of the bottom-up view. */
static bool search_functions(struct search *search, struct cn_json *json,
                             struct cn_error *err)
{
    struct cn_row_list rows = {0};
    bool is_match, ok;

    ok = cn_view_children(search->view->view, NULL, search->column, false, &rows, err);
    for (uint32_t i = 0; ok && i < rows.count; i++) {
        ok = label_matches(search, &rows.rows[i], &is_match, err);
        if (ok && is_match)
            add_match(&search->hits, i, rows.rows[i].values[search->column]);
    }
    begin_hits(search, json);
    for (size_t i = 0; ok && i < search->hits.count; i++) {
        cn_json_object(json);
        add_group_path(json, NULL, CN_NONE);
        ok = add_hit(search, &rows.rows[search->hits.list[i].number], json, err);
    }
    end_hits(json);
    cn_row_list_done(&rows);
    return ok;
}

static bool answer(struct cn_served *served, struct cn_served_view *view,
                   struct cn_request *request, struct cn_error *err)
{
    struct search search = {.view = view, .labels = &served->structure.labels};
    uint64_t limit;
    bool ok;

    if (!cn_request_u64(request, "limit", 1, HIT_MAX, 100, &limit, err) ||
        !cn_request_column(request, &view->costs, &search.column, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_LABELS, err) ||
        !cn_name_filter_add(&search.filter, cn_request_value(request, "q"),
                            CN_MATCH_REGEX, err))
        return false;
    search.hits.limit = limit;
    search.hits.list = cn_alloc(limit, sizeof(*search.hits.list));
    ok = view->kind == CN_VIEW_TOP_DOWN ? search_contexts(&search, &request->json, err)
         : view->kind == CN_VIEW_BOTTOM_UP
             ? search_functions(&search, &request->json, err)
             : search_groups(&search, &request->json, err);
    cn_name_filter_done(&search.filter);
    cn_text_done(&search.text);
    free(search.hits.list);
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
    return cn_api_with_view(served, &question, request, answer, err);
}
