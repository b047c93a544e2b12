/* Rows by name, in views whose rows stand for many contexts: the hottest that match, each
 * with the rows above it. Of the bottom-up view, the functions themselves. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cost_tree.h"
#include "analyze/name_filter.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/api.h"
#include "server/request.h"
#include "server/rows_json.h"
#include "server/served.h"

enum { HIT_MAX = 500 };

enum known { NOT_KNOWN, MATCHES, MATCHES_NOT };

/* A row that was looked at. */
struct visit {
    uint64_t id;
    uint32_t parent; /* visit; CN_NONE at the top */
};

struct match {
    uint32_t visit;
    double value;
};

/* The rows of one level that are still to be looked at. */
struct level {
    struct cn_row_list list;
    size_t next;
    uint32_t parent;
};

struct search {
    struct cn_view *view;
    const struct cn_name_filter *filter;
    size_t column;
    bool is_deep;           /* rows below the top are searched, too */
    enum known *functions;  /* by function, where rows are those of a cost tree */
    struct cn_names labels; /* each is tried once */
    bool *is_match;         /* by label */
    size_t label_capacity;
    struct visit *visits;
    size_t visit_count, visit_capacity;
    struct match *matches;
    size_t match_count, match_capacity;
    struct level *levels;
    size_t depth, level_capacity;
    uint64_t weight;
    struct cn_row_list listed; /* the rows below `listed_of`, for hits that share them */
    uint32_t listed_of;
    bool is_listed;
};

static bool label_matches(struct search *search, const struct cn_row *row, bool *out,
                          struct cn_error *err)
{
    struct cn_text label = {0};
    size_t known = search->labels.count;
    uint32_t number;

    if (!search->view->ops->label(search->view, row, &label, err)) {
        cn_text_done(&label);
        return false;
    }
    number = cn_names_add(&search->labels, cn_text_str(&label));
    search->is_match = cn_grow(search->is_match, number, &search->label_capacity,
                               sizeof(*search->is_match));
    if (number == known)
        search->is_match[number] =
            cn_name_filter_matches(search->filter, cn_text_str(&label));
    *out = search->is_match[number];
    cn_text_done(&label);
    return true;
}

/* Functions have many rows: one look at the name is enough. */
static bool matches(struct search *search, const struct cn_row *row, bool *out,
                    struct cn_error *err)
{
    const struct cn_row_place *place =
        search->is_deep ? cn_cost_tree_view_place(search->view, row->id) : NULL;
    enum known *known;

    if (!place || place->kind != CN_ROW_FUNCTION || place->function == CN_NONE)
        return label_matches(search, row, out, err);
    known = &search->functions[place->function];
    if (*known == NOT_KNOWN) {
        if (!label_matches(search, row, out, err))
            return false;
        *known = *out ? MATCHES : MATCHES_NOT;
    }
    *out = *known == MATCHES;
    return true;
}

static bool push_level(struct search *search, const struct cn_row *parent, uint32_t visit,
                       struct cn_error *err)
{
    struct level *level;

    search->levels = cn_grow(search->levels, search->depth, &search->level_capacity,
                             sizeof(*search->levels));
    level = &search->levels[search->depth++];
    *level = (struct level){.parent = visit};
    cn_row_list_begin(&level->list, search->view->costs->column_count);
    return search->view->ops->children(search->view, parent, &level->list, err) &&
           cn_view_weigh(search->view, &level->list, &search->weight, err);
}

static bool look_at(struct search *search, const struct cn_row *row, uint32_t parent,
                    struct cn_error *err)
{
    uint32_t visit = (uint32_t)search->visit_count;
    bool is_match;

    search->visits = cn_grow(search->visits, search->visit_count, &search->visit_capacity,
                             sizeof(*search->visits));
    search->visits[search->visit_count++] = (struct visit){row->id, parent};
    if (!matches(search, row, &is_match, err))
        return false;
    if (is_match) {
        search->matches = cn_grow(search->matches, search->match_count,
                                  &search->match_capacity, sizeof(*search->matches));
        search->matches[search->match_count++] =
            (struct match){visit, row->values[search->column]};
    }
    return !search->is_deep || search->view->ops->is_leaf(search->view, row) ||
           push_level(search, row, visit, err);
}

static bool look_everywhere(struct search *search, struct cn_error *err)
{
    bool ok = push_level(search, NULL, CN_NONE, err);

    while (ok && search->depth > 0) {
        struct level *level = &search->levels[search->depth - 1];

        if (level->next == level->list.count) {
            cn_row_list_done(&level->list);
            search->depth--;
            continue;
        }
        ok = look_at(search, &level->list.rows[level->next++], level->parent, err);
    }
    while (search->depth > 0)
        cn_row_list_done(&search->levels[--search->depth].list);
    return ok;
}

/* Largest first, those without a value last, equals in the order of the tree. */
static int compare_matches(const void *left, const void *right)
{
    const struct match *a = left, *b = right;
    double x = isnan(a->value) ? -INFINITY : a->value;
    double y = isnan(b->value) ? -INFINITY : b->value;

    return x != y ? (x < y) - (x > y) : (a->visit > b->visit) - (a->visit < b->visit);
}

static void add_path(const struct search *search, uint32_t visit, struct cn_json *json)
{
    uint64_t path[CN_VIEW_LOOK_BACK];
    size_t depth = 0;

    for (; visit != CN_NONE && depth < CN_VIEW_LOOK_BACK;
         visit = search->visits[visit].parent)
        path[depth++] = search->visits[visit].id;
    cn_json_key(json, "path");
    cn_json_array(json);
    while (depth > 0)
        cn_json_id(json, path[--depth]);
    cn_json_end(json);
}

/* Rows are listed once more, for their values. */
static bool list_below(struct search *search, uint32_t visit, struct cn_error *err)
{
    struct cn_row parent = {.context = CN_NONE};

    if (search->is_listed && search->listed_of == visit)
        return true;
    if (visit != CN_NONE)
        parent.id = search->visits[visit].id;
    cn_row_list_done(&search->listed);
    search->listed_of = visit;
    search->is_listed = true;
    return cn_view_children(search->view, visit == CN_NONE ? NULL : &parent,
                            search->column, false, &search->listed, err);
}

static bool add_hit(struct search *search, const struct visit *visit,
                    struct cn_json *json, struct cn_error *err)
{
    const struct cn_row_list *list = &search->listed;
    size_t i = 0;

    if (!list_below(search, visit->parent, err))
        return false;
    while (i < list->count && list->rows[i].id != visit->id)
        i++;
    if (i == list->count)
        return true;
    cn_json_object(json);
    add_path(search, visit->parent, json);
    cn_json_key(json, "row");
    if (!cn_json_row(json, search->view, &list->rows[i], err))
        return false;
    cn_json_end(json);
    return true;
}

static bool add_hits(struct search *search, uint64_t limit, struct cn_json *json,
                     struct cn_error *err)
{
    bool ok = true;

    if (search->match_count > 1)
        qsort(search->matches, search->match_count, sizeof(*search->matches),
              compare_matches);
    cn_json_object(json);
    cn_json_add_u64(json, "count", search->match_count);
    cn_json_key(json, "hits");
    cn_json_array(json);
    for (size_t i = 0; ok && i < search->match_count && i < limit; i++)
        ok = add_hit(search, &search->visits[search->matches[i].visit], json, err);
    cn_json_end(json);
    cn_json_end(json);
    return ok;
}

bool cn_api_search_rows(struct cn_served *served, struct cn_served_view *entry,
                        struct cn_request *request, struct cn_error *err)
{
    const char *name = cn_request_value(request, "view");
    struct search search = {
        .view = entry->view,
        .is_deep = name && strcmp(name, "bottom-up") != 0,
    };
    struct cn_name_filter filter = {0};
    uint64_t limit;
    bool ok;

    (void)served;
    if (!cn_request_u64(request, "limit", 1, HIT_MAX, 100, &limit, err) ||
        !cn_request_column(request, &entry->costs, &search.column, err) ||
        !cn_name_filter_add(&filter, cn_request_value(request, "q"), CN_MATCH_REGEX, err))
        return false;
    search.filter = &filter;
    search.functions =
        cn_alloc(entry->costs.db->function_count, sizeof(*search.functions));
    ok = look_everywhere(&search, err) && add_hits(&search, limit, &request->json, err);
    cn_name_filter_done(&filter);
    cn_names_done(&search.labels);
    cn_row_list_done(&search.listed);
    free(search.is_match);
    free(search.functions);
    free(search.visits);
    free(search.matches);
    free(search.levels);
    return ok;
}
