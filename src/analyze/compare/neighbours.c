#include "analyze/compare/neighbours.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { UNMATCHED_MAX = 256 }; /* callees of one caller */

static const double worth_it = 0.001; /* of the whole: smaller ones stay unmatched */
static const double similar = 0.5;    /* share of callees in common */
static const double equal_cost = 0.9; /* likewise, of functions with other names */
static const double same_cost = 0.75; /* the smaller of two costs, of the larger */

struct matcher {
    struct cn_comparison *c;
    uint32_t *partner; /* by name: its name on the other side; CN_NONE: not renamed */
    uint32_t *stack;
    size_t depth, capacity;
    size_t merged_count;
};

/* The callees of a node that one side has alone. */
struct unmatched {
    uint32_t list[CN_SIDES][UNMATCHED_MAX];
    size_t count[CN_SIDES];
};

static bool is_on_one(const struct cn_comparison *c, uint32_t node)
{
    return c->nodes[node].sides != (1U << CN_SIDE_A | 1U << CN_SIDE_B);
}

static bool is_worth_it(const struct cn_comparison *c, uint32_t node, enum cn_side side)
{
    return c->total[side][node] > worth_it * c->whole[side];
}

static double ratio(double a, double b)
{
    return a > 0 && b > 0 ? fmin(a, b) / fmax(a, b) : 0;
}

/* False if there are none on a side, or too many. */
static bool collect(const struct cn_comparison *c, uint32_t parent, struct unmatched *out)
{
    uint32_t child = parent == CN_NONE ? c->first_top : c->nodes[parent].first_child;

    out->count[CN_SIDE_A] = out->count[CN_SIDE_B] = 0;
    for (; child != CN_NONE; child = c->nodes[child].next_sibling) {
        enum cn_side side =
            cn_compared_on(&c->nodes[child], CN_SIDE_B) ? CN_SIDE_B : CN_SIDE_A;

        if (!is_on_one(c, child))
            continue;
        if (out->count[side] == UNMATCHED_MAX)
            return false;
        out->list[side][out->count[side]++] = child;
    }
    return out->count[CN_SIDE_A] + out->count[CN_SIDE_B] > 0;
}

static void drop(struct unmatched *u, enum cn_side side, size_t i)
{
    u->list[side][i] = u->list[side][--u->count[side]];
}

/* The share of the cost that two functions spend in the same callees. */
static double likeness(const struct cn_comparison *c, uint32_t a, uint32_t b)
{
    double total_a = c->total[CN_SIDE_A][a], total_b = c->total[CN_SIDE_B][b], sum = 0;

    if (!(total_a > 0 && total_b > 0))
        return 0;
    for (uint32_t child = c->nodes[a].first_child; child != CN_NONE;
         child = c->nodes[child].next_sibling) {
        uint32_t other = cn_comparison_child(c, b, c->nodes[child].name);

        if (other != CN_NONE)
            sum += fmin(c->total[CN_SIDE_A][child] / total_a,
                        c->total[CN_SIDE_B][other] / total_b);
    }
    return sum;
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t len = 0;

    while (a[len] && a[len] == b[len])
        len++;
    return len;
}

/* At least half of the longer name is the same. */
static bool names_are_alike(const struct cn_comparison *c, uint32_t a, uint32_t b)
{
    const char *x = c->names.list[c->nodes[a].name], *y = c->names.list[c->nodes[b].name];
    size_t longer = strlen(x) > strlen(y) ? strlen(x) : strlen(y);

    return 2 * common_prefix(x, y) >= longer;
}

/* How likely `a` is called `b` on the other side; 0: it is not. */
static double score(const struct matcher *m, uint32_t a, uint32_t b, bool is_only_pair)
{
    const struct cn_comparison *c = m->c;
    uint32_t old = c->nodes[a].name, new = c->nodes[b].name;
    bool is_leaf = c->nodes[a].first_child == CN_NONE, are_alike;
    double costs = ratio(c->total[CN_SIDE_A][a], c->total[CN_SIDE_B][b]), callees;

    if (m->partner[old] != CN_NONE || m->partner[new] != CN_NONE)
        return m->partner[old] == new;
    if (m->c->name_sides[old] != 1U << CN_SIDE_A ||
        m->c->name_sides[new] != 1U << CN_SIDE_B ||
        is_leaf != (c->nodes[b].first_child == CN_NONE) ||
        !is_worth_it(c, a, CN_SIDE_A) || !is_worth_it(c, b, CN_SIDE_B))
        return 0;
    are_alike = names_are_alike(c, a, b);
    if (is_leaf)
        return (are_alike && costs >= same_cost) || (is_only_pair && costs >= equal_cost)
                   ? costs
                   : 0;
    callees = likeness(c, a, b);
    if (callees < similar || costs < similar)
        return 0;
    return callees * costs * (are_alike ? 2 : 1);
}

static void push(struct matcher *m, uint32_t node)
{
    CN_PUSH(m->stack, m->depth, m->capacity, node);
}

/* How many callees of a side are worth matching. */
static size_t count_worthy(const struct cn_comparison *c, const struct unmatched *u,
                           enum cn_side side)
{
    size_t count = 0;

    for (size_t i = 0; i < u->count[side]; i++)
        count += is_worth_it(c, u->list[side][i], side);
    return count;
}

/* The partner of a callee that is clearly more likely than all others: its index on the other
 * side; SIZE_MAX: none. */
static size_t best_partner(const struct matcher *m, const struct unmatched *u,
                           enum cn_side side, size_t i, bool is_only_pair)
{
    static const double clearly = 1.25;
    enum cn_side other = side == CN_SIDE_A ? CN_SIDE_B : CN_SIDE_A;
    double best = 0, second = 0;
    size_t found = SIZE_MAX;

    for (size_t k = 0; k < u->count[other]; k++) {
        uint32_t pair[CN_SIDES];

        pair[side] = u->list[side][i];
        pair[other] = u->list[other][k];
        double likely = score(m, pair[CN_SIDE_A], pair[CN_SIDE_B], is_only_pair);
        second = fmax(second, fmin(best, likely));
        if (likely > best) {
            best = likely;
            found = k;
        }
    }
    return best > clearly * second ? found : SIZE_MAX;
}

static void match_renamed(struct matcher *m, struct unmatched *u)
{
    struct cn_comparison *c = m->c;
    bool is_only_pair =
        count_worthy(c, u, CN_SIDE_A) == 1 && count_worthy(c, u, CN_SIDE_B) == 1;

    for (size_t i = 0; i < u->count[CN_SIDE_A];) {
        uint32_t a = u->list[CN_SIDE_A][i], b;
        size_t k = best_partner(m, u, CN_SIDE_A, i, is_only_pair);

        if (k == SIZE_MAX || best_partner(m, u, CN_SIDE_B, k, is_only_pair) != i) {
            i++;
            continue;
        }
        b = u->list[CN_SIDE_B][k];
        c->nodes[a].how = CN_RENAMED;
        c->nodes[a].other = c->nodes[b].name;
        m->partner[c->nodes[a].name] = c->nodes[b].name;
        m->partner[c->nodes[b].name] = c->nodes[a].name;
        c->total[CN_SIDE_B][a] += c->total[CN_SIDE_B][b];
        cn_comparison_merge(c, b, a, true);
        m->merged_count++;
        drop(u, CN_SIDE_A, i);
        drop(u, CN_SIDE_B, k);
    }
}

/* Callees of `side` that the other side has below a level of its own. */
static void match_levels(struct matcher *m, struct unmatched *u, enum cn_side side)
{
    enum cn_side other = side == CN_SIDE_A ? CN_SIDE_B : CN_SIDE_A;
    struct cn_comparison *c = m->c;

    for (size_t k = 0; k < u->count[other]; k++)
        for (size_t i = 0; i < u->count[side];) {
            uint32_t callee = u->list[side][i], level = u->list[other][k];
            uint32_t below = cn_comparison_child(c, level, c->nodes[callee].name);

            if (below == CN_NONE || !is_worth_it(c, callee, side) ||
                ratio(c->total[side][callee], c->total[other][below]) < similar) {
                i++;
                continue;
            }
            c->total[side][below] += c->total[side][callee];
            cn_comparison_merge(c, callee, below, true);
            push(m, below);
            m->merged_count++;
            drop(u, side, i);
        }
}

/* Callees whose cost the caller has itself on the other side. */
static void match_inlined(struct matcher *m, uint32_t parent, struct unmatched *u,
                          enum cn_side side)
{
    enum cn_side other = side == CN_SIDE_A ? CN_SIDE_B : CN_SIDE_A;
    struct cn_comparison *c = m->c;

    for (size_t i = 0; i < u->count[side]; i++) {
        uint32_t callee = u->list[side][i];
        double self = c->self[side][callee];
        double grown = c->self[other][parent] - c->self[side][parent];

        if (m->c->name_sides[c->nodes[callee].name] != 1U << side ||
            c->nodes[callee].first_child != CN_NONE || !is_worth_it(c, callee, side) ||
            c->nodes[parent].how != CN_BY_NAME || ratio(grown, self) < same_cost)
            continue;
        c->nodes[parent].how = side == CN_SIDE_A ? CN_INLINED : CN_SPLIT;
        c->nodes[parent].other = c->nodes[callee].name;
        cn_comparison_merge(c, callee, parent, false);
        m->merged_count++;
        return; /* the caller's cost is explained */
    }
}

static void match_below(struct matcher *m, uint32_t parent)
{
    struct cn_comparison *c = m->c;
    struct unmatched u;

    if (collect(c, parent, &u)) {
        match_renamed(m, &u);
        match_levels(m, &u, CN_SIDE_A);
        match_levels(m, &u, CN_SIDE_B);
    }
    if (parent != CN_NONE) {
        match_inlined(m, parent, &u, CN_SIDE_A);
        match_inlined(m, parent, &u, CN_SIDE_B);
    }
    for (uint32_t child = parent == CN_NONE ? c->first_top : c->nodes[parent].first_child;
         child != CN_NONE; child = c->nodes[child].next_sibling)
        if (!is_on_one(c, child))
            push(m, child);
}

size_t cn_neighbours_match(struct cn_comparison *c)
{
    struct matcher m = {
        .c = c,
        .partner = cn_alloc(c->names.count, sizeof(*m.partner)),
    };

    memset(m.partner, 0xff, c->names.count * sizeof(*m.partner));
    match_below(&m, CN_NONE);
    while (m.depth > 0)
        match_below(&m, m.stack[--m.depth]);
    free(m.partner);
    free(m.stack);
    return m.merged_count;
}
