/* The calls of a trace over time, of all services, with what happened in them and what the end of the
 * trace waited for. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "model/traces/json.h"
#include "model/traces/links.h"
#include "model/traces/span.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/api/trace_load.h"
#include "store/trace/critical_path.h"
#include "store/trace/distributed.h"
#include "store/trace/methods.h"

enum {
    CALL_MAX = 100000,
    CALL_DEFAULT = 20000,
    PARTS_MAX = 1 << 20,
    PARTS = 4000,
    EVENT_MAX = 5000,
    STEP_MAX = 10000,
};

/* Bits of the last member of a call. */
enum { CALL_FAILED = 1, CALL_IS_SPAN = 2, CALL_IS_OPEN = 4, CALL_IS_CUT = 8 };

struct chart {
    const struct cn_trace_set *set;
    struct cn_json *json;
    uint64_t begin_ns, min_ns, limit, count;
    struct cn_names names, services;
    struct cn_map listed; /* branch and node of a call -> 1 + its index in the answer */
    struct listed_call {
        const struct cn_trace_branch *branch;
        uint32_t node;
    } * calls; /* as listed */
    size_t listed_count, listed_capacity;
    uint64_t *service_ns,
        *path_ns; /* by service: self times, times on the critical path */
    size_t service_capacity, path_capacity;
    uint64_t error_count;
    struct cn_text name;
};

static uint64_t call_key(const struct chart *chart, const struct cn_trace_branch *branch,
                         uint32_t node)
{
    return (uint64_t)(branch - chart->set->branches) << 32 | node;
}

static uint32_t service_of(struct chart *chart, const struct cn_trace *trace,
                           uint32_t node)
{
    uint32_t word = cn_trace_service_of(trace, node);

    cn_text_clear(&chart->name);
    if (word != 0)
        cn_words_print(trace->words, word, &chart->name);
    return cn_names_add(&chart->services, cn_text_str(&chart->name));
}

static void add_time(uint64_t **list, size_t *capacity, uint32_t service, uint64_t ns)
{
    size_t old = *capacity;

    CN_GROW_TO(*list, (size_t)service + 1, *capacity);
    for (size_t i = old; i < *capacity; i++)
        (*list)[i] = 0;
    (*list)[service] += ns;
}

/* Whether a call is too short to be listed. Spans are listed all, and so are calls that caused some of
 * other services, which may be longer. */
static bool is_short(const struct chart *chart, const struct cn_trace_branch *branch,
                     uint32_t node)
{
    const struct cn_trace_node *call = &branch->trace.nodes[node];

    return node > 0 && call->duration_ns < chart->min_ns && call->span == CN_NONE &&
           branch->first_children[node] == CN_NONE;
}

/* Whether short calls below this one are not listed. */
static bool is_cut(const struct chart *chart, const struct cn_trace_branch *branch,
                   uint32_t node)
{
    const struct cn_trace_node *nodes = branch->trace.nodes;

    for (uint32_t i = node + 1; i < nodes[node].end; i = nodes[i].end)
        if (is_short(chart, branch, i))
            return true;
    return false;
}

static unsigned flags_of(const struct chart *chart, const struct cn_trace_branch *branch,
                         uint32_t node)
{
    const struct cn_trace_node *call = &branch->trace.nodes[node];

    return (call->flags & CN_TRACE_ERROR ? CALL_FAILED : 0) |
           (call->span != CN_NONE ? CALL_IS_SPAN : 0) |
           (call->flags & CN_TRACE_OPEN ? CALL_IS_OPEN : 0) |
           (is_cut(chart, branch, node) ? CALL_IS_CUT : 0);
}

static void list_call(struct chart *chart, const struct cn_trace_branch *branch,
                      uint32_t node, uint32_t depth)
{
    const struct cn_trace_node *call = &branch->trace.nodes[node];

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
    cn_json_u64(chart->json, flags_of(chart, branch, node));
    cn_json_end(chart->json);
    CN_PUSH(chart->calls, chart->listed_count, chart->listed_capacity,
            (struct listed_call){branch, node});
    *cn_map_at(&chart->listed, call_key(chart, branch, node), 0) =
        (uint32_t)chart->listed_count;
}

static bool add_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                     uint32_t depth)
{
    struct chart *chart = arg;

    if (is_short(chart, branch, node))
        return false;
    if (chart->count++ < chart->limit)
        list_call(chart, branch, node, depth);
    return true;
}

/* Times of services are those of all calls, listed or not. */
static bool add_to_sums(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                        uint32_t depth)
{
    struct chart *chart = arg;

    (void)depth;
    add_time(&chart->service_ns, &chart->service_capacity,
             service_of(chart, &branch->trace, node),
             cn_trace_set_self_ns(chart->set, branch, node));
    chart->error_count += (branch->trace.nodes[node].flags & CN_TRACE_ERROR) != 0;
    return true;
}

static void add_branches(struct cn_json *json, const struct cn_trace_set *set)
{
    cn_json_add_array(json, "spans");
    for (size_t i = 0; i < set->count; i++) {
        const struct cn_trace_branch *branch = &set->branches[i];
        const struct cn_trace *trace = &branch->trace;
        char key[32];

        (void)snprintf(key, sizeof(key), "%" PRIx32 ".%" PRIu32, branch->segment_number,
                       branch->row_number);
        cn_json_object(json);
        cn_json_add_str(json, "key", key);
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

/* `event` has the time, or is NULL. */
static void add_event(struct chart *chart, size_t call,
                      const struct cn_trace_event *event, const char *name,
                      const char *text, bool is_error)
{
    cn_json_object(chart->json);
    cn_json_add_u64(chart->json, "call", call);
    if (event && event->time_ns >= chart->begin_ns)
        cn_json_add_u64(chart->json, "time", event->time_ns - chart->begin_ns);
    cn_json_add_str(chart->json, "name", name);
    cn_json_add_str(chart->json, "text", text);
    cn_json_add_bool(chart->json, "isError", is_error);
    cn_json_end(chart->json);
}

/* The exception that a call threw: its class and message. */
static void add_exception(struct chart *chart, size_t call, const struct cn_trace *trace,
                          uint32_t exception, const struct cn_trace_event *event)
{
    struct cn_text class = {0}, message = {0};

    cn_words_print(trace->words, cn_word_part(trace->words, exception, 0), &class);
    cn_words_print(trace->words, cn_word_part(trace->words, exception, 1), &message);
    add_event(chart, call, event, class.len > 0 ? cn_text_str(&class) : "exception",
              message.len > 0 ? cn_text_str(&message) : NULL, true);
    cn_text_done(&class);
    cn_text_done(&message);
}

/* An event that is not the exception of its call: "name (key = value)". */
static void add_named(struct chart *chart, size_t call, const struct cn_trace *trace,
                      const struct cn_trace_event *event)
{
    struct cn_text name = {0}, text = {0};

    cn_words_print(trace->words, event->name, &name);
    cn_trace_event_print(trace, event, &text);
    add_event(chart, call, event, cn_text_str(&name),
              text.len > name.len ? cn_text_str(&text) + name.len + 1 : NULL, false);
    cn_text_done(&name);
    cn_text_done(&text);
}

/* The events of a call, its exception last; returns how many it has. */
static size_t add_events_of(struct chart *chart, size_t call, size_t room)
{
    const struct cn_trace *trace = &chart->calls[call].branch->trace;
    const struct cn_trace_node *node = &trace->nodes[chart->calls[call].node];
    const struct cn_trace_span *span =
        node->span != CN_NONE ? &trace->spans[node->span] : NULL;
    const struct cn_trace_event *thrown = NULL;
    size_t count = 0;

    for (uint32_t i = 0; span && i < span->event_count; i++) {
        const struct cn_trace_event *event = &cn_trace_span_events(trace, span)[i];

        if (node->exception != 0 && cn_trace_event_is_exception(trace, event))
            thrown = event;
        else if (count++ < room)
            add_named(chart, call, trace, event);
    }
    if (node->exception != 0 && count++ < room)
        add_exception(chart, call, trace, node->exception, thrown);
    return count;
}

/* "events": what happened in the calls that are listed. */
static void add_events(struct chart *chart)
{
    size_t count = 0;

    cn_json_add_array(chart->json, "events");
    for (size_t i = 0; i < chart->listed_count; i++)
        count += add_events_of(chart, i, count < EVENT_MAX ? EVENT_MAX - count : 0);
    cn_json_end(chart->json);
    cn_json_add_u64(chart->json, "eventCount", count);
}

/* The index of a call, or of the nearest one around it that is listed; -1: none is. */
static int64_t listed_at(const struct chart *chart, const struct cn_trace_branch *branch,
                         uint32_t node)
{
    for (; node != CN_NONE; node = branch->trace.nodes[node].parent) {
        uint32_t at = cn_map_find(&chart->listed, call_key(chart, branch, node), 0);

        if (at > 0)
            return (int64_t)at - 1;
    }
    return -1;
}

/* "path": what the end of the trace waited for, and "pathTimes" of it by service. */
static void add_path(struct chart *chart)
{
    struct cn_critical_path path;
    size_t count = 0;

    cn_critical_path_find(&path, chart->set);
    cn_json_add_array(chart->json, "path");
    for (size_t i = 0; i < path.count; i++) {
        const struct cn_critical_step *step = &path.steps[i];
        const struct cn_trace_branch *branch;

        if (step->branch == CN_NONE)
            continue;
        branch = &chart->set->branches[step->branch];
        add_time(&chart->path_ns, &chart->path_capacity,
                 service_of(chart, &branch->trace, step->node),
                 step->end_ns - step->begin_ns);
        if (count++ >= STEP_MAX)
            continue;
        cn_json_array(chart->json);
        cn_json_i64(chart->json, listed_at(chart, branch, step->node));
        cn_json_u64(chart->json, step->begin_ns - chart->begin_ns);
        cn_json_u64(chart->json, step->end_ns - step->begin_ns);
        cn_json_end(chart->json);
    }
    cn_json_end(chart->json);
    cn_critical_path_done(&path);
}

static void add_times(struct chart *chart, const char *name, const uint64_t *list,
                      size_t capacity)
{
    cn_json_add_array(chart->json, name);
    for (size_t i = 0; i < chart->services.count; i++)
        cn_json_u64(chart->json, i < capacity ? list[i] : 0);
    cn_json_end(chart->json);
}

static void chart_done(struct chart *chart)
{
    cn_names_done(&chart->names);
    cn_names_done(&chart->services);
    cn_map_done(&chart->listed);
    free(chart->calls);
    free(chart->service_ns);
    free(chart->path_ns);
    cn_text_done(&chart->name);
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
    cn_json_add_u64(chart.json, "listedDuration", cn_trace_set_duration_ns(set));
    add_branches(chart.json, set);
    cn_json_add_array(chart.json, "calls");
    cn_trace_set_walk(set, add_call, &chart);
    cn_json_end(chart.json);
    cn_json_add_u64(chart.json, "count", chart.count);
    add_events(&chart);
    add_path(&chart);
    cn_trace_set_walk(set, add_to_sums, &chart);
    cn_json_add_u64(chart.json, "errors", chart.error_count);
    cn_json_add_strs(chart.json, "methods", chart.names.list, chart.names.count);
    cn_json_add_strs(chart.json, "services", chart.services.list, chart.services.count);
    add_times(&chart, "selfTimes", chart.service_ns, chart.service_capacity);
    add_times(&chart, "pathTimes", chart.path_ns, chart.path_capacity);
    chart_done(&chart);
    return true;
}
