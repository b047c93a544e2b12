#include "cli/database/open_database.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/run/ranks.h"
#include "base/text.h"
#include "cli/database/analyze.h"
#include "cli/database/cached_analysis.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "formats/formats.h"
#include "formats/hpctoolkit/meas/open.h"
#include "symbols/resolver.h"

enum {
    DAMAGE_SHOWN_MAX = 20, /* damaged profiles named; the rest is only counted */
    INLINED_MAX = 32,      /* functions inlined into each other */
};

struct cn_measured_source {
    struct cn_hpc_lines lines; /* debug information of the binaries on this machine */
    struct cn_measurements *measurements;
    struct cn_text damage; /* texts, each with its NUL */
    size_t damage_count;
};

static size_t find_instruction(void *resolver, const char *path, uint64_t address,
                               struct cn_hpc_line *out, size_t most)
{
    struct cn_source_location locations[INLINED_MAX];
    size_t count = cn_resolver_instruction(resolver, path, "", address, locations,
                                           most < INLINED_MAX ? most : INLINED_MAX);

    for (size_t i = 0; i < count; i++)
        out[i] = (struct cn_hpc_line){locations[i].function, locations[i].file,
                                      locations[i].line};
    return count;
}

static bool find_function(void *resolver, const char *path, uint64_t address,
                          struct cn_hpc_line *out)
{
    struct cn_source_location location;

    if (!cn_resolver_function(resolver, path, "", address, &location) || !location.file)
        return false;
    *out = (struct cn_hpc_line){NULL, location.file, location.line};
    return true;
}

static void on_damage(void *arg, const char *text)
{
    struct cn_measured_source *source = arg;

    if (source->damage_count++ < DAMAGE_SHOWN_MAX)
        cn_text_add(&source->damage, text, strlen(text) + 1);
}

/* Make warnings of the damage; those of a failed analysis (`db` is NULL) are printed. */
static void add_warnings(const struct cn_measured_source *source, struct cn_database *db,
                         const struct cn_sampled_totals *totals,
                         const struct cn_args *args)
{
    const struct cn_measurements *m = source->measurements;
    const char *text = source->damage.chars;

    for (const struct cn_warning *w = m->warnings; w && db; w = w->next)
        cn_database_warn(db, "%s", w->text);
    for (size_t i = 0; i < source->damage_count && i < DAMAGE_SHOWN_MAX; i++) {
        if (db)
            cn_database_warn(db, "%s", text);
        else
            cn_cli_warn(args, "%s", text);
        text += strlen(text) + 1;
    }
    if (db && source->damage_count > DAMAGE_SHOWN_MAX)
        cn_database_warn(db, "%zu more profiles are damaged",
                         source->damage_count - DAMAGE_SHOWN_MAX);
    if (db && totals->unreadable_count > 0)
        cn_database_warn(db, "%zu of %zu profiles cannot be read and are left out",
                         totals->unreadable_count, m->profile_count);
}

bool cn_opened_database_analyse(struct cn_opened_database *opened,
                                const struct cn_args *args, struct cn_values paths,
                                struct cn_hpc_meas_options *reading,
                                struct cn_sampled_options *building, struct cn_error *err)
{
    struct cn_measured_source *source = cn_alloc(1, sizeof(*source));
    struct cn_bar bar = {0};
    bool ok;

    *opened = (struct cn_opened_database){.source = source, .shown_path = paths.list[0]};
    source->lines =
        (struct cn_hpc_lines){cn_resolver_new(), find_instruction, find_function};
    reading->lines = &source->lines;
    building->progress = &bar.progress;
    building->on_damage = on_damage;
    building->on_damage_arg = source;
    ok = cn_hpc_meas_open(&source->measurements, paths.list, paths.count, reading, err);
    ok = cn_ranks_agree(building->ranks, ok, err);
    cn_bar_begin(&bar, args);
    ok = ok && cn_sampled_database_build(&opened->db, source->measurements, building,
                                         &opened->totals, err);
    cn_bar_end(&bar);
    /* With --strict, a structure file that cannot be read is damage as well. */
    if (ok && building->is_strict && source->measurements->warnings)
        ok = cn_fail(err, CN_ERR_FORMAT, "%s", source->measurements->warnings->text);
    if (source->measurements) {
        opened->profile_count = source->measurements->profile_count;
        add_warnings(source, ok ? opened->db : NULL, &opened->totals, args);
    }
    return cn_ranks_agree(building->ranks, ok, err);
}

/* Whether a command that may have an option --raw was given it. */
static bool has_raw(const struct cn_args *args)
{
    for (size_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i]->name, "raw") == 0)
            return true;
    return false;
}

bool cn_opened_database_open(struct cn_opened_database *opened,
                             const struct cn_args *args, const char *path, bool warns,
                             struct cn_error *err)
{
    return cn_opened_database_open_query(opened, args, path, NULL, warns, err);
}

bool cn_opened_database_open_query(struct cn_opened_database *opened,
                                   const struct cn_args *args, const char *path,
                                   const char *query, bool warns, struct cn_error *err)
{
    struct cn_view_analysis how = {.is_raw = has_raw(args), .query = query};
    struct cn_hpc_meas_options reading = {0};
    struct cn_sampled_options building = {
        .ranks = &cn_ranks_alone,
        .spool_folder = cn_temporary_folder(),
    };
    const struct cn_format *format;
    bool is_recording;

    *opened = (struct cn_opened_database){.shown_path = path};
    if (!cn_format_probe(path, &format, err))
        return false;
    is_recording =
        !format->open_database && (format->open_recording || format->open_traces);
    if (query && !format->open_traces)
        return cn_fail(err, CN_ERR_USAGE, "%s is not a store; a query is for stores",
                       path);
    if (how.is_raw && !is_recording)
        return cn_fail(
            err, CN_ERR_USAGE,
            "--raw is for recordings, and %s is not one; analyze --raw writes a "
            "database of recorded times",
            path);
    if (!(is_recording ? cn_cached_analysis_open(&opened->db, &opened->folder, args, path,
                                                 &how, err)
          : format->open_measurements
              ? cn_opened_database_analyse(opened, args, (struct cn_values){&path, 1},
                                           &reading, &building, err)
              : cn_format_open_database(path, &opened->db, err)))
        return false;
    if (opened->source)
        opened->db->path = cn_arena_strdup(&opened->db->arena, path);
    opened->is_of_traces = is_recording && format->open_traces;
    opened->is_damaged = how.is_damaged || opened->totals.unreadable_count > 0;
    for (const struct cn_warning *w = opened->db->warnings; w; w = w->next) {
        opened->is_damaged |= w->is_damage;
        if (warns)
            cn_cli_warn(args, "%s: %s", opened->db->path, w->text);
    }
    return true;
}

bool cn_opened_database_check(const struct cn_opened_database *opened,
                              struct cn_error *err)
{
    return !opened->is_damaged ||
           cn_fail(err, CN_ERR_FORMAT, "%s is damaged: what is shown is incomplete",
                   opened->shown_path);
}

void cn_opened_database_close(struct cn_opened_database *opened)
{
    struct cn_measured_source *source = opened->source;

    cn_database_close(opened->db);
    if (opened->folder)
        cn_outdir_remove(opened->folder);
    free(opened->folder);
    if (source) {
        cn_measurements_close(source->measurements);
        cn_resolver_free(source->lines.arg);
        cn_text_done(&source->damage);
        free(source);
    }
    *opened = (struct cn_opened_database){0};
}
