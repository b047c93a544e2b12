#include "store/write/unknown_spans.h"

#include <stdlib.h>

#include "base/alloc.h"

void cn_unknown_spans_done(struct cn_unknown_spans *unknown)
{
    free(unknown->group_of);
    free(unknown->trace.nodes);
    free(unknown->trace.spans);
    *unknown = (struct cn_unknown_spans){0};
}

/* Each call is a whole span, and none is open. */
static bool can_be_divided(const struct cn_trace *trace)
{
    if (trace->part != 0 || trace->current != CN_NONE)
        return false;
    for (uint32_t i = 0; i < trace->node_count; i++) {
        const struct cn_trace_node *node = &trace->nodes[i];

        if (node->span == CN_NONE || !trace->spans[node->span].is_whole ||
            node->flags & CN_TRACE_OPEN)
            return false;
    }
    return true;
}

bool cn_unknown_spans_find(struct cn_unknown_spans *out, const struct cn_trace *trace,
                           cn_span_is_known is_known, void *arg)
{
    uint32_t known_count = 0;

    *out = (struct cn_unknown_spans){.from = trace};
    if (!can_be_divided(trace))
        return false;
    out->group_of = cn_alloc(trace->node_count, sizeof(*out->group_of));
    for (uint32_t i = 0; i < trace->node_count; i++) {
        uint32_t parent = trace->nodes[i].parent;

        if (is_known(arg, trace, &trace->spans[trace->nodes[i].span])) {
            out->group_of[i] = CN_NONE;
            known_count++;
        } else if (parent != CN_NONE && out->group_of[parent] != CN_NONE) {
            out->group_of[i] = out->group_of[parent];
        } else {
            out->group_of[i] = out->group_count++;
        }
    }
    return known_count > 0;
}

/* Add a call of the group; `place` has the places of those before it, by node. */
static void take_node(struct cn_unknown_spans *unknown, uint32_t i, uint32_t *place)
{
    const struct cn_trace *from = unknown->from;
    struct cn_trace *to = &unknown->trace;
    struct cn_trace_node node = from->nodes[i];
    struct cn_trace_span span = from->spans[node.span];
    uint64_t begin_ns = to->node_count > 0 ? to->nodes[0].start_ns : node.start_ns;

    place[i] = to->node_count;
    node.parent = to->node_count > 0 ? place[node.parent] : CN_NONE;
    node.span = span.node = to->node_count;
    node.calls = 1;
    node.errors = node.flags & CN_TRACE_ERROR ? 1 : 0;
    /* A span may begin before its caller by another clock. */
    if (to->node_count > 0)
        node.start_ns = node.start_ns > begin_ns ? node.start_ns - begin_ns : 0;
    CN_PUSH(to->spans, to->span_count, to->span_capacity, span);
    CN_PUSH(to->nodes, to->node_count, to->node_capacity, node);
}

/* Ends and sums, from the last call on. */
static void complete(struct cn_trace *trace)
{
    for (uint32_t i = 0; i < trace->node_count; i++)
        trace->nodes[i].end = i + 1;
    for (uint32_t i = trace->node_count; i-- > 1;) {
        const struct cn_trace_node *node = &trace->nodes[i];
        struct cn_trace_node *parent = &trace->nodes[node->parent];

        parent->calls += node->calls;
        parent->errors += node->errors;
        if (parent->end < node->end)
            parent->end = node->end;
    }
    trace->nodes[0].start_ns = 0;
}

bool cn_unknown_spans_next(struct cn_unknown_spans *unknown)
{
    const struct cn_trace *from = unknown->from;
    struct cn_trace_node *nodes = unknown->trace.nodes;
    struct cn_trace_span *spans = unknown->trace.spans;
    size_t node_capacity = unknown->trace.node_capacity,
           span_capacity = unknown->trace.span_capacity;

    if (unknown->next == unknown->group_count)
        return false;
    unknown->trace = *from;
    unknown->trace.nodes = nodes;
    unknown->trace.spans = spans;
    unknown->trace.node_capacity = node_capacity;
    unknown->trace.span_capacity = span_capacity;
    unknown->trace.node_count = unknown->trace.span_count = 0;
    unknown->trace.clock_ns = 0;
    uint32_t *place = cn_alloc(from->node_count, sizeof(*place));
    for (uint32_t i = 0; i < from->node_count; i++)
        if (unknown->group_of[i] == unknown->next)
            take_node(unknown, i, place);
    free(place);
    complete(&unknown->trace);
    unknown->next++;
    return true;
}
