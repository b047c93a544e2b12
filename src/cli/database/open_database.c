#include "cli/database/open_database.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/samples/sampled_database.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/database/debug_lines.h"
#include "cli/shell/progress.h"
#include "formats/formats.h"
#include "formats/hpctoolkit/meas/open.h"

enum { DAMAGE_SHOWN_MAX = 20 /* profiles named before the rest is only counted */ };

struct cn_measured_source {
    struct cn_hpc_lines lines;
    struct cn_measurements *measurements;
    struct cn_text damage; /* texts, each with its NUL */
    size_t damage_count;
};

static void on_damage(void *arg, const char *text)
{
    struct cn_measured_source *source = arg;

    if (source->damage_count++ < DAMAGE_SHOWN_MAX)
        cn_text_add(&source->damage, text, strlen(text) + 1);
}

static void add_warnings(const struct cn_measured_source *source, struct cn_database *db,
                         const struct cn_sampled_totals *totals)
{
    const struct cn_measurements *m = source->measurements;
    const char *text = source->damage.chars;

    for (const struct cn_warning *w = m->warnings; w; w = w->next)
        cn_database_warn(db, "%s", w->text);
    for (size_t i = 0; i < source->damage_count && i < DAMAGE_SHOWN_MAX; i++) {
        cn_database_warn(db, "%s", text);
        text += strlen(text) + 1;
    }
    if (source->damage_count > DAMAGE_SHOWN_MAX)
        cn_database_warn(db, "%zu more profiles are damaged",
                         source->damage_count - DAMAGE_SHOWN_MAX);
    if (totals->unreadable_count > 0)
        cn_database_warn(db, "%zu of %zu profiles cannot be read and are left out",
                         totals->unreadable_count, m->profile_count);
}

static bool analyse(struct cn_opened_database *opened, const struct cn_args *args,
                    const char *path, struct cn_error *err)
{
    struct cn_measured_source *source = opened->source;
    struct cn_hpc_meas_options reading = {.lines = &source->lines};
    const char *folder = getenv("TMPDIR");
    struct cn_sampled_totals totals = {0};
    struct cn_bar bar = {0};
    struct cn_sampled_options building = {
        .spool_folder = folder && folder[0] ? folder : "/tmp",
        .progress = &bar.progress,
        .on_damage = on_damage,
        .on_damage_arg = source,
    };
    bool ok;

    if (!cn_hpc_meas_open(&source->measurements, &path, 1, &reading, err))
        return false;
    cn_bar_begin(&bar, args);
    ok = cn_sampled_database_build(&opened->db, source->measurements, &building, &totals,
                                   err);
    cn_bar_end(&bar);
    if (!ok)
        return false;
    opened->db->path = cn_arena_strdup(&opened->db->arena, path);
    opened->profile_count = source->measurements->profile_count;
    opened->unreadable_count = totals.unreadable_count;
    add_warnings(source, opened->db, &totals);
    return true;
}

bool cn_opened_database_open(struct cn_opened_database *opened,
                             const struct cn_args *args, const char *path,
                             struct cn_error *err)
{
    const struct cn_format *format;

    *opened = (struct cn_opened_database){0};
    if (!cn_format_probe(path, &format, err))
        return false;
    if (!format->open_measurements)
        return cn_format_open_database(path, &opened->db, err);
    opened->source = cn_alloc(1, sizeof(*opened->source));
    cn_debug_lines_init(&opened->source->lines);
    return analyse(opened, args, path, err);
}

void cn_opened_database_close(struct cn_opened_database *opened)
{
    struct cn_measured_source *source = opened->source;

    cn_database_close(opened->db);
    if (source) {
        cn_measurements_close(source->measurements);
        cn_debug_lines_done(&source->lines);
        cn_text_done(&source->damage);
        free(source);
    }
    *opened = (struct cn_opened_database){0};
}
