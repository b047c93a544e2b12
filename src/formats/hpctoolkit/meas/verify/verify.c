#include "formats/hpctoolkit/meas/verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/file.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/code/structure.h"
#include "formats/hpctoolkit/meas/profile/directory.h"
#include "model/contexts/context.h"

/* hpcrun writes samples nearly in order; readers sort them. */
static void check_samples(struct cn_hpc_verify *v, struct cn_bytes records)
{
    uint64_t last_ns = 0;

    for (uint64_t i = 0; i < records.len / cn_hpc_trace_record_size; i++) {
        struct cn_bytes bytes = cn_bytes_element(records, i, cn_hpc_trace_record_size);
        struct cn_hpc_trace_record record = {0};

        (void)cn_hpc_trace_record_decode(bytes, &record);
        if (record.time_ns < last_ns)
            cn_hpc_verify_report(v, false, bytes, "trace-order",
                                 "time runs backwards: %" PRIu64 " after %" PRIu64,
                                 record.time_ns, last_ns);
        if (cn_hpc_node_ids_find(&v->ids, record.node) == CN_NONE)
            cn_hpc_verify_report(v, true, bytes, "trace-node",
                                 "sample of node %" PRIu32 ", which does not exist",
                                 record.node);
        last_ns = record.time_ns;
    }
}

static void check_trace(struct cn_hpc_verify *v, const char *name, struct cn_bytes trace,
                        bool has_nodes)
{
    struct cn_error err = {0};
    struct cn_bytes records;
    size_t stray_len;
    uint64_t flags;

    cn_findings_begin(&v->f, name);
    v->bytes = trace;
    if (!cn_hpc_trace_file_open(trace, &flags, &records, &stray_len, &err)) {
        cn_hpc_verify_report(v, true, trace, "trace", "%s", err.text);
        return;
    }
    if (flags & CN_HPC_TRACE_DATA_CENTRIC) {
        cn_hpc_verify_report(v, false, trace, "trace-kind",
                             "data-centric records are not supported");
        return;
    }
    if (stray_len > 0)
        cn_hpc_verify_report(v, true, trace, "trace-end",
                             "%zu bytes after the last whole record", stray_len);
    if (has_nodes)
        check_samples(v, records);
}

void cn_hpc_meas_verify_bytes(const char *run_name, struct cn_bytes run,
                              const char *trace_name, struct cn_bytes trace,
                              cn_finding_fn report, void *arg)
{
    struct cn_hpc_verify v = {.f = {.report = report, .arg = arg, .file = run_name},
                              .bytes = run};
    struct cn_error err = {0};
    struct cn_hpc_run opened;
    bool ok = cn_hpc_run_open(run, &opened, &err);

    if (ok)
        cn_hpc_verify_run(&v, &opened);
    else
        cn_hpc_verify_report(&v, true, run, "profile", "%s", err.text);
    if (trace.len > 0)
        check_trace(&v, trace_name, trace, ok);
    cn_hpc_node_ids_done(&v.ids);
}

static void verify_profile(const char *dir, const char *name, struct cn_hpc_load *run,
                           struct cn_hpc_load *trace, cn_finding_fn report, void *arg)
{
    struct cn_hpc_verify v = {.f = {.report = report, .arg = arg, .file = name}};
    struct cn_text path = {0}, trace_name = {0};
    struct cn_error err = {0}, trace_err = {0};
    const char *dot = strrchr(name, '.');

    cn_text_add(&trace_name, name, dot ? (size_t)(dot - name) : strlen(name));
    cn_text_str_add(&trace_name, ".hpctrace");
    cn_text_printf(&path, "%s/%s", dir, cn_text_str(&trace_name));
    if (!cn_hpc_load(trace, cn_text_str(&path), &trace_err) &&
        trace_err.kind != CN_ERR_NOT_FOUND)
        cn_hpc_verify_report(&v, true, v.bytes, "trace", "%s", trace_err.text);
    cn_text_clear(&path);
    cn_text_printf(&path, "%s/%s", dir, name);
    if (cn_hpc_load(run, cn_text_str(&path), &err))
        cn_hpc_meas_verify_bytes(name, run->bytes, cn_text_str(&trace_name), trace->bytes,
                                 report, arg);
    else
        cn_hpc_verify_report(&v, true, v.bytes, "profile", "%s", err.text);
    cn_text_done(&path);
    cn_text_done(&trace_name);
}

static void verify_structures(const char *dir, cn_finding_fn report, void *arg)
{
    size_t count;
    char *folder = cn_strprintf("%s/structs", dir);
    char **names = cn_hpc_list_names(folder, ".hpcstruct", &count);

    for (size_t i = 0; i < count; i++) {
        struct cn_hpc_verify v = {.f = {.report = report, .arg = arg, .file = names[i]}};
        struct cn_hpc_structures structures = {0};
        struct cn_hpc_tables tables = {0};
        struct cn_file file = {0};
        struct cn_error err = {0};

        if (!cn_file_open_at(&file, folder, names[i], &err) ||
            !cn_hpc_structures_read(&structures, file.bytes, &tables, &err))
            cn_hpc_verify_report(&v, true, v.bytes, "structure", "%s", err.text);
        cn_file_close(&file);
        cn_hpc_structures_done(&structures);
        cn_hpc_tables_done(&tables);
        free(names[i]);
    }
    free(names);
    free(folder);
}

bool cn_hpc_meas_verify(const char *path, const struct cn_progress *progress,
                        cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_hpc_directories directories = {0};
    struct cn_hpc_load run = {0}, trace = {0};
    bool ok = cn_hpc_directories_add(&directories, path, NULL, err);

    for (size_t i = 0; ok && i < directories.profile_count; i++) {
        verify_profile(directories.list[0].path, cn_hpc_directories_name(&directories, i),
                       &run, &trace, report, arg);
        ok = cn_progress_report(progress, "verifying profiles", i + 1,
                                directories.profile_count, "profiles", err);
    }
    if (ok && !directories.list[0].is_one_file)
        verify_structures(directories.list[0].path, report, arg);
    cn_hpc_load_done(&run);
    cn_hpc_load_done(&trace);
    cn_hpc_directories_done(&directories);
    return ok;
}
