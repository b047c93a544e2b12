/* A view of a database as rows. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cli/tui/source.h"

struct view_source {
    struct cn_tui_source source; /* first */
    struct cn_view *view;
};

static bool children(struct cn_tui_source *source, const struct cn_row *parent,
                     struct cn_row_list *out, struct cn_error *err)
{
    struct cn_view *view = ((struct view_source *)source)->view;
    size_t kept = 0;

    cn_row_list_begin(out, view->costs->column_count);
    bool ok = view->ops->children(view, parent, out, err);

    for (size_t i = 0; i < out->count; i++)
        if (cn_view_row_has_value(view, &out->rows[i]))
            out->rows[kept++] = out->rows[i];
    out->count = kept;
    return ok;
}

static bool label(struct cn_tui_source *source, const struct cn_row *row,
                  struct cn_text *text, struct cn_error *err)
{
    struct cn_view *view = ((struct view_source *)source)->view;

    return view->ops->label(view, row, text, err);
}

static bool location(struct cn_tui_source *source, const struct cn_row *row,
                     struct cn_location *out, struct cn_error *err)
{
    struct cn_view *view = ((struct view_source *)source)->view;

    return view->ops->location(view, row, out, err);
}

static bool is_leaf(struct cn_tui_source *source, const struct cn_row *row)
{
    struct cn_view *view = ((struct view_source *)source)->view;

    return view->ops->is_leaf(view, row);
}

static const struct cn_code_class *code(struct cn_tui_source *source,
                                        const struct cn_row *row)
{
    return cn_view_code(((struct view_source *)source)->view, row);
}

static void free_source(struct cn_tui_source *source)
{
    cn_view_free(((struct view_source *)source)->view);
    free(source);
}

static const struct cn_tui_source_ops ops = {children, label, location,    is_leaf,
                                             NULL,     NULL,  free_source, code};

/* A title that fits: "total", or with the metric where there are several. */
static void add_title(struct cn_tui_column *column, const struct cn_cost_column *cost,
                      bool is_only)
{
    const char *side = cost->side == CN_TOTAL ? "TOTAL" : "SELF";

    if (cost->fraction > 0)
        (void)snprintf(column->title, sizeof(column->title), "%s", cost->name);
    else if (is_only && cost->stat == CN_STAT_SUM)
        (void)snprintf(column->title, sizeof(column->title), "%s", side);
    else
        (void)snprintf(column->title, sizeof(column->title), "%.30s", cost->title);
}

static bool is_time(const struct cn_cost_column *cost)
{
    return cost->fraction > 0 ||
           (cost->stat != CN_STAT_COUNT &&
            (cn_ends_with(cost->metric, "(sec)") || cn_ends_with(cost->metric, "(s)")));
}

struct cn_tui_source *cn_tui_view_new(struct cn_view *view, bool is_endless)
{
    struct view_source *self = cn_alloc(1, sizeof(*self));
    const struct cn_costs *costs = view->costs;
    bool is_only = true;

    self->source = (struct cn_tui_source){
        .ops = &ops, .name_title = "CONTEXT", .is_endless = is_endless};
    self->view = view;
    cn_tui_columns_init(&self->source, costs->column_count);
    for (size_t c = 0; c < costs->column_count; c++)
        is_only &= costs->columns[c].fraction > 0 ||
                   strcmp(costs->columns[c].metric, costs->columns[0].metric) == 0;
    for (size_t c = 0; c < costs->column_count; c++) {
        const struct cn_cost_column *cost = &costs->columns[c];
        struct cn_tui_column *column = &self->source.columns[c];

        add_title(column, cost, is_only);
        column->unit = is_time(cost) ? CN_TUI_SECONDS : CN_TUI_NUMBER;
        column->whole = cost->has_percent ? cost->total : NAN;
        column->max = isfinite(cost->total) ? fabs(cost->total) : 0;
        /* A percentile is not longer than all time. */
        if (cost->fraction > 0) {
            column->max = self->source.columns[0].max;
            column->resolution = (double)costs->resolution_ns / 1e9;
        }
        column->is_hidden = cost->is_hidden;
        column->is_shown = !cost->is_hidden;
    }
    return &self->source;
}
