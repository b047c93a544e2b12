#include "analyze/sampled_nodes.h"

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
    if (nodes->module_capacity <= nodes->module_count) {
        nodes->module_capacity = nodes->module_count * 2 + 1;
        nodes->modules =
            cn_realloc(nodes->modules, nodes->module_capacity, sizeof(*nodes->modules));
    }
    for (size_t i = 0; i < nodes->module_count; i++)
        nodes->modules[i] = CN_NONE;
}

bool cn_sampled_nodes_check(struct cn_sampled_nodes *nodes,
                            struct cn_measurements *measurements, size_t index,
                            const struct cn_sampled_profile *profile,
                            struct cn_error *err)
{
    begin_modules(nodes, profile);
    for (size_t i = 0; i < profile->node_count; i++) {
        const struct cn_sampled_node *node = &profile->nodes[i];

        if (node->kind == CN_NODE_POINT && nodes->modules[node->module] == CN_NONE &&
            !cn_measurements_find_module(measurements, index,
                                         profile->modules[node->module],
                                         &nodes->modules[node->module], err))
            return false;
    }
    return true;
}

/* What cannot stand at the top is put below "unknown entry". */
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
        parent = cn_sampled_contexts_call(contexts, parent, CN_NONE);
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
        at = cn_sampled_contexts_call(contexts, below_entry(contexts, parent), CN_NONE);
        break;
    case CN_NODE_PLACEHOLDER:
        at = cn_sampled_contexts_call(
            contexts, below_entry(contexts, parent),
            cn_measurements_placeholder(contexts->measurements, node->address));
        break;
    case CN_NODE_POINT:
        return place_point(contexts, parent, nodes->modules[node->module], node, out,
                           err);
    }
    out->first = at;
    out->last = at;
    return true;
}

static uint32_t shown(const struct cn_sampled_contexts *contexts, uint32_t context)
{
    return cn_sampled_context_is_hidden(&contexts->list[context])
               ? contexts->list[context].parent
               : context;
}

bool cn_sampled_nodes_place(struct cn_sampled_nodes *nodes,
                            struct cn_sampled_contexts *contexts,
                            const struct cn_sampled_profile *profile,
                            struct cn_error *err)
{
    if (nodes->capacity < profile->node_count) {
        free(nodes->list);
        nodes->capacity = profile->node_count * 2;
        nodes->list = cn_alloc(nodes->capacity, sizeof(*nodes->list));
    }
    for (size_t i = 0; i < profile->node_count; i++) {
        struct cn_sampled_node_contexts *at = &nodes->list[i];

        if (!place_node(nodes, contexts, &profile->nodes[i], at, err))
            return false;
        at->sampled = shown(contexts, profile->has_call_samples ? at->first : at->last);
    }
    return true;
}

void cn_sampled_nodes_done(struct cn_sampled_nodes *nodes)
{
    free(nodes->list);
    cn_text_done(&nodes->mapped_id);
    free(nodes->modules);
    *nodes = (struct cn_sampled_nodes){0};
}
