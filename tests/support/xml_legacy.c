#include "support/xml_legacy.h"

#include <string.h>

#include "base/bytes/record.h"
#include "formats/hpctoolkit/xml/legacy_format.h"

enum {
    THREADS = 2,
    ROWS = 8,
    COLUMNS = 2,
    TABLE_LEN = cn_hpc_legacy_pack_size + THREADS * cn_hpc_legacy_member_size,
    VALUES_LEN = cn_hpc_legacy_values_size + ROWS * COLUMNS * 8,
};

static const char document[] =
    "<?xml version=\"1.0\"?>\n"
    "<!DOCTYPE HPCToolkitExperiment [\n"
    "<!ELEMENT HPCToolkitExperiment (Header, (SecCallPathProfile)*)>\n"
    "<!ATTLIST M n CDATA #REQUIRED v CDATA #REQUIRED>\n"
    "]>\n"
    "<HPCToolkitExperiment version=\"2.2\">\n"
    "<Header n=\"old\"><Info/></Header>\n"
    "<SecCallPathProfile i=\"0\" n=\"old\">\n"
    "<SecHeader>\n"
    "<MetricTable>\n"
    "<Metric i=\"2\" n=\"time:Sum (I)\" v=\"derived-incr\" t=\"inclusive\" partner=\"3\" "
    "show=\"1\"><MetricFormula t=\"finalize\" frm=\"$2\"/></Metric>\n"
    "<Metric i=\"3\" n=\"time:Sum (E)\" v=\"derived-incr\" t=\"exclusive\" partner=\"2\" "
    "show=\"1\"><MetricFormula t=\"finalize\" frm=\"$3\"/></Metric>\n"
    "</MetricTable>\n"
    "<MetricDBTable>\n"
    "<MetricDB i=\"0\" n=\"time (I)\" t=\"inclusive\" db-id=\"0\"/>\n"
    "<MetricDB i=\"1\" n=\"time (E)\" t=\"exclusive\" db-id=\"1\"/>\n"
    "</MetricDBTable>\n"
    "<TraceDBTable><TraceDB i=\"0\" db-min-time=\"1\" db-max-time=\"3\" u=\"1000000\"/>"
    "</TraceDBTable>\n"
    "<LoadModuleTable><LoadModule i=\"2\" n=\"a.out\"/></LoadModuleTable>\n"
    "<FileTable><File i=\"3\" n=\"a.c\"/><File i=\"9\" n=\"&lt;unknown file&gt;\"/>"
    "</FileTable>\n"
    "<ProcedureTable><Procedure i=\"1\" n=\"&lt;program root&gt;\" f=\"4\"/>"
    "<Procedure i=\"2\" n=\"&lt;no activity&gt;\" f=\"3\"/><Procedure i=\"3\" "
    "n=\"main\"/>"
    "<Procedure i=\"4\" n=\"f\"/></ProcedureTable>\n"
    "<Info/></SecHeader>\n"
    "<SecCallPathProfileData>\n"
    "<M n=\"2\" v=\"9e+01\"/>\n"
    "<PF i=\"2\" s=\"1\" n=\"1\" lm=\"2\" f=\"9\" l=\"0\">\n<M n=\"2\" v=\"90\"/>\n"
    "<PF i=\"3\" s=\"3\" n=\"3\" lm=\"2\" f=\"3\" l=\"5\">\n<M n=\"2\" v=\"90\"/>\n"
    "<S i=\"4\" s=\"5\" l=\"6\" it=\"20\">\n<M n=\"2\" v=\"10\"/><M n=\"3\" "
    "v=\"10\"/>\n</S>\n"
    "<C i=\"5\" s=\"6\" l=\"6\" v=\"0x44\">\n<M n=\"2\" v=\"50\"/>\n"
    "<PF i=\"6\" s=\"4\" n=\"4\" lm=\"2\" f=\"3\" l=\"1-4\">\n"
    "<M n=\"2\" v=\"50\"/><M n=\"3\" v=\"50\"/>\n</PF>\n</C>\n</PF>\n</PF>\n"
    "<PF i=\"7\" s=\"2\" n=\"2\" lm=\"2\" f=\"9\" l=\"0\"><S i=\"8\" s=\"9\" l=\"0\" "
    "it=\"19\"/></PF>\n"
    "</SecCallPathProfileData>\n</SecCallPathProfile>\n</HPCToolkitExperiment>\n";

static void add_pack(struct cn_text *text, uint64_t first_off, uint64_t second_off)
{
    struct cn_hpc_legacy_pack head = {CN_HPC_LEGACY_HAS_THREADS, THREADS};
    uint8_t bytes[TABLE_LEN];

    cn_hpc_legacy_pack_encode(&head, bytes);
    for (uint32_t i = 0; i < THREADS; i++) {
        struct cn_hpc_legacy_member member = {0, i, i == 0 ? first_off : second_off};

        cn_hpc_legacy_member_encode(&member, bytes + cn_hpc_legacy_pack_size +
                                                 i * cn_hpc_legacy_member_size);
    }
    cn_text_add(text, (const char *)bytes, sizeof(bytes));
}

static double value_of(unsigned thread, unsigned id, unsigned column)
{
    if (column == 0)
        return id == 5 || id > 6 ? 0 : 100.0 * thread + id;
    return id == 4 || id == 6 ? 1000.0 * thread + id : 0;
}

static void add_values(struct cn_text *text, unsigned thread)
{
    struct cn_hpc_legacy_values head = {CN_HPC_LEGACY_BIG_ENDIAN, ROWS, COLUMNS};
    uint8_t bytes[VALUES_LEN];

    cn_hpc_legacy_values_encode(&head, bytes);
    memcpy(bytes, CN_HPC_LEGACY_VALUES_MAGIC "00.10", 23);
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned column = 0; column < COLUMNS; column++)
            cn_f64_be_put(bytes + cn_hpc_legacy_values_size +
                              8 * (row * COLUMNS + column),
                          value_of(thread, row + 1, column));
    cn_text_add(text, (const char *)bytes, sizeof(bytes));
}

static void add_trace(struct cn_text *text, const struct cn_hpc_legacy_sample *samples,
                      size_t count)
{
    struct cn_hpc_legacy_trace head = {CN_HPC_LEGACY_BIG_ENDIAN, 0};
    uint8_t bytes[cn_hpc_legacy_trace_size];

    cn_hpc_legacy_trace_encode(&head, bytes);
    memcpy(bytes, CN_HPC_LEGACY_TRACE_MAGIC "01.01", 23);
    cn_text_add(text, (const char *)bytes, sizeof(bytes));
    for (size_t i = 0; i < count; i++) {
        cn_hpc_legacy_sample_encode(&samples[i], bytes);
        cn_text_add(text, (const char *)bytes, cn_hpc_legacy_sample_size);
    }
}

void cn_xml_legacy_init(struct cn_xml_legacy *legacy)
{
    static const struct cn_hpc_legacy_sample samples[] = {{1, 19}, {2, 20}, {3, 77}};
    enum { COUNT = sizeof(samples) / sizeof(*samples), END_LEN = 8 };

    *legacy = (struct cn_xml_legacy){0};
    add_pack(&legacy->packed, TABLE_LEN, TABLE_LEN + VALUES_LEN);
    add_values(&legacy->packed, 1);
    add_values(&legacy->packed, 2);
    cn_text_fill(&legacy->packed, '\xde', END_LEN);
    add_pack(&legacy->traces, TABLE_LEN,
             TABLE_LEN + cn_hpc_legacy_trace_size + COUNT * cn_hpc_legacy_sample_size);
    add_trace(&legacy->traces, samples, COUNT);
    add_trace(&legacy->traces, NULL, 0);
    cn_text_fill(&legacy->traces, '\xde', END_LEN);
    legacy->files = (struct cn_hpc_legacy_files){
        .experiment = {(const uint8_t *)document, sizeof(document) - 1},
        .packed = {"experiment-1.mdb",
                   {(const uint8_t *)legacy->packed.chars, legacy->packed.len}},
        .traces = {"experiment.mt",
                   {(const uint8_t *)legacy->traces.chars, legacy->traces.len}},
    };
}

void cn_xml_legacy_done(struct cn_xml_legacy *legacy)
{
    cn_text_done(&legacy->packed);
    cn_text_done(&legacy->traces);
}

struct cn_bytes cn_xml_legacy_values(const struct cn_xml_legacy *legacy, unsigned thread)
{
    struct cn_bytes bytes = {0};

    (void)cn_bytes_slice(legacy->files.packed.bytes,
                         TABLE_LEN + (thread - 1) * (uint64_t)VALUES_LEN, VALUES_LEN,
                         &bytes);
    return bytes;
}
