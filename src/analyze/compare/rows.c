#include "analyze/compare/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare/call_evidence.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"

static uint64_t row_key(uint32_t parent, uint32_t key)
{
    return (uint64_t)(parent + 1) << 32 | key;
}

/* The row of a key below another row, made when new. */
static uint32_t add_row(struct cn_compare_rows *rows, struct cn_map *known,
                        uint32_t parent, uint32_t key, uint32_t node)
{
    uint32_t *row = cn_map_at(known, row_key(parent, key), (uint32_t)rows->count);
    uint32_t *list;

    if (*row != rows->count)
        return *row;
    CN_GROW(rows->list, rows->count, rows->capacity);
    list = parent == CN_NONE ? &rows->first_top : &rows->list[parent].first_child;
    rows->list[rows->count] = (struct cn_compare_row){
        .node = node, .parent = parent, .first_child = CN_NONE, .next_sibling = *list};
    *list = (uint32_t)rows->count++;
    return *list;
}

/* By node: the sizes of changes in it and below. */
static double *changes_below(const struct cn_comparison *c)
{
    double *gross = cn_alloc(c->node_count, sizeof(*gross));

    for (size_t i = c->order_count; i-- > 0;) {
        uint32_t node = c->order[i], parent = c->nodes[node].parent;

        gross[node] += fabs(cn_comparison_change(c, node));
        if (parent != CN_NONE)
            gross[parent] += gross[node];
    }
    return gross;
}

static void make_tree(struct cn_compare_rows *rows, const struct cn_comparison *c)
{
    double *gross = changes_below(c);

    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i], parent = c->nodes[node].parent, *list;
        uint32_t above = parent == CN_NONE ? CN_NONE : rows->of_node[parent];

        if (gross[node] == 0 &&
            !rows->has_unchanged) { /* the rows above contain what did not change */
            rows->of_node[node] = rows->adds_up ? above : CN_NONE;
            continue;
        }
        CN_GROW(rows->list, rows->count, rows->capacity);
        list = above == CN_NONE ? &rows->first_top : &rows->list[above].first_child;
        rows->list[rows->count] = (struct cn_compare_row){
            .node = node, .parent = above, .first_child = CN_NONE, .next_sibling = *list};
        *list = rows->of_node[node] = (uint32_t)rows->count++;
    }
    free(gross);
}

/* Nodes of a function that are below no other node of it. */
static bool *find_outer(const struct cn_comparison *c)
{
    bool *is_outer = cn_alloc(c->node_count, sizeof(*is_outer));
    uint32_t *active = cn_alloc(c->names.count, sizeof(*active));
    uint32_t *path = NULL;
    size_t depth = 0, capacity = 0;

    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i];

        while (depth > 0 && path[depth - 1] != c->nodes[node].parent)
            active[c->nodes[path[--depth]].name]--;
        is_outer[node] = active[c->nodes[node].name]++ == 0;
        CN_PUSH(path, depth, capacity, node);
    }
    free(active);
    free(path);
    return is_outer;
}

static void make_flat(struct cn_compare_rows *rows, const struct cn_comparison *c)
{
    struct cn_map known = {0};

    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i];

        rows->of_node[node] = add_row(rows, &known, CN_NONE, c->nodes[node].name, node);
        /* A node that was renamed has the label that says so. */
        if (c->nodes[node].how == CN_RENAMED)
            rows->list[rows->of_node[node]].node = node;
    }
    cn_map_done(&known);
}

static bool is_left_out(const struct cn_compare_rows *rows, const struct cn_comparison *c,
                        uint32_t node)
{
    return rows->has_unchanged
               ? c->self[CN_SIDE_A][node] == 0 && c->self[CN_SIDE_B][node] == 0
               : cn_comparison_change(c, node) == 0;
}

/* What did not change is part of the rows of its function and callers that are there. */
static void add_unchanged(struct cn_compare_rows *rows, const struct cn_comparison *c,
                          const struct cn_map *known, size_t depth_max)
{
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i], at = node, row = CN_NONE, next;

        if (!is_left_out(rows, c, node))
            continue;
        for (size_t depth = 0; at != CN_NONE && depth < depth_max; depth++) {
            next = cn_map_find(known, row_key(row, c->nodes[at].name), CN_NONE);
            if (next == CN_NONE)
                break;
            row = next;
            at = c->nodes[at].parent;
        }
        rows->of_node[node] = row;
    }
}

static void make_callers(struct cn_compare_rows *rows, const struct cn_comparison *c,
                         size_t depth_max)
{
    struct cn_map known = {0};

    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i], row = CN_NONE, at = node;

        if (is_left_out(rows, c, node))
            continue;
        for (size_t depth = 0; at != CN_NONE && depth < depth_max; depth++) {
            row = add_row(rows, &known, row, c->nodes[at].name, at);
            at = c->nodes[at].parent;
        }
        rows->of_node[node] = row;
    }
    add_unchanged(rows, c, &known, depth_max);
    cn_map_done(&known);
}

/* The values of all rows, from the self costs of nodes. */
static void add_up(const struct cn_compare_rows *rows, const struct cn_comparison *c,
                   const double *self, double *out)
{
    double *total = NULL;

    for (size_t i = 0; i < rows->count; i++)
        out[i] = 0;
    if (rows->is_outer) {
        total = cn_alloc(c->node_count, sizeof(*total));
        memcpy(total, self, c->node_count * sizeof(*total));
        for (size_t i = c->order_count; i-- > 0;)
            if (c->nodes[c->order[i]].parent != CN_NONE)
                total[c->nodes[c->order[i]].parent] += total[c->order[i]];
    }
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i], row = rows->of_node[node];

        if (row != CN_NONE && (!total || rows->is_outer[node]))
            out[row] += total ? total[node] : self[node];
    }
    for (size_t i = rows->count; i-- > 0 && rows->adds_up;)
        if (rows->list[i].parent != CN_NONE)
            out[rows->list[i].parent] += out[i];
    free(total);
}

static void test_rows(struct cn_compare_rows *rows, const struct cn_comparison *c)
{
    double *values = cn_alloc(rows->count * c->run_count, sizeof(*values));
    double *one = cn_alloc(rows->count, sizeof(*one));
    struct cn_evidence *found = cn_alloc(rows->count, sizeof(*found));
    double whole = (fabs(c->whole[CN_SIDE_A]) + fabs(c->whole[CN_SIDE_B])) / 2;

    for (size_t r = 0; r < c->run_count; r++) {
        add_up(rows, c, c->runs[r].self, one);
        for (size_t i = 0; i < rows->count; i++)
            values[i * c->run_count + r] = one[i];
    }
    cn_evidence_find(found, rows->count, values, whole, c);
    for (size_t i = 0; i < rows->count; i++)
        rows->list[i].evidence = found[i];
    free(values);
    free(found);
    free(one);
}

/* The errors of totals, at the outermost nodes of functions. */
static void add_totals(struct cn_call_test *tests, const struct cn_compare_rows *rows,
                       const struct cn_comparison *c)
{
    struct cn_cost_error *totals = cn_alloc(c->node_count, sizeof(*totals));

    for (size_t i = c->order_count; i-- > 0;) {
        uint32_t node = c->order[i], parent = c->nodes[node].parent;

        cn_cost_error_add(&totals[node], c, node);
        if (parent != CN_NONE)
            cn_cost_error_merge(&totals[parent], &totals[node]);
        if (rows->is_outer[node])
            cn_cost_error_merge(&tests[rows->of_node[node]].error, &totals[node]);
    }
    free(totals);
}

static void add_errors(struct cn_call_test *tests, const struct cn_compare_rows *rows,
                       const struct cn_comparison *c)
{
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t row = rows->of_node[c->order[i]];

        if (row != CN_NONE)
            cn_cost_error_add(&tests[row].error, c, c->order[i]);
    }
    for (size_t i = rows->count; i-- > 0 && rows->adds_up;)
        if (rows->list[i].parent != CN_NONE)
            cn_cost_error_merge(&tests[rows->list[i].parent].error, &tests[i].error);
}

/* What single runs tell. */
static void test_single(struct cn_compare_rows *rows, const struct cn_comparison *c)
{
    struct cn_call_test *tests = cn_alloc(rows->count, sizeof(*tests));
    struct cn_evidence *found = cn_alloc(rows->count, sizeof(*found));

    if (rows->is_outer)
        add_totals(tests, rows, c);
    else
        add_errors(tests, rows, c);
    for (size_t i = 0; i < rows->count; i++)
        for (int side = 0; side < CN_SIDES; side++) {
            tests[i].value[side] = rows->list[i].value[side];
            tests[i].calls[side] = c->has_calls ? rows->list[i].calls[side] : NAN;
        }
    cn_call_evidence_find(found, tests, rows->count, c);
    for (size_t i = 0; i < rows->count; i++)
        rows->list[i].evidence = found[i];
    free(tests);
    free(found);
}

static void fill(struct cn_compare_rows *rows, const struct cn_comparison *c)
{
    double *values = cn_alloc(rows->count, sizeof(*values));

    for (int side = 0; side < CN_SIDES; side++) {
        add_up(rows, c, c->self[side], values);
        for (size_t i = 0; i < rows->count; i++)
            rows->list[i].value[side] = values[i];
    }
    for (size_t i = 0; i < c->order_count; i++) {
        uint32_t node = c->order[i], row = rows->of_node[node];

        if (row == CN_NONE)
            continue;
        rows->list[row].gross += fabs(cn_comparison_change(c, node));
        if (c->has_calls && !rows->is_of_callers &&
            c->nodes[node].name == c->nodes[rows->list[row].node].name)
            for (int side = 0; side < CN_SIDES; side++)
                rows->list[row].calls[side] += c->calls[side][node];
    }
    for (size_t i = 0; i < rows->count && rows->is_of_callers; i++)
        rows->list[i].calls[CN_SIDE_A] = rows->list[i].calls[CN_SIDE_B] = NAN;
    for (size_t i = rows->count; i-- > 0;)
        if (rows->list[i].parent != CN_NONE)
            rows->list[rows->list[i].parent].gross += rows->list[i].gross;
    free(values);
}

void cn_compare_rows_make(struct cn_compare_rows *out, const struct cn_comparison *c,
                          enum cn_compare_view view, bool is_total, size_t depth,
                          bool has_unchanged)
{
    *out = (struct cn_compare_rows){
        .first_top = CN_NONE,
        .of_node = cn_alloc(c->node_count, sizeof(*out->of_node)),
        .is_of_callers = view == CN_COMPARE_CALLERS,
        .adds_up = view == CN_COMPARE_CALLERS || (view == CN_COMPARE_TREE && is_total),
        .has_unchanged = has_unchanged,
    };
    memset(out->of_node, 0xff, c->node_count * sizeof(*out->of_node));
    if (view == CN_COMPARE_TREE)
        make_tree(out, c);
    else if (view == CN_COMPARE_FLAT)
        make_flat(out, c);
    else
        make_callers(out, c, depth);
    if (view == CN_COMPARE_FLAT && is_total)
        out->is_outer = find_outer(c);
    fill(out, c);
    if (cn_compare_over_is_single(cn_comparison_over(c)))
        test_single(out, c);
    else if (cn_comparison_over(c) != CN_OVER_NOTHING)
        test_rows(out, c);
}

void cn_compare_rows_done(struct cn_compare_rows *rows)
{
    free(rows->list);
    free(rows->of_node);
    free(rows->is_outer);
    *rows = (struct cn_compare_rows){0};
}

struct rows_place {
    double size;
    uint32_t row;
};

uint32_t cn_compare_rows_sort(struct cn_compare_rows *rows, uint32_t parent)
{
    uint32_t *first =
        parent == CN_NONE ? &rows->first_top : &rows->list[parent].first_child;
    struct rows_place *places = NULL;
    size_t count = 0, capacity = 0;

    for (uint32_t at = *first; at != CN_NONE; at = rows->list[at].next_sibling) {
        const struct cn_compare_row *row = &rows->list[at];

        CN_PUSH(
            places, count, capacity,
            (struct rows_place){fabs(row->value[CN_SIDE_B] - row->value[CN_SIDE_A]), at});
    }
    CN_SORT(places, count, CN_DOWN(struct rows_place, size),
            CN_UP(struct rows_place, row));
    *first = CN_NONE;
    for (size_t i = count; i-- > 0;) {
        rows->list[places[i].row].next_sibling = *first;
        *first = places[i].row;
    }
    free(places);
    return *first;
}
