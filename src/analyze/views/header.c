#include "analyze/views/header.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "analyze/lens/database.h"
#include "analyze/lens/lens.h"
#include "analyze/views/costs.h"
#include "analyze/views/overview.h"
#include "base/alloc.h"
#include "base/date.h"
#include "base/duration.h"
#include "base/text.h"
#include "model/calls/origin.h"
#include "model/calls/recording.h"

/* Times before that are those of a clock that does not count from the epoch. */
#define EPOCH_MIN_NS (UINT64_C(365) * 24 * 3600 * 1000000000)

#define SOME 0.005 /* a smaller share of stacks is none */

/* The total of a metric, or of the default one; its name is `*name`. */
static bool whole_of(struct cn_database *db, const char **name, double *out,
                     struct cn_error *err)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_cost_request request = {.metric = *name, .profile = CN_NONE};
    struct cn_error none;
    bool ok = true;

    *out = NAN;
    cn_costs_init(costs, db);
    if (cn_costs_add(costs, &request, &none)) {
        ok = cn_costs_ready(costs, err);
        *name = costs->columns[0].metric;
        if (ok)
            *out = costs->columns[0].total;
    }
    cn_costs_done(costs);
    free(costs);
    return ok;
}

/* The metric that views show first. */
static const char *default_metric(struct cn_database *db)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_cost_request request = {.profile = CN_NONE};
    struct cn_error none;
    const char *name = NULL;

    cn_costs_init(costs, db);
    if (cn_costs_add(costs, &request, &none))
        name = costs->columns[0].metric;
    cn_costs_done(costs);
    free(costs);
    return name;
}

static struct cn_database *whole_database(struct cn_database *db)
{
    return cn_database_has_lens(db) ? cn_lens_whole(db) : db;
}

bool cn_header_describe(struct cn_header *out, struct cn_database *db,
                        uint64_t lost_count, struct cn_error *err)
{
    struct cn_database *whole = whole_database(db);
    struct cn_time_base base;
    struct cn_overview overview;
    struct cn_header header = {
        .origin = whole->origin,
        .title = whole->title,
        .start_ns = whole->origin.start_ns,
        .is_damaged = cn_warning_damage(db->warnings) != NULL,
        .lost_count = lost_count > 0 ? lost_count : whole->origin.lost_count,
        .filters = db->origin.filters,
        .whole = NAN,
        .shown = NAN,
    };

    if (!cn_overview_build(&overview, whole, err))
        return false;
    header.thread_count = overview.thread_count;
    header.sample_count = overview.sample_count;
    cn_overview_done(&overview);
    if (whole->has_timelines && whole->end_ns > whole->begin_ns) {
        header.duration_ns = whole->end_ns - whole->begin_ns;
        if (header.start_ns == 0 && whole->begin_ns > EPOCH_MIN_NS)
            header.start_ns = whole->begin_ns;
    }
    header.metric = default_metric(whole);
    if (header.metric && cn_time_base_of(whole, header.metric, &base))
        header.base = cn_time_base_name(base);
    *out = header;
    return true;
}

bool cn_header_build(struct cn_header *out, struct cn_database *db,
                     const struct cn_lens *lens, uint64_t lost_count,
                     struct cn_error *err)
{
    struct cn_database *whole = whole_database(db);
    struct cn_header header;

    if (!cn_header_describe(&header, db, lost_count, err))
        return false;
    header.lens = lens && (lens->count > 0 || lens->mine.count > 0) ? lens : NULL;
    if (!whole_of(whole, &header.metric, &header.whole, err))
        return false;
    header.shown = header.whole;
    if (whole != db && header.metric && !whole_of(db, &header.metric, &header.shown, err))
        return false;
    *out = header;
    return true;
}

void cn_header_of_recording(struct cn_header *out, const struct cn_recording *rec,
                            struct cn_time_base base, struct cn_arena *arena)
{
    *out = (struct cn_header){
        .origin = cn_recording_origin(rec, arena),
        .title = rec->path,
        .thread_count = rec->task_count,
        .base = cn_time_base_name(base),
        .is_unread = true,
        .whole = NAN,
        .shown = NAN,
    };
    out->start_ns = out->origin.start_ns;
    out->lost_count = out->origin.lost_count;
}

/* One line at a time. */
struct lines {
    cn_header_visit visit;
    void *arg;
    struct cn_text text;
};

static void add_line(struct lines *lines, const char *name, const char *text)
{
    if (text && *text)
        lines->visit(lines->arg, name, text);
}

/* Add what was printed, if anything was. */
static void add_printed(struct lines *lines, const char *name)
{
    add_line(lines, name, cn_text_str(&lines->text));
    cn_text_clear(&lines->text);
}

static double percent_of(uint64_t count, uint64_t all)
{
    return 100 * (double)count / (double)all;
}

static void add_machine(struct lines *lines, const struct cn_origin *origin)
{
    add_line(lines, "host", origin->host);
    add_line(lines, "kernel", origin->kernel);
    if (origin->processor_count > 0 || origin->processor)
        cn_text_printf(&lines->text, "%" PRIu64 " x %s%s%s", origin->processor_count,
                       origin->processor ? origin->processor : "unknown",
                       origin->machine ? ", " : "",
                       origin->machine ? origin->machine : "");
    add_printed(lines, "processors");
    if (origin->memory_bytes > 0)
        cn_text_printf(&lines->text, "%.1f GiB",
                       (double)origin->memory_bytes / (1 << 30));
    add_printed(lines, "memory");
}

static void add_stacks(struct lines *lines, const struct cn_origin *origin)
{
    if (origin->stack_count == 0)
        return;
    if (origin->stacks)
        cn_text_str_add(&lines->text, origin->stacks);
    if (origin->stacks && origin->kernel_count > 0 &&
        origin->kernel_count < origin->stack_count)
        cn_text_printf(&lines->text, " (%.1f %%; the others were copied)",
                       percent_of(origin->kernel_count, origin->stack_count));
    cn_text_printf(&lines->text, "%s%.1f %% whole", origin->stacks ? ", " : "",
                   percent_of(origin->whole_count, origin->stack_count));
    add_printed(lines, "stacks");
    add_line(lines, "not in the kernel", origin->refusal);
}

static const char *separator(const struct cn_text *text)
{
    return text->len > 0 ? ", " : "";
}

/* What the data lacks, the worst first. */
static void add_flaws(struct lines *lines, const struct cn_header *header)
{
    const struct cn_origin *origin = &header->origin;
    uint64_t cut = origin->stack_count - origin->whole_count;
    struct cn_text *text = &lines->text;

    if (header->is_damaged)
        cn_text_str_add(text, "damaged: part of it could not be read");
    if (header->lost_count > 0)
        cn_text_printf(text, "%s%" PRIu64 " %s lost", separator(text), header->lost_count,
                       cn_plural(header->lost_count, "record", "records"));
    if ((double)cut > SOME * (double)origin->stack_count)
        cn_text_printf(text, "%s%.1f %% of stacks cut", separator(text),
                       percent_of(cut, origin->stack_count));
    if ((double)origin->unnamed_count > SOME * (double)origin->stack_count)
        cn_text_printf(text, "%s%.1f %% of stacks have a function without a name",
                       separator(text),
                       percent_of(origin->unnamed_count, origin->stack_count));
    if (text->len == 0 && !header->is_unread)
        cn_text_str_add(text, "complete");
    add_printed(lines, "data");
}

void cn_header_each(const struct cn_header *header, cn_header_visit visit, void *arg)
{
    struct lines lines = {.visit = visit, .arg = arg};

    add_line(&lines, "program", header->origin.program);
    add_line(&lines, "command", header->origin.command);
    if (header->start_ns > 0) {
        cn_date_print(&lines.text, header->start_ns, 3);
        cn_text_str_add(&lines.text, " UTC");
    }
    add_printed(&lines, "start");
    if (header->duration_ns > 0)
        cn_duration_print(&lines.text, header->duration_ns);
    add_printed(&lines, "duration");
    add_machine(&lines, &header->origin);
    add_line(&lines, "written by", header->origin.writer);
    add_line(&lines, "times", header->base);
    add_line(&lines, "filters", header->filters);
    add_stacks(&lines, &header->origin);
    add_flaws(&lines, header);
    cn_text_done(&lines.text);
}
