#include "store/trace/distributed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/from_traces.h"
#include "base/alloc.h"
#include "base/map.h"
#include "store/search/trace_cursor.h"
#include "store/segment/reader.h"

static void fill_depths(struct cn_trace_branch *branch)
{
    const struct cn_trace *trace = &branch->trace;

    branch->depths = cn_alloc(trace->node_count, sizeof(*branch->depths));
    branch->first_children = cn_alloc(trace->node_count, sizeof(*branch->first_children));
    for (uint32_t i = 0; i < trace->node_count; i++) {
        uint32_t parent = trace->nodes[i].parent;

        branch->depths[i] = parent == CN_NONE ? 0 : branch->depths[parent] + 1;
        branch->first_children[i] = CN_NONE;
    }
}

/* An abbreviated id must be that of one trace. */
static bool check_row(const struct cn_trace_set *set, const struct cn_store_row *row,
                      struct cn_error *err)
{
    const struct cn_store_row *first = &set->branches[0].row;

    if (row->trace_high == first->trace_high && row->trace_low == first->trace_low)
        return true;
    return cn_fail(err, CN_ERR_USAGE,
                   "the id is ambiguous: %016" PRIx64 "... and %016" PRIx64 "...",
                   first->trace_high, row->trace_high);
}

/* The spans of all branches by id: the branch in the upper half, the node in the lower. */
struct span_list {
    uint64_t *nodes;
    size_t count, capacity;
    struct cn_map by_id;
};

/* Add the spans inside of branches, or those of branches. The first one with an id is used. */
static void list_spans(const struct cn_trace_set *set, bool is_inner,
                       struct span_list *spans)
{
    for (size_t i = 0; i < set->count; i++) {
        const struct cn_trace *trace = &set->branches[i].trace;

        for (uint32_t s = 0; s < trace->span_count; s++) {
            if ((trace->spans[s].node > 0) != is_inner)
                continue;
            if (spans->count == spans->capacity)
                CN_GROW(spans->nodes, spans->count, spans->capacity);
            spans->nodes[spans->count] = (uint64_t)i << 32 | trace->spans[s].node;
            (void)cn_map_at(&spans->by_id, trace->spans[s].id, (uint32_t)spans->count++);
        }
    }
}

static uint32_t find_span(const struct span_list *spans, uint64_t id, uint32_t *node)
{
    uint32_t found = id != 0 ? cn_map_find(&spans->by_id, id, CN_NONE) : CN_NONE;

    if (found == CN_NONE)
        return CN_NONE;
    *node = (uint32_t)spans->nodes[found];
    return (uint32_t)(spans->nodes[found] >> 32);
}

/* True if `branch` is `other` or above it: joining them would make a cycle. */
static bool is_above(const struct cn_trace_set *set, uint32_t branch, uint32_t other)
{
    while (other != CN_NONE && other != branch)
        other = set->branches[other].parent;
    return other == branch;
}

static void join(struct cn_trace_set *set)
{
    struct span_list spans = {0};

    list_spans(set, true, &spans);
    list_spans(set, false, &spans);
    /* From the last to the first, so that lists are ordered by time. */
    for (size_t i = set->count; i-- > 0;) {
        struct cn_trace_branch *branch = &set->branches[i];
        uint32_t node = 0, caller = find_span(&spans, branch->row.span_id, &node);

        /* A span that was sent on its own and inside its caller is shown there; one that was sent
         * twice, where it came first. */
        if (caller != CN_NONE && (node > 0 || caller < i) &&
            !is_above(set, (uint32_t)i, caller)) {
            branch->parent = caller;
            branch->is_copy = true;
            continue;
        }
        caller = find_span(&spans, branch->row.parent_id, &node);
        if (caller == CN_NONE || is_above(set, (uint32_t)i, caller))
            continue;
        branch->parent = caller;
        branch->next = set->branches[caller].first_children[node];
        set->branches[caller].first_children[node] = (uint32_t)i;
    }
    free(spans.nodes);
    cn_map_done(&spans.by_id);
}

bool cn_trace_set_load(struct cn_trace_set *out, struct cn_search *search,
                       const struct cn_query *query, struct cn_error *err)
{
    struct cn_trace_cursor cursor;
    const struct cn_search_hit *hit;
    struct cn_trace_set set = {0};
    struct cn_store_row row;
    enum cn_step step = CN_FAIL;
    size_t capacity = 0;
    bool ok = true;

    if (!cn_trace_cursor_open(&cursor, search, query, CN_SEARCH_SPANS, err))
        return false;
    while (ok && (step = cn_trace_cursor_next(&cursor, &row, err)) == CN_ITEM) {
        struct cn_trace_branch *branch;

        CN_GROW(set.branches, set.count, capacity);
        branch = &set.branches[set.count++];
        *branch =
            (struct cn_trace_branch){.row = row, .parent = CN_NONE, .next = CN_NONE};
        hit = &cursor.hits.list[cursor.next - 1];
        branch->segment_number =
            cn_segment_number(cn_store_segment(cursor.store, hit->segment));
        branch->row_number = hit->row;
        ok = check_row(&set, &row, err) &&
             cn_trace_cursor_load(&cursor, &branch->trace, err);
        fill_depths(branch);
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

bool cn_trace_set_load_hits(struct cn_trace_set *out, const struct cn_store *store,
                            struct cn_segment_loader *loader,
                            const struct cn_search_hit *hits, size_t count,
                            struct cn_error *err)
{
    struct cn_trace_set set = {.branches = cn_alloc(count, sizeof(*set.branches))};

    while (set.count < count) {
        const struct cn_search_hit *hit = &hits[set.count];
        const struct cn_segment *segment = cn_store_segment(store, hit->segment);
        struct cn_trace_branch *branch = &set.branches[set.count++];

        branch->parent = branch->next = CN_NONE;
        branch->segment_number = cn_segment_number(segment);
        branch->row_number = hit->row;
        if (!cn_segment_row(segment, hit->row, &branch->row, err) ||
            !cn_segment_load(loader, segment, hit->row, &branch->trace, err)) {
            cn_trace_set_done(&set);
            return false;
        }
        fill_depths(branch);
    }
    join(&set);
    *out = set;
    return true;
}

void cn_trace_set_done(struct cn_trace_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        cn_trace_done(&set->branches[i].trace);
        free(set->branches[i].depths);
        free(set->branches[i].first_children);
    }
    free(set->branches);
    *set = (struct cn_trace_set){0};
}

static uint64_t later(uint64_t time_ns, uint64_t by_ns)
{
    return by_ns < UINT64_MAX - time_ns ? time_ns + by_ns : UINT64_MAX;
}

uint64_t cn_trace_branch_begin_ns(const struct cn_trace_branch *branch, uint32_t node)
{
    return later(branch->row.time_ns, branch->trace.nodes[node].start_ns);
}

uint64_t cn_trace_branch_end_ns(const struct cn_trace_branch *branch, uint32_t node)
{
    return later(cn_trace_branch_begin_ns(branch, node),
                 branch->trace.nodes[node].duration_ns);
}

uint64_t cn_trace_set_duration_ns(const struct cn_trace_set *set)
{
    uint64_t begin_ns = UINT64_MAX, end_ns = 0, root_ns = 0;
    size_t root_count = 0;

    for (size_t i = 0; i < set->count; i++) {
        const struct cn_trace_branch *branch = &set->branches[i];

        if (branch->is_copy || branch->trace.node_count == 0)
            continue;
        for (uint32_t s = 0; s < branch->trace.span_count; s++) {
            uint32_t node = branch->trace.spans[s].node;
            uint64_t first_ns = cn_trace_branch_begin_ns(branch, node);
            uint64_t last_ns = cn_trace_branch_end_ns(branch, node);

            begin_ns = first_ns < begin_ns ? first_ns : begin_ns;
            end_ns = last_ns > end_ns ? last_ns : end_ns;
        }
        if (branch->row.parent_id == 0) {
            root_ns = branch->trace.nodes[0].duration_ns;
            root_count++;
        }
    }
    return root_count == 1 ? root_ns : end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* A branch that is being walked through. */
struct set_level {
    const struct cn_trace_branch *branch;
    uint32_t depth;    /* of its first node */
    uint32_t node;     /* to visit next */
    uint32_t open;     /* innermost open node; CN_NONE */
    uint32_t *pending; /* by node: the next branch that it called */
};

static struct set_level begin_branch(const struct cn_trace_branch *branch, uint32_t depth)
{
    uint32_t count = branch->trace.node_count;
    struct set_level level = {.branch = branch, .depth = depth, .open = CN_NONE};

    level.pending = cn_alloc(count, sizeof(*level.pending));
    if (count > 0)
        memcpy(level.pending, branch->first_children, count * sizeof(*level.pending));
    return level;
}

/* The branch to visit before the next node: one called by the innermost open node, earlier
 * than that. CN_NONE if there is none; all branches of a node come before it is left. */
static uint32_t take_pending(const struct cn_trace_set *set, struct set_level *at,
                             bool is_child)
{
    uint32_t branch = at->open == CN_NONE ? CN_NONE : at->pending[at->open];

    if (branch == CN_NONE ||
        (is_child &&
         set->branches[branch].row.time_ns >
             at->branch->row.time_ns + at->branch->trace.nodes[at->node].start_ns))
        return CN_NONE;
    at->pending[at->open] = set->branches[branch].next;
    return branch;
}

/* Walk through a branch and those it called. A branch has one caller, so the stack has room. */
static void walk_branch(const struct cn_trace_set *set, uint32_t first,
                        struct set_level *stack, cn_trace_visit visit, void *arg)
{
    size_t count = 1;

    stack[0] = begin_branch(&set->branches[first], 0);
    while (count > 0) {
        struct set_level *at = &stack[count - 1];
        const struct cn_trace *trace = &at->branch->trace;
        bool is_end = at->node == trace->node_count;
        bool is_child = !is_end && trace->nodes[at->node].parent == at->open;
        uint32_t pending = take_pending(set, at, is_child);

        if (pending != CN_NONE) {
            stack[count++] = begin_branch(&set->branches[pending],
                                          at->depth + at->branch->depths[at->open] + 1);
        } else if (!is_child && at->open != CN_NONE) {
            at->open = trace->nodes[at->open].parent;
        } else if (is_end) {
            free(at->pending);
            count--;
        } else if (visit(arg, at->branch, at->node,
                         at->depth + at->branch->depths[at->node])) {
            at->open = at->node++;
        } else {
            at->node = trace->nodes[at->node].end;
        }
    }
}

void cn_trace_set_walk(const struct cn_trace_set *set, cn_trace_visit visit, void *arg)
{
    struct set_level *stack = cn_alloc(set->count, sizeof(*stack));

    for (uint32_t i = 0; i < set->count; i++) {
        if (set->branches[i].parent == CN_NONE)
            walk_branch(set, i, stack, visit, arg);
    }
    free(stack);
}

static bool enter_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                       uint32_t depth)
{
    if (depth > UINT16_MAX)
        return false;
    cn_trace_calls_enter(arg, &branch->trace, node, branch->row.time_ns, depth);
    return true;
}

void cn_trace_set_enter_calls(const struct cn_trace_set *set,
                              struct cn_trace_calls *calls)
{
    cn_trace_set_walk(set, enter_call, calls);
    cn_trace_calls_end(calls);
}

struct cn_recording *cn_trace_set_recording(const struct cn_trace_set *set,
                                            bool is_nested)
{
    struct cn_trace_calls *calls = cn_trace_calls_new();

    cn_trace_calls_show_attributes(calls);
    if (is_nested)
        cn_trace_set_enter_calls(set, calls);
    for (size_t i = 0; !is_nested && i < set->count; i++) {
        if (!set->branches[i].is_copy)
            cn_trace_calls_add(calls, &set->branches[i].trace);
    }
    struct cn_recording *recording = cn_trace_calls_finish(calls);
    cn_trace_calls_free(calls);
    return recording;
}
