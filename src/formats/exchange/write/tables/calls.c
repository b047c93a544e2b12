/* The tables of a recording. */

#include <stdlib.h>

#include "analyze/calls/flows.h"
#include "base/alloc.h"
#include "formats/exchange/write/spans/finished.h"
#include "formats/exchange/write/tables/tables.h"

const struct cn_table_shape cn_facts_table = {
    .name = "facts",
    .columns = {{"key", CN_CELL_TEXT}, {"value", CN_CELL_TEXT}},
};

const struct cn_table_shape cn_tasks_table = {
    .name = "threads",
    .columns = {{"id", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT},
                {"tid", CN_CELL_INTEGER},
                {"pid", CN_CELL_INTEGER},
                {"parent", CN_CELL_INTEGER},
                {"is_fork", CN_CELL_INTEGER},
                {"start_ns", CN_CELL_INTEGER}},
    .has_key = true,
};

const struct cn_table_shape cn_functions_table = {
    .name = "functions",
    .columns = {{"id", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT},
                {"module", CN_CELL_TEXT},
                {"file", CN_CELL_TEXT},
                {"line", CN_CELL_INTEGER},
                {"offset", CN_CELL_INTEGER},
                {"size", CN_CELL_INTEGER}},
    .has_key = true,
    .indexes = "name",
};

const struct cn_table_shape cn_calls_table = {
    .name = "calls",
    .columns = {{"id", CN_CELL_INTEGER},
                {"thread", CN_CELL_INTEGER},
                {"parent", CN_CELL_INTEGER},
                {"depth", CN_CELL_INTEGER},
                {"function", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT},
                {"begin_ns", CN_CELL_INTEGER},
                {"end_ns", CN_CELL_INTEGER},
                {"total_ns", CN_CELL_INTEGER},
                {"self_ns", CN_CELL_INTEGER},
                {"arguments", CN_CELL_TEXT},
                {"result", CN_CELL_TEXT}},
    .has_key = true,
    .indexes = "thread,begin_ns;function;name;parent",
};

const struct cn_table_shape cn_events_table = {
    .name = "events",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"time_ns", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT},
                {"data", CN_CELL_TEXT}},
    .indexes = "thread,time_ns",
};

const struct cn_table_shape cn_flows_table = {
    .name = "flows",
    .columns = {{"from_thread", CN_CELL_INTEGER},
                {"from_ns", CN_CELL_INTEGER},
                {"from_depth", CN_CELL_INTEGER},
                {"to_thread", CN_CELL_INTEGER},
                {"to_ns", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT}},
    .indexes = "from_thread,from_ns;to_thread,to_ns",
};

/* Calls and events, task after task. */
struct calls_filling {
    struct cn_rows_table calls, events;
    bool *is_used;    /* by function */
    uint64_t last_id; /* of the calls so far; the first is 1 */
};

bool cn_tables_add_facts(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_recording *rec = rows->x->query->rec;
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &cn_facts_table);
    for (uint32_t i = 0; i < rec->fact_count; i++) {
        cn_rows_text(&table, rec->facts[i].key);
        cn_rows_text(&table, rec->facts[i].value);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
    (void)err;
    return true;
}

bool cn_tables_add_tasks(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_call_query *query = rows->x->query;
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &cn_tasks_table);
    for (uint32_t i = 0; i < query->task_count; i++) {
        const struct cn_task *task = &query->rec->tasks[query->tasks[i]];

        cn_rows_integer(&table, query->tasks[i]);
        cn_rows_text(&table, task->name);
        cn_rows_integer(&table, task->tid);
        cn_rows_integer(&table, task->pid);
        cn_rows_index(&table, task->parent);
        cn_rows_integer(&table, task->is_fork);
        cn_rows_integer(&table, task->time_ns);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
    (void)err;
    return true;
}

bool cn_tables_add_flows(struct cn_table_rows *rows, struct cn_error *err)
{
    const struct cn_recording *rec = rows->x->query->rec;
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &cn_flows_table);
    for (uint32_t i = 0; i < cn_call_flow_count(rec); i++) {
        struct cn_flow flow;

        if (!cn_call_flow_at(rec, i, &flow))
            continue;
        cn_rows_integer(&table, flow.from_task);
        cn_rows_integer(&table, flow.from_ns);
        /* Depths of calls count from 0. */
        cn_rows_index(&table, flow.from_depth > 0 ? flow.from_depth - 1 : CN_NONE);
        cn_rows_integer(&table, flow.to_task);
        cn_rows_integer(&table, flow.to_ns);
        cn_rows_text(&table, *flow.name ? flow.name : NULL);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
    (void)err;
    return true;
}

static void add_call(struct calls_filling *f, const struct cn_span *span,
                     const struct cn_finished_call *call, bool is_function)
{
    cn_rows_integer(&f->calls, call->id);
    cn_rows_integer(&f->calls, span->task);
    cn_rows_known(&f->calls, call->parent_id);
    cn_rows_integer(&f->calls, span->depth);
    cn_rows_index(&f->calls, is_function ? span->function : CN_NONE);
    cn_rows_text(&f->calls, call->name);
    cn_rows_integer(&f->calls, span->begin_ns);
    cn_rows_integer(&f->calls, span->time_ns);
    cn_rows_integer(&f->calls, span->total_ns);
    cn_rows_integer(&f->calls, span->self_ns);
    cn_rows_text(&f->calls, call->arguments[0] ? call->arguments : NULL);
    cn_rows_text(&f->calls, cn_span_has_values(span) ? call->result : NULL);
    cn_rows_row(&f->calls);
}

static void add_event(struct calls_filling *f, struct cn_writer *writer,
                      const struct cn_span *span)
{
    bool has_data = cn_span_event_data(writer->rec, span, &writer->scratch);

    if (span->kind == CN_SPAN_LOST)
        cn_text_u64(&writer->scratch, span->address);
    cn_rows_integer(&f->events, span->task);
    cn_rows_integer(&f->events, span->time_ns);
    cn_rows_text(&f->events, cn_span_event_name(writer->rec, span));
    cn_rows_text(&f->events, has_data || span->kind == CN_SPAN_LOST
                                 ? cn_text_str(&writer->scratch)
                                 : NULL);
    cn_rows_row(&f->events);
}

static void begin_writer(struct cn_writer *writer)
{
    struct calls_filling *f = writer->arg;

    writer->own = cn_finished_new(writer, f->last_id + 1, 0);
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_writer *writer = arg;
    struct calls_filling *f = writer->arg;
    bool is_function = span->function < writer->rec->function_count;
    struct cn_finished_call call;

    if (span->kind == CN_SPAN_EVENT || span->kind == CN_SPAN_LOST)
        add_event(f, writer, span);
    if (!cn_finished_visit(writer->own, span, &call))
        return;
    if (is_function)
        f->is_used[span->function] = true;
    if (call.id > f->last_id)
        f->last_id = call.id;
    add_call(f, span, &call, is_function);
}

static void end_writer(struct cn_writer *writer)
{
    cn_finished_free(writer->own);
}

void cn_tables_add_functions(struct cn_table_rows *rows, const bool *is_used)
{
    const struct cn_recording *rec = rows->x->query->rec;
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &cn_functions_table);
    for (uint32_t i = 0; i < rec->function_count; i++) {
        const struct cn_call_function *function = &rec->functions[i];

        if (is_used && !is_used[i])
            continue;
        cn_rows_integer(&table, i);
        cn_rows_text(&table, function->name);
        cn_rows_text(&table, rec->modules[function->module].path);
        cn_rows_text(&table, function->file);
        cn_rows_integer(&table, function->line);
        cn_rows_integer(&table, function->offset);
        cn_rows_integer(&table, function->size);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
}

bool cn_tables_of_calls(struct cn_table_rows *rows, struct cn_error *err)
{
    static const struct cn_writer_ops ops = {
        .begin = begin_writer, .visit = visit, .end = end_writer, .is_sequential = true};
    const struct cn_recording *rec = rows->x->query->rec;
    struct calls_filling f = {0};
    struct cn_span_counts counts = {0};
    bool ok;

    f.is_used = cn_alloc(rec->function_count, sizeof(*f.is_used));
    ok = cn_tables_add_facts(rows, err) && cn_tables_add_tasks(rows, err) &&
         cn_tables_add_flows(rows, err);
    cn_rows_begin(&f.calls, rows, &cn_calls_table);
    cn_rows_begin(&f.events, rows, &cn_events_table);
    ok = ok && cn_export_writers(rows->x, &ops, &f, &counts, err);
    cn_rows_end(&f.calls);
    cn_rows_end(&f.events);
    cn_tables_add_functions(rows, f.is_used);
    cn_export_lose_counts(rows->x, &counts, true, true);
    free(f.is_used);
    return ok;
}
