#include "support/fuzz_xml_legacy.h"

#include <assert.h>
#include <string.h>

#include "formats/hpctoolkit/xml/verify/verify.h"
#include "model/contexts/database.h"
#include "support/read_everything.h"
#include "support/xml_legacy.h"

enum { READ_MAX = 100000 };

static void ignore_finding(void *arg, const struct cn_finding *finding)
{
    (void)arg;
    assert(finding->text[0] != '\0' && !strchr(finding->text, '\n'));
}

static void read_all(const struct cn_hpc_legacy_files *files)
{
    struct cn_read_totals totals;
    struct cn_error err = {0};
    struct cn_database *db;

    if (cn_hpc_legacy_open_bytes(&db, files, &err)) {
        cn_read_everything(db, READ_MAX, &totals, &err);
        cn_database_close(db);
    } else {
        assert(err.kind != CN_ERR_NONE && err.text[0] != '\0');
    }
    assert(cn_hpc_legacy_verify_bytes(files, ignore_finding, NULL));
}

int cn_fuzz_xml_legacy_run(enum cn_fuzz_xml_legacy_file file, const uint8_t *data,
                           size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_hpc_legacy_file values = {"a-000000-000-7f0101-1-0.metric-db", bytes};
    struct cn_xml_legacy legacy;

    cn_xml_legacy_init(&legacy);
    switch (file) {
    case CN_FUZZ_XML_LEGACY_EXPERIMENT:
        legacy.files.experiment = bytes;
        break;
    case CN_FUZZ_XML_LEGACY_VALUES:
        legacy.files.values = &values;
        legacy.files.value_count = 1;
        legacy.files.packed.name = NULL;
        break;
    case CN_FUZZ_XML_LEGACY_PACKED:
        legacy.files.packed.bytes = bytes;
        break;
    case CN_FUZZ_XML_LEGACY_TRACES:
        legacy.files.traces.bytes = bytes;
        break;
    }
    read_all(&legacy.files);
    cn_xml_legacy_done(&legacy);
    return 0;
}

void cn_fuzz_xml_legacy_seeds(enum cn_fuzz_xml_legacy_file file,
                              void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_xml_legacy legacy;
    struct cn_bytes bytes[4];

    cn_xml_legacy_init(&legacy);
    bytes[CN_FUZZ_XML_LEGACY_EXPERIMENT] = legacy.files.experiment;
    bytes[CN_FUZZ_XML_LEGACY_VALUES] = cn_xml_legacy_values(&legacy, 1);
    bytes[CN_FUZZ_XML_LEGACY_PACKED] = legacy.files.packed.bytes;
    bytes[CN_FUZZ_XML_LEGACY_TRACES] = legacy.files.traces.bytes;
    emit(bytes[file].ptr, bytes[file].len);
    cn_xml_legacy_done(&legacy);
}
