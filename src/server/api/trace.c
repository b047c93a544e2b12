/* One trace of a store. */
#include <stdlib.h>

#include "base/alloc.h"
#include "model/traces/json.h"
#include "model/traces/links.h"
#include "model/traces/span.h"
#include "server/api/api.h"
#include "server/api/request.h"
#include "server/api/trace_load.h"
#include "store/trace/distributed.h"

enum { NODE_MAX = 100000, NODE_DEFAULT = 5000, SPAN_MAX = 1000 };

static void add_attributes(struct cn_json *json, const struct cn_trace *trace,
                           const struct cn_trace_node *node)
{
    cn_json_add_array(json, "attributes");
    for (uint32_t i = node->first_attribute; i != CN_NONE;
         i = trace->attributes[i].next) {
        cn_json_array(json);
        cn_json_word(json, trace->words, trace->attributes[i].key);
        cn_json_trace_value(json, trace, &trace->attributes[i].value, false);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static void add_links(struct cn_json *json, const struct cn_trace *trace,
                      const struct cn_trace_span *span)
{
    if (span->link_count == 0)
        return;
    cn_json_key(json, "links");
    cn_json_trace_links(json, trace, span, false);
}

static void add_resource(struct cn_json *json, const struct cn_trace *trace,
                         const struct cn_trace_span *span)
{
    const struct cn_trace_resource *resource = cn_trace_span_resource(trace, span);
    const struct cn_trace_scope *scope = cn_trace_span_scope(trace, span);

    if (resource && resource->attributes.first != CN_NONE) {
        cn_json_key(json, "resource");
        cn_json_trace_list(json, trace, &resource->attributes, false);
    }
    if (!scope || (scope->name == 0 && scope->attributes.first == CN_NONE))
        return;
    cn_json_add_object(json, "scope");
    cn_json_add_word(json, "name", trace->words, scope->name);
    cn_json_add_word(json, "version", trace->words, scope->version);
    cn_json_key(json, "attributes");
    cn_json_trace_list(json, trace, &scope->attributes, false);
    cn_json_end(json);
}

/* What else a span has. */
static void add_span(struct cn_json *json, const struct cn_trace *trace,
                     const struct cn_trace_span *span)
{
    if (span->status != CN_STATUS_UNSET)
        cn_json_add_str(json, "status", span->status == CN_STATUS_OK ? "ok" : "error");
    if (span->status_message != 0)
        cn_json_add_word(json, "message", trace->words, span->status_message);
    if (span->trace_state != 0)
        cn_json_add_word(json, "state", trace->words, span->trace_state);
    if (span->dropped_attributes > 0)
        cn_json_add_u64(json, "dropped", span->dropped_attributes);
    if (span->dropped_events > 0)
        cn_json_add_u64(json, "droppedEvents", span->dropped_events);
    if (span->dropped_links > 0)
        cn_json_add_u64(json, "droppedLinks", span->dropped_links);
    add_resource(json, trace, span);
    if (span->event_count > 0) {
        cn_json_key(json, "events");
        cn_json_trace_events(json, trace, span, false);
    }
    add_links(json, trace, span);
}

static void add_node(struct cn_json *json, const struct cn_trace *trace, uint32_t number,
                     uint32_t depth)
{
    const struct cn_trace_node *node = &trace->nodes[number];

    cn_json_object(json);
    cn_json_add_u64(json, "node", number);
    cn_json_add_u64(json, "below", node->end - number - 1);
    cn_json_add_u64(json, "depth", depth);
    cn_json_add_method(json, "method", trace->words, node->method);
    cn_json_add_u64(json, "start", node->start_ns);
    cn_json_add_u64(json, "duration", node->duration_ns);
    cn_json_add_u64(json, "self", cn_trace_self_ns(trace, number));
    cn_json_add_u64(json, "calls", node->calls);
    cn_json_add_bool(json, "isError", (node->flags & CN_TRACE_ERROR) != 0);
    cn_json_add_bool(json, "isOpen", (node->flags & CN_TRACE_OPEN) != 0);
    if (node->first_attribute != CN_NONE)
        add_attributes(json, trace, node);
    if (node->span != CN_NONE)
        add_span(json, trace, &trace->spans[node->span]);
    if (node->exception != 0) {
        cn_json_key(json, "exceptions");
        cn_json_exceptions(json, trace->words, node->exception);
    }
    cn_json_end(json);
}

/* Which calls of a trace are answered: one and the calls below it, in call order, down
 * to the greatest depth at which they are not too many. */
struct trace_selection {
    uint32_t node;
    uint32_t from; /* calls of `node` before this one are left out */
    uint64_t min_ns, limit;
    uint32_t depth;     /* of `node` */
    uint32_t depth_max; /* below it */
    uint32_t next;      /* the first call of `node` beyond the limit; CN_NONE: none */
};

/* The call after `at`, inside it or after its end. */
static uint32_t next_call(const struct trace_selection *sel, const struct cn_trace *trace,
                          uint32_t at, bool goes_inside)
{
    uint32_t next = goes_inside ? at + 1 : trace->nodes[at].end;

    return at == sel->node && next < sel->from ? sel->from : next;
}

static bool is_long_enough(const struct trace_selection *sel,
                           const struct cn_trace *trace, uint32_t at)
{
    return at == sel->node || trace->nodes[at].duration_ns >= sel->min_ns;
}

/* The depth of a call below sel->node, noted in `depths`, which counts from that call
 * on. */
static uint32_t depth_below(const struct trace_selection *sel,
                            const struct cn_trace *trace, uint32_t at, uint32_t *depths)
{
    uint32_t parent = trace->nodes[at].parent;

    return depths[at - sel->node] = at == sel->node ? 0 : depths[parent - sel->node] + 1;
}

/* As deep as the limit allows, but at least the direct calls. */
static void choose_depth(struct trace_selection *sel, const struct cn_trace *trace,
                         uint32_t *depths)
{
    uint64_t *counts = cn_alloc(CN_TRACE_DEPTH_MAX + 1, sizeof(*counts));
    uint64_t sum;

    for (uint32_t i = sel->node; i < trace->nodes[sel->node].end;) {
        bool is_shown = is_long_enough(sel, trace, i);
        uint32_t depth = depth_below(sel, trace, i, depths);

        if (is_shown && depth <= CN_TRACE_DEPTH_MAX)
            counts[depth]++;
        i = next_call(sel, trace, i, is_shown);
    }
    sel->depth_max = 1;
    sum = 1 + counts[1];
    while (sel->depth_max < CN_TRACE_DEPTH_MAX &&
           sum + counts[sel->depth_max + 1] <= sel->limit)
        sum += counts[++sel->depth_max];
    free(counts);
}

static void add_nodes(struct cn_json *json, const struct cn_trace *trace,
                      struct trace_selection *sel)
{
    uint32_t end = trace->nodes[sel->node].end;
    uint32_t *depths = cn_alloc(end - sel->node, sizeof(*depths));
    uint64_t shown = 0;

    choose_depth(sel, trace, depths);
    cn_json_add_array(json, "nodes");
    for (uint32_t i = sel->node; i < end;) {
        uint32_t depth = depth_below(sel, trace, i, depths);
        bool is_shown = is_long_enough(sel, trace, i) && depth <= sel->depth_max;

        if (is_shown && shown == sel->limit) {
            sel->next = i;
            break;
        }
        if (is_shown)
            add_node(json, trace, i, sel->depth + depth);
        shown += is_shown;
        i = next_call(sel, trace, i, is_shown);
    }
    cn_json_end(json);
    free(depths);
}

static void add_spans(struct cn_json *json, const struct cn_trace *trace)
{
    cn_json_add_array(json, "spans");
    for (uint32_t i = 0; i < trace->span_count && i < SPAN_MAX; i++) {
        const struct cn_trace_span *span = &trace->spans[i];
        const struct cn_trace_node *call = &trace->nodes[span->node];

        cn_json_object(json);
        cn_json_add_u64(json, "node", span->node);
        cn_json_add_span_id(json, "span", span->id);
        cn_json_add_span_id(json, "parent", span->parent_id);
        cn_json_add_id(json, "time", span->time_ns);
        cn_json_add_u64(json, "duration", call->duration_ns);
        cn_json_add_u64(json, "errors", call->errors);
        cn_json_add_word(json, "type", trace->words, span->type);
        cn_json_add_word(json, "service", trace->words, span->service);
        cn_json_add_method(json, "method", trace->words, call->method);
        cn_json_end(json);
    }
    cn_json_end(json);
}

static bool parse_selection(const struct cn_request *request,
                            const struct cn_trace *trace, struct trace_selection *sel,
                            struct cn_error *err)
{
    uint64_t node, from;

    if (!cn_request_u64(request, "node", 0, trace->node_count - 1, 0, &node, err) ||
        !cn_request_u64(request, "from", 0, trace->nodes[node].end, 0, &from, err) ||
        !cn_request_u64(request, "min", 0, UINT64_MAX, 0, &sel->min_ns, err) ||
        !cn_request_u64(request, "limit", 1, NODE_MAX, NODE_DEFAULT, &sel->limit, err))
        return false;
    sel->node = (uint32_t)node;
    sel->from = (uint32_t)from;
    sel->next = CN_NONE;
    if (from > node &&
        (from == trace->nodes[node].end || trace->nodes[from].parent != sel->node))
        return cn_fail(err, CN_ERR_USAGE, "call %u is not called by call %u", sel->from,
                       sel->node);
    for (uint32_t at = trace->nodes[node].parent; at != CN_NONE;
         at = trace->nodes[at].parent)
        sel->depth++;
    return true;
}

bool cn_api_trace(struct cn_request *request, const struct cn_trace *trace,
                  struct cn_error *err)
{
    const struct cn_trace_span *span = trace->span_count > 0 ? &trace->spans[0] : NULL;
    struct cn_json *json = &request->json;
    struct trace_selection sel = {0};

    if (!parse_selection(request, trace, &sel, err))
        return false;
    cn_json_add_trace_id(json, "trace", trace->id_high, trace->id_low);
    cn_json_add_id(json, "time", span ? span->time_ns : 0);
    cn_json_add_word(json, "type", trace->words, span ? span->type : 0);
    cn_json_add_word(json, "service", trace->words, span ? span->service : 0);
    cn_json_add_u64(json, "nodeCount", trace->node_count);
    cn_json_add_call_path(json, trace, sel.node);
    add_nodes(json, trace, &sel);
    if (sel.next != CN_NONE)
        cn_json_add_u64(json, "next", sel.next);
    add_spans(json, trace);
    return true;
}

/* The spans of a trace that have links. */
bool cn_api_links(struct cn_request *request, const struct cn_trace_set *set,
                  struct cn_error *err)
{
    struct cn_json *json = &request->json;
    uint64_t count = 0;

    (void)err;
    cn_json_add_array(json, "spans");
    for (size_t i = 0; i < set->count; i++) {
        const struct cn_trace *trace = &set->branches[i].trace;

        for (uint32_t s = 0; !set->branches[i].is_copy && s < trace->span_count; s++) {
            const struct cn_trace_span *span = &trace->spans[s];

            if (span->link_count == 0 || count++ >= SPAN_MAX)
                continue;
            cn_json_object(json);
            cn_json_add_span_id(json, "span", span->id);
            cn_json_add_word(json, "service", trace->words, span->service);
            cn_json_add_method(json, "method", trace->words,
                               trace->nodes[span->node].method);
            add_links(json, trace, span);
            cn_json_end(json);
        }
    }
    cn_json_end(json);
    cn_json_add_u64(json, "count", count);
    return true;
}
