#include "open/measured.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/meas/open.h"
#include "model/contexts/database.h"
#include "open/analysis.h"
#include "symbols/program/resolver.h"

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

const char *cn_measured_damage(const struct cn_measured *measured, const char *text)
{
    const struct cn_text *damage = &measured->source->damage;
    const char *next = text ? text + strlen(text) + 1 : damage->chars;

    return damage->len > 0 && next < damage->chars + damage->len ? next : NULL;
}

static void add_warnings(const struct cn_measured *measured, struct cn_database *db)
{
    const struct cn_measured_source *source = measured->source;
    const char *text = NULL;

    for (const struct cn_warning *w = source->measurements->warnings; w; w = w->next)
        cn_database_warn(db, w->is_damage, "%s", w->text);
    while ((text = cn_measured_damage(measured, text)))
        cn_database_warn(db, true, "%s", text);
    if (source->damage_count > DAMAGE_SHOWN_MAX)
        cn_database_warn(db, true, "%zu more %s damaged",
                         source->damage_count - DAMAGE_SHOWN_MAX,
                         cn_plural(source->damage_count - DAMAGE_SHOWN_MAX, "profile is",
                                   "profiles are"));
    if (measured->totals.unreadable_count > 0)
        cn_database_warn(db, true, "%zu of %zu profiles cannot be read and are left out",
                         measured->totals.unreadable_count, measured->profile_count);
}

bool cn_measured_open(struct cn_measured *out, const char *const *paths, size_t count,
                      struct cn_hpc_meas_options *reading,
                      struct cn_sampled_options *building, struct cn_database **db,
                      struct cn_error *err)
{
    struct cn_measured_source *source = cn_alloc(1, sizeof(*source));
    struct cn_database *built = NULL;
    bool ok;

    *out = (struct cn_measured){.source = source};
    source->lines =
        (struct cn_hpc_lines){cn_resolver_new(), find_instruction, find_function};
    reading->lines = &source->lines;
    building->on_damage = on_damage;
    building->on_damage_arg = source;
    ok = cn_hpc_meas_open(&source->measurements, paths, count, reading, err);
    /* Processes that analyse together fail together. */
    ok = cn_sampled_database_build(&built, ok ? source->measurements : NULL, building,
                                   &out->totals, err);
    /* With is_strict, a structure file that cannot be read is damage as well. */
    if (ok && building->is_strict && source->measurements->warnings)
        ok = cn_fail(err, CN_ERR_FORMAT, "%s", source->measurements->warnings->text);
    if (source->measurements)
        out->profile_count = source->measurements->profile_count;
    if (ok)
        add_warnings(out, built);
    if (built)
        *db = built;
    return ok;
}

void cn_measured_close(struct cn_measured *measured)
{
    struct cn_measured_source *source = measured->source;

    if (!source)
        return;
    cn_measurements_close(source->measurements);
    cn_resolver_free(source->lines.arg);
    cn_text_done(&source->damage);
    free(source);
    *measured = (struct cn_measured){0};
}

bool cn_analysis_of_measurements(const char *path, const char *folder,
                                 const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_hpc_meas_options reading = {0};
    struct cn_sampled_options building = {.spool_folder = folder, .progress = progress};
    struct cn_measured measured = {0};
    struct cn_database *db = NULL;
    bool ok = cn_measured_open(&measured, &path, 1, &reading, &building, &db, err) &&
              cn_analysis_of_samples(db, folder, err);

    cn_database_close(db);
    cn_measured_close(&measured);
    return ok;
}
