#include "analyze/samples/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static bool is_mapped(const struct cn_sampled_nodes *nodes,
                      const struct cn_sampled_profile *profile)
{
    struct cn_bytes id = profile->modules_id;

    return nodes->modules && nodes->mapped_folder == profile->folder &&
           nodes->module_count == profile->module_count &&
           nodes->mapped_id.len == id.len &&
           (id.len == 0 || memcmp(nodes->mapped_id.chars, id.ptr, id.len) == 0);
}

static void begin_modules(struct cn_sampled_nodes *nodes,
                          const struct cn_sampled_profile *profile)
{
    if (is_mapped(nodes, profile))
        return;
    cn_text_clear(&nodes->mapped_id);
    cn_text_add(&nodes->mapped_id, (const char *)profile->modules_id.ptr,
                profile->modules_id.len);
    nodes->mapped_folder = profile->folder;
    nodes->module_count = profile->module_count;
    CN_GROW_TO(nodes->modules, nodes->module_count + 1, nodes->module_capacity);
    for (size_t i = 0; i < nodes->module_count; i++)
        nodes->modules[i] = CN_NONE;
}

/* Find the context of a node as place_node() does; false if it is not known. */
static bool find_node(const struct cn_sampled_nodes *nodes,
                      const struct cn_sampled_contexts *contexts,
                      const struct cn_sampled_node *node,
                      struct cn_sampled_expansion *out)
{
    uint32_t parent = node->parent == CN_NONE ? 0 : nodes->list[node->parent].last;

    *out = (struct cn_sampled_expansion){0};
    if (node->kind == CN_NODE_GLOBAL)
        return true;
    if (node->kind == CN_NODE_ENTRY)
        return cn_sampled_contexts_find(contexts, CN_STEP_ENTRY, 0, CN_NONE,
                                        node->address, out);
    if (parent == 0) { /* below "unknown entry" */
        if (!cn_sampled_contexts_find(contexts, CN_STEP_ENTRY, 0, CN_NONE,
                                      CN_ENTRY_UNKNOWN, out))
            return false;
        parent = out->last;
    }
    if (node->kind == CN_NODE_UNKNOWN)
        return cn_sampled_contexts_find(contexts, CN_STEP_UNKNOWN, parent, CN_NONE, 0,
                                        out);
    if (node->kind == CN_NODE_PLACEHOLDER)
        return cn_sampled_contexts_find(contexts, CN_STEP_PLACEHOLDER, parent, CN_NONE,
                                        node->address, out);
    if (node->kind != CN_NODE_POINT || !node->is_unwound)
        return false;
    uint32_t module = nodes->modules[node->module];
    return module != CN_NONE && cn_sampled_contexts_find(contexts, CN_STEP_POINT, parent,
                                                         module, node->address, out);
}

void cn_sampled_nodes_begin(struct cn_sampled_nodes *nodes,
                            const struct cn_sampled_contexts *contexts,
                            const struct cn_sampled_profile *profile)
{
    struct cn_sampled_expansion found;
    size_t at = 0;

    begin_modules(nodes, profile);
    CN_GROW_TO(nodes->list, profile->node_count, nodes->capacity);
    for (; at < profile->node_count &&
           find_node(nodes, contexts, &profile->nodes[at], &found);
         at++)
        nodes->list[at] =
            (struct cn_sampled_node_contexts){found.first, found.last, CN_NONE};
    nodes->placed_count = at;
}

bool cn_sampled_nodes_check(struct cn_sampled_nodes *nodes,
                            struct cn_measurements *measurements, size_t index,
                            const struct cn_sampled_profile *profile,
                            struct cn_error *err)
{
    for (size_t i = nodes->placed_count; i < profile->node_count; i++) {
        const struct cn_sampled_node *node = &profile->nodes[i];

        bool is_code = node->kind == CN_NODE_POINT || node->kind == CN_NODE_RANGE_SAMPLE;

        if (is_code && nodes->modules[node->module] == CN_NONE &&
            !cn_measurements_find_module(measurements, index,
                                         profile->modules[node->module],
                                         &nodes->modules[node->module], err))
            return false;
    }
    return true;
}

/* Contexts that cannot be at the top go below "unknown entry". */
static uint32_t below_entry(struct cn_sampled_contexts *contexts, uint32_t parent)
{
    return parent != 0 ? parent : cn_sampled_contexts_entry(contexts, CN_ENTRY_UNKNOWN);
}

static bool place_point(struct cn_sampled_contexts *contexts, uint32_t parent,
                        uint32_t module, const struct cn_sampled_node *node,
                        struct cn_sampled_node_contexts *out, struct cn_error *err)
{
    struct cn_sampled_expansion expansion;

    parent = below_entry(contexts, parent);
    if (!node->is_unwound)
        parent = cn_sampled_contexts_unknown(contexts, parent);
    if (!cn_sampled_contexts_expand(contexts, parent, module, node->address, &expansion,
                                    err))
        return false;
    out->first = expansion.first;
    out->last = expansion.last;
    return true;
}

static bool place_node(const struct cn_sampled_nodes *nodes,
                       struct cn_sampled_contexts *contexts,
                       const struct cn_sampled_node *node,
                       struct cn_sampled_node_contexts *out, struct cn_error *err)
{
    uint32_t parent = node->parent == CN_NONE ? 0 : nodes->list[node->parent].last;
    uint32_t at = 0;

    switch ((enum cn_node_kind)node->kind) {
    case CN_NODE_GLOBAL:
        break;
    case CN_NODE_ENTRY:
        at = cn_sampled_contexts_entry(contexts, (enum cn_entry)node->address);
        break;
    case CN_NODE_UNKNOWN:
        at = cn_sampled_contexts_unknown(contexts, below_entry(contexts, parent));
        break;
    case CN_NODE_PLACEHOLDER:
        at = cn_sampled_contexts_placeholder(contexts, below_entry(contexts, parent),
                                             node->address);
        break;
    case CN_NODE_POINT:
        return place_point(contexts, parent, nodes->modules[node->module], node, out,
                           err);
    case CN_NODE_RANGE_ROOT:
        break;
    case CN_NODE_LAUNCH_CONTEXT:
    case CN_NODE_RANGE_LAUNCH:
    case CN_NODE_RANGE_CONTEXT:
    case CN_NODE_RANGE:
    case CN_NODE_RANGE_SAMPLE:
        *out = nodes->list[node->parent];
        return true;
    }
    out->first = at;
    out->last = at;
    return true;
}

static uint32_t shown(const struct cn_sampled_contexts *contexts, uint32_t context)
{
    return cn_sampled_context_is_hidden(cn_sampled_context_at(contexts, context))
               ? cn_sampled_context_at(contexts, context)->parent
               : context;
}

/* Nodes with unknown callers wait until all others are placed: the values measured there
 * decide on their call paths. Nodes that turn out to have children are not spread. */
static bool waits(const struct cn_sampled_nodes *nodes, size_t index)
{
    return nodes->list[index].first == CN_NONE && nodes->list[index].last == CN_NONE;
}

static bool place_waiting(struct cn_sampled_nodes *nodes,
                          struct cn_sampled_contexts *contexts,
                          const struct cn_sampled_profile *profile, size_t index,
                          struct cn_error *err)
{
    const struct cn_sampled_node *node = &profile->nodes[index];
    struct cn_sampled_node_contexts *at = &nodes->list[index];
    uint32_t parent = node->parent == CN_NONE ? 0 : nodes->list[node->parent].last;
    struct cn_sampled_spot spot = {below_entry(contexts, parent),
                                   nodes->modules[node->module], node->address};
    uint32_t first_share;

    if (!cn_sampled_reach_find(&nodes->reach, contexts, &spot, &first_share, err))
        return false;
    if (first_share == CN_NONE)
        return place_node(nodes, contexts, node, at, err);
    *at = (struct cn_sampled_node_contexts){CN_NONE, first_share, CN_NONE};
    return true;
}

/* Note the values of nodes that are placed, and the samples of those that wait. */
static void note_measured(struct cn_sampled_nodes *nodes,
                          struct cn_sampled_contexts *contexts,
                          const struct cn_sampled_profile *profile)
{
    cn_sampled_reach_begin(&nodes->reach, profile);
    for (size_t i = 0; i < profile->value_count; i++) {
        const struct cn_sampled_value *value = &profile->values[i];
        const struct cn_sampled_node *node = &profile->nodes[value->node];
        const struct cn_sampled_node_contexts *at = &nodes->list[value->node];
        uint32_t parent = node->parent == CN_NONE ? 0 : nodes->list[node->parent].last;

        if (cn_node_is_of_range(node->kind))
            continue;
        if (waits(nodes, value->node))
            cn_sampled_reach_note_sample(
                &nodes->reach,
                &(struct cn_sampled_spot){below_entry(contexts, parent),
                                          nodes->modules[node->module], node->address},
                value->metric, value->value);
        else
            cn_sampled_reach_note_value(
                &nodes->reach,
                profile->metrics[value->metric].is_moved ? at->first : at->last,
                value->metric, value->value);
    }
    cn_sampled_reach_ready(&nodes->reach);
}

bool cn_sampled_nodes_place(struct cn_sampled_nodes *nodes,
                            struct cn_sampled_contexts *contexts,
                            const struct cn_sampled_profile *profile,
                            struct cn_error *err)
{
    bool has_waiting = false;

    for (size_t i = nodes->placed_count; i < profile->node_count; i++) {
        const struct cn_sampled_node *node = &profile->nodes[i];

        if (node->parent != CN_NONE && waits(nodes, node->parent) &&
            !place_node(nodes, contexts, &profile->nodes[node->parent],
                        &nodes->list[node->parent], err))
            return false;
        if (node->kind == CN_NODE_POINT && !node->is_unwound) {
            nodes->list[i] = (struct cn_sampled_node_contexts){CN_NONE, CN_NONE, CN_NONE};
            has_waiting = true;
        } else if (!place_node(nodes, contexts, node, &nodes->list[i], err)) {
            return false;
        }
    }
    if (has_waiting)
        note_measured(nodes, contexts, profile);
    for (size_t i = 0; has_waiting && i < profile->node_count; i++)
        if (waits(nodes, i) && !place_waiting(nodes, contexts, profile, i, err))
            return false;
    return true;
}

void cn_sampled_nodes_find_sampled(struct cn_sampled_nodes *nodes,
                                   const struct cn_sampled_contexts *contexts,
                                   const struct cn_sampled_profile *profile)
{
    for (size_t i = 0; i < profile->node_count; i++) {
        struct cn_sampled_node_contexts *at = &nodes->list[i];
        bool is_nowhere =
            at->first == CN_NONE || cn_node_is_of_range(profile->nodes[i].kind);

        at->sampled = is_nowhere ? CN_NONE
                                 : shown(contexts, profile->has_call_samples ? at->first
                                                                             : at->last);
    }
}

void cn_sampled_nodes_done(struct cn_sampled_nodes *nodes)
{
    free(nodes->list);
    cn_text_done(&nodes->mapped_id);
    free(nodes->modules);
    cn_sampled_reach_done(&nodes->reach);
    *nodes = (struct cn_sampled_nodes){0};
}
