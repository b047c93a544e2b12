#include "cli/tui/data.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lens/database.h"
#include "analyze/views/header.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/run/clock.h"
#include "cli/graph/print.h"
#include "cli/info/info.h"
#include "cli/views/options.h"
#include "launcher/files/recording_dir.h"
#include "model/calls/recording.h"

enum { MESSAGES_LEN_MAX = 64 << 10, CALLERS_DEPTH = 5, WRITER_WAITS = 12 };

CN_PRINTF(2, 3)
static void add_message(struct cn_tui_load *load, const char *fmt, ...)
{
    struct cn_error message;
    va_list args;

    if (load->messages.len > MESSAGES_LEN_MAX)
        return;
    va_start(args, fmt);
    (void)vsnprintf(message.text, sizeof(message.text), fmt, args);
    va_end(args);
    cn_utf8_add_printable(&load->messages, message.text);
    cn_text_char(&load->messages, '\n');
}

static void add_messages(struct cn_tui_load *load, const char *lines)
{
    for (; *lines; lines += strcspn(lines, "\n") + 1)
        add_message(load, "%.*s", (int)strcspn(lines, "\n"), lines);
}

static void add_warnings(struct cn_tui_load *load, const struct cn_warning *list)
{
    for (; list; list = list->next)
        add_message(load, "%s: %s", load->data->path, list->text);
}

static void add_lost(struct cn_tui_load *load, uint64_t count)
{
    if (count > 0)
        add_message(load, "%" PRIu64 " %s lost while recording", count,
                    cn_plural(count, "record was", "records were"));
}

/* Show what was read before the damage, and remember it. */
static void note_damage(struct cn_tui_load *load, const struct cn_error *err)
{
    add_message(load, "%s", err->text);
    load->is_damaged = true;
    load->damage = *err;
}

static bool open_recording(struct cn_tui_load *load, const struct cn_progress *progress,
                           struct cn_error *err)
{
    struct cn_tui_data *data = load->data;
    struct cn_recording_options options = {
        .demangle = cn_recording_demangle(data->args),
        .symbols = cn_args_value(data->args, "with-syms"),
    };
    struct cn_recording_source source = {.path = data->path};
    struct cn_recording *rec;

    cn_recording_dir_wait(data->path);
    if (!cn_open_recording(data->path, &options, &rec, err))
        return false;
    add_warnings(load, rec->warnings);
    bool ok =
        cn_recording_setup_use(&data->setup, data->args, &source, rec, progress, err);
    add_messages(load, cn_text_str(&data->setup.warnings));
    add_messages(load, cn_text_str(&data->setup.notes));
    if (!cn_recording_check(rec, &load->damage))
        load->is_damaged = true;
    return ok;
}

/* Warn about damaged tasks. */
static void check_tasks(struct cn_tui_load *load, const struct cn_call_damages *damages)
{
    struct cn_text lines = {0};
    struct cn_error err;
    bool ok = cn_recording_check_damage(&load->data->setup, damages, &lines, &err);

    add_messages(load, cn_text_str(&lines));
    cn_text_done(&lines);
    if (!ok)
        note_damage(load, &err);
}

static bool build_graph(struct cn_tui_load *load, struct cn_call_graph *graph,
                        bool is_apart, const struct cn_progress *progress,
                        struct cn_error *err)
{
    struct cn_call_query query = load->data->setup.query;

    query.progress = progress;
    if (!cn_call_graph_build(
            graph, &query, load->data->setup.workers,
            (struct cn_call_graph_options){.is_apart = is_apart,
                                           .with_extremes = load->data->has_extremes},
            err)) {
        cn_call_graph_done(graph);
        *graph = (struct cn_call_graph){0};
        return false;
    }
    check_tasks(load, &graph->damages);
    load->source = cn_tui_graph_new(graph);
    return true;
}

static bool build_report(struct cn_tui_load *load, const struct cn_progress *progress,
                         struct cn_error *err)
{
    struct cn_tui_data *data = load->data;
    struct cn_call_query query = data->setup.query;

    query.progress = progress;
    if (!cn_call_report_build(&data->report, &query, data->setup.workers,
                              data->layout.needs, err)) {
        cn_call_report_done(&data->report);
        data->report = (struct cn_call_report){0};
        return false;
    }
    add_lost(load, data->report.lost_count);
    check_tasks(load, &data->report.damages);
    load->source = cn_tui_report_new(data->setup.rec, &data->report, &data->layout);
    return true;
}

static bool open_database(struct cn_tui_load *load, const struct cn_progress *progress,
                          struct cn_error *err)
{
    struct cn_tui_data *data = load->data;
    const struct cn_option *option = cn_args_find_filter(data->args);

    if (option)
        return cn_fail(err, CN_ERR_USAGE,
                       "this view shows all calls: start cairn tui without --%s",
                       option->name);
    if (!cn_opened_load(&data->opened, CN_CONTEXTS, progress, err))
        return false;
    add_warnings(load, data->opened.db->warnings);
    add_lost(load, data->opened.about.analysis.lost_count);
    if (data->opened.about.analysis.notes)
        add_messages(load, data->opened.about.analysis.notes);
    return true;
}

/* What focus and drop leave of the whole. */
static double share_left(struct cn_database *db, const struct cn_lens *lens)
{
    struct cn_header header;
    struct cn_error ignored;

    if (!cn_header_build(&header, db, lens, 0, &ignored) || !(header.whole > 0))
        return 1;
    return header.shown > 0 ? header.shown / header.whole : 0;
}

static bool apply_lens(struct cn_tui_data *data, const struct cn_progress *progress,
                       struct cn_error *err)
{
    struct cn_database *db = data->opened.db;
    struct cn_codes codes;

    data->share = 1;
    if (data->lens.count == 0) {
        /* Without codes, rows are shown as well. */
        struct cn_error ignored;

        data->shown = db;
        if (cn_codes_build(&data->own_codes, db, &data->lens.mine, &ignored))
            data->codes = &data->own_codes;
        return true;
    }
    if (!cn_codes_build(&codes, db, &data->lens.mine, err) ||
        !cn_lens_database_open(&data->shown, db, &codes, &data->lens, progress, err))
        return false;
    data->codes = cn_lens_codes(data->shown);
    data->share = share_left(data->shown, &data->lens);
    return true;
}

static void remove_lens(struct cn_tui_data *data)
{
    if (data->shown && data->shown != data->opened.db)
        cn_database_close(data->shown);
    cn_codes_done(&data->own_codes);
    data->own_codes = (struct cn_codes){0};
    data->shown = NULL;
    data->codes = NULL;
}

static bool are_sums(const struct cn_costs *costs)
{
    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].stat != CN_STAT_SUM || costs->columns[i].fraction > 0)
            return false;
    return true;
}

static bool make_view(const struct cn_tui_load *load, struct cn_view **out,
                      const struct cn_progress *progress, struct cn_error *err)
{
    if (load->step == CN_TUI_STEP_FLAT)
        return cn_view_flat_new(out, load->costs, progress, err);
    if (load->step == CN_TUI_STEP_CALLERS && are_sums(load->costs))
        return cn_view_callers_new(out, load->costs, progress, err);
    if (load->step == CN_TUI_STEP_CALLERS)
        return cn_view_bottom_up_new(out, load->costs, CALLERS_DEPTH, progress, err);
    *out = cn_view_top_down_new(load->costs);
    return true;
}

static bool build_view(struct cn_tui_load *load, const struct cn_progress *progress,
                       struct cn_error *err)
{
    struct cn_tui_data *data = load->data;
    struct cn_view *view;

    load->costs = cn_alloc(1, sizeof(*load->costs));
    if (!cn_view_costs_open(load->costs, data->shown, data->args, data->metric,
                            cn_args_has(data->args, "percentiles"), err))
        return false;
    bool ok = make_view(load, &view, progress, err);
    if (!ok && err->kind == CN_ERR_INTERRUPTED) {
        cn_view_free(view);
        return false;
    }
    if (!ok)
        note_damage(load, err);
    view->codes = data->codes;
    load->source = cn_tui_view_new(view, load->step == CN_TUI_STEP_CALLERS);
    return true;
}

static bool build_info(struct cn_tui_load *load, struct cn_error *err)
{
    struct cn_tui_data *data = load->data;

    if (!data->has_recording)
        return cn_info_database_add(&data->info, &data->opened, err);
    cn_info_recording_add(&data->info, data->setup.rec);
    return true;
}

static bool work(void *arg, const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_tui_load *load = arg;
    struct cn_tui_data *data = load->data;

    switch (load->step) {
    case CN_TUI_STEP_RECORDING:
        return open_recording(load, progress, err);
    case CN_TUI_STEP_GRAPH:
        return build_graph(load, &data->graph, false, progress, err);
    case CN_TUI_STEP_APART:
        return build_graph(load, &data->apart, true, progress, err);
    case CN_TUI_STEP_REPORT:
        return build_report(load, progress, err);
    case CN_TUI_STEP_DATABASE:
        return open_database(load, progress, err);
    case CN_TUI_STEP_LENS:
        return apply_lens(data, progress, err);
    case CN_TUI_STEP_TREE:
    case CN_TUI_STEP_CALLERS:
    case CN_TUI_STEP_FLAT:
        return build_view(load, progress, err);
    case CN_TUI_STEP_INFO:
        return build_info(load, err);
    case CN_TUI_STEP_COUNT:
        break;
    }
    return true;
}

/* The step before; CN_TUI_STEP_COUNT: none. */
static enum cn_tui_step needed_by(const struct cn_tui_data *data, enum cn_tui_step step)
{
    switch (step) {
    case CN_TUI_STEP_GRAPH:
    case CN_TUI_STEP_APART:
    case CN_TUI_STEP_REPORT:
        return CN_TUI_STEP_RECORDING;
    case CN_TUI_STEP_TREE:
    case CN_TUI_STEP_CALLERS:
    case CN_TUI_STEP_FLAT:
        return CN_TUI_STEP_LENS;
    case CN_TUI_STEP_LENS:
        return CN_TUI_STEP_DATABASE;
    case CN_TUI_STEP_INFO:
        return data->has_recording ? CN_TUI_STEP_RECORDING : CN_TUI_STEP_DATABASE;
    case CN_TUI_STEP_RECORDING:
    case CN_TUI_STEP_DATABASE:
    case CN_TUI_STEP_COUNT:
        break;
    }
    return CN_TUI_STEP_COUNT;
}

static const char *what_is_done(const struct cn_tui_data *data, enum cn_tui_step step)
{
    switch (step) {
    case CN_TUI_STEP_GRAPH:
    case CN_TUI_STEP_APART:
    case CN_TUI_STEP_REPORT:
        return "reading calls";
    case CN_TUI_STEP_DATABASE:
        return cn_opened_is_analysed(&data->opened) ? "analysing" : "opening";
    case CN_TUI_STEP_LENS:
    case CN_TUI_STEP_TREE:
    case CN_TUI_STEP_CALLERS:
    case CN_TUI_STEP_FLAT:
    case CN_TUI_STEP_INFO:
        return "reading contexts";
    case CN_TUI_STEP_RECORDING:
    case CN_TUI_STEP_COUNT:
        break;
    }
    return "opening";
}

static void load_init(struct cn_tui_data *data, enum cn_tui_step step)
{
    struct cn_tui_load *load = &data->loads[step];

    *load = (struct cn_tui_load){.data = data, .step = step};
    cn_job_group_init(&load->group, 1);
    load->job = (struct cn_job){.group = &load->group,
                                .work = work,
                                .arg = load,
                                .what = what_is_done(data, step)};
}

bool cn_tui_begins_with_report(const struct cn_args *args)
{
    const char *view = cn_args_value(args, "view");

    return view ? strcmp(view, "report") == 0 : cn_args_has(args, "report");
}

bool cn_tui_data_open(struct cn_tui_data **out, const struct cn_args *args,
                      const char *path, struct cn_error *err)
{
    struct cn_open_options options = {.is_raw = cn_args_has(args, "raw")};
    struct cn_report_layout layout;
    struct cn_opened opened;
    bool is_report = cn_tui_begins_with_report(args);
    struct cn_graph_printer graph = {0};
    struct cn_lens lens;

    if (strcmp(path, "-") == 0)
        return cn_fail(err, CN_ERR_USAGE, "tui reads keys from standard input, not data");
    if (!cn_open(&opened, path, 0, &options, err))
        return false;
    bool has_recording = opened.format->open_recording && opened.rank_count == 0;
    if (!cn_view_lens_parse(&lens, args, err) ||
        !cn_cli_check_kinds(args, &opened, err) ||
        !cn_report_layout_parse(
            &layout, is_report ? cn_args_value(args, "output-fields") : NULL,
            is_report ? cn_args_value(args, "sort") : NULL, false, false, err) ||
        (!is_report &&
         !cn_graph_fields_parse(&graph, cn_args_value(args, "output-fields"), err))) {
        cn_lens_done(&lens);
        cn_opened_close(&opened);
        return false;
    }
    struct cn_tui_data *data = cn_alloc(1, sizeof(*data));
    data->args = args;
    data->path = path;
    data->opened = opened;
    data->lens = lens;
    data->share = 1;
    data->has_recording = has_recording;
    data->layout = layout;
    data->has_extremes = cn_graph_fields_need_extremes(&graph);
    for (int i = 0; i < CN_TUI_STEP_COUNT; i++)
        load_init(data, (enum cn_tui_step)i);
    *out = data;
    return true;
}

/* The job has ended. */
static void load_release(struct cn_tui_load *load)
{
    struct cn_tui_data *data = load->data;

    cn_tui_source_free(load->source);
    if (load->costs)
        cn_costs_done(load->costs);
    free(load->costs);
    cn_text_done(&load->messages);
    if (load->step == CN_TUI_STEP_RECORDING && load->is_started)
        cn_recording_setup_done(&data->setup);
    else if (load->step == CN_TUI_STEP_GRAPH && load->source)
        cn_call_graph_done(&data->graph);
    else if (load->step == CN_TUI_STEP_APART && load->source)
        cn_call_graph_done(&data->apart);
    else if (load->step == CN_TUI_STEP_REPORT && load->source)
        cn_call_report_done(&data->report);
    else if (load->step == CN_TUI_STEP_LENS)
        remove_lens(data);
    else if (load->step == CN_TUI_STEP_INFO)
        cn_text_done(&data->info);
    cn_job_group_done(&load->group);
}

bool cn_tui_data_close(struct cn_tui_data *data)
{
    struct cn_error err;

    if (!data)
        return true;
    for (int i = 0; i < CN_TUI_STEP_COUNT; i++)
        cn_job_group_cancel(&data->loads[i].group);
    /* What writes files looks often whether it is cancelled, and cleans up; what only reads
     * may not. Each wait is 250 ms at most. */
    for (int i = 0;
         i < WRITER_WAITS && cn_job_is_running(&data->loads[CN_TUI_STEP_DATABASE].job);
         i++)
        (void)!cn_job_wait(&data->loads[CN_TUI_STEP_DATABASE].job, &err);
    for (int i = 0; i < CN_TUI_STEP_COUNT; i++)
        if (cn_job_is_running(&data->loads[i].job) &&
            !cn_job_wait(&data->loads[i].job, &err) &&
            cn_job_is_running(&data->loads[i].job))
            return false;
    for (int i = CN_TUI_STEP_COUNT; i-- > 0;) {
        cn_job_end(&data->loads[i].job);
        load_release(&data->loads[i]);
    }
    cn_opened_close(&data->opened);
    cn_lens_done(&data->lens);
    free(data->metric);
    free(data);
    return true;
}

enum cn_tui_state cn_tui_data_ask(struct cn_tui_data *data, enum cn_tui_step step)
{
    enum cn_tui_step before = needed_by(data, step);
    struct cn_tui_load *load = &data->loads[step];
    struct cn_error err;

    if (before != CN_TUI_STEP_COUNT) {
        enum cn_tui_state state = cn_tui_data_ask(data, before);

        if (state != CN_TUI_READY)
            return state;
    }
    if (!load->is_started) {
        load->begin_ns = cn_clock_ns();
        if (!cn_job_start(&load->job, &err)) {
            load->job.failure = err;
            return CN_TUI_FAILED;
        }
        load->is_started = true;
    }
    if (cn_job_is_running(&load->job))
        return CN_TUI_BUSY;
    return cn_job_check(&load->job, &err) ? CN_TUI_READY : CN_TUI_FAILED;
}

enum cn_tui_state cn_tui_data_wait(struct cn_tui_data *data, enum cn_tui_step step)
{
    enum cn_tui_step before = needed_by(data, step);
    struct cn_error err;

    if (before != CN_TUI_STEP_COUNT && cn_tui_data_wait(data, before) != CN_TUI_READY)
        return CN_TUI_FAILED;
    if (cn_tui_data_ask(data, step) == CN_TUI_BUSY)
        (void)!cn_job_finish(&data->loads[step].job, &err);
    return cn_tui_data_ask(data, step);
}

/* The step that makes `step` wait or fail. */
static enum cn_tui_step blocking(struct cn_tui_data *data, enum cn_tui_step step)
{
    enum cn_tui_step before = needed_by(data, step);
    struct cn_error err;

    if (before == CN_TUI_STEP_COUNT ||
        (data->loads[before].is_started && cn_job_check(&data->loads[before].job, &err)))
        return step;
    return blocking(data, before);
}

struct cn_tui_progress cn_tui_data_progress(struct cn_tui_data *data,
                                            enum cn_tui_step step)
{
    struct cn_tui_load *load = &data->loads[blocking(data, step)];

    return (struct cn_tui_progress){load->job.what, cn_job_share_done(&load->job),
                                    cn_clock_ns() - load->begin_ns};
}

const struct cn_error *cn_tui_data_failure(struct cn_tui_data *data,
                                           enum cn_tui_step step)
{
    return &data->loads[blocking(data, step)].job.failure;
}

struct cn_tui_source *cn_tui_data_source(struct cn_tui_data *data, enum cn_tui_step step)
{
    return data->loads[step].source;
}

static void restart(struct cn_tui_data *data, enum cn_tui_step step)
{
    struct cn_tui_load *load = &data->loads[step];

    cn_job_group_cancel(&load->group);
    cn_job_end(&load->job);
    load_release(load);
    load_init(data, step);
}

void cn_tui_data_set_metric(struct cn_tui_data *data, const char *metric)
{
    char *copy = metric ? cn_strdup(metric) : NULL;

    restart(data, CN_TUI_STEP_TREE);
    restart(data, CN_TUI_STEP_CALLERS);
    restart(data, CN_TUI_STEP_FLAT);
    free(data->metric);
    data->metric = copy;
}

struct cn_lens *cn_tui_data_change_lens(struct cn_tui_data *data)
{
    restart(data, CN_TUI_STEP_TREE);
    restart(data, CN_TUI_STEP_CALLERS);
    restart(data, CN_TUI_STEP_FLAT);
    restart(data, CN_TUI_STEP_LENS);
    return &data->lens;
}

void cn_tui_data_count_extremes(struct cn_tui_data *data)
{
    restart(data, CN_TUI_STEP_GRAPH);
    restart(data, CN_TUI_STEP_APART);
    data->has_extremes = true;
}

void cn_tui_data_set_layout(struct cn_tui_data *data,
                            const struct cn_report_layout *layout)
{
    restart(data, CN_TUI_STEP_REPORT);
    data->layout = *layout;
}

const char *cn_tui_data_metric(const struct cn_tui_data *data, size_t i)
{
    const struct cn_presented_metric *metric =
        data->opened.db ? cn_costs_metric_at(data->opened.db, i) : NULL;

    return metric ? metric->name : NULL;
}

static bool is_over(struct cn_tui_load *load)
{
    return load->is_started && !cn_job_is_running(&load->job);
}

/* True if a text has this line. */
static bool has_line(const struct cn_text *text, const char *line, size_t len)
{
    for (const char *at = cn_text_str(text); *at; at += strcspn(at, "\n") + 1)
        if (strncmp(at, line, len) == 0 && at[len] == '\n')
            return true;
    return false;
}

const char *cn_tui_data_folder(struct cn_tui_data *data)
{
    return is_over(&data->loads[CN_TUI_STEP_DATABASE]) && data->opened.db
               ? data->opened.db->path
               : NULL;
}

void cn_tui_data_messages(struct cn_tui_data *data, struct cn_text *out)
{
    for (int i = 0; i < CN_TUI_STEP_COUNT; i++) {
        const char *at = cn_text_str(&data->loads[i].messages);

        /* Several steps find the same. */
        for (size_t len; is_over(&data->loads[i]) && *at; at += len + 1) {
            len = strcspn(at, "\n");
            if (!has_line(out, at, len))
                cn_text_add(out, at, len + 1);
        }
    }
}

bool cn_tui_data_result(struct cn_tui_data *data, struct cn_error *err)
{
    for (int i = 0; i < CN_TUI_STEP_COUNT; i++) {
        if (!is_over(&data->loads[i]) || !data->loads[i].is_damaged)
            continue;
        *err = data->loads[i].damage;
        return false;
    }
    return true;
}
