#include "formats/hpctoolkit/xml/verify/verify.h"

#include <stdlib.h>

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/sparse/open.h"
#include "formats/hpctoolkit/values/database.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/head_reader.h"
#include "formats/hpctoolkit/xml/read/open.h"

/* The reader stops at the first damage: compare values only where nothing was wrong. */
static bool compare_values(struct cn_hpc_check *c, const struct cn_hpc_xml_files *files,
                           struct cn_error *err)
{
    struct cn_hpc_xml_files as_written = *files;
    struct cn_error damage = {0};
    struct cn_database *db;

    as_written.keep_lines = true;
    if (!cn_hpc_xml_open_bytes(&db, &as_written, &damage)) {
        cn_findings_error(&c->f, "open", 0, "%s", damage.text);
        return true;
    }
    bool ok = cn_hpc_check_values(c, db, &((struct cn_hpc_database *)db)->values, err);
    cn_database_close(db);
    return ok;
}

bool cn_hpc_xml_verify_bytes(const struct cn_hpc_xml_files *files,
                             const struct cn_progress *progress, cn_finding_fn report,
                             void *arg, struct cn_error *err)
{
    struct cn_hpc_check c = {
        .f = cn_hpc_findings(report, arg), .progress = progress, .tree = CN_HPC_XML_FILE};
    struct cn_hpc_sparse_verify values = {.c = &c, .files = &files->values};
    struct cn_hpc_xml_document document = {0};
    unsigned major = CN_HPC_XML_MAJOR;

    if (cn_hpc_check_begin(&c, CN_HPC_XML_FILE, files->experiment.ptr)) {
        if (cn_hpc_xml_sniff(files->experiment, &major) && major != CN_HPC_XML_MAJOR)
            cn_findings_error(&c.f, "version", 0, "version %u, can verify %d", major,
                              CN_HPC_XML_MAJOR);
        else
            cn_hpc_xml_document_verify(&document, &c.f, files->experiment, major);
    }
    if (document.is_readable) {
        c.thread_ids = &document.thread_ids;
        c.summary_ids = &document.summary_ids;
        c.contexts = &document.contexts;
        c.context_last = document.context_last;
        c.kind_count = document.kind_count;
    }
    bool ok = cn_hpc_sparse_verify(&values, err) &&
              (c.f.error_count > 0 || compare_values(&c, files, err));
    cn_hpc_xml_document_done(&document);
    cn_hpc_check_done(&c);
    return ok;
}

bool cn_hpc_xml_verify(const char *path, const struct cn_progress *progress,
                       cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_hpc_maps maps = {0};
    char *dir = cn_hpc_directory(path);
    /* A file that is not there is for the rules to judge. */
    bool ok = cn_hpc_maps_open(&maps, dir, CN_HPC_XML_FILE, err);
    struct cn_hpc_xml_files files = {
        .experiment = maps.file[CN_HPC_TREE_FILE].bytes,
        .values = cn_hpc_sparse_mapped(&maps),
        .is_mapped = true,
    };

    ok = ok && cn_hpc_xml_verify_bytes(&files, progress, report, arg, err);
    cn_hpc_maps_close(&maps);
    free(dir);
    return ok;
}
