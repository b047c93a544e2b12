/* Contexts by name: the hottest that match, each with the rows above it. */
#include <stdlib.h>

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

struct search {
    struct cn_served_view *entry;
    const struct cn_context_index *index;
    const struct cn_context_labels *labels;
    struct cn_hits hits;
};

bool *cn_context_search_labels(const struct cn_context_labels *labels,
                               const struct cn_name_filter *filter)
{
    const struct cn_names *names = &labels->names;
    bool *is_match = cn_alloc(names->count, sizeof(*is_match));

    for (size_t i = 0; i < names->count; i++)
        is_match[i] = cn_name_filter_matches(filter, names->list[i]);
    return is_match;
}

/* Look through all contexts; each label is tried once. */
static void find_matches(struct search *search, const struct cn_name_filter *filter)
{
    bool *is_match = cn_context_search_labels(search->labels, filter);

    for (size_t i = 0; i < search->index->count; i++)
        if (is_match[search->labels->of_node[i]])
            cn_hits_add(&search->hits, (uint32_t)i, search->entry->node_values[i]);
    free(is_match);
    cn_hits_sort(&search->hits);
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

static bool find(struct search *search, uint64_t limit, struct cn_json *json,
                 const struct cn_name_filter *filter, struct cn_error *err)
{
    struct cn_hits *hits = &search->hits;
    bool ok = true;

    cn_hits_begin(hits, limit);
    find_matches(search, filter);
    cn_json_object(json);
    cn_json_add_u64(json, "count", hits->match_count);
    cn_json_key(json, "hits");
    cn_json_array(json);
    for (size_t i = 0; ok && i < hits->count; i++)
        ok = add_hit(search, hits->list[i].number, json, err);
    cn_json_end(json);
    cn_json_end(json);
    cn_hits_done(hits);
    return ok;
}

static bool answer(struct cn_served *served, struct cn_served_view *entry,
                   struct cn_request *request, struct cn_error *err)
{
    struct search search = {.entry = entry, .labels = &served->structure.labels};
    struct cn_name_filter filter = {0};
    uint64_t limit;
    bool ok;

    if (!cn_request_u64(request, "limit", 1, CN_CONTEXT_HIT_MAX, 100, &limit, err) ||
        !cn_structure_wait(&served->structure, CN_STRUCTURE_LABELS, err) ||
        !cn_name_filter_add(&filter, cn_request_value(request, "q"), CN_MATCH_REGEX, err))
        return false;
    search.index = entry->index;
    ok = find(&search, limit, &request->json, &filter, err);
    cn_name_filter_done(&filter);
    return ok;
}

bool cn_api_search(struct cn_served *served, struct cn_request *request,
                   struct cn_error *err)
{
    const char *pattern = cn_request_value(request, "q");
    struct cn_view_question question;

    if (!pattern || !*pattern)
        return cn_fail(err, CN_ERR_USAGE, "q is missing: what should be searched for?");
    if (!cn_request_view(request, &question, err))
        return false;
    question.has_values = question.kind == CN_VIEW_TOP_DOWN;
    return cn_api_with_view(served, &question, request,
                            question.has_values ? answer : cn_context_search_rows, err);
}
