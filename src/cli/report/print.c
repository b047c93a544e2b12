#include "cli/report/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/calls/tasks.h"
#include "analyze/timeline/task_states.h"
#include "base/bytes/csv.h"
#include "base/bytes/utf8.h"
#include "base/text.h"
#include "cli/print/fixed_width.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "model/calls/recording.h"

enum {
    FIELD_WIDTH = 10,
    TID_WIDTH = 7,
    MOMENT_WIDTH = 18,
    NS_A_SECOND = 1000000000,
    TASK_NAME_WIDTH = 16,
    NAME_RULE = 20,
    BAR_WIDTH = 50,
};

/* Rows of a report, of functions or of tasks: fields and a name. */
struct report_rows {
    const struct cn_recording *rec;
    const struct cn_call_row *functions; /* NULL: rows of tasks */
    const struct cn_task_cost *tasks;
    const struct cn_task_states *states; /* of tasks; only if a field needs them */
    size_t count;
    const struct cn_output_field *fields;
    size_t field_count;
    const bool *has;
    const char *name_heading, *name_key;
    size_t name_width; /* names are padded to this width */
    bool has_srcline;
};

enum {
    TASK_TOTAL,
    TASK_SELF,
    TASK_TID,
    TASK_FUNC,
    TASK_WALL,
    TASK_STATE, /* one for each state */
    TASK_OUTSIDE = TASK_STATE + CN_TASK_STATES,
    TASK_FIELD_COUNT
};

static const struct cn_output_field task_fields[TASK_FIELD_COUNT] = {
    [TASK_TOTAL] = {"total", "Total time", "total_ns", CN_OUTPUT_TIME | CN_OUTPUT_USUAL},
    [TASK_SELF] = {"self", "Self time", "self_ns", CN_OUTPUT_TIME | CN_OUTPUT_USUAL},
    [TASK_TID] = {"tid", "TID", "tid",
                  CN_OUTPUT_NUMBER | CN_OUTPUT_USUAL | CN_OUTPUT_NARROW},
    [TASK_FUNC] = {"func", "Num funcs", "calls", CN_OUTPUT_NUMBER | CN_OUTPUT_USUAL},
    [TASK_WALL] = {"wall", "Wall time", "wall_ns", CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [TASK_STATE + CN_TASK_RUNNING] = {"running", "Running", "running_ns",
                                      CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [TASK_STATE + CN_TASK_BLOCKED] = {"blocked", "Blocked", "blocked_ns",
                                      CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [TASK_STATE + CN_TASK_PREEMPTED] = {"pre-empted", "Pre-empted", "preempted_ns",
                                        CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [TASK_STATE + CN_TASK_UNKNOWN] = {"no-data", "No data", "no_data_ns",
                                      CN_OUTPUT_TIME | CN_OUTPUT_RARE},
    [TASK_OUTSIDE] = {"outside", "Outside", "waiting_outside_ns",
                      CN_OUTPUT_TIME | CN_OUTPUT_RARE},
};

static uint64_t task_value(const struct cn_recording *rec,
                           const struct cn_task_cost *cost,
                           const struct cn_task_states *states, size_t field)
{
    if (field >= TASK_STATE && field < TASK_OUTSIDE)
        return states->list[cost->task].ns[field - TASK_STATE];
    switch (field) {
    case TASK_WALL:
        return states->wall_ns;
    case TASK_OUTSIDE:
        return cn_state_sums_waiting_outside(&states->list[cost->task]);
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

static uint64_t value_at(const struct report_rows *rows, size_t row, size_t field)
{
    return rows->functions
               ? cn_report_value(rows->rec, &rows->functions[row],
                                 (enum cn_report_field)field)
               : task_value(rows->rec, &rows->tasks[row], rows->states, field);
}

static double percent_at(const struct report_rows *rows, size_t row, size_t field)
{
    return cn_report_percent(&rows->functions[row], (enum cn_report_field)field);
}

static const char *name_at(const struct report_rows *rows, size_t row)
{
    return rows->functions ? rows->functions[row].name
                           : rows->rec->tasks[rows->tasks[row].task].name;
}

static size_t width_of(const struct cn_output_field *field)
{
    return field->flags & CN_OUTPUT_NARROW     ? TID_WIDTH
           : field->flags & CN_OUTPUT_MOMENT   ? MOMENT_WIDTH
           : field->flags & CN_OUTPUT_CENTERED ? strlen(field->heading)
                                               : FIELD_WIDTH;
}

static void add_heading(struct cn_text *text, const struct report_rows *rows)
{
    for (size_t i = 0; i < rows->field_count; i++) {
        if (rows->has[i]) {
            cn_text_str_add(text, "  ");
            cn_right_add(text, rows->fields[i].heading, width_of(&rows->fields[i]));
        }
    }
    cn_text_printf(text, "  %s%s\n", rows->name_heading,
                   rows->has_srcline ? " [Source]" : "");
    for (size_t i = 0; i < rows->field_count; i++) {
        if (rows->has[i]) {
            cn_text_str_add(text, "  ");
            cn_text_fill(text, '=', width_of(&rows->fields[i]));
        }
    }
    cn_text_str_add(text, "  ");
    cn_text_fill(text, '=', NAME_RULE);
    cn_text_char(text, '\n');
}

static void add_centered(struct cn_text *text, const struct report_rows *rows, size_t row,
                         size_t field)
{
    struct cn_text value = {0};
    size_t width = width_of(&rows->fields[field]), left;

    cn_report_text(&rows->functions[row], (enum cn_report_field)field, &value);
    left = value.len < width ? (width - value.len) / 2 : 0;
    cn_text_fill(text, ' ', left);
    cn_text_printf(text, "%-*s", (int)(width - left), cn_text_str(&value));
    cn_text_done(&value);
}

static bool is_total(size_t field)
{
    return field <= CN_REPORT_TOTAL_MAX ||
           (field >= CN_REPORT_P50 && field <= CN_REPORT_P999);
}

/* Without a known begin or end, a call has no total time; a function that has only such
 * calls has no self time either. Sizes, times of day and processors may not be recorded, nor
 * may states of tasks. */
static bool is_unknown(const struct report_rows *rows, size_t row, size_t field)
{
    unsigned flags = rows->fields[field].flags;

    if (!rows->functions)
        return field > TASK_WALL && !rows->states->is_known;
    bool has_time = rows->functions[row].cost.total.sum_ns > 0;
    if (flags & CN_OUTPUT_PERCENT)
        return !has_time;
    if (flags & CN_OUTPUT_TIME)
        return !has_time || (is_total(field) && value_at(rows, row, field) == 0);
    return field != CN_REPORT_CALL && value_at(rows, row, field) == 0;
}

/* A duration; "< 21 ns" if the clock does not resolve it. */
static void add_duration(struct cn_text *text, const struct report_rows *rows, size_t row,
                         size_t field)
{
    uint64_t ns = value_at(rows, row, field);
    uint64_t limit_ns = rows->functions ? rows->functions[row].resolution_ns : 0;
    char below[32];

    if (rows->functions && cn_report_is_of_one_call(field) && ns > 0 && ns <= limit_ns) {
        (void)snprintf(below, sizeof(below), "< %" PRIu64 " ns", limit_ns);
        cn_right_add(text, below, CN_DURATION_LEN);
    } else {
        cn_duration_add(text, ns);
    }
}

static void add_cell(struct cn_text *text, const struct report_rows *rows, size_t row,
                     size_t field)
{
    unsigned flags = rows->fields[field].flags;

    if (!rows->functions && is_unknown(rows, row, field))
        cn_right_add(text, "unknown", FIELD_WIDTH);
    else if (flags & CN_OUTPUT_TIME)
        add_duration(text, rows, row, field);
    else if (flags & CN_OUTPUT_MOMENT)
        cn_text_printf(text, "%*" PRIu64 ".%09" PRIu64, MOMENT_WIDTH - 10,
                       value_at(rows, row, field) / NS_A_SECOND,
                       value_at(rows, row, field) % NS_A_SECOND);
    else if (flags & CN_OUTPUT_CENTERED)
        add_centered(text, rows, row, field);
    else if (flags & CN_OUTPUT_NUMBER)
        cn_number_add(text, value_at(rows, row, field), width_of(&rows->fields[field]));
    else if (rows->functions[row].cost.total.sum_ns == 0) /* 0 / 0 would have a sign */
        cn_right_add(text, "nan%", FIELD_WIDTH);
    else
        cn_text_printf(text, "%9.2f%%", percent_at(rows, row, field));
}

static void add_source(struct cn_text *text, const struct cn_recording *rec,
                       uint32_t function)
{
    if (function >= rec->function_count || !rec->functions[function].file[0])
        return;
    cn_text_str_add(text, " [");
    cn_utf8_add_printable(text, rec->functions[function].file);
    cn_text_printf(text, ":%" PRIu32 "]", rec->functions[function].line);
}

static void print_text(const struct cn_args *args, const struct report_rows *rows)
{
    struct cn_text text = {0};

    if (cn_fields_any(rows->has, rows->field_count))
        add_heading(&text, rows);
    for (size_t r = 0; r < rows->count; r++) {
        size_t line = text.len, name;

        for (size_t i = 0; i < rows->field_count; i++) {
            if (rows->has[i]) {
                cn_text_str_add(&text, "  ");
                add_cell(&text, rows, r, i);
            }
        }
        cn_text_str_add(&text, "  ");
        name = text.len;
        cn_cli_add_name(args, &text, line, name_at(rows, r));
        if (text.len - name < rows->name_width)
            cn_text_fill(&text, ' ', rows->name_width - (text.len - name));
        if (rows->has_srcline)
            add_source(&text, rows->rec, rows->functions[r].function);
        cn_text_char(&text, '\n');
    }
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

static void add_csv_cell(struct cn_text *text, const struct report_rows *rows, size_t row,
                         size_t field)
{
    if (rows->fields[field].flags & CN_OUTPUT_PERCENT)
        cn_text_printf(text, "%.2f", percent_at(rows, row, field));
    else if (rows->fields[field].flags & CN_OUTPUT_CENTERED)
        cn_report_text(&rows->functions[row], (enum cn_report_field)field, text);
    else
        cn_text_printf(text, "%" PRIu64, value_at(rows, row, field));
}

/* CSV as uftrace report writes it, with empty cells for what is unknown. */
static void print_csv(const struct cn_args *args, const struct report_rows *rows)
{
    struct cn_text text = {0};

    cn_text_char(&text, '#');
    for (size_t i = 0; i < rows->field_count; i++)
        if (rows->has[i])
            cn_text_printf(&text, "%s,", rows->fields[i].heading);
    cn_text_printf(&text, "%s\n", rows->name_heading);
    for (size_t r = 0; r < rows->count; r++) {
        for (size_t i = 0; i < rows->field_count; i++) {
            if (!rows->has[i])
                continue;
            if (!is_unknown(rows, r, i))
                add_csv_cell(&text, rows, r, i);
            cn_text_char(&text, ',');
        }
        cn_csv_add(&text, name_at(rows, r));
        cn_text_char(&text, '\n');
    }
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

static void add_text(struct cn_table *table, const struct cn_call_row *row,
                     enum cn_report_field field)
{
    struct cn_text text = {0};

    cn_report_text(row, field, &text);
    cn_table_str(table, cn_text_str(&text));
    cn_text_done(&text);
}

static bool has_text(const struct report_rows *rows, size_t field)
{
    return (rows->fields[field].flags & CN_OUTPUT_CENTERED) &&
           field != CN_REPORT_CPU_COUNT;
}

static void print_table(const struct cn_args *args, const struct report_rows *rows)
{
    struct cn_column columns[CN_REPORT_FIELD_COUNT + 2] = {0};
    size_t count = 0;
    bool has_resolution = false;

    for (size_t i = 0; i < rows->field_count; i++)
        has_resolution |= rows->has[i] && rows->functions && rows->count > 0 &&
                          rows->functions[0].resolution_ns > 0 &&
                          cn_report_is_of_one_call(i);
    for (size_t i = 0; i < rows->field_count; i++)
        if (rows->has[i])
            columns[count++] = (struct cn_column){
                .name = rows->fields[i].key,
                .kind = rows->fields[i].flags & CN_OUTPUT_PERCENT ? CN_COLUMN_F64
                        : has_text(rows, i)                       ? CN_COLUMN_TEXT
                                                                  : CN_COLUMN_U64,
            };
    columns[count++] = (struct cn_column){.name = rows->name_key, .kind = CN_COLUMN_TEXT};
    if (has_resolution)
        columns[count++] =
            (struct cn_column){.name = "resolution_ns", .kind = CN_COLUMN_U64};
    struct cn_table *table = cn_cli_table(args, columns, count);
    for (size_t r = 0; r < rows->count; r++) {
        for (size_t i = 0; i < rows->field_count; i++) {
            if (!rows->has[i])
                continue;
            if (is_unknown(rows, r, i))
                cn_table_none(table);
            else if (rows->fields[i].flags & CN_OUTPUT_PERCENT)
                cn_table_f64(table, percent_at(rows, r, i));
            else if (has_text(rows, i))
                add_text(table, &rows->functions[r], (enum cn_report_field)i);
            else
                cn_table_u64(table, value_at(rows, r, i));
        }
        cn_table_str(table, name_at(rows, r));
        if (has_resolution)
            cn_table_u64(table, rows->functions[r].resolution_ns);
        cn_table_end_row(table);
    }
    cn_table_free(table);
}

void cn_report_print(const struct cn_args *args, const struct cn_report_layout *layout,
                     const struct cn_recording *rec, const struct cn_call_report *report,
                     bool has_srcline)
{
    const struct report_rows rows = {
        .rec = rec,
        .functions = report->rows,
        .count = report->row_count,
        .fields = cn_report_fields,
        .field_count = CN_REPORT_FIELD_COUNT,
        .has = layout->has,
        .name_heading = "Function",
        .name_key = "function",
        .has_srcline = has_srcline,
    };

    switch (cn_cli_format(args)) {
    case CN_TABLE_TEXT:
    case CN_TABLE_MARKDOWN: /* no format of a report */
        print_text(args, &rows);
        break;
    case CN_TABLE_CSV:
        print_csv(args, &rows);
        break;
    case CN_TABLE_JSON:
        print_table(args, &rows);
        break;
    }
}

/* Merge buckets of the same quarter of a doubling; returns how many quarters there are. */
static size_t merge_quarters(struct cn_bucket_calls *buckets, size_t count)
{
    enum { QUARTERS = 4, STEPS = CN_BUCKET_STEPS };
    size_t merged = 0;

    for (size_t i = 0; i < count; i++) {
        struct cn_histogram_bucket bucket = cn_bucket_of(buckets[i].range.low_ns);
        unsigned quarter = bucket.step * (unsigned)QUARTERS / STEPS;
        unsigned base =
            cn_bucket_number((struct cn_histogram_bucket){bucket.doubling, 0});
        unsigned first = base + (quarter * STEPS + QUARTERS - 1) / QUARTERS;
        unsigned end = base + ((quarter + 1) * STEPS + QUARTERS - 1) / QUARTERS;
        struct cn_bucket_range range = {cn_bucket_range(first).low_ns,
                                        bucket.doubling ? cn_bucket_range(end - 1).high_ns
                                                        : 0};

        if (merged > 0 && buckets[merged - 1].range.low_ns == range.low_ns)
            buckets[merged - 1].calls += buckets[i].calls;
        else
            buckets[merged++] = (struct cn_bucket_calls){range, buckets[i].calls};
    }
    return merged;
}

struct task_order {
    const struct cn_recording *rec;
    const struct cn_task_states *states;
    size_t field;
};

static int compare_tasks(const void *a, const void *b, void *arg)
{
    const struct task_order *order = arg;
    const struct cn_task_cost *x = a, *y = b;
    uint64_t p = task_value(order->rec, x, order->states, order->field),
             q = task_value(order->rec, y, order->states, order->field);

    if (p != q)
        return (p > q) == (order->field != TASK_TID) ? -1 : 1;
    return x->task < y->task ? -1 : x->task > y->task;
}

/* Read the states of tasks if a field or the order needs them. */
static bool read_states(const struct cn_recording_setup *setup, const bool *has,
                        size_t sorted_by, struct cn_task_states *out,
                        struct cn_error *err)
{
    bool needs = sorted_by >= TASK_WALL;

    for (size_t i = TASK_WALL; i < TASK_FIELD_COUNT; i++)
        needs |= has[i];
    *out = (struct cn_task_states){0};
    return !needs || cn_task_states_build(out, setup->rec, setup->query.range,
                                          setup->workers, setup->query.progress, err);
}

static bool parse_tasks(const struct cn_args *args, bool *has, size_t *sorted_by,
                        struct cn_error *err)
{
    const char *sort = cn_args_value(args, "sort");
    size_t sort_len = sort ? strcspn(sort, ",") : 0;

    if (!cn_fields_parse(task_fields, TASK_FIELD_COUNT,
                         cn_args_value(args, "output-fields"), has, err))
        return false;
    *sorted_by =
        sort ? cn_fields_find(task_fields, TASK_FIELD_COUNT, sort, sort_len) : TASK_TOTAL;
    return *sorted_by < TASK_FIELD_COUNT ||
           cn_fields_fail(task_fields, TASK_FIELD_COUNT, false, sort, sort_len, err);
}

bool cn_report_print_tasks(const struct cn_recording_setup *setup,
                           struct cn_call_tasks *tasks, struct cn_error *err)
{
    const struct cn_args *args = setup->args;
    struct cn_task_states states;
    struct task_order order = {.rec = setup->rec, .states = &states};
    bool has[TASK_FIELD_COUNT];
    struct report_rows rows = {
        .rec = setup->rec,
        .tasks = tasks->list,
        .states = &states,
        .fields = task_fields,
        .field_count = TASK_FIELD_COUNT,
        .has = has,
        .name_heading = "Task name",
        .name_key = "task",
        .name_width = TASK_NAME_WIDTH,
    };

    if (!parse_tasks(args, has, &order.field, err) ||
        !read_states(setup, has, order.field, &states, err))
        return false;
    /* Tasks without a record are not shown. */
    for (size_t i = 0; i < tasks->count; i++)
        if (tasks->list[i].has_times)
            tasks->list[rows.count++] = tasks->list[i];
    if (rows.count > 0)
        qsort_r(tasks->list, rows.count, sizeof(*tasks->list), compare_tasks, &order);
    if (cn_cli_format(args) == CN_TABLE_TEXT)
        print_text(args, &rows);
    else
        print_table(args, &rows);
    cn_task_states_done(&states);
    return true;
}

/* In text, a line is several buckets: a quarter of a doubling. */
static void print_buckets(const struct cn_args *args, const struct cn_call_row *row)
{
    static const struct cn_column columns[] = {
        {.name = "from_ns", .title = "FROM ns", .kind = CN_COLUMN_U64},
        {.name = "to_ns", .title = "TO ns", .kind = CN_COLUMN_U64},
        {.name = "calls", .title = "CALLS", .kind = CN_COLUMN_U64},
        {.name = "share", .title = "SHARE", .kind = CN_COLUMN_PERCENT},
        {.name = "bar", .title = "", .kind = CN_COLUMN_TEXT},
    };
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT;
    struct cn_table *table = cn_cli_table(args, columns, is_text ? 5 : 4);
    struct cn_bucket_calls buckets[CN_BUCKET_COUNT];
    size_t count = cn_histogram_list(row->totals, buckets);
    char bar[BAR_WIDTH + 1];

    memset(bar, '#', BAR_WIDTH);
    if (is_text)
        count = merge_quarters(buckets, count);
    count = cn_buckets_resolve(buckets, count, row->resolution_ns);
    for (size_t i = 0; i < count; i++) {
        double share = buckets[i].calls / (double)row->cost.calls;

        cn_table_u64(table, buckets[i].range.low_ns);
        cn_table_u64(table, buckets[i].range.high_ns);
        cn_table_u64(table, (uint64_t)buckets[i].calls);
        cn_table_f64(table, 100 * share);
        if (is_text) {
            size_t len = (size_t)(share * BAR_WIDTH);

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
            print_buckets(args, &report->rows[i]);
            return true;
        }
    }
    return cn_fail(err, CN_ERR_NOT_FOUND, "function '%s' was never called", function);
}
