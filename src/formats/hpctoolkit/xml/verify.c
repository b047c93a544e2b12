#include "formats/hpctoolkit/xml/verify.h"

#include <stdlib.h>

#include "base/file.h"
#include "formats/hpctoolkit/sparse/verify.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/head_reader.h"
#include "formats/hpctoolkit/xml/open.h"
#include "formats/hpctoolkit/xml/verify_document.h"

/* Values are compared through the reader, which stops at the first damage: only where nothing
 * was wrong so far. */
static bool compare_values(struct cn_hpc_findings *f,
                           const struct cn_hpc_xml_files *files,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_hpc_xml_files as_written = *files;
    struct cn_error damage = {0};
    struct cn_database *db;
    bool ok;

    as_written.keep_lines = true;
    if (!cn_hpc_xml_open_bytes(&db, &as_written, &damage)) {
        cn_hpc_findings_error(f, "open", 0, "%s", damage.text);
        return true;
    }
    ok = cn_hpc_sparse_verify_values(f, db, cn_hpc_xml_sparse(db), progress, err);
    cn_database_close(db);
    return ok;
}

static bool verify(struct cn_hpc_findings *f, const struct cn_hpc_xml_files *files,
                   const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_hpc_xml_document document = {0};
    struct cn_hpc_sparse_known known = {0};
    unsigned major = CN_HPC_XML_MAJOR;
    bool ok;

    cn_hpc_findings_begin(f, CN_HPC_XML_FILE);
    if (!files->experiment.ptr)
        cn_hpc_findings_error(f, "file-missing", 0, "not there: a database needs it");
    else if (cn_hpc_xml_sniff(files->experiment, &major) && major != CN_HPC_XML_MAJOR)
        cn_hpc_findings_error(f, "version", 0, "version %u, can verify %d", major,
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
    cn_hpc_findings_begin(f, NULL);
    return ok;
}

bool cn_hpc_xml_verify_bytes(const struct cn_hpc_xml_files *files,
                             const struct cn_progress *progress, cn_finding_fn report,
                             void *arg, struct cn_error *err)
{
    struct cn_hpc_findings f = {.report = report, .arg = arg};

    return verify(&f, files, progress, err);
}

/* A file that is not there is for the rules to judge; one that cannot be read is not. */
static bool map_file(struct cn_file *file, const char *dir, const char *name,
                     struct cn_bytes *out, struct cn_error *err)
{
    struct cn_error failure = {0};

    if (!cn_file_open_at(file, dir, name, &failure) && failure.kind != CN_ERR_NOT_FOUND) {
        *err = failure;
        return false;
    }
    *out = file->bytes;
    return true;
}

bool cn_hpc_xml_verify(const char *path, const struct cn_progress *progress,
                       cn_finding_fn report, void *arg, struct cn_error *err)
{
    enum { FILE_COUNT = 4 };
    struct cn_file maps[FILE_COUNT] = {0};
    struct cn_hpc_xml_files files = {.is_mapped = true};
    char *dir = cn_hpc_xml_directory(path);
    bool ok = map_file(&maps[0], dir, CN_HPC_XML_FILE, &files.experiment, err) &&
              map_file(&maps[1], dir, "profile.db", &files.values.profile, err) &&
              map_file(&maps[2], dir, "cct.db", &files.values.cct, err) &&
              map_file(&maps[3], dir, "trace.db", &files.values.trace, err);

    files.values.has_cct = files.values.cct.ptr != NULL;
    files.values.has_trace = files.values.trace.ptr != NULL;
    ok = ok && cn_hpc_xml_verify_bytes(&files, progress, report, arg, err);
    for (size_t i = 0; i < FILE_COUNT; i++)
        cn_file_close(&maps[i]);
    free(dir);
    return ok;
}
