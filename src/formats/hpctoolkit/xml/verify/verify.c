#include "formats/hpctoolkit/xml/verify/verify.h"

#include <stdlib.h>

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/sparse/verify.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/head_reader.h"
#include "formats/hpctoolkit/xml/read/open.h"
#include "formats/hpctoolkit/xml/verify/verify_document.h"

/* Values are compared through the reader, which stops at the first damage: only where nothing
 * was wrong so far. */
static bool compare_values(struct cn_findings *f, const struct cn_hpc_xml_files *files,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_hpc_xml_files as_written = *files;
    struct cn_error damage = {0};
    struct cn_database *db;
    bool ok;

    as_written.keep_lines = true;
    if (!cn_hpc_xml_open_bytes(&db, &as_written, &damage)) {
        cn_findings_error(f, "open", 0, "%s", damage.text);
        return true;
    }
    ok = cn_hpc_sparse_verify_values(f, db, cn_hpc_xml_sparse(db), progress, err);
    cn_database_close(db);
    return ok;
}

static bool verify(struct cn_findings *f, const struct cn_hpc_xml_files *files,
                   const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_hpc_xml_document document = {0};
    struct cn_hpc_sparse_known known = {0};
    unsigned major = CN_HPC_XML_MAJOR;
    bool ok;

    cn_findings_begin(f, CN_HPC_XML_FILE);
    if (!files->experiment.ptr)
        cn_findings_error(f, "file-missing", 0, "not there: a database needs it");
    else if (cn_hpc_xml_sniff(files->experiment, &major) && major != CN_HPC_XML_MAJOR)
        cn_findings_error(f, "version", 0, "version %u, can verify %d", major,
                          CN_HPC_XML_MAJOR);
    else
        cn_hpc_xml_document_verify(&document, f, files->experiment, major);
    if (document.is_readable) {
        known.thread_ids = &document.thread_ids;
        known.summary_ids = &document.summary_ids;
        known.contexts = &document.contexts;
        known.context_last = document.context_last;
        known.kind_count = document.kind_count;
    }
    ok = cn_hpc_sparse_verify(f, &files->values, &known, progress, err) &&
         (f->error_count > 0 || compare_values(f, files, progress, err));
    cn_hpc_xml_document_done(&document);
    cn_findings_begin(f, NULL);
    return ok;
}

bool cn_hpc_xml_verify_bytes(const struct cn_hpc_xml_files *files,
                             const struct cn_progress *progress, cn_finding_fn report,
                             void *arg, struct cn_error *err)
{
    struct cn_findings f = cn_hpc_findings(report, arg);

    return verify(&f, files, progress, err);
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
