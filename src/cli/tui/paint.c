/* Draws the state of the viewer on its canvas. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "cli/print/quantity.h"
#include "cli/tui/tui.h"

enum {
    PERCENT_WIDTH = 7, /* " 100.0%" */
    NAME_MIN = 24,
    SOURCE_MIN = 5,
    GUIDE_WIDTH = 2,
};

static size_t minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Lay out columns */

/* Columns from left to right, without their places. */
static void choose_fields(const struct cn_tui_source *source,
                          struct cn_tui_layout *layout)
{
    for (size_t i = 0; i < source->column_count; i++) {
        const struct cn_tui_column *column = &source->columns[i];

        if (!column->is_shown || layout->field_count == CN_TUI_FIELDS_MAX)
            continue;
        layout->fields[layout->field_count++] =
            (struct cn_tui_field){.column = i, .percent_end = column->whole > 0 ? 1 : 0};
    }
}

static size_t place_fields(const struct cn_tui_source *source,
                           struct cn_tui_layout *layout)
{
    size_t at = 0;

    for (size_t i = 0; i < layout->field_count; i++) {
        struct cn_tui_field *field = &layout->fields[i];

        field->begin = at + 1;
        field->end = field->begin + cn_tui_column_width(&source->columns[field->column]);
        if (field->percent_end > 0)
            field->percent_end = field->end + PERCENT_WIDTH;
        at = (field->percent_end ? field->percent_end : field->end) + 1;
    }
    return at + 1;
}

/* Drop what matters least, until there is room for names: percentages from the right, then
 * columns from the right, but not the one that sorts. */
static bool drop_field(const struct cn_tui_source *source, struct cn_tui_layout *layout)
{
    for (size_t i = layout->field_count; i-- > 1;) {
        if (layout->fields[i].percent_end == 0)
            continue;
        layout->fields[i].percent_end = 0;
        return true;
    }
    for (size_t i = layout->field_count; i-- > 1;) {
        if ((int)layout->fields[i].column == source->order)
            continue;
        memmove(&layout->fields[i], &layout->fields[i + 1],
                (layout->field_count - i - 1) * sizeof(*layout->fields));
        layout->field_count--;
        return true;
    }
    return false;
}

struct cn_tui_layout cn_tui_lay_out(struct cn_tui *tui)
{
    size_t columns = tui->canvas.columns, rows = tui->canvas.rows;
    struct cn_tui_layout layout = {.is_small = columns < CN_TUI_COLUMNS_MIN ||
                                               rows < CN_TUI_ROWS_MIN};
    struct cn_tui_pane *pane = cn_tui_pane(tui);
    struct cn_tui_source *source = NULL;
    size_t name_min = NAME_MIN < columns / 3 ? columns / 3 : NAME_MIN;

    if (layout.is_small)
        return layout;
    if (tui->view != CN_TUI_FLAMES && tui->view != CN_TUI_INFO && pane->is_built)
        source = pane->tree.source;
    layout.list_top = 2;
    layout.status_row = rows - 1;
    layout.detail_row = rows - 2;
    layout.list_height = rows - 4;
    if (tui->has_source && layout.list_height >= 2 * SOURCE_MIN &&
        tui->view != CN_TUI_INFO) {
        layout.source_height = layout.list_height / 2;
        layout.list_height -= layout.source_height;
        layout.source_top = layout.list_top + layout.list_height;
    }
    if (source) {
        choose_fields(source, &layout);
        layout.name_begin = place_fields(source, &layout);
        while (layout.name_begin + name_min > columns && drop_field(source, &layout))
            layout.name_begin = place_fields(source, &layout);
    }
    return layout;
}

/* The first and the last lines */

static bool has_tabs(const struct cn_tui *tui)
{
    size_t width = 0;

    for (int i = 0; i < CN_TUI_VIEW_COUNT; i++)
        if (cn_tui_has_view(tui, (enum cn_tui_view)i))
            width += strlen(cn_tui_view_names[i]) + 2;
    return width + 12 <= tui->canvas.columns;
}

void cn_tui_tab(const struct cn_tui *tui, enum cn_tui_view view, size_t *begin,
                size_t *end)
{
    size_t at = 0;

    *begin = *end = 0;
    if (!has_tabs(tui) || !cn_tui_has_view(tui, view))
        return;
    for (int i = 0; i < (int)view; i++)
        if (cn_tui_has_view(tui, (enum cn_tui_view)i))
            at += strlen(cn_tui_view_names[i]) + 2;
    *begin = at;
    *end = at + strlen(cn_tui_view_names[view]) + 2;
}

static void paint_top(struct cn_tui *tui)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    struct cn_text path = {0};
    size_t at = 1;

    cn_tui_fill(canvas, 0, 0, canvas->columns, CN_TUI_BAR);
    for (int i = 0; i < CN_TUI_VIEW_COUNT; i++) {
        bool is_on = i == (int)tui->view;
        size_t begin, end;

        cn_tui_tab(tui, (enum cn_tui_view)i, &begin, &end);
        if (end > 0) {
            if (is_on)
                cn_tui_fill(canvas, 0, begin, end, CN_TUI_BAR_ON);
            (void)cn_tui_draw(canvas, 0, begin + 1, end,
                              is_on ? CN_TUI_BAR_ON : CN_TUI_BAR, cn_tui_view_names[i]);
            at = end;
        } else if (is_on) {
            at = cn_tui_draw(canvas, 0, 1, canvas->columns, CN_TUI_BAR_ON,
                             cn_tui_view_names[i]);
        }
    }
    cn_utf8_add_printable(&path, tui->data->path);
    /* The end of a long path tells more than its beginning. */
    while (path.len > 0 &&
           at + 2 + cn_utf8_width(cn_text_str(&path)) + 1 > canvas->columns) {
        const char *slash = strchr(cn_text_str(&path) + 1, '/');
        struct cn_text rest = {0};

        if (!slash) {
            cn_text_clear(&path);
            break;
        }
        cn_text_str_add(&rest, slash);
        cn_text_done(&path);
        path = rest;
    }
    cn_tui_draw_right(canvas, 0, at + 1, canvas->columns - 1, CN_TUI_BAR,
                      cn_text_str(&path));
    cn_text_done(&path);
}

static void paint_status(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    static const char *const rows[] = {
        "?", "help",    "/", "search", "Enter", "open", "o", "sort", "H", "hot path",
        "M", "my code", "v", "source", "Tab",   "view", "q", "quit", NULL};
    static const char *const lists[] = {"?",   "help",    "/", "search", "o", "sort",
                                        "f",   "columns", "g", "graph",  "v", "source",
                                        "Tab", "view",    "q", "quit",   NULL};
    static const char *const flames[] = {"?",   "help", "Enter",  "zoom in", "Esc",
                                         "out", "/",    "search", "=",       "density",
                                         "Tab", "view", "q",      "quit",    NULL};
    static const char *const texts[] = {"?", "help", "Tab", "view", "q", "quit", NULL};
    static const char *const menus[] = {"Enter", "choose", "Esc", "close", NULL};
    const char *const *keys = tui->menu.kind != CN_TUI_MENU_NONE ? menus
                              : tui->view == CN_TUI_FLAMES       ? flames
                              : tui->view == CN_TUI_INFO         ? texts
                              : tui->view == CN_TUI_REPORT       ? lists
                                                                 : rows;
    struct cn_tui_canvas *canvas = &tui->canvas;
    size_t row = layout->status_row, at = 1;

    cn_tui_fill(canvas, row, 0, canvas->columns, CN_TUI_BAR);
    if (tui->is_prompting) {
        at = cn_tui_draw(canvas, row, 0, canvas->columns, CN_TUI_BAR_ON, "/");
        at = cn_tui_draw(canvas, row, at, canvas->columns - 1, CN_TUI_BAR,
                         cn_text_str(&tui->prompt));
        (void)cn_tui_draw(canvas, row, at, canvas->columns, CN_TUI_CURSOR, " ");
        return;
    }
    for (; keys[0]; keys += 2) {
        if (at + strlen(keys[0]) + strlen(keys[1]) + 2 > canvas->columns)
            break;
        at = cn_tui_draw(canvas, row, at, canvas->columns, CN_TUI_BAR_KEY, keys[0]);
        at = cn_tui_draw(canvas, row, at + 1, canvas->columns, CN_TUI_BAR, keys[1]) + 2;
    }
}

static void add_position(struct cn_tui *tui, struct cn_text *text)
{
    const struct cn_tui_pane *pane = cn_tui_pane(tui);

    if (!pane->is_built || pane->tree.count == 0)
        return;
    cn_count_print(text, pane->tree.cursor + 1);
    cn_text_str_add(text, " of ");
    cn_count_print(text, pane->tree.count);
}

/* Name and numbers of the selected box. */
static void add_box(struct cn_tui *tui, struct cn_text *text)
{
    const struct cn_tui_flame *flame = &cn_tui_pane(tui)->flame;
    const struct cn_tui_box *box = cn_tui_flame_current(flame);

    if (!box)
        return;
    cn_text_printf(text, "%s  ", box->label);
    for (size_t i = 0; i < flame->source->column_count; i++) {
        const struct cn_tui_column *column = &flame->source->columns[i];

        if (!column->is_shown || isnan(box->row.values[i]))
            continue;
        cn_tui_heading_add(column, text);
        cn_text_char(text, ' ');
        cn_tui_cell_add(flame->source, &box->row, i, text);
        if (column->whole > 0)
            cn_text_printf(text, " (%.1f%%)", cn_tui_percent(column, box->row.values[i]));
        cn_text_str_add(text, "  ");
    }
}

static const struct cn_code_class *code_of(struct cn_tui_source *source,
                                           const struct cn_row *row)
{
    return source->ops->code ? source->ops->code(source, row) : NULL;
}

/* "  python library". */
static void add_code(struct cn_tui *tui, struct cn_text *text)
{
    const struct cn_code_class *code;
    struct cn_tui_source *source;
    struct cn_row row;

    if (!cn_tui_current(tui, &source, &row) || !(code = code_of(source, &row)))
        return;
    if (code->language != CN_CODE_UNKNOWN)
        cn_text_printf(text, "  %s", cn_code_language_name(code->language));
    if (code->kind != CN_CODE_MINE && code->kind != CN_CODE_OF_KERNEL)
        cn_text_printf(text, "  %s", cn_code_kind_name(code->kind));
}

/* The name of the row if there is no room for it in the row. */
static void add_whole_name(struct cn_tui *tui, struct cn_text *text)
{
    struct cn_tui_source *source;
    struct cn_row row;

    if (!tui->is_name_cut || !cn_tui_current(tui, &source, &row))
        return;
    cn_tui_label_add(source, &row, text);
    cn_text_str_add(text, "  ");
}

/* The message, or where the code of the row is; in the flame graph, the box with the message
 * beside it. */
static void paint_detail(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    struct cn_text text = {0}, position = {0};
    struct cn_location location;
    enum cn_tui_style style = CN_TUI_DIM;

    if (tui->view != CN_TUI_FLAMES && tui->view != CN_TUI_INFO)
        add_position(tui, &position);
    if (tui->message.len > 0) {
        if (cn_tui_pane(tui)->is_built && tui->view == CN_TUI_FLAMES) {
            cn_utf8_add_printable(&position, cn_text_str(&tui->message));
            add_box(tui, &text);
        } else {
            cn_utf8_add_printable(&text, cn_text_str(&tui->message));
        }
        style = CN_TUI_ALERT;
    } else if (cn_tui_pane(tui)->is_built && tui->view == CN_TUI_FLAMES) {
        add_box(tui, &text);
        style = CN_TUI_PLAIN;
    } else if (cn_tui_pane(tui)->tree.has_failed) {
        cn_utf8_add_printable(&text, cn_tui_pane(tui)->tree.failure.text);
        style = CN_TUI_ALERT;
    } else if (cn_tui_locate(tui, tui->has_source, &location)) {
        add_whole_name(tui, &text);
        if (location.file)
            cn_utf8_add_printable(&text, location.file);
        if (location.file && location.line > 0)
            cn_text_printf(&text, ":%" PRIu32, location.line);
        if (location.module) {
            cn_text_str_add(&text, location.file ? "  " : "");
            cn_utf8_add_printable(&text, location.module);
        }
        add_code(tui, &text);
    }
    cn_tui_draw_right(canvas, layout->detail_row, 1, canvas->columns - 1, CN_TUI_DIM,
                      cn_text_str(&position));
    (void)cn_tui_draw(canvas, layout->detail_row, 1,
                      canvas->columns - 1 - (position.len ? position.len + 2 : 0), style,
                      cn_text_str(&text));
    cn_text_done(&text);
    cn_text_done(&position);
}

/* Rows */

static void paint_headings(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    const struct cn_tui_source *source = cn_tui_pane(tui)->tree.source;
    struct cn_text text = {0};

    cn_tui_fill(canvas, 1, 0, canvas->columns, CN_TUI_HEADING);
    for (size_t i = 0; i < layout->field_count; i++) {
        const struct cn_tui_field *field = &layout->fields[i];
        bool is_on = (int)field->column == source->order;

        cn_text_clear(&text);
        cn_tui_heading_add(&source->columns[field->column], &text);
        cn_tui_draw_right(canvas, 1, field->begin, field->end,
                          is_on ? CN_TUI_HEADING_ON : CN_TUI_HEADING, cn_text_str(&text));
        if (field->percent_end > 0)
            cn_tui_draw_right(canvas, 1, field->end, field->percent_end, CN_TUI_HEADING,
                              "%");
        if (is_on)
            (void)cn_tui_draw(canvas, 1, field->begin - 1, field->begin,
                              CN_TUI_HEADING_ON,
                              !canvas->has_utf8     ? (source->is_reversed ? "^" : "v")
                              : source->is_reversed ? "▴"
                                                    : "▾");
    }
    cn_text_clear(&text);
    cn_text_str_add(&text, source->name_title);
    if (tui->view == CN_TUI_GRAPH && tui->is_function_shown) {
        cn_text_str_add(&text, " ");
        cn_utf8_add_printable(&text, tui->function);
    } else if (tui->view == CN_TUI_TREE || tui->view == CN_TUI_CALLERS ||
               tui->view == CN_TUI_FLAT) {
        const struct cn_tui_load *load = &tui->data->loads[cn_tui_step_of(tui)];

        cn_text_printf(&text, "%s", canvas->has_utf8 ? " · " : " - ");
        if (load->costs->column_count > 0)
            cn_utf8_add_printable(&text, load->costs->columns[0].metric);
        cn_tui_filters_add(tui, &text);
    }
    (void)cn_tui_draw(canvas, 1, layout->name_begin, canvas->columns,
                      source->order == CN_TUI_BY_NAME ? CN_TUI_HEADING_ON
                                                      : CN_TUI_HEADING,
                      cn_text_str(&text));
    cn_text_done(&text);
}

static enum cn_tui_style heat(double percent)
{
    return percent >= 10 ? CN_TUI_HOT : percent >= 1 ? CN_TUI_WARM : CN_TUI_PLAIN;
}

static void paint_values(struct cn_tui *tui, const struct cn_tui_layout *layout,
                         size_t line, const struct cn_row *row)
{
    struct cn_tui_source *source = cn_tui_pane(tui)->tree.source;
    struct cn_text text = {0};

    for (size_t i = 0; i < layout->field_count; i++) {
        const struct cn_tui_field *field = &layout->fields[i];
        const struct cn_tui_column *column = &source->columns[field->column];
        double value = row->values[field->column];
        double percent = cn_tui_percent(column, value);

        cn_text_clear(&text);
        cn_tui_cell_add(source, row, field->column, &text);
        cn_tui_draw_right(&tui->canvas, line, field->begin, field->end, CN_TUI_PLAIN,
                          cn_text_str(&text));
        if (field->percent_end == 0 || isnan(percent))
            continue;
        cn_text_clear(&text);
        cn_text_printf(&text, "%.1f%%", percent);
        cn_tui_draw_right(&tui->canvas, line, field->end, field->percent_end,
                          heat(percent), cn_text_str(&text));
    }
    cn_text_done(&text);
}

/* Levels at the left that are not drawn, so that the name at the cursor can be read. */
static size_t hidden_levels(const struct cn_tui_tree *tree, size_t room)
{
    const struct cn_tui_item *item = cn_tui_tree_current(tree);
    size_t most = room > NAME_MIN ? (room - NAME_MIN) / GUIDE_WIDTH : 0;

    if (most < 2)
        most = 2;
    return item && item->depth > most ? item->depth - most : 0;
}

static size_t paint_guides(struct cn_tui *tui, size_t line, size_t column,
                           const struct cn_tui_item *item, size_t hidden)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    bool has_utf8 = canvas->has_utf8;

    for (size_t level = 1 + hidden; level <= item->depth; level++) {
        size_t up = item->depth - level;
        bool has_more = up < 64 && (item->guides >> up & 1);
        const char *guide = up > 0     ? (has_more ? (has_utf8 ? "│ " : "| ") : "  ")
                            : has_more ? (has_utf8 ? "├─" : "|-")
                                       : (has_utf8 ? "└─" : "`-");

        (void)cn_tui_draw(canvas, line, column, canvas->columns, CN_TUI_DIM, guide);
        column += GUIDE_WIDTH;
    }
    return column;
}

static void paint_row(struct cn_tui *tui, const struct cn_tui_layout *layout, size_t line,
                      const struct cn_tui_item *item, size_t hidden, bool is_current)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    struct cn_tui_tree *tree = &cn_tui_pane(tui)->tree;
    struct cn_text label = {0};
    size_t at = layout->name_begin;
    enum cn_tui_style style = CN_TUI_PLAIN;

    paint_values(tui, layout, line, &item->row);
    if (!tree->source->ops->is_leaf || tui->view != CN_TUI_REPORT) {
        at = paint_guides(tui, line, at, item, hidden);
        (void)cn_tui_draw(canvas, line, at, canvas->columns, CN_TUI_DIM,
                          item->is_leaf      ? " "
                          : item->is_open    ? (canvas->has_utf8 ? "▾" : "-")
                          : canvas->has_utf8 ? "▸"
                                             : "+");
        at += 2;
    }
    cn_tui_label_add(tree->source, &item->row, &label);
    /* Code of others is dim, so that one's own stands out. */
    const struct cn_code_class *code = code_of(tree->source, &item->row);
    if (code && code->kind != CN_CODE_MINE)
        style = CN_TUI_DIM;
    if (tui->search.len > 0 &&
        cn_tui_matches(cn_text_str(&label), cn_text_str(&tui->search)))
        style = CN_TUI_MATCH;
    bool is_whole =
        cn_tui_draw_name(canvas, line, at, canvas->columns, style, cn_text_str(&label));
    if (is_current)
        tui->is_name_cut = !is_whole;
    if (is_current)
        cn_tui_paint_style(canvas, line, 0, canvas->columns, CN_TUI_CURSOR);
    cn_text_done(&label);
}

static void paint_rows(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_tui_tree *tree = &cn_tui_pane(tui)->tree;
    size_t hidden = hidden_levels(
        tree, tui->canvas.columns - minimum(layout->name_begin, tui->canvas.columns));

    cn_tui_tree_show(tree, layout->list_height);
    paint_headings(tui, layout);
    for (size_t i = 0; i < layout->list_height && tree->top + i < tree->count; i++)
        paint_row(tui, layout, layout->list_top + i, &tree->items[tree->top + i], hidden,
                  tree->top + i == tree->cursor);
    if (tree->count == 0)
        (void)cn_tui_draw(&tui->canvas, layout->list_top + 1, 2, tui->canvas.columns,
                          CN_TUI_DIM, "no rows: nothing has a value here");
}

/* Source text */

static void paint_source(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    struct cn_tui_source_text *text = &tui->source_text;
    struct cn_text line = {0};
    struct cn_location location;
    size_t height = layout->source_height - 1, first = 1;
    bool is_known = cn_tui_locate(tui, true, &location) && location.file;

    cn_tui_fill(canvas, layout->source_top, 0, canvas->columns, CN_TUI_HEADING);
    if (is_known)
        cn_tui_source_text_use(text, cn_tui_data_folder(tui->data), location.file);
    if (!is_known)
        cn_text_str_add(&line, "the source of this row is unknown");
    else if (text->line_count == 0)
        cn_text_printf(&line, "not on this machine: %s", location.file);
    else
        cn_text_printf(&line, "%s:%" PRIu32, cn_text_str(&text->real), location.line);
    (void)cn_tui_draw(canvas, layout->source_top, 1, canvas->columns - 1, CN_TUI_HEADING,
                      cn_text_str(&line));
    if (is_known && location.line > height / 3)
        first = location.line - height / 3;
    for (size_t i = 0; is_known && i < height && first + i <= text->line_count; i++) {
        size_t row = layout->source_top + 1 + i;
        bool is_here = first + i == location.line;

        cn_text_clear(&line);
        cn_text_printf(&line, "%6zu ", first + i);
        (void)cn_tui_draw(canvas, row, 0, canvas->columns, CN_TUI_DIM,
                          cn_text_str(&line));
        cn_text_clear(&line);
        cn_tui_source_line_add(text, first + i, &line);
        (void)cn_tui_draw(canvas, row, 8, canvas->columns,
                          is_here ? CN_TUI_STRONG : CN_TUI_PLAIN, cn_text_str(&line));
        if (is_here)
            (void)cn_tui_draw(canvas, row, 7, 8, CN_TUI_HOT, ">");
    }
    cn_text_done(&line);
}

void cn_tui_paint(struct cn_tui *tui)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    struct cn_tui_layout layout = cn_tui_lay_out(tui);
    const struct cn_tui_pane *pane = cn_tui_pane(tui);

    for (size_t row = 0; row < canvas->rows; row++)
        cn_tui_fill(canvas, row, 0, canvas->columns, CN_TUI_PLAIN);
    if (layout.is_small) {
        char *text = cn_strprintf("too small: %zu x %zu, needs %d x %d", canvas->columns,
                                  canvas->rows, CN_TUI_COLUMNS_MIN, CN_TUI_ROWS_MIN);

        (void)cn_tui_draw(canvas, 0, 0, canvas->columns, CN_TUI_PLAIN, text);
        free(text);
        return;
    }
    paint_top(tui);
    if (tui->has_help)
        cn_tui_paint_help(tui, &layout);
    else if (!pane->is_built &&
             cn_tui_data_ask(tui->data, cn_tui_step_of(tui)) == CN_TUI_FAILED)
        cn_tui_paint_failure(tui, &layout);
    else if (!pane->is_built)
        cn_tui_paint_progress(tui, &layout);
    else if (tui->view == CN_TUI_INFO)
        cn_tui_paint_info(tui, &layout);
    else if (tui->view == CN_TUI_FLAMES)
        cn_tui_paint_flame(tui, &layout);
    else
        paint_rows(tui, &layout);
    if (!tui->has_help && pane->is_built && layout.source_height > 0)
        paint_source(tui, &layout);
    if (!tui->has_help)
        paint_detail(tui, &layout);
    paint_status(tui, &layout);
    if (tui->menu.kind != CN_TUI_MENU_NONE)
        cn_tui_paint_menu(tui);
}
