#include "formats/hpctoolkit/meas/code/structure.h"

#include <stdlib.h>

#include "base/alloc.h"

bool cn_hpc_structure_places(const struct cn_hpc_structure *structure, uint64_t address,
                             struct cn_code_scope **places, size_t *capacity,
                             size_t *count)
{
    const struct cn_hpc_range *range = cn_hpc_ranges_find(&structure->ranges, address);
    size_t depth;

    if (!range)
        return false;
    depth = (size_t)structure->scopes[range->value].depth + 1;
    if (*capacity < depth) {
        *capacity = depth * 2;
        *places = cn_realloc(*places, *capacity, sizeof(**places));
    }
    *count = depth;
    for (uint32_t at = range->value; at != CN_NONE; at = structure->scopes[at].around)
        (*places)[--depth] = structure->scopes[at].place;
    return true;
}

bool cn_hpc_structure_paths(const struct cn_hpc_structure *structure,
                            const struct cn_hpc_tables *tables, uint64_t address,
                            struct cn_hpc_call_paths *out)
{
    const struct cn_hpc_range *range = cn_hpc_ranges_find(&structure->ranges, address);
    uint32_t at;

    if (!range || !structure->graph.is_complete)
        return false;
    for (at = range->value; structure->scopes[at].around != CN_NONE;)
        at = structure->scopes[at].around;
    return cn_hpc_call_graph_paths(
        &structure->graph,
        cn_map_find(&structure->graph.entries,
                    tables->functions[structure->scopes[at].place.function].offset,
                    CN_NONE),
        out);
}

void cn_hpc_structures_done(struct cn_hpc_structures *structures)
{
    for (size_t i = 0; i < structures->count; i++) {
        struct cn_hpc_structure *structure = &structures->list[i];

        free(structure->scopes);
        cn_hpc_ranges_done(&structure->ranges);
        cn_hpc_call_graph_done(&structure->graph);
    }
    free(structures->list);
    cn_arena_done(&structures->arena);
    *structures = (struct cn_hpc_structures){0};
}
