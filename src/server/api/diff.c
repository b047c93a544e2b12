/* Comparisons of two sources, or of two selections of one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/explain.h"
#include "analyze/compare/line.h"
#include "base/text.h"
#include "server/api/api.h"
#include "server/api/diff_flame.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/route.h"
#include "server/served/diffs.h"
#include "server/served/served.h"

enum { LINE_MAX_COUNT = 1000, ROW_MAX = 1000, CALLERS_DEPTH = 5, CALLERS_DEPTH_MAX = 20 };

/* The names of the parameters of each side. */
static const struct {
    const char *source, *thread, *begin, *end, *query;
} names[CN_SIDES] = {
    {"a", "aThread", "aBegin", "aEnd", "aQuery"},
    {"b", "bThread", "bBegin", "bEnd", "bQuery"},
};

static bool parse_sources(const struct cn_served_list *sources,
                          const struct cn_request *request, const char *name,
                          struct cn_diff_side *out, struct cn_error *err)
{
    const char *text;

    while (out->source_count < CN_QUESTION_LIST_MAX &&
           (text = cn_request_value_at(request, name, out->source_count))) {
        const char *rest = text;
        uint64_t id;

        if (!cn_number_take(&rest, sources->count, &id) || *rest || id == sources->count)
            return cn_fail(err, CN_ERR_NOT_FOUND, "%s: there is no source '%.40s'", name,
                           text);
        out->sources[out->source_count++] = sources->list[id];
    }
    return out->source_count > 0 ||
           cn_fail(err, CN_ERR_USAGE, "parameter %s is missing: the id of a source",
                   name);
}

static bool parse_side(const struct cn_served_list *sources,
                       const struct cn_request *request, enum cn_side side,
                       struct cn_diff_side *out, struct cn_error *err)
{
    *out = (struct cn_diff_side){.query = cn_request_value(request, names[side].query)};
    if (!parse_sources(sources, request, names[side].source, out, err) ||
        !cn_request_u64(request, names[side].begin, 0, UINT64_MAX, 0, &out->begin_ns,
                        err) ||
        !cn_request_u64(request, names[side].end, 0, UINT64_MAX, UINT64_MAX, &out->end_ns,
                        err))
        return false;
    out->has_range = cn_request_value(request, names[side].begin) ||
                     cn_request_value(request, names[side].end);
    cn_request_list(request, names[side].thread, &out->threads);
    for (size_t i = 0; i < out->source_count && out->query; i++)
        if (out->sources[i]->kind != CN_SERVED_STORE)
            return cn_fail(err, CN_ERR_USAGE, "%s: source %s is not a store",
                           names[side].query, out->sources[i]->name);
    return true;
}

static bool parse_question(const struct cn_served_list *sources,
                           const struct cn_request *request, struct cn_diff_question *out,
                           struct cn_error *err)
{
    const char *over = cn_request_value(request, "over");

    *out = (struct cn_diff_question){
        .metric = cn_request_value(request, "metric"),
        .counts_waits = cn_request_flag(request, "waits"),
        .has_threads_as_runs = over != NULL,
    };
    if (over && strcmp(over, "threads") != 0)
        return cn_fail(err, CN_ERR_USAGE, "over '%.40s' is not threads", over);
    for (int side = 0; side < CN_SIDES; side++)
        if (!parse_side(sources, request, (enum cn_side)side, &out->sides[side], err))
            return false;
    if (over && (out->sides[CN_SIDE_A].source_count > 1 ||
                 out->sides[CN_SIDE_B].source_count > 1))
        return cn_fail(err, CN_ERR_USAGE, "over=threads is for one run on each side");
    return cn_compare_scaling_parse(cn_request_value(request, "per"),
                                    cn_request_value(request, "scaling"), &out->scaling,
                                    err);
}

static void add_line(struct cn_json *json, const struct cn_compare_line *line)
{
    cn_json_add_f64(json, "a", line->value[CN_SIDE_A]);
    cn_json_add_f64(json, "b", line->value[CN_SIDE_B]);
    cn_json_add_f64(json, "difference", line->difference);
    cn_json_add_f64(json, "ratio", line->ratio);
    cn_json_add_f64(json, "sharePercent", line->share_percent);
    cn_json_add_f64(json, "plusMinus", line->half_width);
    cn_json_add_f64(json, "p", line->p);
    cn_json_add_f64(json, "rankP", line->rank_p);
    cn_json_add_str(json, "verdict", cn_verdict_name(line->verdict));
    cn_json_add_f64(json, "callsA", line->calls[CN_SIDE_A]);
    cn_json_add_f64(json, "callsB", line->calls[CN_SIDE_B]);
}

/* "function", "label" and "path" of a node. */
static void add_names(struct cn_json *json, const struct cn_comparison *c, uint32_t node)
{
    struct cn_text text = {0};

    cn_json_add_str(json, "function", c->names.list[c->nodes[node].name]);
    cn_comparison_label_add(&text, c, node);
    cn_json_add_str(json, "label", cn_text_str(&text));
    cn_text_clear(&text);
    cn_comparison_path_add(&text, c, node);
    cn_json_add_str(json, "path", cn_text_str(&text));
    cn_text_done(&text);
}

/* What all forms have. */
static void begin_answer(struct cn_json *json, const struct cn_served_diff *diff,
                         const struct cn_explanation *e)
{
    const struct cn_comparison *c = &diff->c;

    cn_json_add_str(json, "metric", c->metric);
    if (c->bases[CN_SIDE_A])
        cn_json_add_str(json, "baseA", c->bases[CN_SIDE_A]);
    if (c->bases[CN_SIDE_B])
        cn_json_add_str(json, "baseB", c->bases[CN_SIDE_B]);
    cn_json_add_array(json, "runs");
    for (int side = 0; side < CN_SIDES; side++)
        cn_json_u64(json, c->side_runs[side]);
    cn_json_end(json);
    cn_json_add_str(json, "over", cn_compare_over_name(e->over));
    cn_json_add_f64(json, "a", c->whole[CN_SIDE_A]);
    cn_json_add_f64(json, "b", c->whole[CN_SIDE_B]);
    cn_json_add_f64(json, "gross", e->gross);
    cn_json_add_bool(json, "hasCalls", c->has_calls);
    cn_json_add_u64(json, "uncounted", c->uncounted);
    cn_json_add_str(json, "damage",
                    diff->damage.len > 0 ? cn_text_str(&diff->damage) : NULL);
}

/* "runsA" and "runsB": the cost in each run. */
static void add_runs(struct cn_json *json, const struct cn_comparison *c,
                     const struct cn_change *change)
{
    static const char *const keys[CN_SIDES] = {"runsA", "runsB"};

    for (int side = 0; side < CN_SIDES; side++) {
        cn_json_add_array(json, keys[side]);
        for (size_t i = 0; change->runs && i < c->run_count; i++)
            if (c->runs[i].side == (enum cn_side)side)
                cn_json_f64(json, change->runs[i]);
        cn_json_end(json);
    }
}

static void add_change(struct cn_json *json, const struct cn_comparison *c,
                       const struct cn_change *change, double gross)
{
    struct cn_compare_line line = cn_compare_line_of_change(c, change, gross);

    cn_json_object(json);
    add_line(json, &line);
    add_runs(json, c, change);
    if (change->node != CN_NONE) {
        cn_json_add_str(json, "kind", cn_change_kind_name(change->kind));
        cn_json_add_u64(json, "paths", change->path_count);
        cn_json_add_bool(json, "hasPath", cn_change_has_path(change));
        cn_json_add_id(json, "node", change->node);
        add_names(json, c, change->node);
    }
    cn_json_end(json);
}

static bool explain(struct cn_served_diff *diff, struct cn_request *request,
                    struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_text sentence = {0};
    uint64_t lines;

    if (!cn_request_u64(request, "lines", 1, LINE_MAX_COUNT, 10, &lines, err))
        return false;
    const struct cn_explanation *e = cn_served_diff_explain(diff, (size_t)lines);
    begin_answer(json, diff, e);
    cn_json_add_u64(json, "changedCount", e->changed_count);
    cn_json_add_u64(json, "realCount", e->real_count);
    cn_json_add_u64(json, "unknownCount", e->unknown_count);
    cn_explanation_sentence_add(&sentence, &diff->c, e);
    cn_json_add_str(json, "sentence", cn_text_str(&sentence));
    cn_text_done(&sentence);
    cn_json_add_f64(json, "explained", e->gross > 0 ? e->shown_gross / e->gross : 1);
    cn_json_key(json, "whole");
    add_change(json, &diff->c, &e->whole, e->gross);
    cn_json_add_array(json, "lines");
    for (size_t i = 0; i < e->shown; i++)
        add_change(json, &diff->c, &e->list[i], e->gross);
    cn_json_end(json);
    return true;
}

/* A view, and `cost` and `depth` of its rows. */
static bool parse_view(const struct cn_request *request, enum cn_compare_view view,
                       struct cn_diff_view *out, struct cn_error *err)
{
    static const char *const costs[] = {"self", "total"};
    bool is_of_callers = view == CN_COMPARE_CALLERS;
    uint64_t depth = SIZE_MAX;
    size_t cost;

    if (!cn_request_choice(request, "cost", costs, 2, view == CN_COMPARE_TREE, &cost,
                           err) ||
        (is_of_callers && !cn_request_u64(request, "depth", 1, CALLERS_DEPTH_MAX,
                                          CALLERS_DEPTH, &depth, err)))
        return false;
    if (is_of_callers && cost == 1)
        return cn_fail(err, CN_ERR_USAGE, "callers have self costs");
    *out = (struct cn_diff_view){
        .view = view, .is_total = cost == 1, .depth = (size_t)depth};
    return true;
}

/* Rows of the tree have the ids of their nodes, which flame graphs also have. */
static uint64_t id_of(const struct cn_compare_rows *rows, enum cn_compare_view view,
                      uint32_t row)
{
    return view == CN_COMPARE_TREE ? rows->list[row].node : row;
}

/* `row`; CN_NONE without it. */
static bool parse_row(const struct cn_request *request, const struct cn_comparison *c,
                      const struct cn_compare_rows *rows, enum cn_compare_view view,
                      uint32_t *out, struct cn_error *err)
{
    size_t limit = view == CN_COMPARE_TREE ? c->node_count : rows->count;
    uint64_t id;

    *out = CN_NONE;
    if (!cn_request_value(request, "row"))
        return true;
    if (!cn_request_u64(request, "row", 0, limit > 0 ? limit - 1 : 0, 0, &id, err))
        return false;
    *out = view == CN_COMPARE_TREE ? rows->of_node[id] : (uint32_t)id;
    if (limit == 0 || *out == CN_NONE || id_of(rows, view, *out) != id)
        return cn_fail(err, CN_ERR_NOT_FOUND, "there is no row %s",
                       cn_request_value(request, "row"));
    return true;
}

static bool is_shown(const struct cn_compare_row *row)
{
    return row->gross != 0 || row->value[CN_SIDE_A] != row->value[CN_SIDE_B];
}

static void add_row(struct cn_json *json, const struct cn_comparison *c,
                    const struct cn_compare_rows *rows, enum cn_compare_view view,
                    uint32_t at, double gross)
{
    const struct cn_compare_row *row = &rows->list[at];
    struct cn_compare_line line = cn_compare_line_of_row(c, row, gross);

    cn_json_object(json);
    cn_json_add_id(json, "id", id_of(rows, view, at));
    cn_json_add_bool(json, "isLeaf", row->first_child == CN_NONE);
    add_line(json, &line);
    add_names(json, c, row->node);
    cn_json_end(json);
}

static bool list_rows(struct cn_served_diff *diff, struct cn_request *request,
                      enum cn_compare_view shown, struct cn_error *err)
{
    const struct cn_comparison *c = &diff->c;
    struct cn_json *json = &request->json;
    struct cn_diff_view view;
    uint64_t offset, limit, count = 0;
    uint32_t parent;

    if (!parse_view(request, shown, &view, err) ||
        !cn_request_u64(request, "offset", 0, UINT32_MAX, 0, &offset, err) ||
        !cn_request_u64(request, "limit", 1, ROW_MAX, 200, &limit, err))
        return false;
    struct cn_compare_rows *rows = cn_served_diff_rows(diff, &view);
    if (!parse_row(request, c, rows, view.view, &parent, err))
        return false;
    const struct cn_explanation *e = cn_served_diff_explain(diff, 10);
    begin_answer(json, diff, e);
    cn_json_add_str(json, "cost", view.is_total ? "total" : "self");
    cn_json_add_array(json, "rows");
    for (uint32_t at = cn_compare_rows_sort(rows, parent); at != CN_NONE;
         at = rows->list[at].next_sibling) {
        if (!is_shown(&rows->list[at]))
            continue;
        if (count >= offset && count - offset < limit)
            add_row(json, c, rows, view.view, at, e->gross);
        count++;
    }
    cn_json_end(json);
    cn_json_add_u64(json, "count", count);
    return true;
}

static bool draw_flame(struct cn_served_diff *diff, struct cn_request *request,
                       struct cn_error *err)
{
    static const char *const views[] = {"tree", "callers"};
    struct cn_diff_view view;
    uint64_t depth;
    uint32_t top;
    double share;
    size_t name;

    if (!cn_request_choice(request, "view", views, 2, 0, &name, err) ||
        !parse_view(request, name == 0 ? CN_COMPARE_TREE : CN_COMPARE_CALLERS, &view,
                    err) ||
        !cn_request_f64(request, "min", 0, 1, 0.0005, &share, err) ||
        !cn_request_u64(request, "depth", 1, 2000, 200, &depth, err))
        return false;
    view.has_unchanged = true;
    view.is_total = view.view == CN_COMPARE_TREE;
    struct cn_compare_rows *rows = cn_served_diff_rows(diff, &view);
    if (!parse_row(request, &diff->c, rows, view.view, &top, err))
        return false;
    begin_answer(&request->json, diff, cn_served_diff_explain(diff, 10));
    cn_diff_flame_add(&request->json, &diff->c, rows, top, share, (size_t)depth);
    return true;
}

static bool list_facets(struct cn_served_diff *diff, struct cn_request *request,
                        struct cn_error *err)
{
    static const char *const has[] = {"hasA", "hasB"}, *const of[] = {"ofA", "ofB"};
    const struct cn_trace_facets *facets = &diff->facets;
    struct cn_json *json = &request->json;
    uint64_t limit;

    if (!cn_request_u64(request, "limit", 1, ROW_MAX, 50, &limit, err))
        return false;
    cn_json_add_u64(json, "readA", facets->read[CN_SIDE_A]);
    cn_json_add_u64(json, "readB", facets->read[CN_SIDE_B]);
    cn_json_add_bool(json, "isEstimated", facets->is_estimated);
    cn_json_add_str(json, "damage", facets->is_damaged ? facets->damage.text : NULL);
    cn_json_add_u64(json, "count", facets->signs.count);
    cn_json_add_array(json, "facets");
    for (size_t i = 0; i < facets->signs.count && i < limit; i++) {
        const struct cn_sign *sign = &facets->signs.list[i];

        cn_json_object(json);
        cn_json_add_str(json, "side", sign->group == CN_SIDE_A ? "a" : "b");
        cn_json_add_str(json, "key", sign->key);
        cn_json_add_str(json, "relation", (const char[]){sign->relation, '\0'});
        cn_json_add_str(json, "value", sign->value);
        for (int side = 0; side < CN_SIDES; side++) {
            cn_json_add_u64(json, has[side], sign->has[side]);
            cn_json_add_u64(json, of[side], sign->of[side]);
        }
        cn_json_add_f64(json, "logP", sign->log_p);
        cn_json_end(json);
    }
    cn_json_end(json);
    return true;
}

/* Facets compare one store per side. */
static bool check_stores(const struct cn_diff_question *question, struct cn_error *err)
{
    for (int i = 0; i < CN_SIDES; i++) {
        const struct cn_diff_side *side = &question->sides[i];

        if (side->source_count > 1 || side->sources[0]->kind != CN_SERVED_STORE)
            return cn_fail(err, CN_ERR_USAGE, "facets are of two queries of stores");
        if (side->has_range || side->threads.count > 0)
            return cn_fail(err, CN_ERR_USAGE,
                           "facets are of whole traces: select them by a query");
    }
    return true;
}

bool cn_api_diff(const struct cn_served_list *sources, struct cn_request *request,
                 struct cn_error *err)
{
    enum { EXPLAIN, TREE, FLAT, CALLERS, FLAME, FACETS, FORM_COUNT };
    static const char *const forms[] = {"explain", "tree",  "flat",
                                        "callers", "flame", "facets"};
    struct cn_diff_question question;
    struct cn_served_diff *diff;
    size_t form;
    bool ok;

    if (!cn_request_choice(request, "form", forms, FORM_COUNT, EXPLAIN, &form, err) ||
        !parse_question(sources, request, &question, err))
        return false;
    question.wants_facets = form == FACETS;
    if ((question.wants_facets && !check_stores(&question, err)) ||
        !cn_served_diff_borrow(sources->diffs, &question, &diff, err))
        return false;
    if (form == EXPLAIN)
        ok = explain(diff, request, err);
    else if (form == FLAME)
        ok = draw_flame(diff, request, err);
    else if (form == FACETS)
        ok = list_facets(diff, request, err);
    else
        ok = list_rows(diff, request,
                       form == TREE   ? CN_COMPARE_TREE
                       : form == FLAT ? CN_COMPARE_FLAT
                                      : CN_COMPARE_CALLERS,
                       err);
    cn_served_diff_return(diff);
    return ok;
}
