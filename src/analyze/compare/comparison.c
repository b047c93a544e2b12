#include "analyze/compare/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/call_evidence.h"
#include "analyze/compare/neighbours.h"
#include "analyze/waits.h"
#include "base/alloc.h"
#include "base/text.h"

/* The key of a node among the children of all nodes. */
static uint64_t key_of(uint32_t parent, uint32_t name)
{
    return (uint64_t)parent << 32 | name;
}

static uint32_t *children_of(struct cn_comparison *c, uint32_t parent)
{
    return parent == CN_NONE ? &c->first_top : &c->nodes[parent].first_child;
}

uint32_t cn_comparison_child(const struct cn_comparison *c, uint32_t parent,
                             uint32_t name)
{
    uint32_t node = cn_map_find(&c->children, key_of(parent, name), CN_NONE);

    /* Merged nodes, and those that went to another parent, are still in the map. */
    return node != CN_NONE && c->nodes[node].parent == parent &&
                   c->nodes[node].name == name
               ? node
               : CN_NONE;
}

static void link_node(struct cn_comparison *c, uint32_t node, uint32_t parent)
{
    uint32_t *list = children_of(c, parent);

    c->nodes[node].parent = parent;
    c->nodes[node].next_sibling = *list;
    *list = node;
    *cn_map_at(&c->children, key_of(parent, c->nodes[node].name), node) = node;
}

uint32_t cn_comparison_node_add(struct cn_comparison *c, uint32_t parent, uint32_t name)
{
    uint32_t node = cn_comparison_child(c, parent, name);

    if (node != CN_NONE)
        return node;
    node = (uint32_t)c->node_count;
    CN_PUSH(c->nodes, c->node_count, c->node_capacity,
            (struct cn_compared){
                .name = name, .other = CN_NONE, .first_child = CN_NONE, .into = CN_NONE});
    link_node(c, node, parent);
    return node;
}

void cn_comparison_init(struct cn_comparison *c)
{
    *c = (struct cn_comparison){.first_top = CN_NONE, .has_calls = true};
}

/* The errors of both add up. */
static void join_weights(struct cn_compared_run *run, uint32_t from, uint32_t into)
{
    double a = fabs(run->self[from]), b = fabs(run->self[into]);

    if (a + b > 0)
        run->sample_weights[into] =
            (run->sample_weights[from] * a + run->sample_weights[into] * b) / (a + b);
}

/* The values of a merged node belong to the one it was merged into. */
static void move_values(struct cn_comparison *c, uint32_t from, uint32_t into,
                        bool counts)
{
    for (size_t i = 0; i < c->run_count; i++) {
        struct cn_compared_run *run = &c->runs[i];

        if (run->sample_weights)
            join_weights(run, from, into);
        run->self[into] += run->self[from];
        run->self[from] = 0;
        if (run->calls && counts)
            run->calls[into] += run->calls[from];
        if (run->calls)
            run->calls[from] = 0;
    }
    for (int side = 0; side < CN_SIDES; side++) {
        c->self[side][into] += c->self[side][from];
        c->self[side][from] = 0;
        if (c->calls[side] && counts)
            c->calls[side][into] += c->calls[side][from];
        if (c->calls[side])
            c->calls[side][from] = 0;
    }
}

static void unlink_node(struct cn_comparison *c, uint32_t node)
{
    uint32_t *at = children_of(c, c->nodes[node].parent);

    while (*at != node)
        at = &c->nodes[*at].next_sibling;
    *at = c->nodes[node].next_sibling;
}

struct comparison_merge {
    uint32_t from, into;
};

void cn_comparison_merge(struct cn_comparison *c, uint32_t from, uint32_t into,
                         bool counts)
{
    struct comparison_merge *stack = NULL;
    size_t depth = 0, capacity = 0;

    unlink_node(c, from);
    CN_PUSH(stack, depth, capacity, (struct comparison_merge){from, into});
    while (depth > 0) {
        struct comparison_merge at = stack[--depth];
        uint32_t child = c->nodes[at.from].first_child;

        move_values(c, at.from, at.into, counts || at.from != from);
        c->nodes[at.into].sides |= c->nodes[at.from].sides;
        c->nodes[at.from].name = CN_NONE;
        c->nodes[at.from].into = counts || at.from != from ? at.into : CN_NONE;
        c->nodes[at.from].first_child = CN_NONE;
        while (child != CN_NONE) {
            uint32_t next = c->nodes[child].next_sibling;
            uint32_t same = cn_comparison_child(c, at.into, c->nodes[child].name);

            if (same == CN_NONE) {
                link_node(c, child, at.into);
            } else {
                CN_PUSH(stack, depth, capacity, (struct comparison_merge){child, same});
            }
            child = next;
        }
    }
    free(stack);
}

/* Means over the runs of a side. */
static double *mean_of(const struct cn_comparison *c, enum cn_side side, bool of_calls)
{
    double *mean = cn_alloc(c->node_count, sizeof(*mean));

    for (size_t r = 0; r < c->run_count; r++) {
        const struct cn_compared_run *run = &c->runs[r];
        const double *values = of_calls ? run->calls : run->self;

        if (run->side != side)
            continue;
        for (size_t i = 0; i < run->count; i++)
            mean[i] += values[i] / (double)c->side_runs[side];
    }
    return mean;
}

/* A walk over all nodes, parents first. */
static void put_in_order(struct cn_comparison *c)
{
    uint32_t *stack = NULL;
    size_t depth = 0, capacity = 0;

    c->order = cn_realloc(c->order, c->node_count, sizeof(*c->order));
    c->order_count = 0;
    for (uint32_t at = c->first_top;;) {
        for (; at != CN_NONE; at = c->nodes[at].next_sibling) {
            CN_PUSH(stack, depth, capacity, at);
        }
        if (depth == 0)
            break;
        at = stack[--depth];
        c->order[c->order_count++] = at;
        at = c->nodes[at].first_child;
    }
    free(stack);
}

static void add_up_totals(struct cn_comparison *c)
{
    for (int side = 0; side < CN_SIDES; side++) {
        double *total = c->total[side];

        memcpy(total, c->self[side], c->node_count * sizeof(*total));
        c->whole[side] = 0;
        for (size_t i = c->order_count; i-- > 0;) {
            uint32_t node = c->order[i], parent = c->nodes[node].parent;

            if (parent == CN_NONE)
                c->whole[side] += total[node];
            else
                total[parent] += total[node];
        }
    }
}

/* Nodes that later runs added have no values in earlier ones. */
static void extend(double **values, size_t count, size_t wanted)
{
    *values = cn_realloc(*values, wanted, sizeof(**values));
    for (size_t i = count; i < wanted; i++)
        (*values)[i] = 0;
}

static void extend_runs(struct cn_comparison *c)
{
    for (size_t i = 0; i < c->run_count; i++) {
        struct cn_compared_run *run = &c->runs[i];

        extend(&run->self, run->count, c->node_count);
        if (run->calls)
            extend(&run->calls, run->count, c->node_count);
        if (run->sample_weights)
            extend(&run->sample_weights, run->count, c->node_count);
        run->count = c->node_count;
    }
}

/* Scale all values of a node to the calls that side B makes. */
static void scale_per_call(struct cn_comparison *c)
{
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i];
        double calls[CN_SIDES] = {c->calls[CN_SIDE_A][node], c->calls[CN_SIDE_B][node]};
        bool is_called = calls[CN_SIDE_A] > 0 && calls[CN_SIDE_B] > 0;

        if (!is_called &&
            (c->self[CN_SIDE_A][node] != 0 || c->self[CN_SIDE_B][node] != 0))
            c->uncounted++;
        for (size_t r = 0; r < c->run_count; r++) {
            struct cn_compared_run *run = &c->runs[r];

            run->self[node] *= is_called && run->calls[node] > 0
                                   ? calls[CN_SIDE_B] / run->calls[node]
                                   : 0;
        }
        for (int side = 0; side < CN_SIDES; side++)
            c->self[side][node] *= is_called ? calls[CN_SIDE_B] / calls[side] : 0;
    }
    add_up_totals(c);
}

void cn_comparison_finish(struct cn_comparison *c)
{
    extend_runs(c);
    c->name_sides = cn_alloc(c->names.count, sizeof(*c->name_sides));
    for (size_t i = 0; i < c->node_count; i++)
        c->name_sides[c->nodes[i].name] |= c->nodes[i].sides;
    for (int side = 0; side < CN_SIDES; side++) {
        c->self[side] = mean_of(c, (enum cn_side)side, false);
        c->calls[side] = c->has_calls ? mean_of(c, (enum cn_side)side, true) : NULL;
        c->total[side] = cn_alloc(c->node_count, sizeof(*c->total[side]));
    }
    put_in_order(c);
    add_up_totals(c);
    if (cn_neighbours_match(c) > 0) {
        put_in_order(c);
        add_up_totals(c);
    }
    if (c->scaling == CN_SCALE_PER_CALL)
        scale_per_call(c);
    if (cn_compare_over_is_single(cn_comparison_over(c)))
        cn_call_evidence_prepare(c);
}

enum cn_compare_over cn_comparison_over(const struct cn_comparison *c)
{
    bool has_durations = true, has_samples = true;

    if (c->side_runs[CN_SIDE_A] > 1 && c->side_runs[CN_SIDE_B] > 1)
        return c->has_threads_as_runs ? CN_OVER_THREADS : CN_OVER_RUNS;
    if (c->run_count != CN_SIDES)
        return CN_OVER_NOTHING;
    for (size_t i = 0; i < c->run_count; i++) {
        has_durations = has_durations && c->runs[i].duration_count > 0;
        has_samples = has_samples && c->runs[i].sample_weight > 0;
    }
    if (has_samples)
        return CN_OVER_SAMPLES;
    if (c->scaling != CN_SCALE_NOT || !c->has_calls)
        return CN_OVER_NOTHING;
    if (strcmp(c->metric, CN_CALLS_NAME) == 0)
        return CN_OVER_COUNTS;
    return has_durations ? CN_OVER_CALLS : CN_OVER_NOTHING;
}

const char *cn_compare_over_name(enum cn_compare_over over)
{
    static const char *const names[] = {NULL,    "runs",    "threads",
                                        "calls", "samples", "counts"};

    return names[over];
}

void cn_comparison_done(struct cn_comparison *c)
{
    for (size_t i = 0; i < c->run_count; i++) {
        free(c->runs[i].self);
        free(c->runs[i].calls);
        free(c->runs[i].sample_weights);
        free(c->runs[i].durations);
    }
    for (int side = 0; side < CN_SIDES; side++) {
        free(c->self[side]);
        free(c->total[side]);
        free(c->calls[side]);
        free(c->errors[side]);
    }
    free(c->runs);
    free(c->order);
    free(c->nodes);
    cn_map_done(&c->children);
    free(c->metric_copy);
    free(c->name_sides);
    cn_names_done(&c->names);
    *c = (struct cn_comparison){0};
}

void cn_comparison_label_add(struct cn_text *text, const struct cn_comparison *c,
                             uint32_t node)
{
    const struct cn_compared *at = &c->nodes[node];

    cn_text_str_add(text, c->names.list[at->name]);
    if (at->how == CN_RENAMED)
        cn_text_printf(text, " → %s", c->names.list[at->other]);
    else if (at->how == CN_INLINED)
        cn_text_printf(text, " (%s inlined)", c->names.list[at->other]);
    else if (at->how == CN_SPLIT)
        cn_text_printf(text, " (%s split off)", c->names.list[at->other]);
}

void cn_comparison_path_add(struct cn_text *text, const struct cn_comparison *c,
                            uint32_t node)
{
    enum { SHOWN = 8, FIRST = 3 };
    uint32_t last[SHOWN], first[FIRST];
    size_t count = 0;

    for (uint32_t at = node; at != CN_NONE; at = c->nodes[at].parent)
        if (at == node || !cn_comparison_is_entry(c, at)) {
            if (count < SHOWN)
                last[count] = at;
            for (size_t i = FIRST - 1; i > 0; i--)
                first[i] = first[i - 1];
            first[0] = at;
            count++;
        }
    if (count > SHOWN) {
        for (size_t i = 0; i < FIRST; i++) {
            cn_comparison_label_add(text, c, first[i]);
            cn_text_str_add(text, " > ");
        }
        cn_text_printf(text, "... > ");
    }
    for (size_t i = count > SHOWN ? SHOWN - FIRST : count; i-- > 0;) {
        cn_comparison_label_add(text, c, last[i]);
        cn_text_str_add(text, i > 0 ? " > " : "");
    }
}
