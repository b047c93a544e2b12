#include "support/gpu_run.h"

#include "formats/hpctoolkit/meas/placeholders.h"

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

void cn_gpu_structure_add(struct cn_text *to, const char *has_calls,
                          const char *even_calls)
{
    cn_text_printf(to, structure, has_calls, even_calls);
}
