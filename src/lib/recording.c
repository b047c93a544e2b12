/* Tasks, functions and calls of a recording. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/report.h"
#include "analyze/calls/stack.h"
#include "analyze/durations/percentile.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/sort.h"
#include "formats/exchange/write/spans/spans.h"
#include "lib/frame.h"
#include "lib/lib.h"
#include "model/calls/recording.h"
#include "model/calls/values.h"

static_assert(sizeof(struct cairn_call) == sizeof(struct cn_call) &&
                  offsetof(struct cairn_call, function) ==
                      offsetof(struct cn_call, function) &&
                  offsetof(struct cairn_call, kind) == offsetof(struct cn_call, kind) &&
                  offsetof(struct cairn_call, reserved) ==
                      offsetof(struct cn_call, data_off),
              "records have one layout");

uint32_t cairn_recording_task_count(const struct cairn_data *data)
{
    return data && data->rec ? data->rec->task_count : 0;
}

static bool check_number(const struct cairn_data *data, const char *what, uint32_t number,
                         uint32_t count, struct cn_error *err)
{
    return number < count || cn_fail(err, CN_ERR_NOT_FOUND, "%s: no %s %u; there are %u",
                                     data->path, what, (unsigned)number, (unsigned)count);
}

bool cairn_recording_task(const struct cairn_data *data, uint32_t number,
                          struct cairn_task *out, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data, out);

    if (!cn_lib_needs(data, CAIRN_RECORDING, e) ||
        !check_number(data, "task", number, data->rec->task_count, e))
        return false;
    const struct cn_task *task = &data->rec->tasks[number];
    *out = (struct cairn_task){
        .name = task->name,
        .tid = task->tid,
        .pid = task->pid,
        .parent = task->parent,
        .start_ns = task->time_ns,
    };
    return true;
}

uint32_t cairn_recording_function_count(const struct cairn_data *data)
{
    return data && data->rec ? data->rec->function_count : 0;
}

bool cairn_recording_function(const struct cairn_data *data, uint32_t number,
                              struct cairn_function *out, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, false, data, out);

    if (!cn_lib_needs(data, CAIRN_RECORDING, e) ||
        !check_number(data, "function", number, data->rec->function_count, e))
        return false;
    const struct cn_call_function *function = &data->rec->functions[number];
    *out = (struct cairn_function){
        .name = function->name,
        .module = data->rec->modules[function->module].path,
        .file = function->file[0] ? function->file : NULL,
        .line = function->line,
        .offset = function->offset,
    };
    return true;
}

enum {
    CALL_TASK,
    CALL_TID,
    CALL_DEPTH,
    CALL_NAME,
    CALL_FUNCTION,
    CALL_BEGIN,
    CALL_END,
    CALL_TOTAL,
    CALL_SELF,
    CALL_ARGUMENTS,
    CALL_RESULT
};

static const struct {
    const char *name;
    enum cairn_type type;
} call_columns[] = {
    [CALL_TASK] = {"task", CAIRN_U32},
    [CALL_TID] = {"tid", CAIRN_U32},
    [CALL_DEPTH] = {"depth", CAIRN_U32},
    [CALL_NAME] = {"name", CAIRN_CATEGORY},
    [CALL_FUNCTION] = {"function", CAIRN_U32},
    [CALL_BEGIN] = {"begin_ns", CAIRN_U64},
    [CALL_END] = {"end_ns", CAIRN_U64},
    [CALL_TOTAL] = {"total_ns", CAIRN_U64},
    [CALL_SELF] = {"self_ns", CAIRN_U64},
    [CALL_ARGUMENTS] = {"arguments", CAIRN_TEXT},
    [CALL_RESULT] = {"result", CAIRN_TEXT},
};

struct recorded_filling {
    struct cairn_table *table;
    const struct cn_recording *rec;
    int32_t *names; /* codes by function and schedule id */
    bool has_values;
    struct cn_text *arguments; /* of the open calls, by depth */
    size_t level_capacity;
    struct cn_text result;
};

/* Ids after those of the functions are waits. */
static int32_t name_code(struct recorded_filling *f, const struct cn_span *span)
{
    struct cn_frame_column *column = cn_frame_column(f->table, CALL_NAME);
    char buffer[CN_CALL_NAME_MAX];

    if (span->function >= f->rec->function_count + 2)
        return cn_column_code(column, cn_span_name(f->rec, span, buffer));
    if (f->names[span->function] == CN_CODE_UNSET)
        f->names[span->function] =
            cn_column_code(column, cn_span_name(f->rec, span, buffer));
    return f->names[span->function];
}

static void note_arguments(struct recorded_filling *f, const struct cn_span *span)
{
    size_t had = f->level_capacity;

    CN_GROW_TO(f->arguments, span->depth + 1, f->level_capacity);
    memset(f->arguments + had, 0, (f->level_capacity - had) * sizeof(*f->arguments));
    cn_text_clear(&f->arguments[span->depth]);
    if (cn_span_has_values(span))
        cn_span_values(f->rec, span, &f->arguments[span->depth]);
}

static void add_texts(struct recorded_filling *f, const struct cn_span *span)
{
    bool has_result = cn_span_has_values(span);
    const struct cn_text *arguments = span->has_begin && span->depth < f->level_capacity
                                          ? &f->arguments[span->depth]
                                          : NULL;

    if (has_result)
        cn_span_values(f->rec, span, &f->result);
    cn_column_text(cn_frame_column(f->table, CALL_ARGUMENTS),
                   arguments && arguments->len > 0 ? cn_text_str(arguments) : NULL);
    cn_column_text(cn_frame_column(f->table, CALL_RESULT),
                   has_result ? cn_text_str(&f->result) : NULL);
}

static void add_span(void *arg, const struct cn_span *span)
{
    struct recorded_filling *f = arg;
    struct cairn_table *table = f->table;

    if (span->kind == CN_SPAN_BEGIN && f->has_values)
        note_arguments(f, span);
    if (span->kind != CN_SPAN_END || !span->has_begin)
        return;
    cn_column_u32(cn_frame_column(table, CALL_TASK), span->task);
    cn_column_u32(cn_frame_column(table, CALL_TID), f->rec->tasks[span->task].tid);
    cn_column_u32(cn_frame_column(table, CALL_DEPTH), span->depth);
    cn_column_category(cn_frame_column(table, CALL_NAME), name_code(f, span));
    cn_column_u32_or(cn_frame_column(table, CALL_FUNCTION),
                     span->function < f->rec->function_count ? span->function : CN_NONE,
                     CN_NONE);
    cn_column_u64(cn_frame_column(table, CALL_BEGIN), span->begin_ns);
    cn_column_u64(cn_frame_column(table, CALL_END), span->time_ns);
    cn_column_u64(cn_frame_column(table, CALL_TOTAL), span->total_ns);
    cn_column_u64(cn_frame_column(table, CALL_SELF), span->self_ns);
    if (f->has_values)
        add_texts(f, span);
}

static void add_damage(struct cairn_table *table, uint32_t tid,
                       const struct cn_error *err)
{
    char *text = cn_strprintf("%s%stask %u: %s", table->damage ? table->damage : "",
                              table->damage ? "; " : "", (unsigned)tid, err->text);

    free(table->damage);
    table->damage = cn_strdup(text);
    free(text);
}

/* Everything before the damage of a task is added. */
static void add_task(struct recorded_filling *f, const struct cn_call_query *query,
                     uint32_t task)
{
    struct cn_spans *spans;
    struct cn_error err = {0};
    enum cn_step step = CN_FAIL;

    if (cn_spans_open(&spans, query, task, &err)) {
        while ((step = cn_spans_next(spans, add_span, f, &err)) == CN_ITEM)
            continue;
        cn_spans_finish(spans, add_span, f);
        cn_spans_close(spans);
    }
    if (step == CN_FAIL)
        add_damage(f->table, f->rec->tasks[task].tid, &err);
}

static void add_tasks(struct cairn_table *table, const struct cn_call_query *query,
                      bool has_values)
{
    const struct cn_recording *rec = query->rec;
    size_t name_count = (size_t)rec->function_count + 2;
    struct recorded_filling f = {.table = table, .rec = rec, .has_values = has_values};

    f.names = cn_alloc(name_count, sizeof(*f.names));
    for (size_t i = 0; i < name_count; i++)
        f.names[i] = CN_CODE_UNSET;
    for (size_t i = 0; i <= (has_values ? CALL_RESULT : CALL_SELF); i++)
        (void)cn_frame_add(table, call_columns[i].name, call_columns[i].type);
    for (uint32_t i = 0; i < query->task_count; i++)
        add_task(&f, query, query->tasks[i]);
    cn_frame_finish(table);
    for (size_t i = 0; i < f.level_capacity; i++)
        cn_text_done(&f.arguments[i]);
    free(f.arguments);
    free(f.names);
    cn_text_done(&f.result);
}

struct cairn_table *cairn_recording_calls(struct cairn_data *data,
                                          const struct cairn_call_options *given,
                                          struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cairn_call_options options;
    struct cairn_table *table = NULL;
    struct cn_all_calls calls;

    if (!cn_lib_needs(data, CAIRN_RECORDING, e))
        return NULL;
    cn_lib_options(&options, sizeof(options), given);
    if (cn_lib_calls_init(&calls, data->rec, &options, e)) {
        table = cn_frame_new();
        add_tasks(table, &calls.query, options.has_values);
    }
    cn_all_calls_done(&calls);
    return table;
}

static const char *const report_columns[] = {
    "name",         "module",       "file",         "line",
    "calls",        "total_ns",     "self_ns",      "total_min_ns",
    "total_max_ns", "total_p50_ns", "total_p90_ns", "total_p99_ns",
};
enum { REPORT_LINE = 3 }; /* texts before it, numbers of calls and ns after it */

static void add_report_row(struct cairn_table *table, const struct cn_recording *rec,
                           const struct cn_call_row *row)
{
    const struct cn_call_function *function =
        row->function < rec->function_count ? &rec->functions[row->function] : NULL;
    const struct cn_call_cost *cost = &row->cost;
    size_t at = 0;

    cn_column_text(cn_frame_column(table, at++), row->name);
    cn_column_text(cn_frame_column(table, at++),
                   function ? rec->modules[function->module].path : NULL);
    cn_column_text(cn_frame_column(table, at++),
                   function && function->file[0] ? function->file : NULL);
    cn_column_u32_or(cn_frame_column(table, at++), function ? function->line : 0, 0);
    cn_column_u64(cn_frame_column(table, at++), cost->calls);
    cn_column_u64(cn_frame_column(table, at++), cost->total_ns);
    cn_column_u64(cn_frame_column(table, at++), cost->self.sum_ns);
    cn_column_u64(cn_frame_column(table, at++),
                  cn_duration_resolved(cost->total.min_ns, row->resolution_ns));
    cn_column_u64(cn_frame_column(table, at++),
                  cn_duration_resolved(cost->total.max_ns, row->resolution_ns));
    for (size_t i = 0; i < CN_PERCENTILES_SHOWN; i++) {
        uint64_t ns;

        if (cn_call_row_percentile(row, false, (enum cn_percentile)i, &ns))
            cn_column_u64(cn_frame_column(table, at++), ns);
        else
            cn_column_u64_null(cn_frame_column(table, at++));
    }
}

static struct cairn_table *report_table(const struct cn_recording *rec,
                                        struct cn_call_report *report)
{
    struct cairn_table *table = cn_frame_new();

    for (size_t i = 0; i < sizeof(report_columns) / sizeof(*report_columns); i++)
        (void)cn_frame_add(table, report_columns[i],
                           i < REPORT_LINE    ? CAIRN_CATEGORY
                           : i == REPORT_LINE ? CAIRN_U32
                                              : CAIRN_U64);
    CN_SORT(report->rows, report->row_count, CN_DOWN(struct cn_call_row, cost.total_ns),
            CN_UP(struct cn_call_row, name));
    for (size_t i = 0; i < report->row_count; i++)
        add_report_row(table, rec, &report->rows[i]);
    for (size_t i = 0; i < report->damages.count; i++)
        add_damage(table, rec->tasks[report->damages.list[i].task].tid,
                   &report->damages.list[i].err);
    cn_frame_finish(table);
    return table;
}

struct cairn_table *cairn_recording_report(struct cairn_data *data,
                                           const struct cairn_call_options *options,
                                           struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cn_call_report report = {0};
    struct cairn_table *table = NULL;
    struct cn_all_calls calls;

    if (!cn_lib_needs(data, CAIRN_RECORDING, e))
        return NULL;
    if (cn_lib_calls_init(&calls, data->rec, options, e)) {
        if (cn_call_report_build(&report, &calls.query, cn_pool_default_workers(),
                                 (struct cn_call_report_options){.with_histograms = true},
                                 e))
            table = report_table(data->rec, &report);
        else
            (void)cn_fail_in(e, "%s", data->path);
        cn_call_report_done(&report);
    }
    cn_all_calls_done(&calls);
    return table;
}

struct cairn_calls {
    bool is_broken;
    struct cairn_data *data;
    struct cn_call_stream *stream;
    uint32_t task;
    struct cn_call_batch batch;
    bool has_ended;
    struct cn_text text;
};

struct cairn_calls *cairn_calls_new(struct cairn_data *data, uint32_t task,
                                    uint64_t from_ns, uint64_t to_ns,
                                    struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(NULL, data, err, NULL, data);
    struct cn_time_range range = {from_ns, to_ns ? to_ns : UINT64_MAX};
    struct cairn_calls *calls;
    struct cn_call_stream *stream;

    if (!cn_lib_needs(data, CAIRN_RECORDING, e) ||
        !check_number(data, "task", task, data->rec->task_count, e))
        return NULL;
    if (!cn_recording_stream_open(data->rec, task, range, &stream, e)) {
        (void)cn_fail_in(e, "%s", data->path);
        return NULL;
    }
    calls = cn_alloc(1, sizeof(*calls));
    *calls = (struct cairn_calls){.data = data, .stream = stream, .task = task};
    return calls;
}

enum cairn_step cairn_calls_next(struct cairn_calls *calls, const struct cairn_call **out,
                                 size_t *count, struct cairn_error *err)
{
    CN_LIB_BEGIN_WITH(&calls->is_broken, calls->data, err, CAIRN_FAIL, calls, out, count);
    enum cn_step step =
        calls->has_ended ? CN_END : cn_call_stream_next(calls->stream, &calls->batch, e);

    calls->has_ended = step != CN_ITEM;
    if (step == CN_ITEM) {
        *out = (const struct cairn_call *)calls->batch.calls;
        *count = calls->batch.count;
        return CAIRN_ITEM;
    }
    calls->batch = (struct cn_call_batch){0};
    if (step == CN_END)
        return CAIRN_END;
    (void)cn_fail_in(e, "%s: task %u", calls->data->path,
                     (unsigned)calls->data->rec->tasks[calls->task].tid);
    return CAIRN_FAIL;
}

const char *cairn_calls_values(struct cairn_calls *calls, size_t number)
{
    CN_LIB_BEGIN_WITH(&calls->is_broken, calls->data, NULL, NULL, calls);
    const struct cn_recording *rec = calls->data->rec;

    cn_text_clear(&calls->text);
    if (number >= calls->batch.count)
        return "";
    const struct cn_call *call = &calls->batch.calls[number];
    if (!(call->flags & CN_CALL_HAS_DATA))
        return "";
    if (call->kind == CN_CALL_EVENT)
        (void)cn_recording_print_task_event(rec, calls->task, &calls->batch, call, false,
                                            &calls->text);
    else
        cn_recording_print_arguments(rec, calls->task, &calls->batch, call, &calls->text);
    return cn_text_str(&calls->text);
}

void cairn_calls_free(struct cairn_calls *calls)
{
    CN_LIB_BEGIN(NULL, NULL, NULL, );

    if (!calls)
        return;
    if (!calls->is_broken) {
        cn_call_stream_close(calls->stream);
        cn_text_done(&calls->text);
    }
    free(calls);
}
