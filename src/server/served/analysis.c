#include "server/served/analysis.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_defaults.h"
#include "analyze/cct/calls_to_database.h"
#include "base/alloc.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "formats/formats.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "server/served/call_locations.h"

static const char missing_name[] = "missing";

static bool write_missing(const char *folder, const struct cn_recording *rec,
                          const struct cn_calls_result *result, struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok;

    cn_text_printf(&text, "%" PRIu64 "\n", result->lost_count);
    for (size_t i = 0; i < result->damage_count; i++)
        cn_text_printf(&text, "task %u: %s; analysed up to there\n",
                       (unsigned)rec->tasks[result->damages[i].task].tid,
                       result->damages[i].err.text);
    ok = cn_out_replace(folder, missing_name, text.chars, text.len, err);
    cn_text_done(&text);
    return ok;
}

CN_PRINTF(2, 3)
static void add_damage(struct cn_database *db, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_warning_add(&db->warnings, &db->arena, true, fmt, args);
    va_end(args);
}

/* Read the text of write_missing(). A text that was changed since names less. */
static void read_missing(const char *folder, struct cn_database *db, uint64_t *lost)
{
    struct cn_file file = {0};
    struct cn_error none;
    struct cn_text text = {0};
    const char *at, *end;
    char *rest;

    *lost = 0;
    if (!cn_file_open_at(&file, folder, missing_name, &none))
        return;
    cn_text_add(&text, (const char *)file.bytes.ptr, file.bytes.len);
    cn_file_close(&file);
    *lost = strtoull(cn_text_str(&text), &rest, 10);
    at = rest + (*rest == '\n');
    for (; (end = strchr(at, '\n')); at = end + 1)
        add_damage(db, "%.*s", (int)(end - at), at);
    cn_text_done(&text);
}

bool cn_analysis_open(struct cn_database **out, const char *folder, uint64_t *lost,
                      struct cn_error *err)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/calls.db", folder);
    if (!cn_format_find("hpctoolkit-v4")->open_database(out, path, err))
        return false;
    read_missing(folder, *out, lost);
    return true;
}

/* Write the database of all calls to a folder and open it there. */
static bool make_database(struct cn_database **out, const struct cn_call_query *query,
                          const char *folder, uint64_t *lost,
                          const struct cn_progress *progress, struct cn_error *err)
{
    const struct cn_format *v4 = cn_format_find("hpctoolkit-v4");
    struct cn_calls_options options = {
        .workers = cn_pool_default_workers(),
        .folder = folder,
        .has_all_statistics = true,
        .progress = progress,
    };
    struct cn_write_options write = {.progress = progress};
    struct cn_call_locations locations;
    struct cn_calls_result result;
    struct cn_database *calls;
    char path[PATH_MAX];
    bool ok;

    (void)snprintf(path, sizeof(path), "%s/calls.db", folder);
    cn_call_locations_init(&locations, false);
    options.locations = &locations.locations;
    ok = cn_calls_to_database(&calls, query, 1, &options, &result, err);
    if (ok) {
        ok = v4->write_database(calls, path, &write, err) &&
             write_missing(folder, query->rec, &result, err);
        cn_calls_result_done(&result);
        cn_database_close(calls);
    }
    cn_call_locations_done(&locations);
    return ok && cn_analysis_open(out, folder, lost, err);
}

bool cn_analysis_of_calls(struct cn_database **out, const struct cn_recording *rec,
                          bool is_raw, const char *folder, uint64_t *lost,
                          const struct cn_progress *progress, struct cn_error *err)
{
    uint32_t *tasks = cn_alloc(rec->task_count, sizeof(*tasks));
    struct cn_call_filter filter;
    struct cn_call_query query = {
        .rec = rec,
        .filter = &filter,
        .range = cn_time_always,
        .tasks = tasks,
        .task_count = rec->task_count,
        .is_raw = is_raw,
    };
    bool ok;

    for (uint32_t i = 0; i < rec->task_count; i++)
        tasks[i] = i;
    cn_call_filter_init(&filter, rec);
    ok = cn_call_filter_add_defaults(&filter, err);
    cn_call_filter_ready(&filter);
    ok = ok && make_database(out, &query, folder, lost, progress, err);
    cn_call_filter_done(&filter);
    free(tasks);
    return ok;
}
