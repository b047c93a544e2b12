#include "cli/views/print.h"

#include "analyze/views/visit.h"
#include "base/map.h"
#include "cli/views/row_names.h"

struct view_printer {
    struct cn_view *view;
    const struct cn_view_setup *setup;
    struct cn_view_table out;
    struct cn_map marked; /* rows that the filter shows */
    uint64_t printed_count;
    struct cn_text label;
};

static bool add_name(void *arg, const struct cn_row *row, struct cn_text *name,
                     struct cn_error *err)
{
    const struct view_printer *printer = arg;

    return printer->view->ops->label(printer->view, row, name, err);
}

static bool sort_by_name(void *arg, struct cn_row_list *list, struct cn_error *err)
{
    struct view_printer *printer = arg;

    return cn_row_names_sort(list, printer->setup->is_reversed, add_name, printer, err);
}

static bool label_of(struct view_printer *printer, const struct cn_row *row,
                     struct cn_error *err)
{
    cn_text_clear(&printer->label);
    return add_name(printer, row, &printer->label, err);
}

/* Mark a row whose name matches the filter, and the rows above it. */
static bool mark_matching(void *arg, const struct cn_view_visit *visit,
                          const struct cn_row *row, struct cn_error *err)
{
    struct view_printer *printer = arg;

    if (!label_of(printer, row, err))
        return false;
    if (!cn_name_filter_matches(&printer->setup->filter, cn_text_str(&printer->label)))
        return true;
    for (size_t i = visit->depth; i-- > 0;) {
        uint32_t *is_marked =
            cn_map_at(&printer->marked, cn_view_visit_path(visit, i)->id, 0);

        if (*is_marked)
            break; /* as are the rows above it */
        *is_marked = 1;
    }
    return true;
}

static bool print_row(void *arg, const struct cn_view_visit *visit,
                      const struct cn_row *row, struct cn_error *err)
{
    struct view_printer *printer = arg;
    struct cn_view_row_text text = {.depth = visit->depth - 1};

    if (printer->setup->filter.count > 0 && !cn_map_find(&printer->marked, row->id, 0))
        return true;
    if (!label_of(printer, row, err) ||
        (printer->out.format != CN_TABLE_TEXT &&
         !printer->view->ops->location(printer->view, row, &text.location, err)))
        return false;
    text.label = cn_text_str(&printer->label);
    text.code = cn_view_code(printer->view, row);
    cn_view_table_row(&printer->out, row, &text);
    printer->printed_count++;
    return true;
}

bool cn_view_print(struct cn_view *view, const struct cn_view_setup *setup,
                   const struct cn_view_limits *limits, const struct cn_args *args,
                   struct cn_error *err)
{
    struct cn_error later;
    struct view_printer printer = {.view = view, .setup = setup};
    struct cn_view_visit visit;
    bool ok = true;

    cn_view_visit_init(&visit, view);
    visit.sort_column = setup->sort_column;
    visit.is_reversed = setup->is_reversed;
    visit.depth_max = limits->depth_max;
    visit.min_percent = limits->min_percent;
    visit.arrange = setup->sorts_by_name ? sort_by_name : NULL;
    if (setup->filter.count > 0)
        ok = cn_view_visit(&visit, mark_matching, &printer, err);
    view->codes = setup->codes;
    cn_view_table_begin(&printer.out, args, view->costs, setup->codes, false);
    ok = cn_view_visit(&visit, print_row, &printer, ok ? err : &later) && ok;
    cn_view_table_end(&printer.out);
    if (ok && printer.printed_count == 0)
        cn_cli_say(args, "no rows: %s",
                   setup->filter.count > 0   ? "no name matches --filter"
                   : limits->min_percent > 0 ? "none reaches --min-percent"
                                             : "no values in these columns");
    cn_map_done(&printer.marked);
    cn_text_done(&printer.label);
    return ok || cn_fail_in(err, "%s", setup->db->path);
}
