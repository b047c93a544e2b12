/* The functions of a recording as rows, with the columns of cairn report. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "cli/report/fields.h"
#include "cli/tui/source.h"
#include "model/calls/recording.h"

struct report_source {
    struct cn_tui_source source; /* first */
    const struct cn_recording *rec;
    const struct cn_call_report *report;
};

static double value_of(const struct report_source *self, size_t row, size_t field)
{
    const struct cn_call_row *at = &self->report->rows[row];
    enum cn_report_field which = (enum cn_report_field)field;
    unsigned flags = cn_report_fields[field].flags;

    if (flags & CN_OUTPUT_PERCENT)
        return at->cost.total.sum_ns > 0 ? cn_report_percent(at, which) : NAN;
    if ((flags & CN_OUTPUT_MOMENT && !at->moments) ||
        (field >= CN_REPORT_P50 && field <= CN_REPORT_SELF_P999 && !at->totals))
        return NAN;
    double value = (double)cn_report_value(self->rec, at, which);
    return flags & (CN_OUTPUT_TIME | CN_OUTPUT_MOMENT) ? value / 1e9 : value;
}

static bool children(struct cn_tui_source *source, const struct cn_row *parent,
                     struct cn_row_list *out, struct cn_error *err)
{
    const struct report_source *self = (const struct report_source *)source;

    (void)err;
    cn_row_list_begin(out, CN_REPORT_FIELD_COUNT);
    for (size_t i = 0; i < self->report->row_count && !parent; i++) {
        double *values = cn_row_list_add(
            out, (struct cn_row){.id = i, .kind = CN_ROW_FUNCTION, .context = CN_NONE});

        for (size_t c = 0; c < CN_REPORT_FIELD_COUNT; c++)
            values[c] = value_of(self, i, c);
    }
    return true;
}

static bool label(struct cn_tui_source *source, const struct cn_row *row,
                  struct cn_text *text, struct cn_error *err)
{
    const struct report_source *self = (const struct report_source *)source;

    (void)err;
    cn_text_str_add(text, self->report->rows[row->id].name);
    return true;
}

static bool location(struct cn_tui_source *source, const struct cn_row *row,
                     struct cn_location *out, struct cn_error *err)
{
    const struct report_source *self = (const struct report_source *)source;
    uint32_t id = self->report->rows[row->id].function;

    (void)err;
    *out = (struct cn_location){0};
    if (id < self->rec->function_count) {
        const struct cn_call_function *function = &self->rec->functions[id];

        out->module = self->rec->modules[function->module].path;
        out->file = function->file[0] ? function->file : NULL;
        out->line = function->line;
    }
    return true;
}

static bool is_leaf(struct cn_tui_source *source, const struct cn_row *row)
{
    (void)source;
    (void)row;
    return true;
}

static uint32_t function(struct cn_tui_source *source, const struct cn_row *row)
{
    const struct report_source *self = (const struct report_source *)source;
    uint32_t id = self->report->rows[row->id].function;

    return id < self->rec->function_count ? id : CN_NONE;
}

static void free_source(struct cn_tui_source *source)
{
    free(source);
}

static const struct cn_tui_source_ops ops = {children, label, location,    is_leaf,
                                             function, NULL,  free_source, NULL};

struct cn_tui_source *cn_tui_report_new(const struct cn_recording *rec,
                                        const struct cn_call_report *report,
                                        const struct cn_report_layout *layout)
{
    struct report_source *self = cn_alloc(1, sizeof(*self));
    double whole = 0;

    self->source = (struct cn_tui_source){
        .ops = &ops,
        .name_title = "FUNCTION",
        .order = layout->key_count > 0 ? layout->keys[0] : CN_REPORT_TOTAL,
    };
    self->rec = rec;
    self->report = report;
    cn_tui_columns_init(&self->source, CN_REPORT_FIELD_COUNT);
    for (size_t c = 0; c < CN_REPORT_FIELD_COUNT; c++) {
        struct cn_tui_column *column = &self->source.columns[c];
        const struct cn_output_field *field = &cn_report_fields[c];

        (void)snprintf(column->title, sizeof(column->title), "%s",
                       c == CN_REPORT_CALL ? "calls" : field->name);
        for (char *at = column->title; *at; at++)
            *at = *at == '-' ? ' ' : *at >= 'a' && *at <= 'z' ? (char)(*at - 32) : *at;
        column->unit = field->flags & CN_OUTPUT_TIME      ? CN_TUI_SECONDS
                       : field->flags & CN_OUTPUT_MOMENT  ? CN_TUI_MOMENT
                       : field->flags & CN_OUTPUT_PERCENT ? CN_TUI_PERCENT
                                                          : CN_TUI_COUNT;
        column->is_shown = layout->has[c];
        if (cn_report_is_of_one_call(c) && report->row_count > 0)
            column->resolution = (double)report->rows[0].resolution_ns / 1e9;
        for (size_t i = 0; i < report->row_count; i++)
            column->max = fmax(column->max, value_of(self, i, c));
    }
    /* The self times of all functions are all the time there is. */
    for (size_t i = 0; i < report->row_count; i++)
        whole += value_of(self, i, CN_REPORT_SELF);
    self->source.columns[CN_REPORT_SELF].whole = whole;
    self->source.columns[CN_REPORT_TOTAL].whole = whole;
    return &self->source;
}
