#include "store/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/files/file.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "store/maintenance/maintenance.h"
#include "store/recording.h"
#include "store/segment/config.h"
#include "store/segment/log_format.h"
#include "store/segment/segments.h"
#include "store/write/java_import.h"

static bool has_file(const char *dir, const char *name)
{
    char *path = cn_strprintf("%s/%s", dir, name);
    bool exists = access(path, F_OK) == 0;

    free(path);
    return exists;
}

bool cn_store_probe(const char *path)
{
    struct cn_store_config config;
    struct cn_error ignored;
    uint32_t *numbers = NULL, number;
    size_t count = 0;
    bool is_store =
        cn_path_is_address(path) ||
        (cn_segments_parse(path, &number) && has_file(path, CN_TRACES_NAME)) ||
        cn_store_config_read(&config, path, &ignored) || cn_java_store_probe(path);

    if (is_store || !cn_segments_list(path, &numbers, &count, &ignored))
        return is_store;
    for (size_t i = 0; i < count && !is_store; i++) {
        char *dir = cn_segment_dir(path, numbers[i]);

        is_store = has_file(dir, CN_TRACES_NAME);
        free(dir);
    }
    free(numbers);
    return is_store;
}

static bool look(void *arg, const struct cn_trace *trace, uint64_t data_off,
                 struct cn_error *err)
{
    const struct cn_progress *progress = arg;

    (void)trace;
    return cn_progress_report(progress, "verifying traces", data_off, 0, "bytes", err);
}

/* A store of the original implementation: what cannot be read is counted. */
static bool verify_java(const char *path, const struct cn_progress *progress,
                        cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_findings findings = {.report = report, .arg = arg};
    struct cn_java_import_counts counts;

    if (!cn_java_store_walk(path, look, (void *)(uintptr_t)progress, &counts, err))
        return false;
    cn_findings_begin(&findings, CN_TRACES_NAME);
    if (counts.bad_chunks > 0)
        cn_findings_error(&findings, "chunk", 0,
                          "%" PRIu64 " chunk%s cannot be read; the first is %s",
                          counts.bad_chunks, cn_plural(counts.bad_chunks, "", "s"),
                          counts.first_chunk.text);
    cn_findings_begin(&findings, "text-*");
    if (counts.bad_files > 0)
        cn_findings_error(&findings, "java-index", 0,
                          "%" PRIu64 " %s damaged; the first is %s", counts.bad_files,
                          cn_plural(counts.bad_files, "file is", "files are"),
                          counts.first_file.text);
    return true;
}

static bool verify(const char *path, const struct cn_progress *progress,
                   cn_finding_fn report, void *arg, struct cn_error *err)
{
    if (cn_java_store_probe(path))
        return verify_java(path, progress, report, arg, err);
    return cn_store_verify(path, progress, report, arg, err);
}

const struct cn_format cn_format_store = {
    .name = "store",
    .summary = "a trace store: stored and searchable request traces",
    .holds = "traces",
    .is_store = true,
    .probe = cn_store_probe,
    .open_traces = cn_store_recording_open,
    .walk_traces = cn_store_traces_walk,
    .verify = verify,
};
