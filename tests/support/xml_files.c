#include "support/xml_files.h"

#include <assert.h>
#include <stdio.h>

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
        "<Procedure i=\"3\" n=\"main\" v=\"0x10\"/><Procedure i=\"4\" n=\"f\" "
        "v=\"0x20\"/>"
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

enum {
    PROFILES = 2,
    SCOPES = 2,
    TUPLE_LEN = cn_hpc_sparse_tuple_size + cn_hpc_sparse_identity_size,
    TUPLES_OFF = CN_HPC_SPARSE_HEADER_LEN + PROFILES * cn_hpc_sparse_profile_size,
    VALUES_LEN = CN_XML_CONTEXTS * SCOPES * cn_hpc_sparse_profile_value_size,
    BLOCK_LEN = VALUES_LEN + (CN_XML_CONTEXTS + 1) * cn_hpc_sparse_profile_index_size,
    BLOCKS_OFF = TUPLES_OFF + PROFILES * TUPLE_LEN,
    PROFILE_LEN = BLOCKS_OFF + PROFILES * BLOCK_LEN + CN_HPC_SPARSE_FOOTER_LEN,
};
_Static_assert(TUPLES_OFF % 8 == 0 && BLOCKS_OFF % 8 == 0, "aligned as in real files");

static void put_block(uint8_t *bytes)
{
    uint8_t *index = bytes + VALUES_LEN;

    for (uint32_t i = 0; i <= CN_XML_CONTEXTS; i++) {
        struct cn_hpc_sparse_profile_index entry = {
            i < CN_XML_CONTEXTS ? i + 1 : CN_HPC_SPARSE_PROFILE_END, SCOPES * i};

        cn_hpc_sparse_profile_index_encode(&entry, index);
        index += cn_hpc_sparse_profile_index_size;
        for (uint16_t s = 0; i < CN_XML_CONTEXTS && s < SCOPES; s++) {
            struct cn_hpc_sparse_profile_value value = {i + 1, (uint16_t)(s + 1)};

            cn_hpc_sparse_profile_value_encode(
                &value, bytes + (SCOPES * i + s) * cn_hpc_sparse_profile_value_size);
        }
    }
}

struct cn_bytes cn_xml_profile(void)
{
    static uint8_t bytes[PROFILE_LEN];
    struct cn_hpc_sparse_header head = {
        .major = CN_HPC_SPARSE_MAJOR,
        .count = PROFILES,
        .section_count = CN_HPC_SPARSE_PROFILE_SECTIONS,
        .infos_len = PROFILES * cn_hpc_sparse_profile_size,
        .infos_off = CN_HPC_SPARSE_HEADER_LEN,
    };

    cn_hpc_sparse_header_encode(&head, bytes);
    memcpy(bytes, CN_HPC_SPARSE_PROFILE_MAGIC, CN_HPC_SPARSE_MAGIC_LEN);
    cn_u64_be_put(bytes + 0x28, PROFILES * TUPLE_LEN);
    cn_u64_be_put(bytes + 0x30, TUPLES_OFF);
    for (uint16_t i = 0; i < PROFILES; i++) {
        struct cn_hpc_sparse_profile profile = {
            .tuple_off = TUPLES_OFF + (uint64_t)i * TUPLE_LEN,
            .value_count = CN_XML_CONTEXTS * SCOPES,
            .context_count = CN_XML_CONTEXTS,
            .block_off = BLOCKS_OFF + (uint64_t)i * BLOCK_LEN,
        };
        struct cn_hpc_sparse_tuple tuple = {1};
        struct cn_hpc_sparse_identity identity = {.kind = i};

        cn_hpc_sparse_profile_encode(&profile, bytes + CN_HPC_SPARSE_HEADER_LEN +
                                                   i * cn_hpc_sparse_profile_size);
        cn_hpc_sparse_tuple_encode(&tuple, bytes + profile.tuple_off);
        cn_hpc_sparse_identity_encode(&identity, bytes + profile.tuple_off +
                                                     cn_hpc_sparse_tuple_size);
        put_block(bytes + profile.block_off);
    }
    memcpy(bytes + PROFILE_LEN - CN_HPC_SPARSE_FOOTER_LEN, CN_HPC_SPARSE_PROFILE_FOOTER,
           CN_HPC_SPARSE_FOOTER_LEN);
    return (struct cn_bytes){bytes, sizeof(bytes)};
}
