#include "open/analysis.h"

#include <inttypes.h>
#include <stdarg.h>

#include "analyze/calls/clock.h"
#include "analyze/cct/locations.h"
#include "base/run/progress.h"
#include "base/text.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/about.h"
#include "symbols/program/resolver.h"
#include "symbols/sources.h"

void cn_analysis_done(struct cn_analysis *analysis)
{
    cn_arena_done(&analysis->arena);
    *analysis = (struct cn_analysis){0};
}

void cn_analysis_begin(struct cn_analysis *out, const struct cn_analysis_target *to)
{
    struct cn_error later; /* a stop is noticed by the next report of all ranks */

    *out = (struct cn_analysis){0};
    (void)!cn_progress_report(to->write.progress, "analysing", 0, 1, "", &later);
}

CN_PRINTF(3, 4)
static void warn(struct cn_analysis *analysis, bool is_damage, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    cn_warning_add(&analysis->warnings, &analysis->arena, is_damage, fmt, args);
    va_end(args);
    analysis->is_damaged |= is_damage;
}

void cn_analysis_add(struct cn_analysis *analysis, const struct cn_warning *list,
                     const char *prefix)
{
    for (; list; list = list->next)
        warn(analysis, list->is_damage, "%s%s", prefix, list->text);
}

bool cn_analysis_write(struct cn_analysis *analysis, struct cn_database *db,
                       const struct cn_analysis_target *to, struct cn_error *err)
{
    if (analysis->is_damaged && to->write.is_strict)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s is not written: data is damaged and --strict was given",
                       to->path);
    analysis->thread_count = db->profile_count - 1;
    return (to->ranks ? cn_hpc_v4_write_together(db, to->ranks, to->path, &to->write, err)
                      : cn_hpc_v4_write(db, to->path, &to->write, err)) &&
           (!to->folder || cn_about_write(analysis, db, to->folder, err));
}

bool cn_analyze_samples(struct cn_analysis *out, struct cn_database *samples,
                        const struct cn_analysis_target *to, struct cn_error *err)
{
    cn_analysis_begin(out, to);
    out->context_count = samples->context_limit;
    cn_analysis_add(out, samples->warnings, "");
    return cn_analysis_write(out, samples, to, err);
}

/* Debug information on this machine, and source files to copy. */
struct locations {
    struct cn_resolver *resolver;
    struct cn_sources *sources; /* NULL: copy none */
};

static struct cn_cct_location
function_location(void *arg, const struct cn_call_module *module, uint64_t offset)
{
    const struct locations *of = arg;
    struct cn_source_location location;

    if (!cn_resolver_function(of->resolver, module->path, module->build_id, offset,
                              &location))
        return (struct cn_cct_location){0};
    return (struct cn_cct_location){location.file, location.line};
}

static size_t instruction_locations(void *arg, const struct cn_call_module *module,
                                    uint64_t offset,
                                    struct cn_inlined_location out[CN_LOCATION_DEPTH_MAX])
{
    const struct locations *of = arg;
    struct cn_source_location list[CN_LOCATION_DEPTH_MAX];
    size_t count = cn_resolver_instruction(of->resolver, module->path, module->build_id,
                                           offset, list, CN_LOCATION_DEPTH_MAX);

    for (size_t i = 0; i < count; i++)
        out[i] =
            (struct cn_inlined_location){list[i].function, {list[i].file, list[i].line}};
    return count;
}

static const char *source_file(void *arg, const char *path)
{
    struct locations *of = arg;

    return of->sources ? cn_sources_find(of->sources, path) : NULL;
}

/* "PATH: " where warnings have to name the recording. */
static const char *prefix(struct cn_analysis *out, const struct cn_call_sources *from,
                          size_t query)
{
    return from->count > 1
               ? cn_arena_printf(&out->arena, "%s: ", from->queries[query].rec->path)
               : "";
}

/* The tasks that could not be read to their ends, what is to be said, and sums. */
static void note_result(struct cn_analysis *out, const struct cn_call_sources *from,
                        const struct cn_calls_result *result)
{
    struct cn_text notes = {0};

    for (size_t i = 0; i < result->damage_count; i++) {
        const struct cn_calls_damage *damage = &result->damages[i];

        warn(out, true, "%stask %" PRIu32 ": %s; what could be read is analysed",
             prefix(out, from, damage->query),
             from->queries[damage->query].rec->tasks[damage->task].tid, damage->err.text);
    }
    for (size_t i = 0; i < from->count && !from->queries[i].is_raw; i++)
        cn_call_clock_explain(from->queries[i].rec, &notes);
    out->notes = cn_arena_strdup(&out->arena, cn_text_str(&notes));
    cn_text_done(&notes);
    out->record_count = result->record_count;
    out->context_count = result->context_count;
    out->lost_count = result->lost_count;
}

bool cn_analyze_calls(struct cn_analysis *out, const struct cn_call_sources *from,
                      const struct cn_analysis_target *to, struct cn_error *err)
{
    struct cn_sources unmoved = {0};
    struct locations locations = {
        .resolver = cn_resolver_new(),
        .sources = to->write.without_sources ? NULL
                   : from->moved             ? from->moved
                                             : &unmoved,
    };
    struct cn_cct_locations asked = {&locations, function_location, instruction_locations,
                                     source_file};
    struct cn_calls_options options = from->options;
    struct cn_calls_result result;
    struct cn_database *db;
    bool ok;

    cn_analysis_begin(out, to);
    for (size_t i = 0; i < from->count; i++)
        cn_analysis_add(out, from->queries[i].rec->warnings, prefix(out, from, i));
    options.locations = &asked;
    options.progress = to->write.progress;
    ok = cn_calls_to_database(&db, from->queries, from->count, &options, &result, err);
    if (ok) {
        note_result(out, from, &result);
        for (size_t i = 0; i < from->count; i++)
            db->trace_count += from->queries[i].rec->trace_count;
        ok = cn_analysis_write(out, db, to, err);
        cn_calls_result_done(&result);
        cn_database_close(db);
    }
    cn_resolver_free(locations.resolver);
    cn_sources_done(&unmoved);
    return ok;
}
