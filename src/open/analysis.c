#include "open/analysis.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/defaults.h"
#include "analyze/cct/calls_to_database.h"
#include "base/alloc.h"
#include "base/files/file.h"
#include "base/files/out.h"
#include "base/run/pool.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/call_locations.h"
#include "open/formats.h"

static const char missing_name[] = "missing", names_name[] = "names";

static void add_line(struct cn_text *text, bool is_damage, const char *line)
{
    cn_text_printf(text, "%s %s\n", is_damage ? "damage" : "note", line);
}

static bool write_missing(const char *folder, const struct cn_recording *rec,
                          const struct cn_calls_result *result, struct cn_error *err)
{
    struct cn_text text = {0}, line = {0};
    bool ok;

    cn_text_printf(&text, "%" PRIu64 "\n", result->lost_count);
    for (size_t i = 0; i < result->damage_count; i++) {
        cn_text_clear(&line);
        cn_text_printf(&line, "task %u: %s; analysed up to there",
                       (unsigned)rec->tasks[result->damages[i].task].tid,
                       result->damages[i].err.text);
        add_line(&text, true, cn_text_str(&line));
    }
    ok = cn_out_replace(folder, missing_name, text.chars, text.len, err);
    cn_text_done(&line);
    cn_text_done(&text);
    return ok;
}

/* The text of a file of the folder; "" if there is none. */
static void read_text(const char *folder, const char *name, struct cn_text *out)
{
    struct cn_file file = {0};
    struct cn_error none;

    if (!cn_file_open_at(&file, folder, name, &none))
        return;
    cn_text_add(out, (const char *)file.bytes.ptr, file.bytes.len);
    cn_file_close(&file);
}

CN_PRINTF(3, 4)
static void add_warning(struct cn_database *db, bool is_damage, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_warning_add(&db->warnings, &db->arena, is_damage, fmt, args);
    va_end(args);
}

/* Read the text of write_missing(). A text that was changed since names less. */
static void read_missing(const char *folder, struct cn_database *db, uint64_t *lost)
{
    struct cn_text text = {0};
    const char *at, *end, *blank;
    char *rest;

    read_text(folder, missing_name, &text);
    *lost = strtoull(cn_text_str(&text), &rest, 10);
    at = rest + (*rest == '\n');
    for (; (end = strchr(at, '\n')); at = end + 1)
        if ((blank = memchr(at, ' ', (size_t)(end - at))))
            add_warning(db, *at == 'd', "%.*s", (int)(end - blank - 1), blank + 1);
    cn_text_done(&text);
}

/* Lines become strings; those after the last profile do not matter. */
static void read_names(const char *folder, const struct cn_database *db,
                       struct cn_analysis_extras *out)
{
    char *at, *end;

    read_text(folder, names_name, &out->names);
    out->thread_names = cn_alloc(db->profile_count, sizeof(*out->thread_names));
    for (at = out->names.chars;
         at && out->thread_name_count < db->profile_count && (end = strchr(at, '\n'));
         at = end + 1) {
        *end = '\0';
        out->thread_names[out->thread_name_count++] = at;
    }
}

void cn_analysis_extras_done(struct cn_analysis_extras *extras)
{
    cn_text_done(&extras->names);
    free(extras->thread_names);
    *extras = (struct cn_analysis_extras){0};
}

bool cn_analysis_open(struct cn_database **out, const char *folder,
                      struct cn_analysis_extras *extras, struct cn_error *err)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/calls.db", folder);
    if (!cn_format_find("hpctoolkit-v4")->open_database(out, path, err))
        return false;
    *extras = (struct cn_analysis_extras){0};
    read_missing(folder, *out, &extras->lost_count);
    read_names(folder, *out, extras);
    return true;
}

static bool write_names(struct cn_database *db, const char *folder, struct cn_error *err)
{
    struct cn_text text = {0};
    struct cn_profile profile;
    bool ok = true;

    for (uint32_t i = 0; ok && i < db->profile_count; i++) {
        ok = cn_database_profile(db, i, &profile, err);
        for (const char *at = ok && profile.name ? profile.name : ""; *at; at++)
            cn_text_char(&text, *at == '\n' ? ' ' : *at);
        cn_text_char(&text, '\n');
    }
    ok = ok && cn_out_replace(folder, names_name, text.chars, text.len, err);
    cn_text_done(&text);
    return ok;
}

bool cn_analysis_of_samples(struct cn_database *samples, const char *folder,
                            struct cn_error *err)
{
    struct cn_write_options write = {0};
    struct cn_text missing = {0};
    char path[PATH_MAX];
    bool ok;

    (void)snprintf(path, sizeof(path), "%s/calls.db", folder);
    cn_text_str_add(&missing, "0\n");
    for (const struct cn_warning *w = samples->warnings; w; w = w->next)
        add_line(&missing, w->is_damage, w->text);
    ok = cn_format_find("hpctoolkit-v4")->write_database(samples, path, &write, err) &&
         write_names(samples, folder, err) &&
         cn_out_replace(folder, missing_name, missing.chars, missing.len, err);
    cn_text_done(&missing);
    return ok;
}

/* Write the database of all calls to a folder and open it there. */
static bool make_database(struct cn_database **out, const struct cn_call_query *query,
                          const char *folder, struct cn_analysis_extras *extras,
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
    return ok && cn_analysis_open(out, folder, extras, err);
}

bool cn_analysis_of_calls(struct cn_database **out, const struct cn_recording *rec,
                          bool is_raw, struct cn_time_range range, const char *folder,
                          struct cn_analysis_extras *extras,
                          const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_all_calls all;
    bool ok = cn_all_calls_init(&all, rec, err);

    all.query.is_raw = is_raw;
    all.query.range = range;
    ok = ok && make_database(out, &all.query, folder, extras, progress, err);
    cn_all_calls_done(&all);
    return ok;
}
