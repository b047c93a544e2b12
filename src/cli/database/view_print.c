#include "cli/database/view_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"

/* One level of the path to the current row. */
struct level {
    struct cn_row_list list;
    size_t next;
};

struct printer {
    struct cn_view *view;
    const struct cn_view_setup *setup;
    const struct cn_view_limits *limits;
    struct cn_view_table out;
    struct level *levels;
    size_t depth, capacity;
    uint64_t seen;        /* weight of the lists read so far; see cn_view_weigh() */
    struct cn_map marked; /* rows that the filter shows */
    bool is_full;         /* the limit of cn_view_weigh() is reached */
    uint64_t printed_count;
    size_t percent_column; /* of min_percent; SIZE_MAX: none */
    struct cn_text label;
};

static bool label_of(struct printer *printer, const struct cn_row *row,
                     struct cn_error *err)
{
    cn_text_clear(&printer->label);
    return printer->view->ops->label(printer->view, row, &printer->label, err);
}

struct named_row {
    struct cn_row row;
    char *name;
};

static int compare_names(const void *left, const void *right)
{
    const struct named_row *a = left, *b = right;
    int order = strcmp(a->name, b->name);

    return order ? order : (a->row.id > b->row.id) - (a->row.id < b->row.id);
}

static bool sort_by_name(struct printer *printer, struct cn_row_list *list,
                         struct cn_error *err)
{
    struct named_row *rows = cn_alloc(list->count, sizeof(*rows));
    bool ok = true;

    for (size_t i = 0; i < list->count; i++) {
        ok = ok && label_of(printer, &list->rows[i], err);
        rows[i] =
            (struct named_row){list->rows[i], cn_strdup(cn_text_str(&printer->label))};
    }
    if (list->count > 1)
        qsort(rows, list->count, sizeof(*rows), compare_names);
    for (size_t i = 0; i < list->count; i++) {
        size_t from = printer->setup->is_reversed ? list->count - 1 - i : i;

        list->rows[i] = rows[from].row;
    }
    for (size_t i = 0; i < list->count; i++)
        free(rows[i].name);
    free(rows);
    return ok;
}

/* True if a row is its own ancestor, as in a damaged file. */
static bool is_below_itself(const struct printer *printer, const struct cn_row *row)
{
    size_t above = printer->depth - 1;

    for (size_t i = 0; i < above && i < CN_VIEW_LOOK_BACK; i++) {
        const struct level *level = &printer->levels[above - 1 - i];

        if (level->list.rows[level->next - 1].id == row->id)
            return true;
    }
    return false;
}

/* Descend one level. The level is added even if listing it failed half-way. */
static bool push_level(struct printer *printer, const struct cn_row *parent,
                       struct cn_error *err)
{
    struct level level = {0};
    struct cn_error later;
    bool ok = cn_view_children(printer->view, parent, printer->setup->sort_column,
                               printer->setup->is_reversed, &level.list, err);

    if (ok && printer->setup->sorts_by_name)
        ok = sort_by_name(printer, &level.list, err);
    printer->levels = cn_grow(printer->levels, printer->depth, &printer->capacity,
                              sizeof(*printer->levels));
    printer->levels[printer->depth++] = level;
    if (!cn_view_weigh(printer->view, &level.list, &printer->seen, ok ? err : &later)) {
        printer->is_full = true;
        ok = false;
    }
    return ok;
}

static bool is_large_enough(const struct printer *printer, const struct cn_row *row)
{
    const struct cn_costs *costs = printer->view->costs;
    size_t column = printer->percent_column;

    if (!cn_view_row_has_value(printer->view, row))
        return false;
    if (column == SIZE_MAX || !(printer->limits->min_percent > 0))
        return true;
    return cn_cost_percent(&costs->columns[column], row->values[column]) >=
           printer->limits->min_percent;
}

typedef bool (*row_fn)(struct printer *printer, const struct cn_row *row,
                       struct cn_error *err);

/* Visit rows within the limits, parents first. Continues after damage and reports the first
 * failure. */
static bool visit_rows(struct printer *printer, row_fn visit, struct cn_error *err)
{
    struct cn_error later;
    bool ok;

    printer->seen = 0;
    printer->is_full = false;
    ok = push_level(printer, NULL, err);
    while (printer->depth > 0) {
        struct level *level = &printer->levels[printer->depth - 1];
        const struct cn_row *row;

        if (level->next == level->list.count) {
            cn_row_list_done(&printer->levels[--printer->depth].list);
            continue;
        }
        row = &level->list.rows[level->next++];
        if (!is_large_enough(printer, row))
            continue;
        if (is_below_itself(printer, row)) {
            ok = cn_view_fail_cycle(row, ok ? err : &later) && ok;
            continue;
        }
        ok = visit(printer, row, ok ? err : &later) && ok;
        if (!printer->is_full && printer->depth < printer->limits->depth_max)
            ok = push_level(printer, row, ok ? err : &later) && ok;
    }
    return ok;
}

/* Mark a row whose name matches the filter, and the rows above it. */
static bool mark_matching(struct printer *printer, const struct cn_row *row,
                          struct cn_error *err)
{
    if (!label_of(printer, row, err))
        return false;
    if (!cn_name_filter_matches(&printer->setup->filter, cn_text_str(&printer->label)))
        return true;
    for (size_t i = printer->depth; i-- > 0;) {
        const struct level *level = &printer->levels[i];
        uint32_t *is_marked =
            cn_map_at(&printer->marked, level->list.rows[level->next - 1].id, 0);

        if (*is_marked)
            break; /* as are the rows above it */
        *is_marked = 1;
    }
    return true;
}

static bool print_row(struct printer *printer, const struct cn_row *row,
                      struct cn_error *err)
{
    struct cn_view_row_text text = {.depth = printer->depth - 1};

    if (printer->setup->filter.count > 0 && !cn_map_find(&printer->marked, row->id, 0))
        return true;
    if (!label_of(printer, row, err) ||
        (printer->out.format != CN_TABLE_TEXT &&
         !printer->view->ops->location(printer->view, row, &text.location, err)))
        return false;
    text.label = cn_text_str(&printer->label);
    cn_view_table_row(&printer->out, row, &text);
    printer->printed_count++;
    return true;
}

/* A total column if possible: it includes the rows below. */
static size_t find_percent_column(const struct cn_costs *costs)
{
    size_t found = SIZE_MAX;

    for (size_t i = costs->column_count; i-- > 0;) {
        const struct cn_cost_column *column = &costs->columns[i];
        bool is_total = column->side == CN_TOTAL;

        if (column->has_percent &&
            (is_total || found == SIZE_MAX || costs->columns[found].side != CN_TOTAL))
            found = i;
    }
    return found;
}

bool cn_view_print(struct cn_view *view, const struct cn_view_setup *setup,
                   const struct cn_view_limits *limits, const struct cn_args *args,
                   struct cn_error *err)
{
    struct cn_error later;
    struct printer printer = {
        .view = view,
        .setup = setup,
        .limits = limits,
        .percent_column = find_percent_column(view->costs),
    };
    bool ok = true;

    if (setup->filter.count > 0)
        ok = visit_rows(&printer, mark_matching, err);
    cn_view_table_begin(&printer.out, args, view->costs, false);
    ok = visit_rows(&printer, print_row, ok ? err : &later) && ok;
    cn_view_table_end(&printer.out);
    if (ok && printer.printed_count == 0)
        cn_cli_say(args, "no rows: %s",
                   setup->filter.count > 0   ? "no name matches --filter"
                   : limits->min_percent > 0 ? "none reaches --min-percent"
                                             : "no values in these columns");
    cn_map_done(&printer.marked);
    free(printer.levels);
    cn_text_done(&printer.label);
    return ok || cn_fail_in(err, "%s", setup->db->path);
}
