#include "analyze/compare/comparison.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/function_name.h"
#include "analyze/compare/neighbours.h"
#include "analyze/views/costs.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "base/text.h"

static uint64_t hash_of(uint32_t parent, uint32_t name)
{
    uint64_t hash = ((uint64_t)parent << 32 | name) * UINT64_C(0x9e3779b97f4a7c15);

    return hash ^ hash >> 29;
}

/* The slot of a node, or the free one where it belongs. Merged nodes have no name. */
static uint32_t *find_slot(const struct cn_comparison *c, uint32_t parent, uint32_t name)
{
    size_t i = hash_of(parent, name) & (c->slot_count - 1);

    while (c->slots[i]) {
        const struct cn_compared *node = &c->nodes[c->slots[i] - 1];

        if (node->parent == parent && node->name == name)
            break;
        i = (i + 1) & (c->slot_count - 1);
    }
    return &c->slots[i];
}

static void put_in_slot(struct cn_comparison *c, uint32_t node)
{
    *find_slot(c, c->nodes[node].parent, c->nodes[node].name) = node + 1;
    c->slots_used++;
}

static void grow_slots(struct cn_comparison *c)
{
    enum { FIRST = 256 };

    free(c->slots);
    c->slot_count = c->slot_count ? c->slot_count * 2 : FIRST;
    c->slots = cn_alloc(c->slot_count, sizeof(*c->slots));
    c->slots_used = 0;
    for (size_t i = 0; i < c->node_count; i++)
        if (c->nodes[i].name != CN_NONE)
            put_in_slot(c, (uint32_t)i);
}

static uint32_t *children_of(struct cn_comparison *c, uint32_t parent)
{
    return parent == CN_NONE ? &c->first_top : &c->nodes[parent].first_child;
}

uint32_t cn_comparison_child(const struct cn_comparison *c, uint32_t parent,
                             uint32_t name)
{
    uint32_t slot = c->slot_count > 0 ? *find_slot(c, parent, name) : 0;

    return slot ? slot - 1 : CN_NONE;
}

/* The node of a function below `parent`, made when new. */
static uint32_t add_node(struct cn_comparison *c, uint32_t parent, uint32_t name)
{
    uint32_t *slot, *list;

    if (c->slots_used >= c->slot_count / 2)
        grow_slots(c);
    slot = find_slot(c, parent, name);
    if (*slot)
        return *slot - 1;
    c->nodes = cn_grow(c->nodes, c->node_count, &c->node_capacity, sizeof(*c->nodes));
    list = children_of(c, parent);
    c->nodes[c->node_count] = (struct cn_compared){
        .parent = parent,
        .name = name,
        .other = CN_NONE,
        .first_child = CN_NONE,
        .next_sibling = *list,
    };
    *list = (uint32_t)c->node_count++;
    *slot = (uint32_t)c->node_count;
    c->slots_used++;
    return *slot - 1;
}

void cn_comparison_init(struct cn_comparison *c)
{
    *c = (struct cn_comparison){.first_top = CN_NONE, .has_calls = true};
}

/* The number of each place's name among ours. */
static uint32_t *number_names(struct cn_comparison *c, const struct cn_names *names)
{
    uint32_t *numbers = cn_alloc(names->count, sizeof(*numbers));
    struct cn_text text = {0};

    for (size_t i = 0; i < names->count; i++) {
        cn_text_clear(&text);
        cn_function_name_add(&text, names->list[i]);
        numbers[i] = cn_names_add(&c->names, cn_text_str(&text));
    }
    cn_text_done(&text);
    return numbers;
}

/* Nodes for all frames: by frame. Frame 0 is no context. */
static uint32_t *map_frames(struct cn_comparison *c, const struct cn_frames *frames,
                            enum cn_side side)
{
    uint32_t *nodes = cn_alloc(frames->count, sizeof(*nodes));
    uint32_t *names = number_names(c, &frames->names);

    nodes[0] = CN_NONE;
    for (size_t i = 1; i < frames->count; i++) {
        const struct cn_frame *frame = &frames->list[i];
        uint32_t parent = frame->parent == CN_NONE ? CN_NONE : nodes[frame->parent];

        nodes[i] = add_node(c, parent, names[frame->place]);
        c->nodes[nodes[i]].sides |= (uint8_t)(1U << side);
    }
    free(names);
    return nodes;
}

/* Contexts that begin a frame count for its node: their costs include those of the loops and
 * lines inside. */
static struct cn_cost_targets map_contexts(const struct cn_frames *frames,
                                           const uint32_t *nodes)
{
    size_t count = frames->index.count, filled = 0;
    size_t *start = cn_alloc(count + 1, sizeof(*start));
    struct cn_cost_target *list = cn_alloc(frames->count, sizeof(*list));

    for (size_t i = 0; i < count; i++) {
        uint32_t parent = frames->index.nodes[i].parent, frame = frames->of_node[i];

        start[i] = filled;
        if (parent == CN_NONE || frames->of_node[parent] != frame)
            list[filled++] =
                cn_cost_target_of(nodes[frame], 1U << CN_SELF | 1U << CN_TOTAL);
    }
    start[count] = filled;
    return (struct cn_cost_targets){start, list};
}

static const char *const calls_metric = "calls";

/* True if the formula of a sum of contexts is the sum of their formulas. */
static bool adds_up(const struct cn_formula *formula)
{
    size_t numbers = 0;

    if (formula->op == CN_FORMULA_INPUT)
        return true;
    for (size_t i = 0; i < formula->arg_count; i++) {
        if (formula->args[i]->op == CN_FORMULA_NUMBER)
            numbers++;
        else if (!adds_up(formula->args[i]))
            return false;
    }
    if (formula->op == CN_FORMULA_ADD || formula->op == CN_FORMULA_SUB ||
        formula->op == CN_FORMULA_NEG)
        return numbers == 0;
    if (formula->op == CN_FORMULA_MUL)
        return numbers + 1 == formula->arg_count;
    return formula->op == CN_FORMULA_DIV && formula->arg_count == 2 && numbers == 1 &&
           formula->args[1]->op == CN_FORMULA_NUMBER;
}

/* The columns of a run: total and self costs of the metric, and calls where the database has
 * them. */
struct columns {
    size_t total, self, calls; /* SIZE_MAX: none */
};

static size_t add_column(struct cn_costs *costs, const char *metric,
                         enum cn_cost_side side, struct cn_error *err)
{
    struct cn_cost_request request = {.metric = metric, .side = side, .profile = CN_NONE};

    return cn_costs_add(costs, &request, err) ? costs->column_count - 1 : SIZE_MAX;
}

static bool add_columns(struct cn_comparison *c, struct cn_costs *costs,
                        const struct cn_compare_run *run, struct columns *out,
                        struct cn_error *err)
{
    const char *defaults[CN_COST_DEFAULT_MAX];
    const char *metric = run->metric ? run->metric : c->metric;
    struct cn_error other;

    costs->counts_waits = run->counts_waits;
    for (size_t i = 0; i < run->threads_count; i++)
        if (!cn_costs_select(costs, run->threads[i], err))
            return false;
    if (!metric && cn_costs_default_metrics(costs, defaults) > 0)
        metric = defaults[0];
    out->total = add_column(costs, metric, CN_TOTAL, err);
    out->self = add_column(costs, metric, CN_SELF, out->total == SIZE_MAX ? err : &other);
    if (costs->column_count == 0) {
        err->kind = CN_ERR_USAGE; /* both sides need it */
        return false;
    }
    if (c->metric && strcmp(c->metric, costs->columns[0].metric) != 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "its metric is '%s', not '%s'; choose one that all have with "
                       "--metric",
                       costs->columns[0].metric, c->metric);
    for (size_t i = 0; i < costs->input_count; i++)
        if (costs->inputs[i].combine != CN_COMBINE_SUM ||
            !adds_up(costs->columns[0].formula))
            return cn_fail(err, CN_ERR_USAGE, "metric '%s' does not add up over contexts",
                           costs->columns[0].metric);
    out->calls = add_column(costs, calls_metric, CN_SELF, &other);
    if (out->calls == SIZE_MAX ||
        strcmp(costs->columns[out->calls].metric, calls_metric) != 0)
        c->has_calls = false;
    return cn_costs_ready(costs, err);
}

static bool count_threads(const struct cn_costs *costs, uint32_t *out,
                          struct cn_error *err)
{
    *out = 0;
    for (uint32_t i = 1; i < costs->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_costs_is_selected(costs, i))
            continue;
        if (!cn_database_profile(costs->db, i, &profile, err))
            return false;
        *out += !profile.is_summary;
    }
    return true;
}

static double finite_or_0(double value)
{
    return isfinite(value) ? value : 0;
}

/* A function's self cost is its total without those of its callees. Self costs of databases
 * are the same, except where they include inlined functions, which have rows of their own;
 * otherwise they are taken, because they are exact. */
static void correct_self(const struct cn_comparison *c, struct cn_compared_run *run,
                         const double *total)
{
    static const double rounding = 1e-9;
    double *rest = cn_alloc(run->count, sizeof(*rest));

    for (size_t i = run->count; i-- > 0;) {
        rest[i] += total[i];
        if (c->nodes[i].parent != CN_NONE)
            rest[c->nodes[i].parent] -= total[i];
        if (fabs(rest[i] - run->self[i]) > rounding * fabs(total[i]))
            run->self[i] = rest[i];
    }
    free(rest);
}

/* The values of all nodes; false if there are none. */
static bool take_values(const struct cn_comparison *c, const struct cn_costs *costs,
                        const struct columns *columns, const struct cn_cost_rows *rows,
                        struct cn_compared_run *run)
{
    double values[CN_COST_COLUMN_MAX];
    double *total = NULL;
    bool has_value = false;

    if (columns->total != SIZE_MAX)
        total = cn_alloc(run->count, sizeof(*total));
    for (size_t i = 0; i < run->count; i++) {
        cn_cost_rows_values(costs, rows, i, values);
        if (columns->self != SIZE_MAX)
            run->self[i] = finite_or_0(values[columns->self]);
        if (total)
            total[i] = finite_or_0(values[columns->total]);
        if (run->calls)
            run->calls[i] = finite_or_0(values[columns->calls]);
    }
    if (total)
        correct_self(c, run, total);
    for (size_t i = 0; i < run->count; i++)
        has_value |= run->self[i] != 0;
    free(total);
    return has_value;
}

static bool fill_run(struct cn_comparison *c, struct cn_costs *costs,
                     const struct columns *columns, struct cn_compared_run *run,
                     const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_cost_targets targets;
    struct cn_cost_rows rows = {0};
    struct cn_frames frames;
    uint32_t *nodes;
    bool ok;

    if (!cn_frames_build(&frames, costs->db, progress, err))
        return false;
    cn_database_forget(costs->db);
    nodes = map_frames(c, &frames, run->side);
    targets = map_contexts(&frames, nodes);
    free(nodes);
    free(frames.list);
    free(frames.of_node);
    frames.list = NULL;
    frames.of_node = NULL;
    run->count = c->node_count;
    ok = cn_costs_fill(costs, &frames.index, &targets, run->count, progress, &rows, err);
    cn_frames_done(&frames);
    free((void *)(uintptr_t)targets.start);
    free((void *)(uintptr_t)targets.list);
    cn_database_forget(costs->db);
    if (ok) {
        run->self = cn_alloc(run->count, sizeof(*run->self));
        if (c->has_calls)
            run->calls = cn_alloc(run->count, sizeof(*run->calls));
        if (!take_values(c, costs, columns, &rows, run))
            ok = cn_fail(err, CN_ERR_USAGE, "metric '%s' has no values",
                         costs->columns[0].metric);
    }
    cn_cost_rows_done(&rows);
    return ok;
}

bool cn_comparison_add(struct cn_comparison *c, const struct cn_compare_run *run,
                       const struct cn_progress *progress, struct cn_error *err)
{
    const struct cn_database *db = run->db;
    struct cn_compared_run made = {.side = run->side, .seconds = NAN};
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct columns columns;
    bool ok;

    if (db->has_timelines && db->end_ns > db->begin_ns)
        made.seconds = (double)(db->end_ns - db->begin_ns) * 1e-9;
    cn_costs_init(costs, run->db);
    ok = add_columns(c, costs, run, &columns, err) &&
         count_threads(costs, &made.thread_count, err) &&
         fill_run(c, costs, &columns, &made, progress, err);
    if (ok && !c->metric) {
        c->metric_copy = cn_strdup(costs->columns[0].metric);
        c->metric = c->metric_copy;
    }
    cn_costs_done(costs);
    free(costs);
    if (!ok) {
        free(made.self);
        free(made.calls);
        return false;
    }
    c->runs = cn_grow(c->runs, c->run_count, &c->run_capacity, sizeof(*c->runs));
    c->runs[c->run_count++] = made;
    c->side_runs[run->side]++;
    return true;
}

void cn_comparison_scale(struct cn_comparison *c, size_t run, double factor)
{
    assert(run < c->run_count && !c->order);
    for (size_t i = 0; i < c->runs[run].count; i++)
        c->runs[run].self[i] *= factor;
}

/* The values of a merged node belong to the one it was merged into. */
static void move_values(struct cn_comparison *c, uint32_t from, uint32_t into,
                        bool counts)
{
    for (size_t i = 0; i < c->run_count; i++) {
        struct cn_compared_run *run = &c->runs[i];

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

static void link_node(struct cn_comparison *c, uint32_t node, uint32_t parent)
{
    uint32_t *list = children_of(c, parent);

    c->nodes[node].parent = parent;
    c->nodes[node].next_sibling = *list;
    *list = node;
}

struct merge {
    uint32_t from, into;
};

void cn_comparison_merge(struct cn_comparison *c, uint32_t from, uint32_t into,
                         bool counts)
{
    struct merge *stack = NULL;
    size_t depth = 0, capacity = 0;

    unlink_node(c, from);
    stack = cn_grow(stack, depth, &capacity, sizeof(*stack));
    stack[depth++] = (struct merge){from, into};
    while (depth > 0) {
        struct merge at = stack[--depth];
        uint32_t child = c->nodes[at.from].first_child;

        move_values(c, at.from, at.into, counts || at.from != from);
        c->nodes[at.into].sides |= c->nodes[at.from].sides;
        c->nodes[at.from].name = CN_NONE;
        c->nodes[at.from].first_child = CN_NONE;
        while (child != CN_NONE) {
            uint32_t next = c->nodes[child].next_sibling;
            uint32_t same = cn_comparison_child(c, at.into, c->nodes[child].name);

            if (same == CN_NONE) {
                link_node(c, child, at.into);
                if (c->slots_used >= c->slot_count / 4 * 3)
                    grow_slots(c);
                else
                    put_in_slot(c, child);
            } else {
                stack = cn_grow(stack, depth, &capacity, sizeof(*stack));
                stack[depth++] = (struct merge){child, same};
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
            stack = cn_grow(stack, depth, &capacity, sizeof(*stack));
            stack[depth++] = at;
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
        run->count = c->node_count;
    }
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
}

void cn_comparison_per_call(struct cn_comparison *c)
{
    assert(c->has_calls);
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

void cn_comparison_done(struct cn_comparison *c)
{
    for (size_t i = 0; i < c->run_count; i++) {
        free(c->runs[i].self);
        free(c->runs[i].calls);
    }
    for (int side = 0; side < CN_SIDES; side++) {
        free(c->self[side]);
        free(c->total[side]);
        free(c->calls[side]);
    }
    free(c->runs);
    free(c->order);
    free(c->nodes);
    free(c->slots);
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

static bool is_entry(const struct cn_comparison *c, uint32_t node)
{
    return c->nodes[node].parent == CN_NONE &&
           c->names.list[c->nodes[node].name][0] == '<';
}

void cn_comparison_path_add(struct cn_text *text, const struct cn_comparison *c,
                            uint32_t node)
{
    enum { SHOWN = 8, FIRST = 3 };
    uint32_t last[SHOWN], first[FIRST];
    size_t count = 0;

    for (uint32_t at = node; at != CN_NONE; at = c->nodes[at].parent)
        if (at == node || !is_entry(c, at)) {
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
