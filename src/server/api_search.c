/* Contexts by name: the hottest that match, each with the rows above it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/name_filter.h"
#include "base/alloc.h"
#include "base/text.h"
#include "server/api.h"
#include "server/request.h"
#include "server/rows_json.h"
#include "server/served.h"

enum { HIT_MAX = 500 };

struct match {
    uint32_t node;
    double value;
};

struct search {
    struct cn_served_view *entry;
    const struct cn_context_index *index;
    const struct cn_context_labels *labels;
    struct match *matches; /* the hottest so far, the coldest of them first */
    size_t count, limit;
    uint64_t match_count;
};

/* Largest first, those without a value last, equals in the order of the tree. */
static int compare_matches(const void *left, const void *right)
{
    const struct match *a = left, *b = right;
    double x = isnan(a->value) ? -INFINITY : a->value;
    double y = isnan(b->value) ? -INFINITY : b->value;

    return x != y ? (x < y) - (x > y) : (a->node > b->node) - (a->node < b->node);
}

static void swap(struct match *a, struct match *b)
{
    struct match kept = *a;

    *a = *b;
    *b = kept;
}

static bool is_hotter(const struct match *a, const struct match *b)
{
    return compare_matches(a, b) < 0;
}

/* A heap of the hottest: what is at its top goes first. */
static void keep_match(struct search *search, struct match match)
{
    struct match *heap = search->matches;
    size_t i = search->count;

    if (i < search->limit) {
        heap[search->count++] = match;
        for (; i > 0 && is_hotter(&heap[(i - 1) / 2], &heap[i]); i = (i - 1) / 2)
            swap(&heap[(i - 1) / 2], &heap[i]);
        return;
    }
    /* Matches come in the order of the tree: of equals, those that are there stay. */
    if (!(match.value > heap[0].value) && !isnan(heap[0].value))
        return;
    if (!is_hotter(&match, &heap[0]))
        return;
    heap[0] = match;
    for (size_t child = 1, at = 0; child < search->count;
         at = child, child = 2 * at + 1) {
        if (child + 1 < search->count && is_hotter(&heap[child], &heap[child + 1]))
            child++;
        if (is_hotter(&heap[child], &heap[at]))
            break;
        swap(&heap[child], &heap[at]);
    }
}

/* Look through all contexts; each label is tried once. */
static void find_matches(struct search *search, const struct cn_name_filter *filter)
{
    const struct cn_names *names = &search->labels->names;
    bool *is_match = cn_alloc(names->count, sizeof(*is_match));

    for (size_t i = 0; i < names->count; i++)
        is_match[i] = cn_name_filter_matches(filter, names->list[i]);
    for (size_t i = 0; i < search->index->count; i++) {
        if (!is_match[search->labels->of_node[i]])
            continue;
        search->match_count++;
        keep_match(search, (struct match){(uint32_t)i, search->entry->node_values[i]});
    }
    free(is_match);
    qsort(search->matches, search->count, sizeof(*search->matches), compare_matches);
}

static bool add_hit(struct search *search, uint32_t node, struct cn_json *json,
                    struct cn_error *err)
{
    const struct cn_context_index *index = search->index;
    double values[CN_COST_COLUMN_MAX];
    struct cn_row row = {.id = index->nodes[node].at, .values = values};
    struct cn_context context;

    if (!cn_context_at(search->entry->costs.db, row.id, &context, err) ||
        !cn_costs_of_context(&search->entry->costs, context.id, values, err))
        return false;
    row.kind = cn_row_kind_of(&context);
    row.context = context.id;
    row.example = row.id;
    cn_json_object(json);
    cn_json_path(json, index, index->nodes[node].parent);
    cn_json_key(json, "row");
    if (!cn_json_row(json, search->entry->view, &row, err))
        return false;
    cn_json_end(json);
    return true;
}

static bool find(struct search *search, struct cn_request *request,
                 const struct cn_name_filter *filter, struct cn_error *err)
{
    struct cn_json *json = &request->json;
    bool ok = true;

    search->matches = cn_alloc(search->limit, sizeof(*search->matches));
    find_matches(search, filter);
    cn_json_object(json);
    cn_json_add_u64(json, "count", search->match_count);
    cn_json_key(json, "hits");
    cn_json_array(json);
    for (size_t i = 0; ok && i < search->count; i++)
        ok = add_hit(search, search->matches[i].node, json, err);
    cn_json_end(json);
    cn_json_end(json);
    free(search->matches);
    return ok;
}

static bool answer(struct cn_served *served, struct cn_served_view *entry,
                   struct cn_request *request, struct cn_error *err)
{
    struct search search = {.entry = entry};
    struct cn_name_filter filter = {0};
    uint64_t limit;
    bool ok;

    if (!cn_request_u64(request, "limit", 1, HIT_MAX, 100, &limit, err) ||
        !cn_served_labels(served, &search.labels, err) ||
        !cn_name_filter_add(&filter, cn_request_value(request, "q"), CN_MATCH_REGEX, err))
        return false;
    search.index = entry->index;
    search.limit = limit;
    ok = find(&search, request, &filter, err);
    cn_name_filter_done(&filter);
    return ok;
}

bool cn_api_search(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    const char *pattern = cn_request_value(request, "q");
    const char *view = cn_request_value(request, "view");

    if (!pattern || !*pattern)
        return cn_fail(err, CN_ERR_USAGE, "q is missing: what should be searched for?");
    if (view && strcmp(view, "top-down") != 0)
        return cn_served_answer(served, request, cn_api_search_rows, err);
    return cn_served_answer_values(served, request, answer, err);
}
