/* Any bytes as experiment.xml 4.0, beside a profile.db. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hpctoolkit/xml/verify/verify.h"
#include "formats/hpctoolkit/xml/xml.h"
#include "model/contexts/database.h"
#include "support/fuzz.h"
#include "support/read_everything.h"
#include "support/xml_files.h"

enum { READ_MAX = 100000 };

static bool ignore_item(void *arg, const struct cn_dump_item *item)
{
    (void)arg;
    assert(item->bytes.len >= item->layout->size);
    return true;
}

static void ignore_finding(void *arg, const struct cn_finding *finding)
{
    (void)arg;
    assert(finding->text[0] != '\0' && !strchr(finding->text, '\n'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_hpc_xml_files files = {.experiment = {data, len}};
    struct cn_read_totals totals;
    struct cn_error err = {0};
    struct cn_database *db;

    files.values.profile = cn_xml_profile();
    if (cn_hpc_xml_open_bytes(&db, &files, &err)) {
        cn_read_everything(db, READ_MAX, &totals, &err);
        cn_database_close(db);
    } else {
        assert(err.kind != CN_ERR_NONE && err.text[0] != '\0');
    }
    assert(cn_hpc_dump_bytes("experiment.xml", cn_hpc_xml_dump_document, files.experiment,
                             ignore_item, NULL, &err) ||
           err.text[0] != '\0');
    assert(cn_hpc_xml_verify_bytes(&files, NULL, ignore_finding, NULL, &err));
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const trees[] = {
        "",
        "<PF i='1' n='1'><C i='-1'><PF i='2' n='3' v='0x10' f='0' l='5' lm='2'>"
        "<S i='3' it='3' f='0' l='6' v='0'/><C i='4' f='0' l='6' v='0x14'>"
        "<PF i='5' n='4' f='1' l='1'/></C><L i='6' f='0' l='9' v='0x30'>"
        "<C i='-8' it='8' f='1' l='3'><PF i='8' n='4'/></C></L></PF></C></PF>"
        "<PF i='9' n='2'><S i='-9' it='9'/></PF>",
    };

    for (size_t i = 0; i < sizeof(trees) / sizeof(*trees); i++) {
        char *document = cn_xml_document(trees[i]);

        emit((const uint8_t *)document, strlen(document));
        free(document);
    }
}
