/* The calls of a trace over time, of all services. */
#include "base/map.h"
#include "base/text.h"
#include "model/traces/json.h"
#include "model/traces/trace.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/api/trace_load.h"
#include "store/trace/distributed.h"
#include "store/trace/methods.h"

enum { CALL_MAX = 100000, CALL_DEFAULT = 20000, PARTS_MAX = 1 << 20, PARTS = 4000 };

struct chart {
    const struct cn_trace_set *set;
    struct cn_json *json;
    uint64_t begin_ns, min_ns, limit, count;
    struct cn_names names, services;
    struct cn_text name;
};

/* The service of the span around a call, or the type of one that names none. */
static uint32_t service_of(struct chart *chart, const struct cn_trace *trace,
                           uint32_t node)
{
    uint32_t word;

    while (trace->nodes[node].span == CN_NONE && trace->nodes[node].parent != CN_NONE)
        node = trace->nodes[node].parent;
    cn_text_clear(&chart->name);
    if (trace->nodes[node].span != CN_NONE) {
        const struct cn_trace_span *span = &trace->spans[trace->nodes[node].span];

        word = span->service != 0 ? span->service : span->type;
        if (word != 0)
            cn_words_print(trace->words, word, &chart->name);
    }
    return cn_names_add(&chart->services, cn_text_str(&chart->name));
}

static bool add_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                     uint32_t depth)
{
    struct chart *chart = arg;
    const struct cn_trace_node *call = &branch->trace.nodes[node];

    /* The spans of other services may be longer than the call that caused them. */
    if (call->duration_ns < chart->min_ns && branch->first_children[node] == CN_NONE &&
        node > 0)
        return false;
    if (chart->count++ >= chart->limit)
        return true;
    cn_text_clear(&chart->name);
    cn_words_print_method_name(branch->trace.words, call->method, &chart->name);
    cn_json_array(chart->json);
    cn_json_u64(chart->json, (uint64_t)(branch - chart->set->branches));
    cn_json_u64(chart->json, node);
    cn_json_u64(chart->json, depth);
    cn_json_u64(chart->json, cn_trace_branch_begin_ns(branch, node) - chart->begin_ns);
    cn_json_u64(chart->json, call->duration_ns);
    cn_json_u64(chart->json, cn_trace_set_self_ns(chart->set, branch, node));
    cn_json_u64(chart->json, cn_names_add(&chart->names, cn_text_str(&chart->name)));
    cn_json_u64(chart->json, service_of(chart, &branch->trace, node));
    cn_json_end(chart->json);
    return true;
}

static void add_branches(struct cn_json *json, const struct cn_trace_set *set)
{
    cn_json_add_array(json, "spans");
    for (size_t i = 0; i < set->count; i++) {
        const struct cn_trace_branch *branch = &set->branches[i];
        const struct cn_trace *trace = &branch->trace;

        cn_json_object(json);
        cn_json_add_span_id(json, "span", branch->row.span_id);
        cn_json_add_word(json, "service", trace->words,
                         trace->span_count > 0 ? trace->spans[0].service : 0);
        cn_json_key(json, "parent");
        if (branch->parent == CN_NONE)
            cn_json_null(json);
        else
            cn_json_u64(json, branch->parent);
        cn_json_end(json);
    }
    cn_json_end(json);
}

/* From the first begin to the last end. */
static uint64_t extent(const struct cn_trace_set *set, uint64_t *begin_ns)
{
    uint64_t end_ns = 0;

    *begin_ns = UINT64_MAX;
    for (size_t i = 0; i < set->count; i++) {
        const struct cn_trace_branch *branch = &set->branches[i];

        for (uint32_t node = 0; node < branch->trace.node_count; node++) {
            uint64_t from_ns = cn_trace_branch_begin_ns(branch, node);
            uint64_t to_ns = cn_trace_branch_end_ns(branch, node);

            *begin_ns = from_ns < *begin_ns ? from_ns : *begin_ns;
            end_ns = to_ns > end_ns ? to_ns : end_ns;
        }
    }
    return end_ns > *begin_ns ? end_ns - *begin_ns : 0;
}

bool cn_api_trace_chart(struct cn_request *request, const struct cn_trace_set *set,
                        struct cn_error *err)
{
    struct chart chart = {.set = set, .json = &request->json};
    uint64_t duration_ns = extent(set, &chart.begin_ns), parts;

    if (!cn_request_u64(request, "limit", 1, CALL_MAX, CALL_DEFAULT, &chart.limit, err) ||
        !cn_request_u64(request, "parts", 1, PARTS_MAX, PARTS, &parts, err))
        return false;
    chart.min_ns = duration_ns / parts;
    cn_json_add_id(chart.json, "time", chart.begin_ns);
    cn_json_add_u64(chart.json, "duration", duration_ns);
    add_branches(chart.json, set);
    cn_json_add_array(chart.json, "calls");
    cn_trace_set_walk(set, add_call, &chart);
    cn_json_end(chart.json);
    cn_json_add_u64(chart.json, "count", chart.count);
    cn_json_add_strs(chart.json, "methods", chart.names.list, chart.names.count);
    cn_json_add_strs(chart.json, "services", chart.services.list, chart.services.count);
    cn_names_done(&chart.names);
    cn_names_done(&chart.services);
    cn_text_done(&chart.name);
    return true;
}
