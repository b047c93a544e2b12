#include "formats/hpctoolkit/meas/profile/node_kinds.h"

#include "formats/hpctoolkit/meas/format.h"
#include "model/contexts/samples.h"

static bool is(bool fits, uint8_t kind, uint8_t *out)
{
    if (fits)
        *out = kind;
    return fits;
}

bool cn_hpc_node_kind(uint16_t module, uint8_t parent_kind, bool is_at_top, uint8_t *out)
{
    switch (module) {
    case CN_HPC_MODULE_GPU_RANGE_ROOT:
        return is(is_at_top, CN_NODE_RANGE_ROOT, out);
    case CN_HPC_MODULE_GPU_CONTEXT:
        return is(parent_kind == CN_NODE_RANGE_ROOT, CN_NODE_RANGE_CONTEXT, out) ||
               is(parent_kind == CN_NODE_POINT, CN_NODE_LAUNCH_CONTEXT, out);
    case CN_HPC_MODULE_GPU_RANGE:
        return is(parent_kind == CN_NODE_RANGE_CONTEXT, CN_NODE_RANGE, out) ||
               is(parent_kind == CN_NODE_LAUNCH_CONTEXT, CN_NODE_RANGE_LAUNCH, out);
    case 0:
        return is(!cn_node_is_of_range(parent_kind), CN_NODE_PLACEHOLDER, out);
    default:
        return is(parent_kind == CN_NODE_RANGE, CN_NODE_RANGE_SAMPLE, out) ||
               is(!cn_node_is_of_range(parent_kind), CN_NODE_POINT, out);
    }
}
