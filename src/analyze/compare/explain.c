#include "analyze/compare/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/call_evidence.h"
#include "base/alloc.h"

static const double enough = 0.9;      /* of the change, to explain it */
static const double too_small = 0.001; /* of the whole */

/* How nodes are grouped. */
enum explain_group { BY_FUNCTION, ON_ONE_SIDE, BY_CALLS, BY_PATH, GROUPS };

struct explain_builder {
    const struct cn_comparison *c;
    struct cn_explanation *e;
    size_t capacity;
    struct cn_map items; /* of names and groups; of nodes for BY_PATH */
    uint8_t *group;      /* by item, while building */
    size_t group_capacity;
    uint32_t *of_node; /* item of each node; CN_NONE: not yet known */
};

const char *cn_change_kind_name(enum cn_change_kind kind)
{
    static const char *const names[] = {"self", "new", "gone", "moved", "calls"};

    return names[kind];
}

static uint32_t find_item(struct explain_builder *b, enum explain_group group,
                          uint32_t key, uint32_t name, uint32_t node)
{
    struct cn_explanation *e = b->e;
    uint32_t *item =
        cn_map_at(&b->items, (uint64_t)group << 32 | key, (uint32_t)e->count);

    if (*item == e->count) {
        CN_GROW(e->list, e->count, b->capacity);
        CN_GROW(b->group, e->count, b->group_capacity);
        b->group[e->count] = (uint8_t)group;
        e->list[e->count++] = (struct cn_change){.name = name, .node = node};
    }
    return *item;
}

static bool is_on_both(const struct cn_comparison *c, uint32_t node)
{
    return c->nodes[node].sides == (1U << CN_SIDE_A | 1U << CN_SIDE_B);
}

/* The number of calls changed where the caller's did not, and the cost with it: what is below
 * needs no line of its own. */
static bool is_called_otherwise(const struct cn_comparison *c, uint32_t node)
{
    static const double tolerance = 0.01, close = 0.3;
    uint32_t parent = c->nodes[node].parent;
    double a = c->total[CN_SIDE_A][node], b = c->total[CN_SIDE_B][node], expected;

    if (!c->has_calls || c->nodes[node].first_child == CN_NONE || parent == CN_NONE ||
        !(c->calls[CN_SIDE_A][node] > 0 && c->calls[CN_SIDE_B][node] > 0) || !(a > 0) ||
        !(b > 0))
        return false;
    if (fabs(c->calls[CN_SIDE_B][parent] - c->calls[CN_SIDE_A][parent]) >
        tolerance * c->calls[CN_SIDE_A][parent])
        return false;
    expected = a * (c->calls[CN_SIDE_B][node] / c->calls[CN_SIDE_A][node] - 1);
    return fabs(expected) > tolerance * a &&
           fabs(b - a - expected) <= close * fabs(b - a);
}

static uint32_t item_of(struct explain_builder *b, uint32_t node)
{
    const struct cn_comparison *c = b->c;
    const struct cn_compared *at = &c->nodes[node];
    uint32_t above = at->parent == CN_NONE ? CN_NONE : b->of_node[at->parent];

    if (!is_on_both(c, node))
        return above != CN_NONE && b->group[above] == ON_ONE_SIDE &&
                       c->nodes[at->parent].sides == at->sides
                   ? above
                   : find_item(b, ON_ONE_SIDE, at->name, at->name, node);
    if (above != CN_NONE && b->group[above] == BY_CALLS)
        return above;
    return find_item(b, is_called_otherwise(c, node) ? BY_CALLS : BY_FUNCTION, at->name,
                     at->name, node);
}

/* True if a node is where its item begins, not something that is called below. */
static bool is_root(const struct explain_builder *b, uint32_t node, uint32_t item)
{
    uint32_t parent = b->c->nodes[node].parent;

    return b->group[item] == BY_FUNCTION || b->group[item] == BY_PATH ||
           parent == CN_NONE || b->of_node[parent] != item;
}

static void count_node(struct explain_builder *b, uint32_t node, uint32_t number)
{
    const struct cn_comparison *c = b->c;
    struct cn_change *item = &b->e->list[number];
    bool is_whole = b->group[number] == ON_ONE_SIDE || b->group[number] == BY_CALLS;

    for (int side = 0; side < CN_SIDES; side++)
        item->value[side] += c->self[side][node];
    if (!is_root(b, node, number))
        return;
    double change = is_whole ? fabs(c->total[CN_SIDE_B][node] - c->total[CN_SIDE_A][node])
                             : fabs(cn_comparison_change(c, node));
    for (int side = 0; side < CN_SIDES && c->has_calls; side++)
        item->calls[side] += c->calls[side][node];
    item->gross += change;
    item->node_count++;
    item->path_count += change > 0;
    if (change > item->node_change) {
        item->node_change = change;
        item->node = node;
    }
}

/* Which call paths of a function get items of their own. */
enum division { NOT_DIVIDED, BY_ALL_PATHS, BY_LARGEST_PATH };

static enum division division_of(const struct explain_builder *b, size_t item)
{
    const struct cn_change *change = &b->e->list[item];
    double size = fabs(cn_change_of(change));

    if (b->group[item] != BY_FUNCTION || change->node_count == 1)
        return NOT_DIVIDED;
    if (size < change->gross / 2)
        return BY_ALL_PATHS;
    return change->node_change >= enough * size ? BY_LARGEST_PATH : NOT_DIVIDED;
}

/* Divide functions whose call paths changed in opposite directions, or of which one alone
 * changed. */
static void divide_by_path(struct explain_builder *b)
{
    const struct cn_comparison *c = b->c;
    struct cn_explanation *e = b->e;
    double whole = fmax(fabs(c->whole[CN_SIDE_A]), fabs(c->whole[CN_SIDE_B]));
    uint8_t *divisions = cn_alloc(e->count, sizeof(*divisions));

    for (size_t i = 0; i < e->count; i++)
        divisions[i] = (uint8_t)division_of(b, i);
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i], number = b->of_node[node], own;
        struct cn_change *item = &e->list[number];
        double change = fabs(cn_comparison_change(c, node));

        if (divisions[number] == NOT_DIVIDED || change <= too_small * whole ||
            (divisions[number] == BY_LARGEST_PATH && node != item->node))
            continue;
        for (int side = 0; side < CN_SIDES; side++) {
            item->value[side] -= c->self[side][node];
            item->calls[side] -= c->has_calls ? c->calls[side][node] : 0;
        }
        own = find_item(b, BY_PATH, node, c->nodes[node].name, node);
        b->of_node[node] = own;
        count_node(b, node, own);
    }
    free(divisions);
}

static void name_kinds(struct explain_builder *b)
{
    for (size_t i = 0; i < b->e->count; i++) {
        struct cn_change *item = &b->e->list[i];

        if (b->group[i] == BY_CALLS)
            item->kind = CN_CHANGE_CALLS;
        else if (b->group[i] == ON_ONE_SIDE)
            item->kind = item->value[CN_SIDE_A] == 0   ? CN_CHANGE_NEW
                         : item->value[CN_SIDE_B] == 0 ? CN_CHANGE_GONE
                                                       : CN_CHANGE_MOVED;
    }
}

/* The values of all items in all runs: [item][run]. */
static double *add_up_runs(const struct explain_builder *b)
{
    const struct cn_comparison *c = b->c;
    const struct cn_explanation *e = b->e;
    double *values = cn_alloc((e->count + 1) * c->run_count, sizeof(*values));

    for (size_t r = 0; r < c->run_count; r++)
        for (size_t i = 0; i < c->order_count; i++) {
            uint32_t node = c->order[i];
            double value = c->runs[r].self[node];

            values[b->of_node[node] * c->run_count + r] += value;
            values[e->count * c->run_count + r] += value;
        }
    return values;
}

/* What single runs tell; the last one of `found` is of everything. `changes` is what they tell of the
 * sum of all changes that are real. */
static void test_single(const struct explain_builder *b, struct cn_evidence *found,
                        struct cn_evidence *changes)
{
    const struct cn_comparison *c = b->c;
    const struct cn_explanation *e = b->e;
    struct cn_call_test *tests = cn_alloc(e->count, sizeof(*tests));
    struct cn_call_test whole = {.calls = {NAN, NAN}}, sum = {.calls = {NAN, NAN}};

    for (size_t i = 0; i < e->count; i++)
        for (int side = 0; side < CN_SIDES; side++) {
            tests[i].value[side] = e->list[i].value[side];
            tests[i].calls[side] = c->has_calls ? e->list[i].calls[side] : NAN;
        }
    for (size_t i = 0; i < c->order_count; i++) {
        cn_cost_error_add(&tests[b->of_node[c->order[i]]].error, c, c->order[i]);
        cn_cost_error_add(&whole.error, c, c->order[i]);
    }
    memcpy(whole.value, c->whole, sizeof(whole.value));
    cn_call_evidence_find(found, tests, e->count, c);
    cn_call_evidence_find(found + e->count, &whole, 1, c);
    for (size_t i = 0; i < e->count; i++) {
        struct cn_cost_error error = tests[i].error;

        if (found[i].verdict != CN_VERDICT_REAL)
            continue;
        /* A call that one side alone makes costs something, however much that varies. */
        if (e->list[i].kind == CN_CHANGE_NEW || e->list[i].kind == CN_CHANGE_GONE)
            memset(error.unknown, 0, sizeof(error.unknown));
        cn_cost_error_merge(&sum.error, &error);
        for (int side = 0; side < CN_SIDES; side++)
            sum.value[side] += tests[i].value[side];
    }
    cn_call_evidence_find(changes, &sum, 1, c);
    free(tests);
}

/* The same of repeated runs, from the values of items in runs. */
static void test_repeated(const struct explain_builder *b, const double *values,
                          struct cn_evidence *found, struct cn_evidence *changes)
{
    const struct cn_comparison *c = b->c;
    size_t count = b->e->count;
    double whole = (fabs(c->whole[CN_SIDE_A]) + fabs(c->whole[CN_SIDE_B])) / 2;
    double *sum = cn_alloc(c->run_count, sizeof(*sum));

    cn_evidence_find(found, count, values, whole, c);
    cn_evidence_find(found + count, 1, values + count * c->run_count, whole, c);
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < c->run_count && found[i].verdict == CN_VERDICT_REAL; r++)
            sum[r] += values[i * c->run_count + r];
    cn_evidence_find(changes, 1, sum, whole, c);
    free(sum);
}

/* True if changes that are real make the whole differ, although what else differs is more uncertain than
 * they are: they have its direction, and are half of its difference or more. */
static bool explains_whole(const struct cn_evidence *changes,
                           const struct cn_evidence *whole)
{
    double found = changes->difference.difference, all = whole->difference.difference;

    return changes->verdict == CN_VERDICT_REAL && found * all > 0 &&
           fabs(found) >= 0.5 * fabs(all);
}

static void test_changes(const struct explain_builder *b, const double *values)
{
    struct cn_explanation *e = b->e;
    struct cn_evidence *found = cn_alloc(e->count + 1, sizeof(*found)), changes;

    if (cn_compare_over_is_single(e->over))
        test_single(b, found, &changes);
    else
        test_repeated(b, values, found, &changes);
    for (size_t i = 0; i < e->count; i++) {
        e->list[i].row = i;
        e->list[i].evidence = found[i];
        e->real_count += found[i].verdict == CN_VERDICT_REAL;
        e->unknown_count +=
            found[i].verdict == CN_VERDICT_UNKNOWN && cn_change_of(&e->list[i]) != 0;
    }
    e->whole.row = e->count;
    e->whole.evidence = found[e->count];
    if (explains_whole(&changes, &e->whole.evidence))
        e->whole.evidence.verdict = CN_VERDICT_REAL;
    free(found);
}

/* Changes that are real, then those that may be, then noise. */
static int rank_of(enum cn_verdict verdict)
{
    return verdict == CN_VERDICT_REAL ? 0 : verdict == CN_VERDICT_UNKNOWN ? 1 : 2;
}

static int compare_changes(const void *left, const void *right, void *names)
{
    const struct cn_change *a = left, *b = right;
    const char **list = names;
    int a_rank = rank_of(a->evidence.verdict), b_rank = rank_of(b->evidence.verdict);
    double size_a = fabs(cn_change_of(a)), size_b = fabs(cn_change_of(b));

    if (a_rank != b_rank)
        return a_rank < b_rank ? -1 : 1;
    if (size_a != size_b)
        return size_a > size_b ? -1 : 1;
    return strcmp(list[a->name], list[b->name]);
}

/* As many of the largest changes as explain enough. */
static void choose(struct cn_explanation *e, size_t most)
{
    size_t count = e->real_count + e->unknown_count; /* without noise */

    for (size_t i = 0; i < e->count; i++)
        e->changed_count += cn_change_of(&e->list[i]) != 0;
    for (size_t i = 0; i < count; i++)
        e->gross += fabs(cn_change_of(&e->list[i]));
    while (e->shown < count && e->shown < most &&
           e->shown_gross < enough * e->gross) /* none if nothing changed */
        e->shown_gross += fabs(cn_change_of(&e->list[e->shown++]));
}

/* Keep the values of runs of what is shown, and of the whole. */
static void keep_runs(struct cn_explanation *e, const double *values, size_t run_count)
{
    double *kept = cn_alloc((e->shown + 1) * run_count, sizeof(*kept));

    e->run_values = kept;
    for (size_t i = 0; i <= e->shown; i++, kept += run_count) {
        struct cn_change *change = i < e->shown ? &e->list[i] : &e->whole;

        memcpy(kept, values + change->row * run_count, run_count * sizeof(*kept));
        change->runs = kept;
    }
}

void cn_explain(struct cn_explanation *out, const struct cn_comparison *c, size_t most)
{
    struct explain_builder b = {
        .c = c,
        .e = out,
        .of_node = cn_alloc(c->node_count, sizeof(*b.of_node)),
    };

    *out = (struct cn_explanation){
        .over = cn_comparison_over(c),
        .whole = {.name = CN_NONE,
                  .node = CN_NONE,
                  .calls = {NAN, NAN},
                  .value = {c->whole[CN_SIDE_A], c->whole[CN_SIDE_B]}},
    };
    memset(b.of_node, 0xff, c->node_count * sizeof(*b.of_node));
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i];

        b.of_node[node] = item_of(&b, node);
        count_node(&b, node, b.of_node[node]);
    }
    divide_by_path(&b);
    name_kinds(&b);
    double *values = add_up_runs(&b);
    test_changes(&b, values);
    cn_map_done(&b.items);
    free(b.group);
    free(b.of_node);
    if (out->count > 0)
        qsort_r(out->list, out->count, sizeof(*out->list), compare_changes,
                c->names.list);
    choose(out, most);
    keep_runs(out, values, c->run_count);
    free(values);
}

void cn_explanation_done(struct cn_explanation *e)
{
    free(e->list);
    free(e->run_values);
    *e = (struct cn_explanation){0};
}
