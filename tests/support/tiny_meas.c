#include "support/tiny_meas.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "formats/hpctoolkit/meas/profile/node_kinds.h"
#include "support/made_run.h"
#include "support/scratch.h"

static const char *const modules[] = {"/opt/bin/tiny", "vdso/nobody-knows.vdso"};

static const struct cn_made_metric metrics[CN_TINY_MEAS_METRICS] = {
    {"cycles", NULL, CN_HPC_VALUES_INTEGER, false, 1000},
    {"time (sec)", NULL, CN_HPC_VALUES_DOUBLE, false, 1},
    {"cycles each", "-(#0) / max(#1, 2^0.5) + 1", CN_HPC_VALUES_DOUBLE, false, 1},
    {"launches", NULL, CN_HPC_VALUES_INTEGER, true, 1},
};

static const struct cn_hpc_run_node nodes[CN_TINY_MEAS_NODES] = {
    {12, 0, 0, CN_HPC_CODE_ROOT, CN_HPC_NODE_UNWOUND},
    {15, 12, 0, CN_HPC_CODE_IDLE, CN_HPC_NODE_UNWOUND},
    {20, 12, 0, CN_HPC_CODE_MAIN, CN_HPC_NODE_UNWOUND},
    {22, 20, 1, 0x110, CN_HPC_NODE_UNWOUND},
    {24, 22, 1, 0x204, CN_HPC_NODE_UNWOUND},
    {26, 22, 1, 0x208, CN_HPC_NODE_UNWOUND},
    {27, 22, 1, 0x200, CN_HPC_NODE_UNWOUND},
    {32, 22, 0, CN_HPC_CODE('G', 'P', 'U', 'K', 'e', 'r', 'n', 'l'), CN_HPC_NODE_UNWOUND},
    {30, 12, 0, CN_HPC_CODE_UNKNOWN, CN_HPC_NODE_UNWOUND},
    {34, 30, 2, 0x40, CN_HPC_NODE_UNWOUND},
};

static const char *const kinds[] = {"SUMMARY", "NODE", "RANK", "THREAD"};

static void make_run(struct cn_text *to, const struct cn_tiny_meas_options *options)
{
    struct cn_made_id ids[] = {{1, 1, options->host, 0},
                               {2, 3, options->rank, options->rank},
                               {3, 3, options->thread, options->thread}};
    struct cn_made_value values[CN_TINY_MEAS_VALUES] = {
        {22, 0, 1},    {24, 0, options->is_idle_in_work ? 0 : 3 + options->thread},
        {24, 1, 0.5},  {26, 0, 4},
        {32, 3, 2},    {34, 0, 1},
        {34, 1, 0.25},
    };
    struct cn_made_run run = {
        .program = options->program ? options->program : "tiny",
        .modules = modules,
        .module_count = 2,
        .nodes = nodes,
        .node_count = CN_TINY_MEAS_NODES,
        .metrics = metrics,
        .metric_count = CN_TINY_MEAS_METRICS,
        .kinds = kinds,
        .kind_count = 4,
        .ids = ids,
        .id_count = 3,
        .values = values,
        .value_count = options->is_empty ? 0 : CN_TINY_MEAS_VALUES,
    };

    cn_made_run_add(&run, to);
}

/* Out of order, and with two pauses in a row. */
static void make_trace(struct cn_text *trace)
{
    static const struct {
        uint64_t time_ns;
        uint32_t node;
    } samples[CN_TINY_MEAS_SAMPLES] = {{100, 15}, {130, 27}, {120, 24},
                                       {140, 15}, {150, 15}, {160, 99}};

    cn_text_str_add(trace, CN_HPC_TRACE_MAGIC CN_HPC_TRACE_VERSION "b");
    cn_put_u64_be(trace, 0);
    for (size_t i = 0; i < CN_TINY_MEAS_SAMPLES; i++) {
        cn_put_u64_be(trace, samples[i].time_ns);
        cn_put_u32_be(trace, samples[i].node);
    }
}

static const char structure[] =
    "<?xml version=\"1.0\"?>\n"
    "<!DOCTYPE HPCToolkitStructure [\n<!ELEMENT HPCToolkitStructure (LM)*>\n]>\n"
    "<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">\n"
    "<LM i=\"2\" n=\"/opt/bin/tiny\" has-calls=\"0\" v=\"{}\">\n"
    " <F i=\"3\" n=\"/src/tiny.c\">\n"
    "  <P i=\"4\" n=\"main\" l=\"10\" v=\"{[0x100-0x101)}\">\n"
    "   <S i=\"5\" l=\"11\" v=\"{[0x100-0x120)}\"/>\n"
    "   <S i=\"6\" l=\"12\" v=\"{[0x118-0x130) [0x130-0x140)}\"/>\n"
    "  </P>\n"
    "  <P i=\"7\" n=\"work&lt;int&gt;\" l=\"20\" v=\"{[0x200-0x201)}\">\n"
    "   <S i=\"8\" l=\"20\" v=\"{[0x200-0x204)}\"/>\n"
    "   <L i=\"9\" l=\"21\" f=\"/src/tiny.c\" v=\"{[0x204-0x210)}\">\n"
    "    <L i=\"10\" l=\"22\" f=\"\" v=\"{[0x204-0x208)}\">\n"
    "     <S i=\"11\" l=\"23\" v=\"{[0x204-0x208)}\"/>\n"
    "    </L>\n"
    "    <A i=\"12\" l=\"24\" f=\"\" n=\"\" v=\"{}\">\n"
    "     <A i=\"13\" l=\"3\" f=\"/src/helper.h\" n=\"helper\" v=\"{}\">\n"
    "      <S i=\"14\" l=\"4\" v=\"{[0x208-0x210)}\"/>\n"
    "     </A>\n"
    "    </A>\n"
    "   </L>\n"
    "  </P>\n"
    " </F>\n"
    "</LM>\n"
    "</HPCToolkitStructure>\n";

void cn_tiny_meas_init(struct cn_tiny_meas *tiny,
                       const struct cn_tiny_meas_options *options)
{
    *tiny = (struct cn_tiny_meas){0};
    make_run(&tiny->run, options);
    make_trace(&tiny->trace);
    cn_text_str_add(&tiny->structure, structure);
}

void cn_tiny_meas_done(struct cn_tiny_meas *tiny)
{
    cn_text_done(&tiny->run);
    cn_text_done(&tiny->trace);
    cn_text_done(&tiny->structure);
}

static void make_folder(const char *path)
{
    int status = mkdir(path, 0777);

    assert(status == 0 || errno == EEXIST);
}

void cn_tiny_meas_write(const struct cn_tiny_meas_options *options, const char *dir)
{
    struct cn_tiny_meas tiny;
    char path[512];

    cn_tiny_meas_init(&tiny, options);
    make_folder(dir);
    (void)snprintf(path, sizeof(path), "%s/tiny-%06u-%03u-0-1-0.hpcrun", dir,
                   options->rank, options->thread);
    cn_scratch_write(path, tiny.run.chars, tiny.run.len);
    (void)snprintf(path, sizeof(path), "%s/tiny-%06u-%03u-0-1-0.hpctrace", dir,
                   options->rank, options->thread);
    cn_scratch_write(path, tiny.trace.chars, tiny.trace.len);
    (void)snprintf(path, sizeof(path), "%s/structs", dir);
    make_folder(path);
    (void)snprintf(path, sizeof(path), "%s/structs/tiny.hpcstruct", dir);
    cn_scratch_write(path, tiny.structure.chars, tiny.structure.len);
    cn_tiny_meas_done(&tiny);
}
