/* Contexts by name: the hottest that match, each with the rows above it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/label.h"
#include "analyze/name_filter.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/api.h"
#include "server/request.h"
#include "server/rows_json.h"
#include "server/served.h"

/* Matches whose costs are looked up to find the hottest among them. */
enum { HIT_MAX = 500, MATCH_MAX = 20000 };

struct match {
    uint32_t node;
    double value;
};

struct search {
    struct cn_served_view *entry;
    const struct cn_context_index *index;
    const struct cn_name_filter *filter;
    signed char *is_named; /* by function: 1 it matches, -1 it does not, 0 not known */
    struct match *matches;
    size_t count, capacity;
    uint64_t match_count;
};

/* Functions have many contexts: each name is looked at once. */
static bool matches_function(struct search *search, uint32_t function, bool *out,
                             struct cn_error *err)
{
    struct cn_database *db = search->entry->costs.db;
    struct cn_text label = {0};
    bool ok = true;

    if (function >= db->function_count) {
        *out = false;
        return true;
    }
    if (search->is_named[function] == 0) {
        ok = cn_label_function(db, function, &label, err);
        search->is_named[function] =
            cn_name_filter_matches(search->filter, cn_text_str(&label)) ? 1 : -1;
        cn_text_done(&label);
    }
    *out = search->is_named[function] > 0;
    return ok;
}

static bool matches_label(struct search *search, const struct cn_context *context,
                          bool *out, struct cn_error *err)
{
    struct cn_text label = {0};
    bool ok = cn_label_context(search->entry->costs.db, context, &label, err);

    *out = ok && cn_name_filter_matches(search->filter, cn_text_str(&label));
    cn_text_done(&label);
    return ok;
}

static bool look_at(struct search *search, uint32_t node, size_t column,
                    struct cn_error *err)
{
    struct cn_database *db = search->entry->costs.db;
    double values[CN_COST_COLUMN_MAX];
    struct cn_context context;
    bool is_match;

    if (!cn_context_at(db, search->index->nodes[node].at, &context, err) ||
        !(context.kind == CN_CONTEXT_FUNCTION && context.has_function
              ? matches_function(search, context.function, &is_match, err)
              : matches_label(search, &context, &is_match, err)))
        return false;
    if (!is_match || ++search->match_count > MATCH_MAX)
        return true;
    if (!cn_costs_of_context(&search->entry->costs, context.id, values, err))
        return false;
    search->matches = cn_grow(search->matches, search->count, &search->capacity,
                              sizeof(*search->matches));
    search->matches[search->count++] = (struct match){node, values[column]};
    return true;
}

/* Largest first, those without a value last, equals in the order of the tree. */
static int compare_matches(const void *left, const void *right)
{
    const struct match *a = left, *b = right;
    double x = isnan(a->value) ? -INFINITY : a->value;
    double y = isnan(b->value) ? -INFINITY : b->value;

    return x != y ? (x < y) - (x > y) : (a->node > b->node) - (a->node < b->node);
}

static bool add_hit(struct search *search, uint32_t node, struct cn_json *json,
                    struct cn_error *err)
{
    const struct cn_context_index *index = search->index;
    uint32_t path[CN_VIEW_LOOK_BACK];
    double values[CN_COST_COLUMN_MAX];
    struct cn_row row = {.id = index->nodes[node].at, .values = values};
    struct cn_context context;
    size_t depth = 0;

    if (!cn_context_at(search->entry->costs.db, row.id, &context, err) ||
        !cn_costs_of_context(&search->entry->costs, context.id, values, err))
        return false;
    row.kind = cn_row_kind_of(&context);
    row.context = context.id;
    for (uint32_t at = index->nodes[node].parent;
         at != CN_NONE && depth < CN_VIEW_LOOK_BACK; at = index->nodes[at].parent)
        path[depth++] = at;
    cn_json_object(json);
    cn_json_key(json, "path");
    cn_json_array(json);
    while (depth > 0)
        cn_json_id(json, index->nodes[path[--depth]].at);
    cn_json_end(json);
    cn_json_key(json, "row");
    if (!cn_json_row(json, search->entry->view, &row, err))
        return false;
    cn_json_end(json);
    return true;
}

static bool find(struct search *search, struct cn_request *request, struct cn_error *err)
{
    struct cn_json *json = &request->json;
    uint64_t limit;
    size_t column;
    bool ok = true;

    if (!cn_request_u64(request, "limit", 1, HIT_MAX, 100, &limit, err) ||
        !cn_request_column(request, &search->entry->costs, &column, err))
        return false;
    for (size_t i = 0; ok && i < search->index->count; i++)
        ok = look_at(search, (uint32_t)i, column, err);
    qsort(search->matches, search->count, sizeof(*search->matches), compare_matches);
    cn_json_object(json);
    cn_json_add_u64(json, "count", search->match_count);
    cn_json_key(json, "hits");
    cn_json_array(json);
    for (size_t i = 0; ok && i < search->count && i < limit; i++)
        ok = add_hit(search, search->matches[i].node, json, err);
    cn_json_end(json);
    cn_json_end(json);
    return ok;
}

static bool answer(struct cn_served *served, struct cn_request *request,
                   const struct cn_name_filter *filter, struct cn_error *err)
{
    struct search search = {.filter = filter};
    struct cn_frames *frames;
    bool ok;

    if (!cn_served_view(served, request, &search.entry, err) ||
        !cn_served_frames(served, &frames, err))
        return false;
    search.index = &frames->index;
    search.is_named = cn_alloc(served->db->function_count, sizeof(*search.is_named));
    ok = find(&search, request, err);
    free(search.is_named);
    free(search.matches);
    return ok;
}

bool cn_api_search(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    const char *pattern = cn_request_value(request, "q");
    const char *view = cn_request_value(request, "view");
    struct cn_name_filter filter = {0};
    bool ok;

    if (!pattern || !*pattern)
        return cn_fail(err, CN_ERR_USAGE, "q is missing: what should be searched for?");
    if (view && strcmp(view, "top-down") != 0)
        return cn_fail(err, CN_ERR_USAGE, "only the top-down view can be searched");
    if (!cn_name_filter_add(&filter, pattern, CN_MATCH_REGEX, err))
        return false;
    ok = cn_served_lock(served, err);
    if (ok) {
        ok = answer(served, request, &filter, err);
        cn_served_unlock(served);
    }
    cn_name_filter_done(&filter);
    return ok;
}
