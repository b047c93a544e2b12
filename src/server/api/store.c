/* Traces of a store: those that match a query, over time, in groups, and as a flame
 * graph. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/context.h"
#include "model/traces/json.h"
#include "server/api/api.h"
#include "server/api/flame_json.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/served/flame.h"
#include "server/served/served.h"
#include "store/groups/group.h"
#include "store/groups/heat.h"
#include "store/groups/matches.h"
#include "store/groups/services.h"
#include "store/groups/steps.h"
#include "store/search/names.h"
#include "store/search/traces.h"
#include "store/segment/weights.h"

enum {
    TRACE_MAX = 1000,
    STEP_MAX = 2000,
    GROUP_MAX = 1000,
    GROUP_STEP_MAX = 200,
    HEAT_STEP_MAX = 1000,
    EDGE_MAX = 1000,
    NAME_MAX_COUNT = 500,
    FLAME_TRACE_MAX = 2000,
};

/* "sampled": what is missing because rules dropped it. */
static void add_sampled(struct cn_json *json, const struct cn_store *store)
{
    struct cn_store_sampling sampling = cn_store_sampling(store);
    struct cn_text text = {0};

    if (sampling.segments == 0)
        return;
    cn_store_sampling_print(&text, &sampling);
    cn_json_add_str(json, "sampled", cn_text_str(&text));
    cn_text_done(&text);
}

/* "damage": what the searches so far may have missed, and why; null if nothing. */
static void add_damage(struct cn_json *json, const struct cn_served_store *store)
{
    struct cn_error damage = {0};
    bool is_sound = cn_search_check(store->search, &damage);

    if (is_sound && cn_store_missing_count(store->store) > 0)
        is_sound = cn_fail(&damage, CN_ERR_IO, "fresh traces of %zu collectors: %s",
                           cn_store_missing_count(store->store),
                           cn_store_missing(store->store, 0));
    cn_json_add_str(json, "damage", is_sound ? NULL : damage.text);
    add_sampled(json, store->store);
}

static void add_estimated_sum(struct cn_json *json, uint64_t count, double estimate)
{
    if (llround(estimate) != (long long)count)
        cn_json_add_f64(json, "estimated", estimate);
}

/* "estimated": the number of matches before sampling; of sampled stores alone. */
static bool add_estimate(struct cn_json *json, const struct cn_served_store *store,
                         const struct cn_query *query, enum cn_search_unit unit,
                         struct cn_error *err)
{
    double estimate;

    if (!cn_store_sampling(store->store).has_rates)
        return true;
    if (!cn_matches_estimate(store->search, query, unit, &estimate, err))
        return false;
    cn_json_add_f64(json, "estimated", estimate);
    return true;
}

static bool add_word(struct cn_json *json, const char *key, struct cn_search *search,
                     const struct cn_search_hit *hit, uint32_t word, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = word == 0 || cn_search_hit_word(search, hit, word, &text, err);

    cn_json_add_str(json, key, word == 0 ? NULL : cn_text_str(&text));
    cn_text_done(&text);
    return ok;
}

static void add_key(struct cn_json *json, const struct cn_served_store *store,
                    const struct cn_search_hit *hit)
{
    char key[32];

    (void)snprintf(key, sizeof(key), "%" PRIx32 ".%" PRIu32,
                   cn_segment_number(cn_store_segment(store->store, hit->segment)),
                   hit->row);
    cn_json_add_str(json, "key", key);
}

static bool add_words(struct cn_json *json, struct cn_search *search,
                      const struct cn_search_hit *hit, const struct cn_store_row *row,
                      struct cn_error *err)
{
    return add_word(json, "type", search, hit, row->type, err) &&
           add_word(json, "service", search, hit, row->service, err) &&
           add_word(json, "method", search, hit, row->method, err);
}

static bool add_hit(struct cn_json *json, struct cn_served_store *store,
                    const struct cn_search_hit *hit, struct cn_error *err)
{
    struct cn_store_row row;

    if (!cn_search_hit_row(store->search, hit, &row, err))
        return false;
    cn_json_object(json);
    add_key(json, store, hit);
    cn_json_add_trace_id(json, "trace", row.trace_high, row.trace_low);
    cn_json_add_span_id(json, "span", row.span_id);
    cn_json_add_span_id(json, "parent", row.parent_id);
    cn_json_add_id(json, "time", row.time_ns);
    cn_json_add_u64(json, "duration", row.duration_ns);
    cn_json_add_u64(json, "calls", row.calls);
    cn_json_add_u64(json, "records", row.records);
    cn_json_add_u64(json, "errors", row.errors);
    if (!add_words(json, store->search, hit, &row, err))
        return false;
    cn_json_end(json);
    return true;
}

static bool add_trace(struct cn_json *json, struct cn_served_store *store,
                      const struct cn_search_traces *traces,
                      const struct cn_search_trace *trace, struct cn_error *err)
{
    struct cn_store_row row;

    if (!cn_search_hit_row(store->search, &trace->root, &row, err))
        return false;
    cn_json_object(json);
    add_key(json, store, &trace->root);
    cn_json_add_trace_id(json, "trace", row.trace_high, row.trace_low);
    cn_json_add_id(json, "time", trace->sum.time_ns);
    cn_json_add_u64(json, "duration", trace->sum.duration_ns);
    cn_json_add_u64(json, "spans", trace->sum.spans);
    cn_json_add_u64(json, "calls", trace->sum.calls);
    cn_json_add_u64(json, "records", trace->sum.records);
    cn_json_add_u64(json, "errors", trace->sum.errors);
    cn_json_add_array(json, "services");
    for (size_t i = 0; i < trace->service_count; i++)
        cn_json_str(json, cn_search_trace_service(traces, trace, i));
    cn_json_end(json);
    if (!add_words(json, store->search, &trace->root, &row, err))
        return false;
    cn_json_end(json);
    return true;
}

/* `spans`: spans instead of traces. */
static enum cn_search_unit chosen_unit(const struct cn_request *request)
{
    return cn_request_flag(request, "spans") ? CN_SEARCH_SPANS : CN_SEARCH_TRACES;
}

static bool chosen_order(const struct cn_request *request, struct cn_search_order *order,
                         struct cn_error *err)
{
    static const char *const names[] = {
        [CN_SEARCH_BY_TIME] = "time",       [CN_SEARCH_BY_DURATION] = "duration",
        [CN_SEARCH_BY_CALLS] = "calls",     [CN_SEARCH_BY_ERRORS] = "errors",
        [CN_SEARCH_BY_RECORDS] = "records", [CN_SEARCH_BY_SPANS] = "spans",
    };
    size_t sort;

    if (!cn_request_choice(request, "sort", names, sizeof(names) / sizeof(names[0]),
                           CN_SEARCH_BY_TIME, &sort, err))
        return false;
    order->sort = (enum cn_search_sort)sort;
    order->is_reversed = cn_request_flag(request, "reverse");
    return cn_request_u64(request, "offset", 0, UINT32_MAX, 0, &order->offset, err) &&
           cn_request_u64(request, "limit", 1, TRACE_MAX, 100, &order->limit, err);
}

/* "unknown": names in the query that no attribute has. */
static void add_unknown(struct cn_json *json, struct cn_search *search,
                        const struct cn_query *query)
{
    struct cn_unknown_names names;

    cn_search_unknown_names(search, query, &names);
    cn_json_add_array(json, "unknown");
    for (size_t i = 0; i < names.count; i++) {
        const struct cn_unknown_name *name = &names.list[i];
        struct cn_text text = {0};

        cn_unknown_name_print(name, &text);
        cn_json_object(json);
        cn_json_add_str(json, "name", name->name);
        cn_json_add_u64(json, "at", name->at);
        cn_json_add_str(json, "suggestion", name->suggestion);
        cn_json_add_str(json, "text", cn_text_str(&text));
        cn_json_end(json);
        cn_text_done(&text);
    }
    cn_json_end(json);
    cn_unknown_names_done(&names);
}

static void begin_list(struct cn_json *json, const struct cn_served_store *store,
                       const struct cn_query *query, uint64_t count, const char *name)
{
    cn_json_add_u64(json, "count", count);
    add_damage(json, store);
    add_unknown(json, store->search, query);
    cn_json_add_array(json, name);
}

static bool add_spans(struct cn_served_store *store, struct cn_request *request,
                      const struct cn_query *query, const struct cn_search_order *order,
                      struct cn_error *err)
{
    struct cn_json *json = &request->json;
    struct cn_search_hits hits;
    uint64_t count;
    bool ok = true;

    if (!cn_search_count(store->search, query, &count, err) ||
        !add_estimate(json, store, query, CN_SEARCH_SPANS, err) ||
        !cn_search_rows(store->search, query, order, &hits, err))
        return false;
    begin_list(json, store, query, count, "spans");
    for (size_t i = 0; ok && i < hits.count; i++)
        ok = add_hit(json, store, &hits.list[i], err);
    cn_json_end(json);
    cn_search_hits_done(&hits);
    return ok;
}

bool cn_api_traces(struct cn_served *served, struct cn_request *request,
                   const struct cn_query *query, struct cn_error *err)
{
    struct cn_served_store *store = &served->store;
    struct cn_json *json = &request->json;
    struct cn_search_trace_count count;
    struct cn_search_traces traces;
    struct cn_search_order order;
    bool ok = true;

    if (!chosen_order(request, &order, err))
        return false;
    if (chosen_unit(request) == CN_SEARCH_SPANS)
        return add_spans(store, request, query, &order, err);
    if (!cn_search_count_traces(store->search, query, &count, err) ||
        !add_estimate(json, store, query, CN_SEARCH_TRACES, err) ||
        !cn_search_traces(store->search, query, &order, &traces, err))
        return false;
    begin_list(json, store, query, count.count, "traces");
    for (size_t i = 0; ok && i < traces.count; i++)
        ok = add_trace(json, store, &traces, &traces.list[i], err);
    cn_json_end(json);
    cn_search_traces_done(&traces);
    return ok;
}

bool cn_api_histogram(struct cn_served *served, struct cn_request *request,
                      const struct cn_query *query, struct cn_error *err)
{
    struct cn_served_store *store = &served->store;
    struct cn_json *json = &request->json;
    struct cn_search_steps steps;
    uint64_t count;

    if (!cn_request_u64(request, "steps", 1, STEP_MAX, 120, &count, err) ||
        !cn_search_steps(store->search, query, chosen_unit(request), (size_t)count,
                         &steps, err))
        return false;
    cn_json_add_id(json, "first", steps.first_ns);
    cn_json_add_u64(json, "step", steps.step_ns > 0 ? steps.step_ns : 1);
    add_damage(json, store);
    cn_json_add_array(json, "steps");
    for (size_t i = 0; i < steps.count; i++) {
        const struct cn_search_step *step = &steps.list[i];

        cn_json_array(json);
        cn_json_u64(json, step->count);
        cn_json_u64(json, step->error_count);
        cn_json_u64(json, step->p50_ns);
        cn_json_u64(json, step->p90_ns);
        cn_json_u64(json, step->p99_ns);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_search_steps_done(&steps);
    return true;
}

bool cn_api_heat(struct cn_served *served, struct cn_request *request,
                 const struct cn_query *query, struct cn_error *err)
{
    struct cn_served_store *store = &served->store;
    struct cn_json *json = &request->json;
    size_t low = CN_HEAT_ROWS, high = 0;
    struct cn_heat heat;
    uint64_t steps;

    if (!cn_request_u64(request, "steps", 1, HEAT_STEP_MAX, 120, &steps, err) ||
        !cn_search_heat(store->search, query, chosen_unit(request), (size_t)steps, &heat,
                        err))
        return false;
    cn_json_add_u64(json, "count", heat.count);
    cn_json_add_id(json, "first", heat.first_ns);
    cn_json_add_u64(json, "step", heat.step_ns > 0 ? heat.step_ns : 1);
    add_damage(json, store);
    cn_json_add_array(json, "cells");
    for (size_t i = 0; heat.cells && i < heat.step_count * CN_HEAT_ROWS; i++) {
        size_t row = i % CN_HEAT_ROWS;

        if (heat.cells[i].count == 0)
            continue;
        low = row < low ? row : low;
        high = row >= high ? row + 1 : high;
        cn_json_array(json);
        cn_json_u64(json, i / CN_HEAT_ROWS);
        cn_json_u64(json, row);
        cn_json_u64(json, heat.cells[i].count);
        cn_json_u64(json, heat.cells[i].error_count);
        cn_json_end(json);
    }
    cn_json_end(json);
    cn_json_add_u64(json, "firstRow", low < high ? low : 0);
    cn_json_add_array(json, "bounds");
    for (size_t row = low; row <= high; row++)
        cn_json_f64(json, cn_heat_low(row));
    cn_json_end(json);
    cn_heat_done(&heat);
    return true;
}

/* "counts" and "errorCounts": how many in each step of time. */
static void add_steps(struct cn_json *json, const struct cn_groups *groups, size_t group)
{
    const struct cn_group_step *steps = groups->steps + group * groups->step_count;

    cn_json_add_array(json, "counts");
    for (size_t i = 0; i < groups->step_count; i++)
        cn_json_u64(json, steps[i].count);
    cn_json_end(json);
    cn_json_add_array(json, "errorCounts");
    for (size_t i = 0; i < groups->step_count; i++)
        cn_json_u64(json, steps[i].error_count);
    cn_json_end(json);
}

static void add_group(struct cn_json *json, const struct cn_groups *groups, size_t number)
{
    const struct cn_group *group = &groups->list[number];
    struct cn_text value = {0};

    cn_words_print(&groups->values, group->value, &value);
    cn_json_object(json);
    cn_json_add_str(json, "value", cn_text_str(&value));
    cn_json_add_u64(json, "count", group->count);
    add_estimated_sum(json, group->count, group->estimate);
    cn_json_add_u64(json, "errors", group->error_count);
    cn_json_add_u64(json, "p50", group->p50_ns);
    cn_json_add_u64(json, "p90", group->p90_ns);
    cn_json_add_u64(json, "p99", group->p99_ns);
    cn_json_add_u64(json, "total", group->total_ns);
    if (groups->steps)
        add_steps(json, groups, number);
    cn_json_end(json);
    cn_text_done(&value);
}

bool cn_api_groups(struct cn_served *served, struct cn_request *request,
                   const struct cn_query *query, struct cn_error *err)
{
    struct cn_served_store *store = &served->store;
    const char *by = cn_request_value(request, "by");
    struct cn_json *json = &request->json;
    const struct cn_served_groups *found;
    uint64_t limit, steps;

    if (!by || !*by)
        return cn_fail(err, CN_ERR_USAGE,
                       "parameter by is missing: the name to group by");
    if (!cn_request_u64(request, "limit", 1, GROUP_MAX, 20, &limit, err) ||
        !cn_request_u64(request, "steps", 1, GROUP_STEP_MAX, 0, &steps, err))
        return false;
    struct cn_groups_question question = {.unit = chosen_unit(request),
                                          .by = by,
                                          .limit = (size_t)limit,
                                          .step_count = (size_t)steps};
    if (steps > 0 && question.unit != CN_SEARCH_SPANS && strcmp(by, "operation") != 0)
        return cn_fail(err, CN_ERR_USAGE, "steps are of spans: add spans=1");
    if (!cn_served_store_groups(store, query, &question, &found, err))
        return false;
    cn_json_add_u64(json, "count", found->groups.all_count);
    cn_json_add_u64(json, "total", found->groups.total_ns);
    cn_json_add_bool(json, "isPartial", found->grouping != NULL);
    if (found->groups.steps) {
        cn_json_add_id(json, "first", found->groups.first_ns);
        cn_json_add_u64(json, "step", found->groups.step_ns);
    }
    add_damage(json, store);
    cn_json_add_array(json, "groups");
    for (size_t i = 0; i < found->groups.count; i++)
        add_group(json, &found->groups, i);
    cn_json_end(json);
    return true;
}

static void add_edge(struct cn_json *json, const struct cn_services *services,
                     const struct cn_service_edge *edge, bool has_caller)
{
    cn_json_object(json);
    if (has_caller)
        cn_json_add_str(json, "caller",
                        edge->caller == CN_NONE ? NULL
                                                : services->names.list[edge->caller]);
    cn_json_add_str(json, has_caller ? "callee" : "service",
                    services->names.list[edge->callee]);
    cn_json_add_u64(json, "count", edge->count);
    add_estimated_sum(json, edge->count, edge->estimate);
    cn_json_add_u64(json, "errors", edge->error_count);
    cn_json_add_u64(json, "p50", edge->p50_ns);
    cn_json_add_u64(json, "p90", edge->p90_ns);
    cn_json_add_u64(json, "p99", edge->p99_ns);
    cn_json_add_u64(json, "total", edge->total_ns);
    if (!has_caller && services->self_ns)
        cn_json_add_u64(json, "self", services->self_ns[edge->callee]);
    cn_json_end(json);
}

bool cn_api_services(struct cn_served *served, struct cn_request *request,
                     const struct cn_query *query, struct cn_error *err)
{
    struct cn_served_store *store = &served->store;
    struct cn_json *json = &request->json;
    struct cn_services services;
    uint64_t limit;

    if (!cn_request_u64(request, "limit", 1, EDGE_MAX, EDGE_MAX, &limit, err) ||
        !cn_search_services(store->search, query, cn_request_flag(request, "self"),
                            &services, err))
        return false;
    cn_json_add_u64(json, "count", services.count);
    cn_json_add_id(json, "first", services.count == 0 ? 0 : services.first_ns);
    cn_json_add_id(json, "last", services.last_ns);
    add_damage(json, store);
    cn_json_add_array(json, "edges");
    for (size_t i = 0; i < services.count && i < limit; i++)
        add_edge(json, &services, &services.edges[i], true);
    cn_json_end(json);
    cn_json_add_array(json, "services");
    for (size_t i = 0; i < services.callee_count && i < limit; i++)
        add_edge(json, &services, &services.callees[i], false);
    cn_json_end(json);
    cn_services_done(&services);
    return true;
}

bool cn_api_names(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    struct cn_names names = {0};

    (void)err;
    cn_served_lock(served);
    cn_search_names(served->store.search, NAME_MAX_COUNT, &names);
    cn_json_add_strs(&request->json, "names", names.list, names.count);
    cn_names_done(&names);
    cn_search_service_names(served->store.search, NAME_MAX_COUNT, &names);
    cn_json_add_strs(&request->json, "services", names.list, names.count);
    cn_names_done(&names);
    cn_served_unlock(served);
    return true;
}

bool cn_api_store_info(struct cn_served *served, struct cn_request *request,
                       const struct cn_query *query, struct cn_error *err)
{
    struct cn_served_store *store = &served->store;
    struct cn_json *json = &request->json;
    struct cn_search_trace_count traces;
    uint64_t spans;

    if (!cn_search_count(store->search, query, &spans, err) ||
        !cn_search_count_traces(store->search, query, &traces, err))
        return false;
    cn_json_add_str(json, "kind", "store");
    cn_json_add_str(json, "title", served->name);
    cn_json_add_u64(json, "traceCount", traces.count);
    cn_json_add_u64(json, "spanCount", spans);
    cn_json_add_u64(json, "segmentCount", cn_store_segment_count(store->store));
    add_damage(json, store);
    cn_json_add_id(json, "first", traces.count == 0 ? 0 : traces.first_ns);
    cn_json_add_id(json, "last", traces.count == 0 ? 0 : traces.last_ns);
    return true;
}

bool cn_api_traces_flame(struct cn_served *served, struct cn_request *request,
                         const struct cn_query *query, struct cn_error *err)
{
    struct cn_served_store *store = &served->store;
    struct cn_json *json = &request->json;
    const struct cn_trace_flame *found;
    struct cn_flame flame = {0};
    uint64_t limit;
    double share;

    if (!cn_request_f64(request, "min", 0, 1, 0.0005, &share, err) ||
        !cn_request_u64(request, "limit", 1, FLAME_TRACE_MAX, 500, &limit, err) ||
        !cn_served_store_flame(store, query, limit, &found, err))
        return false;
    cn_trace_flame_paint(found, share, &flame);
    cn_json_add_str(json, "column", "time (s)");
    cn_json_add_bool(json, "isPartial", !cn_trace_flame_is_complete(found));
    cn_json_add_u64(json, "traceCount", found->added_count);
    cn_json_add_u64(json, "hitCount", found->trace_count);
    add_damage(json, store);
    cn_json_flame(json, &flame, found->total_ns / 1e9);
    cn_flame_done(&flame);
    return true;
}
