#include "support/xml_files.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/hpctoolkit/sparse/format.h"

void cn_xml_files_open(struct cn_xml_files *files, const char *dir)
{
    static const char *const names[] = {"experiment.xml", "profile.db", "cct.db",
                                        "trace.db"};
    struct cn_error err;
    bool is_there[4];

    *files = (struct cn_xml_files){0};
    for (size_t i = 0; i < 4; i++) {
        is_there[i] = cn_file_open_at(&files->mapped[i], dir, names[i], &err);
        assert(is_there[i] || i > 1);
    }
    files->files.experiment = files->mapped[0].bytes;
    files->files.values.profile = files->mapped[1].bytes;
    files->files.values.cct = files->mapped[2].bytes;
    files->files.values.trace = files->mapped[3].bytes;
    files->files.values.has_cct = is_there[2];
    files->files.values.has_trace = is_there[3];
}

void cn_xml_files_close(struct cn_xml_files *files)
{
    for (size_t i = 0; i < 4; i++)
        cn_file_close(&files->mapped[i]);
}

char *cn_xml_document(const char *tree)
{
    char *text = NULL;
    int len = asprintf(
        &text,
        "<?xml version=\"1.0\"?>\n"
        "<HPCToolkitExperiment version=\"4.0\">\n"
        "<Header n=\"t\"><Info/></Header>\n"
        "<SecCallPathProfile i=\"0\" n=\"a &lt;title&gt;\">\n"
        "<SecHeader>\n"
        "<IdentifierNameTable><Identifier i=\"0\" n=\"SUMMARY\"/></IdentifierNameTable>\n"
        "<MetricTable>\n"
        "<Metric i=\"2\" o=\"2\" n=\"time:PARTIAL:0 (I)\" t=\"inclusive\" partner=\"1\" "
        "show=\"4\"><MetricFormula t=\"combine\" frm=\"sum($2, $2)\"/></Metric>\n"
        "<Metric i=\"1\" o=\"1\" n=\"time:PARTIAL:0 (E)\" t=\"exclusive\" partner=\"2\" "
        "show=\"4\"><MetricFormula t=\"combine\" frm=\"sum($1, $1)\"/></Metric>\n"
        "</MetricTable>\n"
        "<MetricDBTable><MetricDB i=\"2\" n=\"time (I)\"/>"
        "<MetricDB i=\"1\" n=\"time (E)\"/></MetricDBTable>\n"
        "<TraceDBTable></TraceDBTable>\n"
        "<LoadModuleTable><LoadModule i=\"0\" n=\"&lt;unknown module&gt;\"/>"
        "<LoadModule i=\"1\" n=\"&lt;no module&gt;\"/><LoadModule i=\"2\" n=\"a.out\"/>"
        "</LoadModuleTable>\n"
        "<FileTable><File i=\"2147483647\" n=\"&lt;unknown file&gt;\"/>"
        "<File i=\"0\" n=\"a.c\"/><File i=\"1\" n=\"./src/b.c\"/></FileTable>\n"
        "<ProcedureTable><Procedure i=\"1\" n=\"&lt;program root&gt;\" v=\"0\" f=\"1\"/>"
        "<Procedure i=\"2\" n=\"&lt;no activity&gt;\" v=\"0\" f=\"1\"/>"
        "<Procedure i=\"3\" n=\"main\" v=\"0x10\"/><Procedure i=\"4\" n=\"f\" v=\"0x20\"/>"
        "<Procedure i=\"5\" n=\"&lt;unknown procedure&gt; 0x99 [a.out]\" v=\"0x99\" "
        "f=\"1\"/></ProcedureTable>\n"
        "<Info/>\n"
        "</SecHeader>\n"
        "<SecCallPathProfileData>\n%s</SecCallPathProfileData>\n"
        "</SecCallPathProfile>\n</HPCToolkitExperiment>\n",
        tree);

    assert(len > 0);
    return text;
}

struct cn_bytes cn_xml_empty_profile(void)
{
    enum { COUNT = 2, TUPLE_LEN = cn_hpc_sparse_tuple_size + cn_hpc_sparse_identity_size };
    enum {
        INFOS_LEN = COUNT * cn_hpc_sparse_profile_size,
        TUPLES_OFF = CN_HPC_SPARSE_HEADER_LEN + 104,
        BLOCKS_OFF = TUPLES_OFF + 40,
        LEN = BLOCKS_OFF + COUNT * cn_hpc_sparse_profile_index_size + 8,
    };
    static uint8_t bytes[LEN];
    struct cn_hpc_sparse_header head = {1,         0, COUNT, CN_HPC_SPARSE_PROFILE_SECTIONS,
                                        INFOS_LEN, CN_HPC_SPARSE_HEADER_LEN};
    struct cn_hpc_sparse_tuple tuple = {1};

    _Static_assert(INFOS_LEN == 104 && COUNT * TUPLE_LEN == 40, "offsets are multiples of 8");
    cn_hpc_sparse_header_encode(&head, bytes);
    memcpy(bytes, CN_HPC_SPARSE_PROFILE_MAGIC, CN_HPC_SPARSE_MAGIC_LEN);
    cn_u64_be_put(bytes + 0x28, COUNT * TUPLE_LEN);
    cn_u64_be_put(bytes + 0x30, TUPLES_OFF);
    for (size_t i = 0; i < COUNT; i++) {
        struct cn_hpc_sparse_profile profile = {
            .tuple_off = TUPLES_OFF + i * TUPLE_LEN,
            .block_off = BLOCKS_OFF + i * cn_hpc_sparse_profile_index_size};
        struct cn_hpc_sparse_profile_index end = {CN_HPC_SPARSE_PROFILE_END, 0};

        cn_hpc_sparse_profile_encode(
            &profile, bytes + CN_HPC_SPARSE_HEADER_LEN + i * cn_hpc_sparse_profile_size);
        cn_hpc_sparse_tuple_encode(&tuple, bytes + profile.tuple_off);
        cn_hpc_sparse_profile_index_encode(&end, bytes + profile.block_off);
    }
    memcpy(bytes + LEN - 8, CN_HPC_SPARSE_PROFILE_FOOTER, 8);
    return (struct cn_bytes){bytes, LEN};
}
