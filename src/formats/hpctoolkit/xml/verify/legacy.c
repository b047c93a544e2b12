#include <inttypes.h>
#include <stdlib.h>

#include "base/files/file.h"
#include "formats/hpctoolkit/check.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/legacy/legacy.h"
#include "formats/hpctoolkit/xml/legacy/threads.h"
#include "formats/hpctoolkit/xml/legacy_format.h"
#include "formats/hpctoolkit/xml/read/open.h"
#include "formats/hpctoolkit/xml/verify/verify.h"

/* A row for every id, a column for every metric. */
static void check_matrix(struct cn_findings *f,
                         const struct cn_hpc_xml_document *document,
                         const struct cn_hpc_legacy_thread *thread)
{
    if (!document->is_readable)
        return;
    if (thread->row_count < document->context_last)
        cn_findings_error(f, "rows", 0x18,
                          "%" PRIu32 " rows, but contexts up to %" PRIu32,
                          thread->row_count, document->context_last);
    for (uint32_t i = 0; i < thread->column_count; i++)
        if (!cn_hpc_set_has(&document->thread_ids, i))
            cn_findings_warn(f, "columns", 0x1c, "column %" PRIu32 " is no <MetricDB>",
                             i);
}

static void check_values(struct cn_findings *f, const struct cn_hpc_legacy_files *files,
                         const struct cn_hpc_xml_document *document,
                         struct cn_hpc_legacy_threads *threads)
{
    struct cn_error damage;

    for (size_t i = 0; i < files->value_count; i++) {
        size_t before = threads->count;

        cn_findings_begin(f, files->values[i].name);
        if (!cn_hpc_legacy_add_file(threads, files->values[i].bytes,
                                    files->values[i].name, &damage))
            cn_findings_error(f, "values", 0, "%s", damage.text);
        if (threads->count > before)
            check_matrix(f, document, &threads->list[before]);
    }
    if (!files->packed.name)
        return;
    cn_findings_begin(f, files->packed.name);
    if (!cn_hpc_legacy_add_packed(threads, files->packed.bytes, &damage))
        cn_findings_error(f, "values", 0, "%s", damage.text);
    for (size_t i = 0; i < threads->count; i++)
        check_matrix(f, document, &threads->list[i]);
}

static void check_samples(struct cn_findings *f, struct cn_bytes file,
                          const struct cn_hpc_xml_document *document,
                          const struct cn_hpc_legacy_thread *thread)
{
    struct cn_hpc_legacy_sample sample = {0};
    struct cn_bytes samples;
    uint64_t last = 0;

    if (!cn_bytes_array(file, thread->samples_off, thread->sample_count,
                        cn_hpc_legacy_sample_size, &samples))
        return;
    for (uint64_t i = 0; i < thread->sample_count; i++) {
        uint64_t off = thread->samples_off + i * cn_hpc_legacy_sample_size;

        (void)cn_hpc_legacy_sample_decode(
            cn_bytes_element(samples, i, cn_hpc_legacy_sample_size), &sample);
        if (sample.time < last)
            cn_findings_error(f, "time-order", off, "time %" PRIu64 " after %" PRIu64,
                              sample.time, last);
        if (document->is_readable &&
            cn_map_find(&document->sample_ids, sample.sample_id, 0) == 0)
            cn_findings_warn(f, "sample-id", off,
                             "sample id %" PRIu32 " is of no context", sample.sample_id);
        last = sample.time;
    }
}

static void check_traces(struct cn_findings *f, const struct cn_hpc_legacy_files *files,
                         const struct cn_hpc_xml_document *document,
                         struct cn_hpc_legacy_threads *threads)
{
    struct cn_error damage;

    if (!files->traces.name)
        return;
    cn_findings_begin(f, files->traces.name);
    if (!cn_hpc_legacy_add_traces(threads, files->traces.bytes, &damage)) {
        cn_findings_error(f, "traces", 0, "%s", damage.text);
        return;
    }
    for (size_t i = 0; i < threads->count; i++)
        check_samples(f, files->traces.bytes, document, &threads->list[i]);
}

bool cn_hpc_legacy_verify_bytes(const struct cn_hpc_legacy_files *files,
                                cn_finding_fn report, void *arg)
{
    struct cn_findings f = cn_hpc_findings(report, arg);
    struct cn_hpc_xml_document document;
    struct cn_hpc_legacy_threads threads = {0};
    struct cn_error damage = {0};
    struct cn_database *db;

    cn_findings_begin(&f, CN_HPC_XML_FILE);
    cn_hpc_xml_document_verify(&document, &f, files->experiment, CN_HPC_XML_LEGACY_MAJOR);
    if (f.error_count == 0 && !cn_hpc_legacy_open_bytes(&db, files, &damage))
        cn_findings_error(&f, "open", 0, "%s", damage.text);
    else if (f.error_count == 0)
        cn_database_close(db);
    check_values(&f, files, &document, &threads);
    check_traces(&f, files, &document, &threads);
    cn_hpc_legacy_threads_done(&threads);
    cn_hpc_xml_document_done(&document);
    cn_findings_begin(&f, NULL);
    return true;
}

bool cn_hpc_legacy_verify(const char *path, const struct cn_progress *progress,
                          cn_finding_fn report, void *arg, struct cn_error *err)
{
    char *dir = cn_hpc_directory(path);
    struct cn_hpc_legacy_maps maps;
    bool ok = cn_hpc_legacy_map(&maps, dir, err);

    (void)progress;
    if (ok) {
        ok = cn_hpc_legacy_verify_bytes(&maps.files, report, arg);
        cn_hpc_legacy_unmap(&maps);
    }
    free(dir);
    return ok;
}
