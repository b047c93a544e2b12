/* The tables `report` of a recording, and `states`, also of a database. */

#include "analyze/timeline/task_tracks.h"
#include "base/alloc.h"
#include "sql/table.h"

/* The rows of cairn report: counted by all processors, without a row for each call. */
enum {
    REPORT_NAME,
    REPORT_CALLS,
    REPORT_TOTAL,
    REPORT_SELF,
    REPORT_TOTAL_MIN,
    REPORT_TOTAL_AVG,
    REPORT_TOTAL_MAX,
    REPORT_SELF_MIN,
    REPORT_SELF_AVG,
    REPORT_SELF_MAX,
    REPORT_SUM,
    REPORT_THREAD,
    REPORT_FIRST,
    REPORT_LAST,
};

static const struct cn_table_shape report_shape = {
    .name = "report",
    .columns = {{"name", CN_CELL_TEXT},
                {"calls", CN_CELL_INTEGER},
                {"total_ns", CN_CELL_INTEGER},
                {"self_ns", CN_CELL_INTEGER},
                {"total_min_ns", CN_CELL_INTEGER},
                {"total_avg_ns", CN_CELL_INTEGER},
                {"total_max_ns", CN_CELL_INTEGER},
                {"self_min_ns", CN_CELL_INTEGER},
                {"self_avg_ns", CN_CELL_INTEGER},
                {"self_max_ns", CN_CELL_INTEGER},
                {"sum_ns", CN_CELL_INTEGER},
                {"thread", CN_CELL_INTEGER},
                {"first_ns", CN_CELL_INTEGER},
                {"last_ns", CN_CELL_INTEGER}},
};

struct report_scan {
    struct cn_sql_scan base;
    size_t next;
};

/* Build the report unless the last statement or loop asked for the same one. */
static bool build_report(struct cn_sql_data *data, const struct cn_sql_range *keys,
                         struct cn_error *err)
{
    struct cn_call_query query = data->calls.query;
    struct cn_call_report_options options = {0};
    uint32_t task = 0;

    if (data->has_report && memcmp(data->report_of, keys, sizeof(data->report_of)) == 0)
        return true;
    if (data->has_report)
        cn_call_report_done(&data->report);
    data->report = (struct cn_call_report){0};
    data->has_report = true;
    /* A failed report is not reused: these are the parameters of none. */
    memset(data->report_of, 0xff, sizeof(data->report_of));
    if (cn_sql_range_is_one(keys[0])) {
        task = (uint32_t)keys[0].first;
        query.tasks = &task;
        query.task_count = keys[0].first >= 0 && keys[0].first < data->rec->task_count;
    }
    if (cn_sql_range_is_one(keys[1]) && keys[1].first > 0)
        query.range.first_ns = (uint64_t)keys[1].first;
    if (cn_sql_range_is_one(keys[2]) && keys[2].first >= 0)
        query.range.last_ns = (uint64_t)keys[2].first;
    query.progress = cn_sql_progress(data->sql);
    if (!cn_call_report_build(&data->report, &query, 0, options, err))
        return false;
    for (size_t i = 0; i < data->report.damages.count; i++) {
        struct cn_call_damage *damage = &data->report.damages.list[i];

        (void)cn_fail_in(&damage->err, "task %u", data->rec->tasks[damage->task].tid);
        cn_sql_data_damage(data, &damage->err);
    }
    memcpy(data->report_of, keys, sizeof(data->report_of));
    return true;
}

static bool report_open(struct cn_sql_data *data, const struct cn_sql_table *table,
                        const struct cn_sql_ask *ask, struct cn_sql_scan **out,
                        struct cn_error *err)
{
    (void)table;
    if (!cn_sql_data_calls(data, err) || !build_report(data, ask->keys, err))
        return false;
    struct report_scan *scan = cn_alloc(1, sizeof(*scan));
    *out = &scan->base;
    return true;
}

static enum cn_step report_next(struct cn_sql_scan *base, struct cn_error *err)
{
    struct report_scan *scan = (struct report_scan *)base;

    (void)err;
    if (scan->next >= base->data->report.row_count)
        return CN_END;
    scan->next++;
    return CN_ITEM;
}

static bool report_cell(struct cn_sql_scan *base, unsigned column,
                        struct cn_sql_cell *out, struct cn_error *err)
{
    const struct report_scan *scan = (const struct report_scan *)base;
    const struct cn_call_row *row = &base->data->report.rows[scan->next - 1];
    const struct cn_call_cost *cost = &row->cost;
    const uint64_t numbers[] = {
        [REPORT_CALLS] = cost->calls,
        [REPORT_TOTAL] = cost->total_ns,
        [REPORT_SELF] = cost->self.sum_ns,
        [REPORT_TOTAL_MIN] = cn_duration_resolved(cost->total.min_ns, row->resolution_ns),
        [REPORT_TOTAL_AVG] = cn_call_times_mean(&cost->total, cost->calls),
        [REPORT_TOTAL_MAX] = cn_duration_resolved(cost->total.max_ns, row->resolution_ns),
        [REPORT_SELF_MIN] = cn_duration_resolved(cost->self.min_ns, row->resolution_ns),
        [REPORT_SELF_AVG] = cn_call_times_mean(&cost->self, cost->calls),
        [REPORT_SELF_MAX] = cn_duration_resolved(cost->self.max_ns, row->resolution_ns),
        [REPORT_SUM] = cost->total.sum_ns,
    };

    (void)err;
    if (column == REPORT_NAME)
        cn_sql_cell_text(out, row->name, false);
    else if (column >= REPORT_THREAD)
        cn_sql_cell_text(out, NULL, false); /* parameters have no value of their own */
    else
        cn_sql_cell_integer(out, numbers[column]);
    return true;
}

static uint64_t report_count(struct cn_sql_data *data)
{
    return data->rec ? data->rec->function_count + 1 : 1;
}

const struct cn_sql_table cn_sql_report = {
    .shape = &report_shape,
    .hidden_count = 3,
    .key_count = 3,
    .keys = {REPORT_THREAD, REPORT_FIRST, REPORT_LAST},
    .text_key = CN_SQL_NO_COLUMN,
    .row_count = report_count,
    .open = report_open,
    .next = report_next,
    .cell = report_cell,
    .close = cn_sql_scan_free,
};

/* A row for each thread and state: those of cairn report --task. */
static const struct cn_table_shape states_shape = {
    .name = "states",
    .columns = {{"thread", CN_CELL_INTEGER},
                {"state", CN_CELL_TEXT},
                {"ns", CN_CELL_INTEGER},
                {"outside_ns", CN_CELL_INTEGER}},
};

static bool find_states(const struct cn_export *x, struct cn_task_states *out,
                        struct cn_error *err)
{
    const struct cn_call_query *query = x->query;

    if (query)
        return cn_task_states_build(out, query->rec, query->range, 0, query->progress,
                                    err);
    cn_task_states_of_database(out, x->db);
    return true;
}

static bool add_states(struct cn_table_rows *rows, struct cn_error *err)
{
    struct cn_task_states states;
    struct cn_rows_table table;

    if (!find_states(rows->x, &states, err))
        return false;
    cn_rows_begin(&table, rows, &states_shape);
    /* Profile 0 of a database is the summary. */
    for (size_t i = rows->x->query ? 0 : 1; states.is_known && i < states.count; i++) {
        for (unsigned k = 0; k < CN_TASK_STATES; k++) {
            cn_rows_integer(&table, i);
            cn_rows_text(&table, cn_task_state_names[k]);
            cn_rows_integer(&table, states.list[i].ns[k]);
            if (k == CN_TASK_UNKNOWN)
                cn_rows_null(&table);
            else
                cn_rows_integer(&table, states.list[i].outside_ns[k]);
            cn_rows_row(&table);
        }
    }
    cn_rows_end(&table);
    cn_task_states_done(&states);
    return true;
}

const struct cn_sql_table cn_sql_states = {
    .shape = &states_shape, .add = add_states, CN_SQL_IN_MEMORY};
