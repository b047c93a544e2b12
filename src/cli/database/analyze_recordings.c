/* cairn analyze of recordings, and of the traces of a store. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cct/calls_to_database.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/run/clock.h"
#include "cli/database/analyze.h"
#include "cli/print/quantity.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "model/calls/recording.h"
#include "model/contexts/database.h"
#include "open/call_locations.h"
#include "open/formats.h"
#include "open/host/target.h"

struct recordings {
    struct cn_analysis *a;
    struct cn_recording_setup *setups;
    struct cn_call_query *queries;
    size_t count;
    struct cn_call_locations locations;
    struct cn_calls_options options;
};

/* Open a recording, or the traces of a store. */
static bool open_source(const struct cn_analysis *a, struct cn_recording_setup *setup,
                        const char *path, struct cn_error *err)
{
    const char *query = cn_args_value(a->args, "query");
    const struct cn_format *format;
    struct cn_recording *rec;

    if (strcmp(path, "-") == 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "a recording is a directory, not standard input");
    if (!cn_target_check_source(a->target, path, true, err) ||
        !cn_format_probe(path, &format, err))
        return false;
    if (!format->open_traces)
        return cn_recording_setup_open(setup, a->args,
                                       &(struct cn_recording_source){.path = path}, err);
    return format->open_traces(&rec, path, query ? query : "", err) &&
           cn_recording_setup_use(setup, a->args, rec, err);
}

static bool open_sources(struct recordings *self, struct cn_error *err)
{
    const struct cn_args *args = self->a->args;
    size_t count = cn_args_count(args);

    self->setups = cn_alloc(count, sizeof(*self->setups));
    self->queries = cn_alloc(count, sizeof(*self->queries));
    for (size_t i = 0; i < count; i++) {
        self->count++;
        if (!open_source(self->a, &self->setups[i], cn_args_operand(args, i), err))
            return false;
        self->queries[i] = self->setups[i].query;
    }
    return true;
}

static bool parse_options(struct recordings *self, struct cn_error *err)
{
    const struct cn_args *args = self->a->args;
    const char *min_time = cn_args_value(args, "min-time");
    const char *statistics = cn_args_value(args, "statistics");
    struct cn_values moved = cn_args_values(args, "source-path");

    self->options = (struct cn_calls_options){
        .workers = self->a->workers,
        .ranks = self->a->ranks,
        .folder = cn_text_str(&self->a->folder),
        .title = self->a->title,
        .is_collapsed = cn_args_has(args, "collapse-recursion"),
        .has_all_statistics = !statistics || strcmp(statistics, "all") == 0,
        .without_timelines = self->a->without_timelines,
        .timeline_resolution_ns = self->a->timeline_resolution_ns,
        .timeline_sample_max = self->a->timeline_sample_max,
        .locations = &self->locations.locations,
        .progress = &self->a->bar.progress,
    };
    if (min_time &&
        !cn_duration_parse(min_time, CN_BARE_REFUSED, &self->options.min_time_ns, err))
        return cn_fail_in(err, "--min-time");
    for (size_t i = 0; i < moved.count; i++)
        if (!cn_sources_move(&self->locations.sources, moved.list[i], err))
            return cn_fail_in(err, "--source-path");
    return true;
}

/* Warn about damaged and lost data; fails with --strict if data is damaged. */
static bool tell_damage(const struct recordings *self,
                        const struct cn_calls_result *result, struct cn_error *err)
{
    const struct cn_args *args = self->a->args;
    size_t damage_count = result->damage_count;

    for (size_t i = 0; i < result->damage_count; i++) {
        const struct cn_calls_damage *damage = &result->damages[i];
        const struct cn_recording *rec = self->queries[damage->query].rec;

        cn_cli_warn(args, "%s: task %" PRIu32 ": %s; analysed up to there", rec->path,
                    rec->tasks[damage->task].tid, damage->err.text);
    }
    for (size_t i = 0; i < self->count; i++)
        for (const struct cn_warning *w = self->queries[i].rec->warnings; w; w = w->next)
            damage_count += w->is_damage;
    cn_recording_tell_lost(args, result->lost_count);
    self->a->is_damaged = damage_count > 0;
    self->a->is_incomplete = damage_count > 0 || result->lost_count > 0;
    return damage_count == 0 || !self->a->is_strict ||
           cn_fail(err, CN_ERR_FORMAT,
                   "%s is not written: data is damaged and --strict was given",
                   self->a->target);
}

static void tell_result(const struct recordings *self, const struct cn_database *db,
                        const struct cn_calls_result *result)
{
    double seconds = (double)(cn_clock_ns() - self->a->begin_ns + 1) / 1e9;
    struct cn_text items = {0}, rate = {0};

    cn_count_print_of(&items, result->record_count, "record");
    cn_text_printf(&rate, ", %.1f million a second",
                   (double)result->record_count / 1e6 / seconds);
    cn_analysis_tell(self->a, result->context_count, db->profile_count - 1,
                     cn_text_str(&items), cn_text_str(&rate));
    cn_text_done(&items);
    cn_text_done(&rate);
}

static bool analyse(struct recordings *self, struct cn_error *err)
{
    struct cn_calls_result result;
    struct cn_database *db = NULL;
    bool ok;

    cn_bar_begin(&self->a->bar, self->a->args);
    ok = cn_calls_to_database(&db, self->queries, self->count, &self->options, &result,
                              err);
    ok = ok && tell_damage(self, &result, err) && cn_analysis_write(self->a, db, 0, err);
    cn_bar_end(&self->a->bar);
    if (ok)
        tell_result(self, db, &result);
    if (db) {
        cn_calls_result_done(&result);
        cn_database_close(db);
    }
    return ok;
}

bool cn_analyze_recordings(struct cn_analysis *a, struct cn_error *err)
{
    struct recordings self = {.a = a};
    bool ok;

    cn_call_locations_init(&self.locations, a->without_sources);
    ok = cn_analysis_set_target(a, cn_args_value(a->args, "output"), err) &&
         parse_options(&self, err) && open_sources(&self, err);
    ok = cn_analysis_agree(a, ok, err) && analyse(&self, err);
    for (size_t i = 0; i < self.count; i++)
        cn_recording_setup_done(&self.setups[i]);
    free(self.setups);
    free(self.queries);
    cn_call_locations_done(&self.locations);
    return ok;
}
