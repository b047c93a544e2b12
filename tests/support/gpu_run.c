#include "support/gpu_run.h"

#include "formats/hpctoolkit/meas/profile/node_kinds.h"

enum { UNWOUND = CN_HPC_NODE_UNWOUND };

#define KERNELS CN_HPC_CODE('G', 'P', 'U', 'K', 'e', 'r', 'n', 'l')

static const char *const modules[] = {"/opt/bin/app", "gpubins/kernels.gpubin"};
static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};
static const struct cn_made_id ids[] = {{3, 3, 0, 0}};
static const struct cn_made_metric metrics[CN_GPU_METRICS] = {
    {"GKER:COUNT", NULL, CN_HPC_VALUES_INTEGER, true, 1},
    {"GKER:SAMPLED_COUNT", NULL, CN_HPC_VALUES_INTEGER, true, 1},
    {"GINS", NULL, CN_HPC_VALUES_INTEGER, false, 1},
    {"GKER (sec)", NULL, CN_HPC_VALUES_DOUBLE, true, 1},
};

static const char structure[] =
    "<?xml version=\"1.0\"?>\n"
    "<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">\n"
    "<LM i=\"2\" n=\"gpubins/kernels.gpubin\" has-calls=\"%s\" v=\"{}\"><F n=\"/k.cu\">\n"
    "<P n=\"first\" l=\"1\" v=\"{[0x100-0x101)}\"><S l=\"1\" v=\"{[0x100-0x110)}\"/>\n"
    "<C l=\"2\" v=\"{[0x110-0x118)}\" t=\"0x300\"/></P>\n"
    "<P n=\"second\" l=\"5\" v=\"{[0x200-0x201)}\"><S l=\"5\" v=\"{[0x200-0x210)}\"/>\n"
    "<C l=\"6\" v=\"{[0x210-0x218)}\" t=\"0x300\"/></P>\n"
    "<P n=\"third\" l=\"8\" v=\"{[0x280-0x281)}\"><S l=\"8\" v=\"{[0x280-0x290)}\"/>\n"
    "<C l=\"8\" v=\"{[0x290-0x298)}\" t=\"0x300\"/></P>\n"
    "<P n=\"inner\" l=\"10\" v=\"{[0x300-0x301)}\"><S l=\"10\" v=\"{[0x300-0x310)}\"/>\n"
    "<C l=\"11\" v=\"{[0x310-0x318)}\" t=\"0x400\"/>\n"
    "<C l=\"12\" v=\"{[0x318-0x320)}\" t=\"0x500\"/><C l=\"13\" "
    "v=\"{[0x320-0x328)}\"/></P>\n"
    "<P n=\"leaf\" l=\"20\" v=\"{[0x400-0x401)}\"><S l=\"20\" "
    "v=\"{[0x400-0x410)}\"/></P>\n"
    "<P n=\"even\" l=\"30\" v=\"{[0x500-0x501)}\"><S l=\"30\" v=\"{[0x500-0x510)}\"/>\n"
    "<C l=\"31\" v=\"{[0x510-0x518)}\" t=\"%s\"/></P>\n"
    "<P n=\"odd\" l=\"40\" v=\"{[0x600-0x601)}\"><S l=\"40\" v=\"{[0x600-0x610)}\"/>\n"
    "<C l=\"41\" v=\"{[0x610-0x618)}\" t=\"0x500\"/></P>\n"
    "</F></LM></HPCToolkitStructure>\n";

static const struct cn_hpc_run_node nodes[CN_GPU_NODES] = {
    {2, 0, 0, CN_HPC_CODE_ROOT, UNWOUND},
    {4, 2, 0, CN_HPC_CODE_MAIN, UNWOUND},
    {6, 4, 1, 0x10, UNWOUND},
    {8, 6, 0, KERNELS, UNWOUND},
    {10, 8, 2, 0x100, UNWOUND},
    {12, 8, 2, 0x200, UNWOUND},
    {20, 8, 2, 0x404, 0},
    {22, 8, 2, 0x304, 0},
    {24, 8, 2, 0x110, 0},
    {26, 8, 2, 0x210, 0},
    {28, 8, 2, 0x604, 0},
    {30, 8, 2, 0x700, 0},
};

static const struct cn_made_value values[] = {
    {10, CN_GPU_LAUNCHES, 10},      {10, CN_GPU_SAMPLED, 5},
    {10, CN_GPU_SECONDS, 0.5},      {12, CN_GPU_LAUNCHES, 4},
    {20, CN_GPU_INSTRUCTIONS, 100}, {22, CN_GPU_INSTRUCTIONS, 8},
    {24, CN_GPU_INSTRUCTIONS, 3},   {26, CN_GPU_INSTRUCTIONS, 1},
    {28, CN_GPU_INSTRUCTIONS, 2},   {30, CN_GPU_INSTRUCTIONS, 64},
};

struct cn_made_run cn_gpu_run(void)
{
    return (struct cn_made_run){
        .program = "app",
        .modules = modules,
        .module_count = 2,
        .nodes = nodes,
        .node_count = CN_GPU_NODES,
        .metrics = metrics,
        .metric_count = CN_GPU_METRICS,
        .kinds = kinds,
        .kind_count = 4,
        .ids = ids,
        .id_count = 1,
        .values = values,
        .value_count = sizeof(values) / sizeof(*values),
    };
}

static const struct cn_hpc_run_node range_nodes[CN_GPU_RANGE_NODES] = {
    {2, 0, 0, CN_HPC_CODE_ROOT, UNWOUND},
    {4, 2, 0, CN_HPC_CODE_MAIN, UNWOUND},
    {6, 4, 1, 0x10, UNWOUND},
    {8, 6, 0, KERNELS, UNWOUND},
    {10, 8, 2, 0x100, UNWOUND},
    {40, 10, CN_HPC_MODULE_GPU_CONTEXT, 7, UNWOUND},
    {42, 40, CN_HPC_MODULE_GPU_RANGE, 1, UNWOUND},
    {44, 40, CN_HPC_MODULE_GPU_RANGE, 2, UNWOUND},
    {12, 8, 2, 0x200, UNWOUND},
    {46, 12, CN_HPC_MODULE_GPU_CONTEXT, 7, UNWOUND},
    {48, 46, CN_HPC_MODULE_GPU_RANGE, 1, UNWOUND},
    {16, 4, 1, 0x20, UNWOUND},
    {18, 16, 0, KERNELS, UNWOUND},
    {20, 18, 2, 0x100, UNWOUND},
    {50, 20, CN_HPC_MODULE_GPU_CONTEXT, 7, UNWOUND},
    {52, 50, CN_HPC_MODULE_GPU_RANGE, 1, UNWOUND},
    {60, 2, CN_HPC_MODULE_GPU_RANGE_ROOT, 0, UNWOUND},
    {62, 60, CN_HPC_MODULE_GPU_CONTEXT, 7, UNWOUND},
    {64, 62, CN_HPC_MODULE_GPU_RANGE, 1, UNWOUND},
    {66, 64, 2, 0x404, 0},
    {68, 64, 2, 0x110, 0},
    {70, 64, 2, 0x210, 0},
    {72, 62, CN_HPC_MODULE_GPU_RANGE, 3, UNWOUND},
    {74, 72, 2, 0x404, 0},
};

static const struct cn_made_value range_values[] = {
    {42, CN_GPU_LAUNCHES, 10},     {42, CN_GPU_SAMPLED, 5},
    {44, CN_GPU_LAUNCHES, 2},      {44, CN_GPU_SAMPLED, 1},
    {48, CN_GPU_LAUNCHES, 4},      {52, CN_GPU_LAUNCHES, 5},
    {52, CN_GPU_SAMPLED, 5},       {66, CN_GPU_INSTRUCTIONS, 100},
    {68, CN_GPU_INSTRUCTIONS, 3},  {70, CN_GPU_INSTRUCTIONS, 1},
    {74, CN_GPU_INSTRUCTIONS, 50},
};

static const char *const range_kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD",
                                          "GPUCONTEXT"};
static const struct cn_made_id range_ids[] = {{1, 1, 0xa, 0}, {3, 3, 0, 0}};

struct cn_made_run cn_gpu_range_run(void)
{
    struct cn_made_run run = cn_gpu_run();

    run.nodes = range_nodes;
    run.node_count = CN_GPU_RANGE_NODES;
    run.values = range_values;
    run.value_count = sizeof(range_values) / sizeof(*range_values);
    run.kinds = range_kinds;
    run.kind_count = 5;
    run.ids = range_ids;
    run.id_count = 2;
    return run;
}

void cn_gpu_structure_add(struct cn_text *to, const char *has_calls,
                          const char *even_calls)
{
    cn_text_printf(to, structure, has_calls, even_calls);
}
