#include "cli/recording/report_print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/call_tasks.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/text.h"
#include "cli/print/duration.h"
#include "cli/print/write.h"
#include "cli/shell/cli.h"
#include "model/calls/recording.h"

enum {
    FIELD_WIDTH = 10,
    TID_WIDTH = 7,
    TASK_NAME_WIDTH = 16,
    NAME_RULE = 20,
    BAR_WIDTH = 50,
    BUCKETS_A_LINE = 8,
};

static void add_heading(struct cn_text *text, const struct cn_report_layout *layout,
                        bool has_srcline)
{
    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
        if (layout->has[i]) {
            cn_text_str_add(text, "  ");
            cn_right_add(text, cn_report_columns[i].heading, FIELD_WIDTH);
        }
    }
    cn_text_str_add(text, has_srcline ? "  Function [Source]\n" : "  Function\n");
    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
        if (layout->has[i]) {
            cn_text_str_add(text, "  ");
            cn_text_fill(text, '=', FIELD_WIDTH);
        }
    }
    cn_text_str_add(text, "  ");
    cn_text_fill(text, '=', NAME_RULE);
    cn_text_char(text, '\n');
}

static void add_cell(struct cn_text *text, const struct cn_recording *rec,
                     const struct cn_call_row *row, enum cn_report_field field)
{
    switch (cn_report_columns[field].kind) {
    case CN_REPORT_TIME:
        cn_duration_add(text, cn_report_value(rec, row, field));
        break;
    case CN_REPORT_NUMBER:
        cn_number_add(text, cn_report_value(rec, row, field), FIELD_WIDTH);
        break;
    case CN_REPORT_PERCENT:
        /* 0 / 0 has a sign that nobody cares for. */
        if (row->cost.total.sum_ns == 0)
            cn_right_add(text, "nan%", FIELD_WIDTH);
        else
            cn_text_printf(text, "%9.2f%%", cn_report_percent(row, field));
        break;
    }
}

static void add_source(struct cn_text *text, const struct cn_recording *rec,
                       const struct cn_call_row *row)
{
    const struct cn_call_function *function;

    if (row->function >= rec->function_count)
        return;
    function = &rec->functions[row->function];
    if (!function->file[0])
        return;
    cn_text_str_add(text, " [");
    cn_utf8_add_printable(text, function->file);
    cn_text_printf(text, ":%" PRIu32 "]", function->line);
}

static void print_text(const struct cn_args *args, const struct cn_report_layout *layout,
                       const struct cn_recording *rec,
                       const struct cn_call_report *report)
{
    struct cn_text text = {0};
    bool has_srcline = cn_args_has(args, "srcline");

    add_heading(&text, layout, has_srcline);
    for (size_t r = 0; r < report->row_count; r++) {
        const struct cn_call_row *row = &report->rows[r];

        for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
            if (layout->has[i]) {
                cn_text_str_add(&text, "  ");
                add_cell(&text, rec, row, (enum cn_report_field)i);
            }
        }
        cn_text_str_add(&text, "  ");
        cn_utf8_add_printable(&text, row->name);
        if (has_srcline)
            add_source(&text, rec, row);
        cn_text_char(&text, '\n');
    }
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

static void print_csv(const struct cn_args *args, const struct cn_report_layout *layout,
                      const struct cn_recording *rec, const struct cn_call_report *report)
{
    struct cn_text text = {0};

    cn_text_char(&text, '#');
    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++)
        if (layout->has[i])
            cn_text_printf(&text, "%s,", cn_report_columns[i].heading);
    cn_text_str_add(&text, "Function\n");
    for (size_t r = 0; r < report->row_count; r++) {
        const struct cn_call_row *row = &report->rows[r];

        for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
            enum cn_report_field field = (enum cn_report_field)i;

            if (!layout->has[i])
                continue;
            if (cn_report_columns[i].kind == CN_REPORT_PERCENT)
                cn_text_printf(&text, "%.2f,", cn_report_percent(row, field));
            else
                cn_text_printf(&text, "%" PRIu64 ",", cn_report_value(rec, row, field));
        }
        cn_csv_add(&text, row->name);
        cn_text_char(&text, '\n');
    }
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

static void print_json(const struct cn_args *args, const struct cn_report_layout *layout,
                       const struct cn_recording *rec,
                       const struct cn_call_report *report)
{
    struct cn_column columns[CN_REPORT_FIELD_COUNT + 1] = {0};
    size_t count = 0;
    struct cn_table *table;

    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
        bool is_percent = cn_report_columns[i].kind == CN_REPORT_PERCENT;

        if (layout->has[i])
            columns[count++] = (struct cn_column){
                .name = cn_report_columns[i].key,
                .title = cn_report_columns[i].heading,
                .kind = is_percent ? CN_COLUMN_F64 : CN_COLUMN_U64,
            };
    }
    columns[count++] = (struct cn_column){
        .name = "function", .title = "Function", .kind = CN_COLUMN_TEXT};
    table = cn_cli_table(args, columns, count);
    for (size_t r = 0; r < report->row_count; r++) {
        const struct cn_call_row *row = &report->rows[r];

        for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
            enum cn_report_field field = (enum cn_report_field)i;

            if (layout->has[i] && cn_report_columns[i].kind == CN_REPORT_PERCENT)
                cn_table_f64(table, cn_report_percent(row, field));
            else if (layout->has[i])
                cn_table_u64(table, cn_report_value(rec, row, field));
        }
        cn_table_str(table, row->name);
        cn_table_end_row(table);
    }
    cn_table_free(table);
}

void cn_report_print(const struct cn_args *args, const struct cn_report_layout *layout,
                     const struct cn_recording *rec, const struct cn_call_report *report)
{
    switch (cn_cli_format(args)) {
    case CN_TABLE_TEXT:
        print_text(args, layout, rec, report);
        break;
    case CN_TABLE_CSV:
        print_csv(args, layout, rec, report);
        break;
    case CN_TABLE_JSON:
        print_json(args, layout, rec, report);
        break;
    }
}

/* One line stands for several buckets: a quarter of a doubling. */
static void print_buckets(const struct cn_args *args,
                          const struct cn_call_histogram *histogram)
{
    static const struct cn_column columns[] = {
        {.name = "from_ns", .title = "FROM ns", .kind = CN_COLUMN_U64},
        {.name = "to_ns", .title = "TO ns", .kind = CN_COLUMN_U64},
        {.name = "calls", .title = "CALLS", .kind = CN_COLUMN_U64},
        {.name = "share", .title = "SHARE", .kind = CN_COLUMN_PERCENT},
        {.name = "bar", .title = "", .kind = CN_COLUMN_TEXT},
    };
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT;
    unsigned step = is_text ? BUCKETS_A_LINE : 1;
    struct cn_table *table = cn_cli_table(args, columns, is_text ? 5 : 4);
    char bar[BAR_WIDTH + 1];

    memset(bar, '#', BAR_WIDTH);
    for (unsigned i = 0; i < CN_HISTOGRAM_BUCKETS; i += step) {
        uint64_t from, to, low, calls = 0;

        (void)cn_call_histogram_bucket(histogram, i, &from, &to);
        for (unsigned k = 0; k < step; k++)
            calls += cn_call_histogram_bucket(histogram, i + k, &low, &to);
        if (calls == 0)
            continue;
        cn_table_u64(table, from);
        cn_table_u64(table, to);
        cn_table_u64(table, calls);
        cn_table_f64(table, 100 * (double)calls / (double)histogram->count);
        if (is_text) {
            size_t len = (size_t)((double)calls / (double)histogram->count * BAR_WIDTH);

            bar[len] = '\0';
            cn_table_str(table, bar);
            bar[len] = '#';
        }
        cn_table_end_row(table);
    }
    cn_table_free(table);
}

bool cn_report_print_histogram(const struct cn_args *args,
                               const struct cn_call_report *report, const char *function,
                               struct cn_error *err)
{
    for (size_t i = 0; i < report->row_count; i++) {
        if (strcmp(report->rows[i].name, function) == 0) {
            print_buckets(args, report->rows[i].totals);
            return true;
        }
    }
    return cn_fail(err, CN_ERR_NOT_FOUND, "function '%s' was never called", function);
}

enum { TASK_TOTAL, TASK_SELF, TASK_TID, TASK_FUNC, TASK_FIELD_COUNT };

static const struct {
    const char *name, *heading, *key;
    size_t width;
} task_fields[TASK_FIELD_COUNT] = {
    [TASK_TOTAL] = {"total", "Total time", "total_ns", FIELD_WIDTH},
    [TASK_SELF] = {"self", "Self time", "self_ns", FIELD_WIDTH},
    [TASK_TID] = {"tid", "TID", "tid", TID_WIDTH},
    [TASK_FUNC] = {"func", "Num funcs", "calls", FIELD_WIDTH},
};

static uint64_t task_value(const struct cn_recording *rec,
                           const struct cn_task_cost *cost, int field)
{
    switch (field) {
    case TASK_TOTAL:
        return cost->total_ns;
    case TASK_SELF:
        return cost->self_ns;
    case TASK_TID:
        return rec->tasks[cost->task].tid;
    default:
        return cost->calls;
    }
}

struct task_order {
    const struct cn_recording *rec;
    int field;
};

static int compare_tasks(const void *a, const void *b, void *arg)
{
    const struct task_order *order = arg;
    const struct cn_task_cost *x = a, *y = b;
    uint64_t p = task_value(order->rec, x, order->field),
             q = task_value(order->rec, y, order->field);

    if (p != q)
        return (p > q) == (order->field != TASK_TID) ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

static bool find_task_field(const char *name, size_t len, int *out, struct cn_error *err)
{
    for (int i = 0; i < TASK_FIELD_COUNT; i++) {
        if (strlen(task_fields[i].name) == len &&
            memcmp(task_fields[i].name, name, len) == 0) {
            *out = i;
            return true;
        }
    }
    return cn_fail(err, CN_ERR_USAGE,
                   "no field '%.*s' of tasks; there are: total, self, tid, func",
                   (int)len, name);
}

static bool parse_task_fields(const char *fields, bool *has, struct cn_error *err)
{
    for (int i = 0; i < TASK_FIELD_COUNT; i++)
        has[i] = !fields || fields[0] == '+';
    if (!fields || strcmp(fields, "none") == 0)
        return true;
    for (const char *at = fields + (fields[0] == '+'); *at;) {
        size_t len = strcspn(at, ",");
        int field;

        if (!find_task_field(at, len, &field, err))
            return false;
        has[field] = true;
        at += len + (at[len] == ',');
    }
    return true;
}

static void add_task_name(struct cn_text *text, const char *name)
{
    struct cn_text printable = {0};

    cn_utf8_add_printable(&printable, name);
    cn_text_printf(text, "  %-*s\n", TASK_NAME_WIDTH, cn_text_str(&printable));
    cn_text_done(&printable);
}

static void print_task_text(const struct cn_args *args, const struct cn_recording *rec,
                            const struct cn_call_tasks *tasks, const bool *has)
{
    struct cn_text text = {0};

    for (int i = 0; i < TASK_FIELD_COUNT; i++) {
        if (has[i]) {
            cn_text_str_add(&text, "  ");
            cn_right_add(&text, task_fields[i].heading, task_fields[i].width);
        }
    }
    cn_text_str_add(&text, "  Task name\n");
    for (int i = 0; i < TASK_FIELD_COUNT; i++) {
        if (has[i]) {
            cn_text_str_add(&text, "  ");
            cn_text_fill(&text, '=', task_fields[i].width);
        }
    }
    cn_text_str_add(&text, "  ");
    cn_text_fill(&text, '=', NAME_RULE);
    cn_text_char(&text, '\n');
    for (size_t t = 0; t < tasks->count; t++) {
        const struct cn_task_cost *cost = &tasks->list[t];

        for (int i = 0; i < TASK_FIELD_COUNT; i++) {
            uint64_t value = task_value(rec, cost, i);

            if (!has[i])
                continue;
            cn_text_str_add(&text, "  ");
            if (i == TASK_TOTAL || i == TASK_SELF)
                cn_duration_add(&text, value);
            else
                cn_number_add(&text, value, task_fields[i].width);
        }
        add_task_name(&text, rec->tasks[cost->task].name);
    }
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

static void print_task_table(const struct cn_args *args, const struct cn_recording *rec,
                             const struct cn_call_tasks *tasks, const bool *has)
{
    struct cn_column columns[TASK_FIELD_COUNT + 1] = {0};
    size_t count = 0;
    struct cn_table *table;

    for (int i = 0; i < TASK_FIELD_COUNT; i++)
        if (has[i])
            columns[count++] = (struct cn_column){.name = task_fields[i].key,
                                                  .title = task_fields[i].heading,
                                                  .kind = CN_COLUMN_U64};
    columns[count++] =
        (struct cn_column){.name = "task", .title = "Task name", .kind = CN_COLUMN_TEXT};
    table = cn_cli_table(args, columns, count);
    for (size_t t = 0; t < tasks->count; t++) {
        for (int i = 0; i < TASK_FIELD_COUNT; i++)
            if (has[i])
                cn_table_u64(table, task_value(rec, &tasks->list[t], i));
        cn_table_str(table, rec->tasks[tasks->list[t].task].name);
        cn_table_end_row(table);
    }
    cn_table_free(table);
}

bool cn_report_print_tasks(const struct cn_args *args, const struct cn_recording *rec,
                           struct cn_call_tasks *tasks, struct cn_error *err)
{
    const char *sort = cn_args_value(args, "sort");
    struct task_order order = {rec, TASK_TOTAL};
    bool has[TASK_FIELD_COUNT];
    size_t shown = 0;

    if (!parse_task_fields(cn_args_value(args, "output-fields"), has, err) ||
        (sort && !find_task_field(sort, strcspn(sort, ","), &order.field, err)))
        return false;
    /* A task without a record is none of the report's business. */
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->list[i].first_ns > 0)
            tasks->list[shown++] = tasks->list[i];
    tasks->count = shown;
    if (shown > 0)
        qsort_r(tasks->list, shown, sizeof(*tasks->list), compare_tasks, &order);
    if (cn_cli_format(args) == CN_TABLE_TEXT)
        print_task_text(args, rec, tasks, has);
    else
        print_task_table(args, rec, tasks, has);
    return true;
}
