#include "store/store_format.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "store/care.h"
#include "store/config.h"
#include "store/java_import.h"
#include "store/log_format.h"
#include "store/segments.h"

static bool has_file(const char *dir, const char *name)
{
    struct cn_text path = {0};
    bool exists;

    cn_text_printf(&path, "%s/%s", dir, name);
    exists = access(cn_text_str(&path), F_OK) == 0;
    cn_text_done(&path);
    return exists;
}

static bool probe(const char *path)
{
    struct cn_store_config config;
    struct cn_error ignored;
    uint32_t *numbers = NULL, number;
    size_t count = 0;
    bool has_traces = false;

    if (cn_segments_parse(path, &number) && has_file(path, CN_TRACES_NAME))
        return true;
    if (cn_store_config_read(&config, path, &ignored))
        return true;
    if (!cn_segments_list(path, &numbers, &count, &ignored))
        return false;
    for (size_t i = 0; i < count && !has_traces; i++) {
        char *dir = cn_segment_dir(path, numbers[i]);

        has_traces = has_file(dir, CN_TRACES_NAME);
        free(dir);
    }
    free(numbers);
    return has_traces;
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

static bool verify(const char *path, const struct cn_progress *progress,
                   cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct forward forward = {report, arg};

    return cn_store_verify(path, progress, pass_on, &forward, err);
}

const struct cn_format cn_format_store = {
    .name = "store",
    .summary = "a trace store: request traces, kept and searched",
    .holds = "traces",
    .probe = probe,
    .verify = verify,
};
