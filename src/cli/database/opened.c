#include "cli/database/opened.h"

#include <stdlib.h>

#include "base/files/outdir.h"
#include "cli/database/analyze.h"
#include "cli/database/cached_analysis.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"
#include "cli/shell/progress.h"
#include "formats/hpctoolkit/meas/open.h"
#include "open/formats.h"

bool cn_opened_database_analyse(struct cn_opened_database *opened,
                                const struct cn_args *args, struct cn_values paths,
                                struct cn_hpc_meas_options *reading,
                                struct cn_sampled_options *building, struct cn_error *err)
{
    struct cn_bar bar = {0};
    const char *damage = NULL;
    bool ok;

    *opened = (struct cn_opened_database){.shown_path = paths.list[0]};
    building->progress = &bar.progress;
    cn_bar_begin(&bar, args);
    ok = cn_measured_open(&opened->measured, paths.list, paths.count, reading, building,
                          &opened->db, err);
    cn_bar_end(&bar);
    while (!ok && (damage = cn_measured_damage(&opened->measured, damage)))
        cn_cli_warn(args, "%s", damage);
    return ok;
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
    struct cn_view_analysis how = {.is_raw = cn_args_has(args, "raw"), .query = query};
    struct cn_hpc_meas_options reading = {0};
    struct cn_sampled_options building = {.spool_folder = cn_temporary_folder()};
    const struct cn_format *format;
    bool is_recording;

    *opened = (struct cn_opened_database){.shown_path = path};
    if (!cn_format_probe(path, &format, err))
        return false;
    is_recording =
        !format->open_database && (format->open_recording || format->open_traces);
    if (how.is_raw && !is_recording)
        return cn_kinds_fail("raw", CN_FOR_CALLS, path, cn_kind_of(format), err);
    if (!(is_recording ? cn_cached_analysis_open(&opened->db, &opened->folder, args, path,
                                                 &how, err)
          : format->open_measurements
              ? cn_opened_database_analyse(opened, args, (struct cn_values){&path, 1},
                                           &reading, &building, err)
              : cn_format_open_database(path, &opened->db, err)))
        return false;
    if (opened->measured.source)
        opened->db->path = cn_arena_strdup(&opened->db->arena, path);
    opened->is_of_traces = is_recording && format->open_traces;
    opened->is_damaged = how.is_damaged || opened->measured.totals.unreadable_count > 0;
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
    cn_database_close(opened->db);
    if (opened->folder)
        cn_outdir_remove(opened->folder);
    free(opened->folder);
    cn_measured_close(&opened->measured);
    *opened = (struct cn_opened_database){0};
}
