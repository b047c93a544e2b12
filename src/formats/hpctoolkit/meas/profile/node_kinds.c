#include "formats/hpctoolkit/meas/profile/node_kinds.h"

#include "formats/hpctoolkit/meas/format.h"
#include "model/contexts/samples.h"

enum { CODE_LEN = 8 };

static const struct {
    char code[CODE_LEN + 1];
    const char *name;
} names[] = {
    {"| Main  ", "<program root>"},
    {"| Thread", "<thread root>"},
    {"OMP Idle", "<omp idle>"},
    {"OMPOvrHd", "<omp overhead>"},
    {"OMPBarrW", "<omp barrier wait>"},
    {"OMPTaskW", "<omp task wait>"},
    {"OMPMtexW", "<omp mutex wait>"},
    {"OMP Work", "<omp work>"},
    {"OMPETask", "<omp expl task>"},
    {"OMPITask", "<omp impl task>"},
    {"OMPUresv", "<omp region unresolved>"},
    {"OMTAlloc", "<omp tgt alloc>"},
    {"OMTDelte", "<omp tgt delete>"},
    {"OMTCpIn ", "<omp tgt copyin>"},
    {"OMTCpOut", "<omp tgt copyout>"},
    {"OMTKernl", "<omp tgt kernel>"},
    {"GPUCp?2?", "<gpu copy>"},
    {"GPUCpH2D", "<gpu copyin>"},
    {"GPUCpD2H", "<gpu copyout>"},
    {"GPUAlloc", "<gpu alloc>"},
    {"GPUDelte", "<gpu delete>"},
    {"GPUKernl", "<gpu kernel>"},
    {"GPUMemst", "<gpu memset>"},
    {"GPU Sync", "<gpu sync>"},
    {"GPUTrace", "<gpu kernel>"},
};

void cn_hpc_placeholder_print(uint64_t code, struct cn_text *text)
{
    char chars[CODE_LEN];

    for (unsigned i = 0; i < CODE_LEN; i++)
        chars[i] = (char)(uint8_t)(code >> (56 - 8 * i));
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        if (memcmp(names[i].code, chars, CODE_LEN) != 0)
            continue;
        cn_text_str_add(text, names[i].name);
        return;
    }
    for (unsigned i = 0; i < CODE_LEN; i++) {
        if (chars[i] >= ' ' && chars[i] <= '~')
            cn_text_char(text, chars[i]);
        else
            cn_text_printf(text, "\\x%02x", (unsigned)(uint8_t)chars[i]);
    }
}

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
