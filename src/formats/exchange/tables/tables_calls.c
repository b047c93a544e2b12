/* The tables of a recording. */

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/exchange/spans/lanes.h"
#include "formats/exchange/spans/span_text.h"
#include "formats/exchange/tables/tables.h"

static const struct cn_table_shape facts_shape = {
    .name = "facts",
    .columns = {{"key", CN_CELL_TEXT}, {"value", CN_CELL_TEXT}},
};

static const struct cn_table_shape threads_shape = {
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

static const struct cn_table_shape functions_shape = {
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

static const struct cn_table_shape calls_shape = {
    .name = "calls",
    .columns = {{"id", CN_CELL_INTEGER},
                {"thread", CN_CELL_INTEGER},
                {"parent", CN_CELL_INTEGER},
                {"depth", CN_CELL_INTEGER},
                {"function", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT},
                {"begin_ns", CN_CELL_INTEGER},
                {"end_ns", CN_CELL_INTEGER},
                {"self_ns", CN_CELL_INTEGER},
                {"arguments", CN_CELL_TEXT},
                {"result", CN_CELL_TEXT}},
    .has_key = true,
    .indexes = "thread,begin_ns;function;name;parent",
};

static const struct cn_table_shape events_shape = {
    .name = "events",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"time_ns", CN_CELL_INTEGER},
                {"name", CN_CELL_TEXT},
                {"data", CN_CELL_TEXT}},
    .indexes = "thread,time_ns",
};

/* Calls and events while tasks are read, one after another. */
struct filling {
    struct cn_rows *rows;
    struct cn_rows_table calls, events;
    bool *is_used;   /* by function */
    uint64_t before; /* ids of the tasks before */
    uint64_t last;   /* the largest id so far */
    struct level {
        uint64_t id;
        struct cn_text arguments;
    } * levels;
    size_t count, capacity;
};

static void add_facts(struct cn_rows *rows, const struct cn_recording *rec)
{
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &facts_shape);
    for (uint32_t i = 0; i < rec->fact_count; i++) {
        cn_rows_text(&table, rec->facts[i].key);
        cn_rows_text(&table, rec->facts[i].value);
        cn_rows_row(&table);
    }
    cn_rows_end(&table);
}

static void add_threads(struct cn_rows *rows, const struct cn_call_query *query)
{
    struct cn_rows_table table;

    cn_rows_begin(&table, rows, &threads_shape);
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
}

static void begin_call(struct filling *f, const struct cn_lane *lane,
                       const struct cn_span *span)
{
    struct level *level;

    if (span->depth == f->count) {
        f->levels = cn_grow(f->levels, f->count, &f->capacity, sizeof(*f->levels));
        f->levels[f->count++] = (struct level){0};
    }
    level = &f->levels[span->depth];
    level->id = f->before + span->number + 1;
    if (level->id > f->last)
        f->last = level->id;
    cn_text_clear(&level->arguments);
    if (cn_span_has_values(span))
        cn_span_values(lane->x->query->rec, lane->x->query->tasks[lane->slot], span,
                       &level->arguments);
}

static void end_call(struct filling *f, struct cn_lane *lane, const struct cn_span *span)
{
    const struct cn_recording *rec = lane->x->query->rec;
    const struct level *level = &f->levels[span->depth];
    uint64_t total_ns = span->time_ns - span->begin_ns;
    bool is_function = span->function < rec->function_count;
    char buffer[CN_CALL_NAME_MAX];

    if (is_function)
        f->is_used[span->function] = true;
    cn_rows_integer(&f->calls, level->id);
    cn_rows_integer(&f->calls, lane->x->query->tasks[lane->slot]);
    if (span->depth > 0)
        cn_rows_integer(&f->calls, level[-1].id);
    else
        cn_rows_null(&f->calls);
    cn_rows_integer(&f->calls, span->depth);
    cn_rows_index(&f->calls, is_function ? span->function : CN_NONE);
    cn_rows_text(&f->calls, cn_span_name(rec, span, buffer));
    cn_rows_integer(&f->calls, span->begin_ns);
    cn_rows_integer(&f->calls, span->time_ns);
    cn_rows_integer(&f->calls, total_ns > span->child_ns ? total_ns - span->child_ns : 0);
    if (level->arguments.len > 0)
        cn_rows_text(&f->calls, cn_text_str(&level->arguments));
    else
        cn_rows_null(&f->calls);
    if (cn_span_has_values(span)) {
        cn_span_values(rec, lane->x->query->tasks[lane->slot], span, &lane->scratch);
        cn_rows_text(&f->calls, cn_text_str(&lane->scratch));
    } else {
        cn_rows_null(&f->calls);
    }
    cn_rows_row(&f->calls);
}

static void add_event(struct filling *f, struct cn_lane *lane, const struct cn_span *span)
{
    const struct cn_recording *rec = lane->x->query->rec;

    cn_rows_integer(&f->events, lane->x->query->tasks[lane->slot]);
    cn_rows_integer(&f->events, span->time_ns);
    cn_rows_text(&f->events, cn_span_event_name(rec, span));
    if (span->kind == CN_SPAN_LOST) {
        cn_text_clear(&lane->scratch);
        cn_text_u64(&lane->scratch, span->address);
        cn_rows_text(&f->events, cn_text_str(&lane->scratch));
    } else if (cn_span_event_data(rec, span, &lane->scratch)) {
        cn_rows_text(&f->events, cn_text_str(&lane->scratch));
    } else {
        cn_rows_null(&f->events);
    }
    cn_rows_row(&f->events);
}

static void begin_lane(struct cn_lane *lane)
{
    struct filling *f = *(struct filling *const *)lane->arg;

    lane->own = f;
    f->before = f->last;
}

static void visit(void *arg, const struct cn_span *span)
{
    struct cn_lane *lane = arg;
    struct filling *f = lane->own;

    switch ((enum cn_span_kind)span->kind) {
    case CN_SPAN_BEGIN:
        begin_call(f, lane, span);
        break;
    case CN_SPAN_END:
        lane->counts.without_begin += !span->has_begin;
        if (span->has_begin)
            end_call(f, lane, span);
        break;
    case CN_SPAN_EVENT:
    case CN_SPAN_LOST:
        lane->counts.lost += span->kind == CN_SPAN_LOST ? span->address : 0;
        add_event(f, lane, span);
        break;
    }
}

static void add_functions(const struct filling *f, const struct cn_recording *rec)
{
    struct cn_rows_table table;

    cn_rows_begin(&table, f->rows, &functions_shape);
    for (uint32_t i = 0; i < rec->function_count; i++) {
        const struct cn_call_function *function = &rec->functions[i];

        if (!f->is_used[i])
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

bool cn_tables_of_calls(struct cn_rows *rows)
{
    static const struct cn_lane_ops ops = {
        .begin = begin_lane, .visit = visit, .is_apart = true};
    const struct cn_recording *rec = rows->x->query->rec;
    struct filling filling = {.rows = rows}, *f = &filling;
    struct cn_lane_counts counts;
    struct cn_error err;

    filling.is_used = cn_alloc(rec->function_count, sizeof(*filling.is_used));
    add_facts(rows, rec);
    add_threads(rows, rows->x->query);
    cn_rows_begin(&filling.calls, rows, &calls_shape);
    cn_rows_begin(&filling.events, rows, &events_shape);
    if (!cn_export_lanes(rows->x, &ops, &f, &counts, &err) && rows->ok) {
        rows->ok = false;
        rows->err = err;
    }
    cn_rows_end(&filling.calls);
    cn_rows_end(&filling.events);
    add_functions(&filling, rec);
    cn_export_lose_counts(rows->x, &counts, true, true);
    for (size_t i = 0; i < filling.count; i++)
        cn_text_done(&filling.levels[i].arguments);
    free(filling.levels);
    free(filling.is_used);
    return rows->ok;
}
