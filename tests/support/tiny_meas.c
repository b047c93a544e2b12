#include "support/tiny_meas.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/hpctoolkit/meas/format.h"
#include "formats/hpctoolkit/meas/placeholders.h"
#include "support/scratch.h"

enum { ALIGN = 64 };

static void put(struct cn_text *to, const uint8_t *bytes, size_t len)
{
    cn_text_add(to, (const char *)bytes, len);
}

static void put_u16(struct cn_text *to, uint16_t value)
{
    uint8_t bytes[sizeof(value)];

    cn_u16_be_put(bytes, value);
    put(to, bytes, sizeof(bytes));
}

static void put_u32(struct cn_text *to, uint32_t value)
{
    uint8_t bytes[sizeof(value)];

    cn_u32_be_put(bytes, value);
    put(to, bytes, sizeof(bytes));
}

static void put_u64(struct cn_text *to, uint64_t value)
{
    uint8_t bytes[sizeof(value)];

    cn_u64_be_put(bytes, value);
    put(to, bytes, sizeof(bytes));
}

static void put_string(struct cn_text *to, const char *text)
{
    put_u32(to, (uint32_t)strlen(text));
    cn_text_str_add(to, text);
}

static void pad(struct cn_text *to)
{
    while (to->len % ALIGN != 0)
        cn_text_char(to, '\0');
}

static void put_header(struct cn_text *run, const char *program)
{
    const char *pairs[][2] = {
        {"program-name", program}, {"program-path", ""}, {"trace-disorder", "5"}};
    struct cn_text path = {0};

    cn_text_printf(&path, "/opt/bin/%s", program);
    pairs[1][1] = cn_text_str(&path);
    cn_text_str_add(run, CN_HPC_RUN_MAGIC CN_HPC_RUN_VERSION "b");
    put_u32(run, 3);
    for (size_t i = 0; i < 3; i++) {
        put_string(run, pairs[i][0]);
        put_string(run, pairs[i][1]);
    }
    cn_text_done(&path);
}

static void put_modules(struct cn_text *run)
{
    put_u32(run, 2);
    put_u16(run, 1);
    put_string(run, "/opt/bin/tiny");
    put_u64(run, 1);
    put_u16(run, 2);
    put_string(run, "vdso/nobody-knows.vdso");
    put_u64(run, 0);
}

static void put_metric(struct cn_text *run, const char *name, const char *formula,
                       uint8_t format, bool is_moved, uint64_t period)
{
    struct cn_hpc_run_metric metric = {
        .type = CN_HPC_METRIC_RAW,
        .value_format = format,
        .is_moved = is_moved,
        .show = 1,
        .shows_percent = 1,
        .period = period,
    };
    uint8_t bytes[cn_hpc_run_metric_size];
    static const uint8_t tail[CN_HPC_RUN_METRIC_TAIL_LEN];

    put_string(run, name);
    put_string(run, "what it is");
    cn_hpc_run_metric_encode(&metric, bytes);
    put(run, bytes, sizeof(bytes));
    put_string(run, formula);
    put_string(run, formula[0] ? "%6.2f" : "");
    put(run, tail, sizeof(tail));
}

static void put_metrics(struct cn_text *run)
{
    put_u32(run, CN_TINY_MEAS_METRICS);
    put_metric(run, "cycles", "", CN_HPC_VALUES_INTEGER, false, 1000);
    put_metric(run, "time (sec)", "", CN_HPC_VALUES_DOUBLE, false, 1);
    put_metric(run, "cycles each", "-(#0) / max(#1, 2^0.5) + 1", CN_HPC_VALUES_DOUBLE,
               false, 1);
    put_metric(run, "launches", "", CN_HPC_VALUES_INTEGER, true, 1);
}

static void put_node(struct cn_text *run, uint32_t id, uint32_t parent, uint16_t module,
                     uint64_t address)
{
    struct cn_hpc_run_node node = {id, parent, module, address, CN_HPC_NODE_UNWOUND};
    uint8_t bytes[cn_hpc_run_node_size];

    cn_hpc_run_node_encode(&node, bytes);
    put(run, bytes, sizeof(bytes));
}

static void put_nodes(struct cn_text *run)
{
    put_u64(run, CN_TINY_MEAS_NODES);
    put_node(run, 12, 0, 0, CN_HPC_CODE_ROOT);
    put_node(run, 15, 12, 0, CN_HPC_CODE_IDLE);
    put_node(run, 20, 12, 0, CN_HPC_CODE_MAIN);
    put_node(run, 22, 20, 1, 0x110);
    put_node(run, 24, 22, 1, 0x204);
    put_node(run, 26, 22, 1, 0x208);
    put_node(run, 27, 22, 1, 0x200);
    put_node(run, 32, 22, 0, CN_HPC_CODE('G', 'P', 'U', 'K', 'e', 'r', 'n', 'l'));
    put_node(run, 30, 12, 0, CN_HPC_CODE_UNKNOWN);
    put_node(run, 34, 30, 2, 0x40);
}

static void put_kinds(struct cn_text *run)
{
    static const char *const names[] = {"SUMMARY", "NODE", "RANK", "THREAD"};

    put_u16(run, 4);
    for (uint16_t i = 0; i < 4; i++) {
        put_u16(run, i);
        put_string(run, names[i]);
    }
}

static void put_id(struct cn_text *run, uint16_t kind, uint16_t numbering,
                   uint64_t physical, uint64_t logical)
{
    put_u16(run, (uint16_t)(numbering << CN_HPC_KIND_BITS | kind));
    put_u64(run, physical);
    put_u64(run, logical);
}

static void put_value(struct cn_text *run, double value, uint16_t metric)
{
    uint64_t bits = (uint64_t)value;

    if (metric == 1)
        memcpy(&bits, &value, sizeof(bits));
    put_u64(run, bits);
    put_u16(run, metric);
}

static void put_values(struct cn_text *run, const struct cn_tiny_meas_options *options)
{
    static const struct {
        uint32_t node;
        uint64_t first;
    } index[] = {{22, 0}, {24, 1}, {26, 3}, {32, 4}, {34, 5}, {CN_HPC_VALUES_END, 7}};

    put_u16(run, 3);
    put_id(run, 1, 1, options->host, 0);
    put_id(run, 2, 3, options->rank, options->rank);
    put_id(run, 3, 3, options->thread, options->thread);
    put_u64(run, CN_TINY_MEAS_VALUES);
    put_u32(run, 5);
    put_value(run, 1, 0);
    put_value(run, options->is_idle_in_work ? 0 : 3 + options->thread, 0);
    put_value(run, 0.5, 1);
    put_value(run, 4, 0);
    put_value(run, 2, 3);
    put_value(run, 1, 0);
    put_value(run, 0.25, 1);
    for (size_t i = 0; i < 6; i++) {
        put_u32(run, index[i].node);
        put_u64(run, index[i].first);
    }
}

static void make_run(struct cn_text *run, const struct cn_tiny_meas_options *options)
{
    struct cn_hpc_run_footer f = {.magic = CN_HPC_RUN_FOOTER_MAGIC};
    uint8_t bytes[cn_hpc_run_footer_size];

    put_header(run, options->program ? options->program : "tiny");
    f.header_end_off = run->len;
    pad(run);
    f.modules_off = run->len;
    put_modules(run);
    f.modules_end_off = run->len;
    pad(run);
    f.nodes_off = run->len;
    put_nodes(run);
    f.nodes_end_off = run->len;
    pad(run);
    f.metrics_off = run->len;
    put_metrics(run);
    f.metrics_end_off = run->len;
    pad(run);
    f.kinds_off = run->len;
    put_kinds(run);
    f.kinds_end_off = run->len;
    pad(run);
    f.values_off = run->len;
    put_values(run, options);
    f.values_end_off = run->len;
    pad(run);
    f.footer_off = run->len;
    cn_hpc_run_footer_encode(&f, bytes);
    put(run, bytes, sizeof(bytes));
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
    put_u64(trace, 0);
    for (size_t i = 0; i < CN_TINY_MEAS_SAMPLES; i++) {
        put_u64(trace, samples[i].time_ns);
        put_u32(trace, samples[i].node);
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
