#include "formats/exchange/export.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/waits.h"
#include "base/path.h"
#include "base/run/pool.h"
#include "formats/exchange/exchange.h"
#include "model/heap_history.h"

enum { NS_PER_SECOND = 1000000000 };

const struct cn_format *const cn_dump_formats[] = {
    &cn_dump_chrome, &cn_dump_flame_graph, &cn_dump_graphviz, &cn_dump_mermaid, NULL,
};

void cn_export_lose(struct cn_export *x, const char *what, uint64_t count)
{
    if (count == 0)
        return;
    for (size_t i = 0; i < x->loss_count; i++) {
        if (strcmp(x->losses[i].what, what) == 0) {
            x->losses[i].count += count;
            return;
        }
    }
    if (x->loss_count < CN_EXPORT_LOSS_MAX)
        x->losses[x->loss_count++] = (struct cn_export_loss){what, count};
}

void cn_export_damage(struct cn_export *x, uint32_t task, const struct cn_error *err)
{
    if (x->damaged_count++ > 0)
        return;
    x->damaged_task = task;
    x->damage = *err;
}

bool cn_export_copies(const struct cn_export *x)
{
    return x->db && x->db->copied_as && !x->options->metric &&
           strcmp(x->db->copied_as, x->format->name) == 0;
}

bool cn_export_flush(struct cn_export *x, struct cn_error *err)
{
    return cn_sink_text_some(&x->sink, &x->text, err);
}

static bool open_target(struct cn_export *x, struct cn_error *err)
{
    bool replace = x->options->replace;

    if (!x->format->is_file)
        return cn_outdir_begin(&x->folder, x->path, replace, err);
    if (x->format->is_gzipped && cn_sink_plain_len(x->path) == strlen(x->path))
        return cn_sink_open_gzip(&x->sink, x->path, replace, err);
    return cn_sink_open(&x->sink, x->path, replace, err);
}

static bool report_losses(const struct cn_export *x, struct cn_error *err)
{
    for (size_t i = 0; i < x->loss_count; i++)
        cn_write_lose(x->options, x->losses[i].what, x->losses[i].count);
    return x->loss_count == 0 || !x->options->is_strict ||
           cn_fail(err, CN_ERR_IO, "%s is not written: --strict allows no losses",
                   x->path);
}

static bool commit(struct cn_export *x, struct cn_error *err)
{
    if (!(x->format->is_file ? cn_sink_commit(&x->sink, err)
                             : cn_outdir_commit(&x->folder, err)))
        return false;
    return x->damaged_count == 0 ||
           cn_fail(err, CN_ERR_FORMAT,
                   "%" PRIu32 " of %" PRIu32 " tasks are damaged and were written up to "
                   "the damage; the first is task %" PRIu32 ": %s",
                   x->damaged_count, x->query->task_count,
                   x->query->rec->tasks[x->damaged_task].tid, x->damage.text);
}

static bool run(struct cn_export *x, cn_export_fn write, struct cn_error *err)
{
    assert(write);
    x->workers = x->options->workers ? x->options->workers : cn_pool_default_workers();
    bool ok = open_target(x, err) && write(x, err) &&
              (!x->format->is_file || cn_sink_text(&x->sink, &x->text, err)) &&
              report_losses(x, err) && commit(x, err);
    cn_sink_abandon(&x->sink);
    cn_outdir_abandon(&x->folder);
    cn_text_done(&x->text);
    return ok;
}

bool cn_export_calls(const struct cn_format *format, const struct cn_call_query *query,
                     const char *path, const struct cn_write_options *options,
                     struct cn_error *err)
{
    struct cn_export x = {
        .format = format, .query = query, .path = path, .options = options};

    if (!format->keeps_flows)
        cn_export_lose(&x, "flows between calls", query->rec->flow_count);
    return run(&x, format->export_calls, err);
}

/* Stacks of calls have the costs of views, what has a time axis has times as recorded. */
static struct cn_time_base base_of(const struct cn_export *x)
{
    const struct cn_recording *rec = x->query->rec;
    struct cn_time_base base =
        cn_time_base_of_costs(rec, x->query->is_raw || x->format->has_time_axis);

    if (x->options->counts_waits || x->format->has_time_axis)
        base.waits = CN_TIME_ALL;
    return base;
}

/* The header of a database, whose metric the options may choose. */
static bool describe(const struct cn_export *x, struct cn_header *out)
{
    const char *metric = x->options->metric         ? x->options->metric
                         : x->options->counts_waits ? CN_TIME_NAME
                                                    : NULL;
    struct cn_time_base base;
    struct cn_error ignored;

    if (!cn_header_describe(out, x->db, 0, &ignored))
        return false;
    if (metric && cn_time_base_of(x->db, metric, &base))
        out->base = cn_time_base_name(base);
    else if (metric && !strstr(metric, "(sec)"))
        out->base = NULL;
    return true;
}

void cn_export_header(const struct cn_export *x, cn_header_visit visit, void *arg)
{
    struct cn_arena arena = {0};
    struct cn_header header;

    if (!x->db && x->query)
        cn_header_of_recording(&header, x->query->rec, base_of(x), &arena);
    if (x->db ? describe(x, &header) : x->query != NULL)
        cn_header_each(&header, visit, arg);
    cn_arena_done(&arena);
}

bool cn_export_database(const struct cn_format *format, struct cn_database *db,
                        const char *path, const struct cn_write_options *options,
                        struct cn_error *err)
{
    struct cn_export x = {.format = format, .db = db, .path = path, .options = options};

    if (!format->keeps_states) {
        cn_export_lose(&x, "changes of states of threads", cn_database_state_count(db));
        cn_export_lose(&x, "wake-ups of threads", db->wakeups.count);
        cn_export_lose(&x, "launches of GPU work", db->launch_count);
    }
    cn_export_lose(&x, "changes of live memory", db->heap ? db->heap->change_count : 0);
    cn_export_lose(&x, "changes of live memory of GPUs",
                   db->gpu_memory ? db->gpu_memory->change_count : 0);
    for (size_t i = 0; i < db->loss_count && !cn_export_copies(&x); i++)
        cn_export_lose(&x, db->losses[i].what, db->losses[i].count);
    return run(&x, format->export_database, err);
}

bool cn_export_traces(const struct cn_format *format, const struct cn_format *from,
                      const char *source, const char *path,
                      const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_export x = {.format = format,
                          .from = from,
                          .source = source,
                          .path = path,
                          .options = options};

    return run(&x, format->export_traces, err);
}

bool cn_export_walk_traces(struct cn_export *x, cn_trace_fn visit, void *arg,
                           struct cn_error *err)
{
    struct cn_error ignored = {0};
    struct cn_trace_visitor visitor = {
        .visit = visit,
        .arg = arg,
        .damage = x->options->damage ? x->options->damage : &ignored,
    };

    return x->from->walk_traces(x->source, &visitor, err);
}

uint64_t cn_export_start_ns(const struct cn_call_query *query)
{
    uint64_t start_ns = UINT64_MAX;

    for (uint32_t i = 0; i < query->task_count; i++) {
        const struct cn_task *task = &query->rec->tasks[query->tasks[i]];

        if (task->has_first && task->first_ns < start_ns)
            start_ns = task->first_ns;
        if (task->time_ns && task->time_ns < start_ns)
            start_ns = task->time_ns;
    }
    return start_ns == UINT64_MAX ? 0 : start_ns;
}

uint64_t cn_export_clock_offset_ns(const struct cn_recording *rec)
{
    const char *offset = cn_recording_fact(rec, "utc_offset");
    unsigned long long seconds = offset ? strtoull(offset, NULL, 10) : 0;

    return seconds < INT64_MAX / NS_PER_SECOND ? seconds * NS_PER_SECOND : 0;
}

const char *cn_export_program(const struct cn_recording *rec)
{
    return rec->session_count > 0 ? cn_path_name(rec->sessions[0].exename) : "program";
}

const char *cn_export_title(const struct cn_export *x)
{
    return x->db ? x->db->title : cn_export_program(x->query->rec);
}

bool cn_export_locate(struct cn_database *db, const struct cn_context *context,
                      bool of_function, struct cn_export_location *out,
                      struct cn_error *err)
{
    struct cn_function at = {.module = CN_NONE, .file = CN_NONE};
    struct cn_module module = {.path = ""};
    struct cn_source_file file = {.path = ""};

    if (context->has_function && context->function != CN_NONE &&
        !cn_database_function(db, context->function, &at, err))
        return false;
    if (context->has_point && (!of_function || at.module == CN_NONE)) {
        at.module = context->module;
        at.offset = of_function ? at.offset : context->offset;
    }
    if (context->has_source && (!of_function || at.file == CN_NONE)) {
        at.file = context->file;
        at.line = context->line;
    }
    if ((at.module != CN_NONE && !cn_database_module(db, at.module, &module, err)) ||
        (at.file != CN_NONE && !cn_database_file(db, at.file, &file, err)))
        return false;
    *out = (struct cn_export_location){module.path, file.path, at.line, at.offset};
    return true;
}
