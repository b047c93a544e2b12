#include "open/folder.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/calls/defaults.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "open/about.h"

/* The target of an analysis; `path` is memory for its path. */
static struct cn_analysis_target target_in(const char *folder, char path[static PATH_MAX],
                                           const struct cn_progress *progress)
{
    (void)snprintf(path, PATH_MAX, "%s/" CN_ABOUT_DATABASE, folder);
    return (struct cn_analysis_target){
        .path = path, .folder = folder, .write = {.progress = progress}};
}

static bool analyse(const char *folder, const struct cn_call_query *queries, size_t count,
                    const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_call_sources from = {
        .queries = queries,
        .count = count,
        .options = {.workers = cn_pool_default_workers(),
                    .folder = folder,
                    .has_all_statistics = true},
    };
    char path[PATH_MAX];
    struct cn_analysis_target to = target_in(folder, path, progress);
    struct cn_analysis analysis;
    bool ok = cn_analyze_calls(&analysis, &from, &to, err);

    cn_analysis_done(&analysis);
    return ok;
}

bool cn_folder_of_calls(const char *folder, struct cn_recording *const *recs,
                        size_t count, bool is_raw, struct cn_time_range range,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_all_calls *all = cn_alloc(count, sizeof(*all));
    struct cn_call_query *queries = cn_alloc(count, sizeof(*queries));
    size_t begun = 0;
    bool ok = true;

    for (; begun < count && ok; begun++) {
        ok = cn_all_calls_init(&all[begun], recs[begun], err);
        queries[begun] = all[begun].query;
        queries[begun].is_raw = is_raw;
        queries[begun].range = range;
    }
    ok = ok && analyse(folder, queries, count, progress, err);
    while (begun > 0)
        cn_all_calls_done(&all[--begun]);
    free(queries);
    free(all);
    return ok;
}

bool cn_folder_of_samples(const char *folder, struct cn_database *samples,
                          const struct cn_progress *progress, struct cn_error *err)
{
    char path[PATH_MAX];
    struct cn_analysis_target to = target_in(folder, path, progress);
    struct cn_analysis analysis;
    bool ok = cn_analyze_samples(&analysis, samples, &to, err);

    cn_analysis_done(&analysis);
    return ok;
}

bool cn_folder_of_measurements(const char *folder, const char *directory,
                               const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_measured_sources from = {
        .paths = &directory,
        .count = 1,
        .building = {.spool_folder = folder},
    };
    char path[PATH_MAX];
    struct cn_analysis_target to = target_in(folder, path, progress);
    struct cn_analysis analysis;
    bool ok = cn_analyze_measurements(&analysis, &from, &to, err);
    const struct cn_warning *why = ok ? NULL : cn_warning_damage(analysis.warnings);

    if (why) {
        struct cn_error all = *err;

        (void)cn_fail(err, all.kind, "%s: %s", all.text, why->text);
    }
    cn_analysis_done(&analysis);
    return ok;
}
