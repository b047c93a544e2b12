#include "formats/exchange/stacks/functions.h"

#include <stdlib.h>

#include "base/alloc.h"

static struct cn_call_edge *edge_at(struct cn_functions *functions, struct cn_map *known,
                                    uint32_t from, uint32_t to)
{
    uint32_t *index = cn_map_at(known, (uint64_t)from << 32 | to, CN_NONE);

    if (*index == CN_NONE) {
        struct cn_call_edge edge = {.from = from, .to = to};

        *index = (uint32_t)functions->edge_count;
        edge.next = functions->list[from].first_edge;
        functions->list[from].first_edge = *index;
        functions->edges = cn_grow(functions->edges, functions->edge_count,
                                   &functions->edge_capacity, sizeof(edge));
        functions->edges[functions->edge_count++] = edge;
    }
    return &functions->edges[*index];
}

/* Nodes come in walking order, so those above a node are the ones on the path. */
struct path {
    uint32_t *nodes;
    size_t count, capacity;
    uint32_t *active;    /* by place: how often it is on the path */
    struct cn_map calls; /* pairs of places on the path */
};

static void leave_to(struct path *path, const struct cn_stacks *stacks, uint32_t parent)
{
    while (path->count > 0 && path->nodes[path->count - 1] != parent) {
        const struct cn_stack_node *left = &stacks->nodes[path->nodes[--path->count]];

        path->active[left->place]--;
        if (left->parent != CN_NONE) {
            uint64_t pair =
                (uint64_t)stacks->nodes[left->parent].place << 32 | left->place;

            (*cn_map_at(&path->calls, pair, 0))--;
        }
    }
}

void cn_functions_build(struct cn_functions *out, const struct cn_stacks *stacks,
                        bool with_roots)
{
    struct cn_functions functions = {0};
    double *totals = cn_stacks_totals(stacks);
    struct cn_map known = {0};
    struct path path = {0};

    path.active = cn_alloc(stacks->place_count, sizeof(*path.active));
    functions.list = cn_alloc(stacks->place_count, sizeof(*functions.list));
    for (size_t i = 0; i < stacks->place_count; i++)
        functions.list[i].first_edge = CN_NONE;
    for (size_t i = 0; i < stacks->count; i++) {
        const struct cn_stack_node *node = &stacks->nodes[i];
        struct cn_function_cost *cost = &functions.list[node->place];
        bool has_caller = node->parent != CN_NONE &&
                          (with_roots || !stacks->nodes[node->parent].is_root);

        if (node->parent == CN_NONE)
            functions.total += totals[i];
        leave_to(&path, stacks, node->parent);
        if (path.active[node->place]++ == 0)
            cost->total += totals[i];
        cost->self += node->self > 0 ? node->self : 0;
        cost->calls += node->calls;
        if (node->parent != CN_NONE) {
            uint32_t from = stacks->nodes[node->parent].place;
            uint32_t *open =
                cn_map_at(&path.calls, (uint64_t)from << 32 | node->place, 0);

            if (has_caller) {
                struct cn_call_edge *edge =
                    edge_at(&functions, &known, from, node->place);

                edge->calls += node->calls;
                edge->total += *open == 0 ? totals[i] : 0;
            }
            (*open)++;
        }
        path.nodes = cn_grow(path.nodes, path.count, &path.capacity, sizeof(*path.nodes));
        path.nodes[path.count++] = (uint32_t)i;
    }
    free(path.nodes);
    free(path.active);
    cn_map_done(&path.calls);
    cn_map_done(&known);
    free(totals);
    *out = functions;
}

void cn_functions_done(struct cn_functions *functions)
{
    free(functions->list);
    free(functions->edges);
    *functions = (struct cn_functions){0};
}
