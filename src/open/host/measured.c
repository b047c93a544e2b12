/* Measurement directories of hpcrun as a database. */

#include <stdarg.h>

#include "base/run/ranks.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/open.h"
#include "model/contexts/database.h"
#include "open/analysis.h"
#include "symbols/program/resolver.h"

enum {
    DAMAGE_SHOWN_MAX = 20, /* damaged profiles named; the rest is only counted */
    INLINED_MAX = 32,      /* functions inlined into each other */
};

/* Profiles, or parts of them, that could not be read. */
struct damage {
    struct cn_arena *arena;
    struct cn_warning *list;
    size_t count;
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

CN_PRINTF(2, 3)
static void add_text(struct damage *damage, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_warning_add(&damage->list, damage->arena, true, fmt, args);
    va_end(args);
}

static void on_damage(void *arg, const char *text)
{
    struct damage *damage = arg;

    if (damage->count++ < DAMAGE_SHOWN_MAX)
        add_text(damage, "%s", text);
}

/* Of an analysis that failed, only the damage is of interest. */
static void note(struct cn_analysis *out, const struct cn_measurements *measurements,
                 const struct cn_sampled_totals *totals, struct damage *damage, bool ok)
{
    out->profile_count = measurements->profile_count;
    out->unreadable_count = totals->unreadable_count;
    out->value_count = totals->value_count;
    out->sample_count = totals->sample_count;
    if (ok)
        cn_analysis_add(out, measurements->warnings, "");
    if (ok && damage->count > DAMAGE_SHOWN_MAX)
        add_text(
            damage, "%zu more %s damaged", damage->count - DAMAGE_SHOWN_MAX,
            cn_plural(damage->count - DAMAGE_SHOWN_MAX, "profile is", "profiles are"));
    if (ok && totals->unreadable_count > 0)
        add_text(damage, "%zu of %zu profiles cannot be read and are left out",
                 totals->unreadable_count, measurements->profile_count);
    cn_analysis_add(out, damage->list, "");
}

static bool analyse(struct cn_analysis *out, struct cn_measurements *measurements,
                    const struct cn_measured_sources *from,
                    const struct cn_analysis_target *to, struct cn_error *err)
{
    struct damage damage = {.arena = &out->arena};
    struct cn_sampled_options building = from->building;
    struct cn_sampled_totals totals = {0};
    struct cn_database *db = NULL;
    bool ok;

    building.progress = to->write.progress;
    building.is_strict = to->write.is_strict;
    building.on_damage = on_damage;
    building.on_damage_arg = &damage;
    /* Processes that analyse together fail together. */
    ok = cn_sampled_database_build(&db, measurements, &building, &totals, err);
    /* A structure file that cannot be read is damage as well. */
    if (ok && to->write.is_strict && measurements->warnings)
        ok = cn_fail(err, CN_ERR_FORMAT, "%s", measurements->warnings->text);
    if (measurements)
        note(out, measurements, &totals, &damage, ok);
    if (building.ranks)
        ok = cn_ranks_agree(building.ranks, ok, err);
    ok = ok && cn_analysis_write(out, db, to, err);
    if (ok)
        out->context_count = db->context_limit;
    cn_database_close(db);
    return ok;
}

bool cn_analyze_measurements(struct cn_analysis *out,
                             const struct cn_measured_sources *from,
                             const struct cn_analysis_target *to, struct cn_error *err)
{
    struct cn_hpc_lines lines = {cn_resolver_new(), find_instruction, find_function};
    struct cn_hpc_meas_options reading = from->reading;
    struct cn_measurements *measurements = NULL;
    bool ok;

    cn_analysis_begin(out, to);
    reading.lines = &lines;
    reading.without_sources = to->write.without_sources;
    reading.without_traces = to->write.without_timelines;
    ok = cn_hpc_meas_open(&measurements, from->paths, from->count, &reading, err);
    ok = analyse(out, ok ? measurements : NULL, from, to, err);
    cn_measurements_close(measurements);
    cn_resolver_free(lines.arg);
    return ok;
}
