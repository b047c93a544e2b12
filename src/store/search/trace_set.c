#include "store/search/trace_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/trace_calls.h"
#include "base/alloc.h"
#include "base/map.h"
#include "store/search/trace_cursor.h"

static void fill_depths(struct cn_trace_part *part)
{
    const struct cn_trace *trace = &part->trace;

    part->depths = cn_alloc(trace->node_count, sizeof(*part->depths));
    part->first_children = cn_alloc(trace->node_count, sizeof(*part->first_children));
    for (uint32_t i = 0; i < trace->node_count; i++) {
        uint32_t parent = trace->nodes[i].parent;

        part->depths[i] = parent == CN_NONE ? 0 : part->depths[parent] + 1;
        part->first_children[i] = CN_NONE;
    }
}

/* An id that was cut short must still mean one trace. */
static bool check_row(const struct cn_trace_set *set, const struct cn_store_row *row,
                      struct cn_error *err)
{
    const struct cn_store_row *first = &set->parts[0].row;

    if (row->trace_high == first->trace_high && row->trace_low == first->trace_low)
        return true;
    return cn_fail(err, CN_ERR_USAGE,
                   "more than one trace has such an id, %016" PRIx64 "... and %016" PRIx64
                   "...",
                   first->trace_high, row->trace_high);
}

/* Spans of all parts, found by id: the part in the upper half, the node in the lower. */
struct span_list {
    uint64_t *places;
    size_t count, capacity;
    struct cn_map by_id;
};

/* Those inside of parts, or those that are parts. The first one with an id is found. */
static void list_spans(const struct cn_trace_set *set, bool is_inner,
                       struct span_list *spans)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct cn_trace *trace = &set->parts[i].trace;

        for (uint32_t s = 0; s < trace->span_count; s++) {
            if ((trace->spans[s].node > 0) != is_inner)
                continue;
            if (spans->count == spans->capacity)
                spans->places = cn_grow(spans->places, spans->count, &spans->capacity,
                                        sizeof(*spans->places));
            spans->places[spans->count] = (uint64_t)i << 32 | trace->spans[s].node;
            (void)cn_map_at(&spans->by_id, trace->spans[s].id, (uint32_t)spans->count++);
        }
    }
}

static uint32_t find_span(const struct span_list *spans, uint64_t id, uint32_t *node)
{
    uint32_t found = id != 0 ? cn_map_find(&spans->by_id, id, CN_NONE) : CN_NONE;

    if (found == CN_NONE)
        return CN_NONE;
    *node = (uint32_t)spans->places[found];
    return (uint32_t)(spans->places[found] >> 32);
}

/* Whether `part` is above `other`, or is it: joining them would make a circle. */
static bool is_above(const struct cn_trace_set *set, uint32_t part, uint32_t other)
{
    while (other != CN_NONE && other != part)
        other = set->parts[other].parent;
    return other == part;
}

static void join(struct cn_trace_set *set)
{
    struct span_list spans = {0};

    list_spans(set, true, &spans);
    list_spans(set, false, &spans);
    /* From the last to the first, so that lists are in the order of time. */
    for (size_t i = set->count; i-- > 0;) {
        struct cn_trace_part *part = &set->parts[i];
        uint32_t node = 0, caller = find_span(&spans, part->row.span_id, &node);

        /* A span that was sent on its own and inside its caller is shown there. */
        if (caller != CN_NONE && node > 0 && !is_above(set, (uint32_t)i, caller)) {
            part->parent = caller;
            part->is_copy = true;
            continue;
        }
        caller = find_span(&spans, part->row.parent_id, &node);
        if (caller == CN_NONE || is_above(set, (uint32_t)i, caller))
            continue;
        part->parent = caller;
        part->next = set->parts[caller].first_children[node];
        set->parts[caller].first_children[node] = (uint32_t)i;
    }
    free(spans.places);
    cn_map_done(&spans.by_id);
}

bool cn_trace_set_load(struct cn_trace_set *out, struct cn_search *search,
                       const struct cn_query *query, struct cn_error *err)
{
    struct cn_trace_cursor cursor;
    struct cn_trace_set set = {0};
    struct cn_store_row row;
    enum cn_step step = CN_FAIL;
    size_t capacity = 0;
    bool ok = true;

    if (!cn_trace_cursor_open(&cursor, search, query, err))
        return false;
    while (ok && (step = cn_trace_cursor_next(&cursor, &row, err)) == CN_ITEM) {
        struct cn_trace_part *part;

        set.parts = cn_grow(set.parts, set.count, &capacity, sizeof(*set.parts));
        part = &set.parts[set.count++];
        *part = (struct cn_trace_part){.row = row, .parent = CN_NONE, .next = CN_NONE};
        ok = check_row(&set, &row, err) &&
             cn_trace_cursor_load(&cursor, &part->trace, err);
        fill_depths(part);
    }
    cn_trace_cursor_close(&cursor);
    if (!ok || step != CN_END) {
        cn_trace_set_done(&set);
        return false;
    }
    join(&set);
    *out = set;
    return true;
}

void cn_trace_set_done(struct cn_trace_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        cn_trace_done(&set->parts[i].trace);
        free(set->parts[i].depths);
        free(set->parts[i].first_children);
    }
    free(set->parts);
    *set = (struct cn_trace_set){0};
}

/* A part that is being walked through. */
struct level {
    const struct cn_trace_part *part;
    uint32_t depth;    /* of its first node */
    uint32_t node;     /* to visit next */
    uint32_t open;     /* innermost open node; CN_NONE */
    uint32_t *pending; /* by node: the next part that it called */
};

static struct level begin_part(const struct cn_trace_part *part, uint32_t depth)
{
    uint32_t count = part->trace.node_count;
    struct level level = {.part = part, .depth = depth, .open = CN_NONE};

    level.pending = cn_alloc(count, sizeof(*level.pending));
    if (count > 0)
        memcpy(level.pending, part->first_children, count * sizeof(*level.pending));
    return level;
}

/* The part to visit before the next node: one called by the innermost open node, earlier
 * than that. CN_NONE if there is none; all parts of a node come before it is left. */
static uint32_t take_pending(const struct cn_trace_set *set, struct level *at,
                             bool is_child)
{
    uint32_t part = at->open == CN_NONE ? CN_NONE : at->pending[at->open];

    if (part == CN_NONE || (is_child && set->parts[part].row.time_ns >
                                            at->part->row.time_ns +
                                                at->part->trace.nodes[at->node].start_ns))
        return CN_NONE;
    at->pending[at->open] = set->parts[part].next;
    return part;
}

/* Walk through a part and those it called. A part has one caller, so the stack has room. */
static void walk_part(const struct cn_trace_set *set, uint32_t first, struct level *stack,
                      cn_trace_visit visit, void *arg)
{
    size_t count = 1;

    stack[0] = begin_part(&set->parts[first], 0);
    while (count > 0) {
        struct level *at = &stack[count - 1];
        const struct cn_trace *trace = &at->part->trace;
        bool is_end = at->node == trace->node_count;
        bool is_child = !is_end && trace->nodes[at->node].parent == at->open;
        uint32_t pending = take_pending(set, at, is_child);

        if (pending != CN_NONE) {
            stack[count++] = begin_part(&set->parts[pending],
                                        at->depth + at->part->depths[at->open] + 1);
        } else if (!is_child && at->open != CN_NONE) {
            at->open = trace->nodes[at->open].parent;
        } else if (is_end) {
            free(at->pending);
            count--;
        } else if (visit(arg, at->part, at->node,
                         at->depth + at->part->depths[at->node])) {
            at->open = at->node++;
        } else {
            at->node = trace->nodes[at->node].end;
        }
    }
}

void cn_trace_set_walk(const struct cn_trace_set *set, cn_trace_visit visit, void *arg)
{
    struct level *stack = cn_alloc(set->count, sizeof(*stack));

    for (uint32_t i = 0; i < set->count; i++) {
        if (set->parts[i].parent == CN_NONE)
            walk_part(set, i, stack, visit, arg);
    }
    free(stack);
}

static bool enter_call(void *arg, const struct cn_trace_part *part, uint32_t node,
                       uint32_t depth)
{
    if (depth > UINT16_MAX)
        return false;
    if (depth == 0)
        cn_trace_calls_begin(arg, part->row.time_ns);
    cn_trace_calls_enter(arg, &part->trace, node, part->row.time_ns, depth);
    return true;
}

struct cn_recording *cn_trace_set_recording(const struct cn_trace_set *set,
                                            bool is_nested)
{
    struct cn_trace_calls *calls = cn_trace_calls_new();
    struct cn_recording *recording;

    cn_trace_calls_show_attributes(calls);
    if (is_nested)
        cn_trace_set_walk(set, enter_call, calls);
    for (size_t i = 0; !is_nested && i < set->count; i++) {
        if (!set->parts[i].is_copy)
            cn_trace_calls_add(calls, &set->parts[i].trace);
    }
    cn_trace_calls_end(calls);
    recording = cn_trace_calls_finish(calls);
    cn_trace_calls_free(calls);
    return recording;
}
