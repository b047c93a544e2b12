#include "store/store_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/run/progress.h"
#include "base/text.h"
#include "store/care/care.h"
#include "store/segment/config.h"
#include "store/segment/log_format.h"
#include "store/segment/segments.h"
#include "store/store_recording.h"
#include "store/write/java_import.h"

static bool has_file(const char *dir, const char *name)
{
    struct cn_text path = {0};
    bool exists;

    cn_text_printf(&path, "%s/%s", dir, name);
    exists = access(cn_text_str(&path), F_OK) == 0;
    cn_text_done(&path);
    return exists;
}

bool cn_store_probe(const char *path)
{
    struct cn_store_config config;
    struct cn_error ignored;
    uint32_t *numbers = NULL, number;
    size_t count = 0;
    bool is_store =
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

struct forward {
    cn_finding_fn report;
    void *arg;
};

static void pass_on(void *arg, const struct cn_store_finding *finding)
{
    const struct forward *forward = arg;

    forward->report(forward->arg, &(struct cn_finding){
                                      .is_error = finding->is_error,
                                      .file = finding->file,
                                      .off = finding->off,
                                      .rule = finding->rule,
                                      .text = finding->text,
                                  });
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
    struct cn_java_import_counts counts;
    char text[80];

    if (!cn_java_store_walk(path, look, (void *)(uintptr_t)progress, &counts, err))
        return false;
    (void)snprintf(text, sizeof(text), "%llu chunks cannot be read",
                   (unsigned long long)counts.bad_chunks);
    if (counts.bad_chunks > 0)
        report(arg, &(struct cn_finding){.is_error = true,
                                         .file = CN_TRACES_NAME,
                                         .rule = "chunk",
                                         .text = text});
    (void)snprintf(text, sizeof(text), "%llu files are damaged",
                   (unsigned long long)counts.bad_files);
    if (counts.bad_files > 0)
        report(arg, &(struct cn_finding){.is_error = true,
                                         .file = "text-*",
                                         .rule = "java-index",
                                         .text = text});
    return true;
}

static bool verify(const char *path, const struct cn_progress *progress,
                   cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct forward forward = {report, arg};

    if (cn_java_store_probe(path))
        return verify_java(path, progress, report, arg, err);
    return cn_store_verify(path, progress, pass_on, &forward, err);
}

const struct cn_format cn_format_store = {
    .name = "store",
    .summary = "a trace store: stored and searchable request traces",
    .holds = "traces",
    .probe = cn_store_probe,
    .open_traces = cn_store_recording_open,
    .verify = verify,
};
