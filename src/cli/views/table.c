#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/print/write.h"
#include "cli/views/print.h"
#include "model/io/calls.h"
#include "model/memory/metrics.h"

/* Columns after the values. Only those with a title appear in text. */
static const struct cn_column row_columns[] = {
    {.name = "depth", .kind = CN_COLUMN_U64},
    {.name = "kind", .kind = CN_COLUMN_TEXT},
    {.name = "context_id", .kind = CN_COLUMN_U64},
    {.name = "module", .kind = CN_COLUMN_TEXT},
    {.name = "file", .kind = CN_COLUMN_TEXT},
    {.name = "line", .kind = CN_COLUMN_U64},
    {.name = "code", .kind = CN_COLUMN_TEXT},
    {.name = "language", .title = "LANGUAGE", .kind = CN_COLUMN_TEXT},
    {.name = "name", .title = "CONTEXT", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_NAME},
    {.name = "path", .title = "CALL PATH", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_PATH},
};

enum {
    ROW_COLUMN_COUNT = sizeof(row_columns) / sizeof(*row_columns),
    LANGUAGE_COLUMN = ROW_COLUMN_COUNT - 3,
};

/* After them, in JSON and CSV: percentiles as short as that are shorter. */
static const struct cn_column resolution_column = {.name = "resolution_sec",
                                                   .kind = CN_COLUMN_F64};

static bool has_resolution(const struct cn_view_table *out)
{
    return out->costs->resolution_ns > 0 && !out->is_for_people;
}

/* Languages that programs are written in; those of a compiler are one. */
static unsigned family_of(unsigned language)
{
    return language == CN_CODE_UNKNOWN || language == CN_CODE_KERNEL ? 0
           : language < CN_CODE_PYTHON && language != CN_CODE_GO &&
                   language != CN_CODE_RUST
               ? CN_CODE_C
               : language;
}

/* Text has a column for languages if there are several. */
static bool has_languages(const struct cn_codes *codes)
{
    unsigned first = 0;

    for (size_t i = 0; codes && i < codes->function_count; i++) {
        unsigned family = family_of(codes->of_function[i].language);

        if (first != 0 && family != 0 && family != first)
            return true;
        first = first == 0 ? family : first;
    }
    return false;
}

/* The largest total of the columns of a metric. */
static double metric_total(const struct cn_costs *costs, const char *metric)
{
    double total = NAN;

    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].metric == metric)
            total = fmax(total, costs->columns[i].total);
    return total;
}

/* Bytes and allocations have no fractions, unless they are means. */
static bool is_whole(const struct cn_cost_column *cost)
{
    static const char bytes[] = " (B)";
    size_t len = strlen(cost->metric), bytes_len = sizeof(bytes) - 1;
    bool is_bytes = len > bytes_len && strcmp(cost->metric + len - bytes_len, bytes) == 0;

    if (cost->stat == CN_STAT_COUNT)
        return true;
    return (is_bytes || cn_io_metric_is_count(cost->metric) ||
            cn_heap_metric_is_count(cn_heap_metric_find(cost->metric))) &&
           (cost->stat == CN_STAT_SUM || cost->stat == CN_STAT_MIN ||
            cost->stat == CN_STAT_MAX);
}

struct cn_column cn_view_value_column(const struct cn_cost_column *cost, double total)
{
    struct cn_column column = {
        .name = cost->name, .title = cost->title, .kind = CN_COLUMN_F64};
    double digits_before = total > 0 ? floor(log10(total)) + 1 : NAN;

    if (is_whole(cost)) {
        column.kind = CN_COLUMN_FIXED;
    } else if (isfinite(digits_before) && digits_before > -6) {
        column.kind = CN_COLUMN_FIXED;
        column.decimals = digits_before >= 6 ? 0 : (unsigned)(6 - fmax(digits_before, 0));
    }
    return column;
}

void cn_view_table_begin(struct cn_view_table *out, const struct cn_args *args,
                         const struct cn_costs *costs, const struct cn_codes *codes,
                         bool has_path)
{
    struct cn_column *columns =
        cn_alloc(2 * costs->column_count + ROW_COLUMN_COUNT + 1, sizeof(*columns));
    size_t row_columns_wanted = has_path ? ROW_COLUMN_COUNT : ROW_COLUMN_COUNT - 1;
    size_t count = 0;

    *out = (struct cn_view_table){.columns = columns,
                                  .costs = costs,
                                  .format = cn_cli_format(args),
                                  .is_for_people = cn_cli_is_for_people(args),
                                  .has_path = has_path};
    for (size_t i = 0; i < costs->column_count; i++) {
        const struct cn_cost_column *column = &costs->columns[i];

        if (column->is_hidden)
            continue;
        columns[count++] =
            column->fraction > 0 && out->is_for_people
                ? (struct cn_column){.name = column->name,
                                     .title = column->title,
                                     .kind = CN_COLUMN_ANY,
                                     .align = CN_ALIGN_RIGHT}
                : cn_view_value_column(column, metric_total(costs, column->metric));
        cn_text_clear(&out->label);
        cn_text_printf(&out->label, "%s_percent", column->name);
        if (column->has_percent)
            columns[count++] = (struct cn_column){.name = cn_strdup(out->label.chars),
                                                  .title = "%",
                                                  .kind = CN_COLUMN_PERCENT};
    }
    for (size_t i = 0; i < row_columns_wanted; i++) {
        columns[count] = row_columns[i];
        if (i == LANGUAGE_COLUMN && out->is_for_people && !has_languages(codes))
            columns[count].title = NULL;
        count++;
    }
    if (has_resolution(out))
        columns[count++] = resolution_column;
    out->table = cn_cli_table(args, columns, count);
}

static void add_value(struct cn_table *table, double value)
{
    if (isnan(value))
        cn_table_none(table);
    else
        cn_table_f64(table, value);
}

/* "< 21 ns", the most that a percentile as short as that can be. */
static void add_percentile(struct cn_view_table *out, double value)
{
    uint64_t limit_ns = out->costs->resolution_ns;

    if (out->is_for_people && value <= (double)limit_ns / 1e9) {
        cn_text_clear(&out->label);
        cn_text_printf(&out->label, "< %" PRIu64 " ns", limit_ns);
        cn_table_str(out->table, cn_text_str(&out->label));
    } else {
        add_value(out->table, value);
    }
}

static enum cn_color heat(double percent)
{
    if (percent >= 10)
        return CN_COLOR_RED;
    return percent >= 1 ? CN_COLOR_YELLOW : CN_COLOR_NONE;
}

static void add_numbers(struct cn_view_table *out, const struct cn_row *row)
{
    for (size_t i = 0; i < out->costs->column_count; i++) {
        const struct cn_cost_column *column = &out->costs->columns[i];
        double percent = cn_cost_percent(column, row->values[i]);

        if (column->is_hidden)
            continue;
        if (column->fraction > 0)
            add_percentile(out, row->values[i]);
        else
            add_value(out->table, row->values[i]);
        if (!column->has_percent)
            continue;
        cn_table_paint(out->table, heat(percent));
        add_value(out->table, percent);
    }
}

/* What others wrote is dim, so that one's own code stands out. */
static enum cn_color color_of(const struct cn_code_class *code)
{
    switch (code ? (enum cn_code_kind)code->kind : CN_CODE_MINE) {
    case CN_CODE_MINE:
        return CN_COLOR_NONE;
    case CN_CODE_OF_KERNEL:
        return CN_COLOR_BLUE;
    case CN_CODE_LIBRARY:
    case CN_CODE_RUNTIME:
    case CN_CODE_STARTUP:
        break;
    }
    return CN_COLOR_DIM;
}

static const char *language_of(const struct cn_view_table *out,
                               const struct cn_code_class *code)
{
    return !code || (out->is_for_people && code->language == CN_CODE_UNKNOWN)
               ? NULL
               : cn_code_language_name(code->language);
}

static void add_number(struct cn_table *table, uint64_t number, bool is_known)
{
    if (is_known)
        cn_table_u64(table, number);
    else
        cn_table_none(table);
}

void cn_view_table_row(struct cn_view_table *out, const struct cn_row *row,
                       const struct cn_view_row_text *text)
{
    struct cn_table *table = out->table;

    add_numbers(out, row);
    cn_table_u64(table, text->depth);
    cn_table_str(table, cn_row_kind_name(row->kind));
    add_number(table, row->context, row->context != CN_NONE);
    cn_table_str(table, text->location.module);
    cn_table_str(table, text->location.file);
    add_number(table, text->location.line, text->location.line > 0);
    cn_table_str(table, text->code ? cn_code_kind_name(text->code->kind) : NULL);
    cn_table_paint(table, color_of(text->code));
    cn_table_str(table, language_of(out, text->code));
    cn_text_clear(&out->label);
    if (out->format == CN_TABLE_TEXT)
        cn_indent_add(&out->label, text->depth);
    cn_text_str_add(&out->label, text->label);
    cn_table_paint(table, color_of(text->code));
    cn_table_str(table, cn_text_str(&out->label));
    if (out->has_path)
        cn_table_str(table, text->path);
    if (has_resolution(out))
        cn_table_f64(table, (double)out->costs->resolution_ns / 1e9);
    cn_table_end_row(table);
}

void cn_view_table_end(struct cn_view_table *out)
{
    size_t count = 0;

    cn_table_free(out->table);
    for (size_t i = 0; i < out->costs->column_count; i++) {
        if (out->costs->columns[i].is_hidden)
            continue;
        count++;
        if (out->costs->columns[i].has_percent)
            free((char *)(uintptr_t)out->columns[count++].name);
    }
    free(out->columns);
    cn_text_done(&out->label);
}
