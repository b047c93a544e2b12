#include "formats/exchange/write/stacks/functions.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"

static struct cn_call_edge *edge_at(struct cn_functions *functions, struct cn_map *known,
                                    uint32_t from, uint32_t to)
{
    uint32_t *index = cn_map_at(known, (uint64_t)from << 32 | to, CN_NONE);

    if (*index == CN_NONE) {
        struct cn_call_edge edge = {.from = from, .to = to};

        *index = (uint32_t)functions->edge_count;
        edge.next = functions->costs[from].first_edge;
        functions->costs[from].first_edge = *index;
        CN_PUSH(functions->edges, functions->edge_count, functions->edge_capacity, edge);
    }
    return &functions->edges[*index];
}

/* Nodes come in depth-first order: the path is those above the current node. */
struct functions_path {
    uint32_t *nodes;
    size_t count, capacity;
    uint32_t *active;    /* by function: how often it is on the path */
    struct cn_map pairs; /* caller and callee: how often they are on the path */
};

static uint32_t *pair_at(struct functions_path *path, const struct cn_stacks *stacks,
                         const struct cn_stack_node *node)
{
    uint32_t caller = stacks->nodes[node->parent].function;

    return cn_map_at(&path->pairs, (uint64_t)caller << 32 | node->function, 0);
}

static void leave_to(struct functions_path *path, const struct cn_stacks *stacks,
                     uint32_t parent)
{
    while (path->count > 0 && path->nodes[path->count - 1] != parent) {
        const struct cn_stack_node *left = &stacks->nodes[path->nodes[--path->count]];

        path->active[left->function]--;
        if (left->parent != CN_NONE)
            (*pair_at(path, stacks, left))--;
    }
}

bool cn_functions_of(struct cn_functions *out, struct cn_export *x, struct cn_error *err)
{
    struct cn_functions functions = {0};
    struct cn_stacks *stacks = &functions.stacks;
    struct cn_map known = {0};
    struct functions_path path = {0};

    if (!cn_stacks_of(stacks, x, err))
        return false;
    double *totals = cn_stacks_totals(stacks);
    path.active = cn_alloc(stacks->function_count, sizeof(*path.active));
    functions.costs = cn_alloc(stacks->function_count, sizeof(*functions.costs));
    for (size_t i = 0; i < stacks->function_count; i++)
        functions.costs[i].first_edge = CN_NONE;
    for (uint32_t i = 0; i < stacks->count; i++) {
        const struct cn_stack_node *node = &stacks->nodes[i];
        struct cn_function_cost *cost = &functions.costs[node->function];

        leave_to(&path, stacks, node->parent);
        if (path.active[node->function]++ == 0)
            cost->total += totals[i];
        cost->self += node->self > 0 ? node->self : 0;
        cost->calls += node->calls;
        cost->is_used = cost->calls > 0 || cost->total > 0;
        if (node->parent == CN_NONE) {
            functions.total += totals[i];
        } else {
            const struct cn_stack_node *caller = &stacks->nodes[node->parent];
            bool is_first = (*pair_at(&path, stacks, node))++ == 0;

            if (!caller->is_root) {
                struct cn_call_edge *edge =
                    edge_at(&functions, &known, caller->function, node->function);

                edge->calls += node->calls;
                edge->total += is_first ? totals[i] : 0;
            }
        }
        CN_PUSH(path.nodes, path.count, path.capacity, i);
    }
    free(path.nodes);
    free(path.active);
    cn_map_done(&path.pairs);
    cn_map_done(&known);
    free(totals);
    cn_export_lose(x, "call paths (only pairs of functions are written)", stacks->count);
    *out = functions;
    return true;
}

void cn_functions_done(struct cn_functions *functions)
{
    cn_stacks_done(&functions->stacks);
    free(functions->costs);
    free(functions->edges);
    *functions = (struct cn_functions){0};
}
