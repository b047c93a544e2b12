#include "cli/tui/tui.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"

void cn_tui_menu_close(struct cn_tui_menu *menu)
{
    for (size_t i = 0; i < menu->count; i++)
        cn_text_done(&menu->lines[i]);
    free(menu->lines);
    free(menu->values);
    *menu = (struct cn_tui_menu){0};
}

struct cn_text *cn_tui_menu_add(struct cn_tui_menu *menu, int value)
{
    size_t capacity = menu->capacity;

    CN_GROW(menu->lines, menu->count, menu->capacity);
    CN_GROW(menu->values, menu->count, capacity);
    menu->lines[menu->count] = (struct cn_text){0};
    menu->values[menu->count] = value;
    return &menu->lines[menu->count++];
}

/* The source whose columns and order a menu changes; NULL: the view has none. */
static struct cn_tui_source *changed_source(struct cn_tui *tui)
{
    struct cn_tui_pane *pane = cn_tui_pane(tui);

    return !pane->is_built || tui->view == CN_TUI_INFO || tui->view == CN_TUI_FLAMES
               ? NULL
               : pane->tree.source;
}

void cn_tui_menu_columns(struct cn_tui *tui, enum cn_tui_menu_kind kind)
{
    const struct cn_tui_source *source = changed_source(tui);
    struct cn_tui_menu *menu = &tui->menu;
    bool is_sort = kind == CN_TUI_MENU_SORT;

    if (!source)
        return;
    cn_tui_menu_close(menu);
    menu->kind = kind;
    menu->title = is_sort ? "Sort by" : "Columns";
    if (is_sort && source->is_listed)
        cn_text_str_add(cn_tui_menu_add(menu, CN_TUI_BY_CALL), "order of first calls");
    for (size_t i = 0; i < source->column_count; i++) {
        const struct cn_tui_column *column = &source->columns[i];

        if (column->is_hidden || (is_sort && !column->is_shown))
            continue;
        if (is_sort && source->order == (int)i)
            menu->cursor = menu->count;
        cn_text_str_add(cn_tui_menu_add(menu, (int)i), column->title);
    }
    if (is_sort && source->order == CN_TUI_BY_NAME)
        menu->cursor = menu->count;
    if (is_sort)
        cn_text_str_add(cn_tui_menu_add(menu, CN_TUI_BY_NAME), "name");
}

void cn_tui_menu_metrics(struct cn_tui *tui)
{
    struct cn_tui_menu *menu = &tui->menu;
    const char *name;

    if (cn_tui_step_of(tui) < CN_TUI_STEP_TREE ||
        cn_tui_step_of(tui) > CN_TUI_STEP_FLAT || !cn_tui_pane(tui)->is_built) {
        cn_tui_say(tui, "metrics are in tree, callers, flat and flame of a database");
        return;
    }
    cn_tui_menu_close(menu);
    menu->kind = CN_TUI_MENU_METRIC;
    menu->title = "Metric";
    for (int i = 0; (name = cn_tui_data_metric(tui->data, (size_t)i)) != NULL; i++) {
        if (tui->data->metric && strcmp(tui->data->metric, name) == 0)
            menu->cursor = menu->count;
        cn_utf8_add_printable(cn_tui_menu_add(menu, i), name);
    }
}

void cn_tui_menu_sessions(struct cn_tui *tui)
{
    struct cn_tui_menu *menu = &tui->menu;

    tui->is_function_shown = false;
    cn_tui_show(tui, CN_TUI_GRAPH);
    if (tui->view != CN_TUI_GRAPH || !tui->panes[CN_TUI_GRAPH].is_built)
        return;
    struct cn_tui_tree *tree = &tui->panes[CN_TUI_GRAPH].tree;
    cn_tui_menu_close(menu);
    menu->kind = CN_TUI_MENU_SESSIONS;
    menu->title = "Sessions";
    for (size_t i = 0; i < tree->count; i++) {
        if (tree->items[i].depth > 0)
            continue;
        struct cn_text *line = cn_tui_menu_add(menu, (int)i);
        cn_text_printf(line, "#%zu ", menu->count);
        cn_tui_label_add(tree->source, &tree->items[i].row, line);
    }
}

void cn_tui_sort_by(struct cn_tui *tui, int order)
{
    struct cn_tui_source *source = changed_source(tui);

    if (!source)
        return;
    source->is_reversed =
        order == source->order && order != CN_TUI_BY_CALL ? !source->is_reversed : false;
    source->order = order;
    cn_tui_tree_sort(&cn_tui_pane(tui)->tree);
    /* The flame view of a database has the same rows. */
    cn_tui_flame_done(&tui->panes[CN_TUI_FLAMES].flame);
    tui->panes[CN_TUI_FLAMES] = (struct cn_tui_pane){0};
}

void cn_tui_sort_next(struct cn_tui *tui)
{
    const struct cn_tui_source *source = changed_source(tui);
    int order;

    if (!source)
        return;
    for (order = source->order + 1; order < (int)source->column_count; order++)
        if (order >= 0 && source->columns[order].is_shown)
            break;
    if (order >= (int)source->column_count)
        order = source->is_listed ? CN_TUI_BY_CALL : CN_TUI_BY_NAME;
    cn_tui_sort_by(tui, order);
}

/* Show a column of the report, which reads the calls again if it was not counted. */
static void toggle_reported(struct cn_tui *tui, const struct cn_tui_source *source,
                            int value)
{
    const struct cn_call_report_options *had = &tui->data->layout.needs;
    struct cn_report_layout layout = tui->data->layout;
    const struct cn_call_report_options *needs = &layout.needs;

    for (size_t i = 0; i < source->column_count; i++)
        layout.has[i] = source->columns[i].is_shown;
    layout.keys[0] = source->order;
    layout.key_count = 1;
    if (source->columns[value].is_shown)
        cn_report_layout_need(&layout, value);
    if (needs->with_histograms == had->with_histograms &&
        needs->with_squares == had->with_squares &&
        needs->with_moments == had->with_moments) {
        tui->data->layout = layout;
        return;
    }
    cn_tui_menu_close(&tui->menu);
    cn_tui_forget(tui, CN_TUI_REPORT);
    cn_tui_data_set_layout(tui->data, &layout);
}

static void toggle_column(struct cn_tui *tui, int value)
{
    struct cn_tui_source *source = changed_source(tui);
    struct cn_tui_column *column = &source->columns[value];

    column->is_shown = !column->is_shown;
    if (tui->view == CN_TUI_REPORT) {
        toggle_reported(tui, source, value);
        return;
    }
    if (tui->view != CN_TUI_GRAPH || !column->is_shown || tui->data->has_extremes ||
        value < CN_TUI_GRAPH_TOTAL_MAX || value > CN_TUI_GRAPH_SELF_MIN)
        return;
    /* The shortest and longest calls were not counted: read the calls again. */
    cn_tui_menu_close(&tui->menu);
    for (size_t i = 0; i < CN_TUI_GRAPH_COLUMN_COUNT; i++)
        tui->graph_columns[i] = source->columns[i].is_shown;
    tui->has_graph_columns = true;
    cn_tui_forget_function(tui);
    tui->is_function_shown = false;
    cn_tui_forget(tui, CN_TUI_GRAPH);
    cn_tui_forget(tui, CN_TUI_FLAMES);
    cn_tui_data_count_extremes(tui->data);
}

static void choose(struct cn_tui *tui)
{
    struct cn_tui_menu *menu = &tui->menu;
    int value = menu->count > 0 ? menu->values[menu->cursor] : 0;
    enum cn_tui_menu_kind kind = menu->count > 0 ? menu->kind : CN_TUI_MENU_NONE;
    const char *metric;

    if (kind == CN_TUI_MENU_COLUMNS) {
        toggle_column(tui, value);
        return;
    }
    cn_tui_menu_close(menu);
    switch (kind) {
    case CN_TUI_MENU_SORT:
        cn_tui_sort_by(tui, value);
        break;
    case CN_TUI_MENU_METRIC:
        metric = cn_tui_data_metric(tui->data, (size_t)value);
        cn_tui_forget(tui, CN_TUI_TREE);
        cn_tui_forget(tui, CN_TUI_CALLERS);
        cn_tui_forget(tui, CN_TUI_FLAT);
        if (!tui->data->has_recording)
            cn_tui_forget(tui, CN_TUI_FLAMES);
        cn_tui_data_set_metric(tui->data, metric);
        break;
    case CN_TUI_MENU_SESSIONS:
        tui->panes[CN_TUI_GRAPH].tree.cursor = (size_t)value;
        break;
    case CN_TUI_MENU_FILTERS:
        cn_tui_filter_remove(tui, value);
        break;
    case CN_TUI_MENU_NONE:
    case CN_TUI_MENU_COLUMNS:
        break;
    }
}

void cn_tui_menu_key(struct cn_tui *tui, uint32_t key)
{
    struct cn_tui_menu *menu = &tui->menu;

    switch (key) {
    case CN_TUI_KEY_UP:
    case CN_TUI_KEY_WHEEL_UP:
    case 'k':
        menu->cursor -= menu->cursor > 0;
        break;
    case CN_TUI_KEY_DOWN:
    case CN_TUI_KEY_WHEEL_DOWN:
    case 'j':
        menu->cursor += menu->cursor + 1 < menu->count;
        break;
    case CN_TUI_KEY_HOME:
        menu->cursor = 0;
        break;
    case CN_TUI_KEY_END:
        menu->cursor = menu->count > 0 ? menu->count - 1 : 0;
        break;
    case CN_TUI_KEY_ENTER:
        if (menu->is_changed)
            cn_tui_menu_close(menu);
        else
            choose(tui);
        break;
    case CN_TUI_KEY_DOUBLE_CLICK:
        choose(tui);
        break;
    case ' ':
        choose(tui);
        menu->is_changed = menu->kind == CN_TUI_MENU_COLUMNS;
        break;
    case CN_TUI_KEY_ESCAPE:
    case 'q':
        cn_tui_menu_close(menu);
        break;
    default:
        break;
    }
}
