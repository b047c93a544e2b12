/* Texts instead of a view, and menus over it. */

#include <string.h>

#include "base/bytes/utf8.h"
#include "cli/tui/tui.h"
#include "model/format.h"

static size_t minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Draw lines of a text from `top` on, which is made to fit. */
static void paint_text(struct cn_tui *tui, const struct cn_tui_layout *layout,
                       const char *text, size_t *top)
{
    size_t count = 0, line = 0;
    struct cn_text one = {0};

    for (const char *c = text; *c; c++)
        count += *c == '\n';
    if (count <= layout->list_height)
        *top = 0;
    else if (*top > count - layout->list_height)
        *top = count - layout->list_height;
    for (const char *at = text; *at; line++) {
        size_t len = strcspn(at, "\n");
        size_t begin = strncmp(at, "# ", 2) == 0 ? 2 : len == 1 && at[0] == '#' ? 1 : 0;

        if (line >= *top && line < *top + layout->list_height) {
            cn_text_clear(&one);
            cn_utf8_add_printable_chars(&one, at + begin, len - begin);
            (void)cn_tui_draw(&tui->canvas, layout->list_top + line - *top, 1,
                              tui->canvas.columns, CN_TUI_PLAIN, cn_text_str(&one));
        }
        at += len + (at[len] == '\n');
    }
    cn_text_done(&one);
}

void cn_tui_paint_info(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_text text = {0};

    cn_tui_fill(&tui->canvas, 1, 0, tui->canvas.columns, CN_TUI_HEADING);
    (void)cn_tui_draw(&tui->canvas, 1, 1, tui->canvas.columns, CN_TUI_HEADING,
                      tui->data->opened.format->name);
    cn_tui_data_messages(tui->data, &text);
    if (text.len > 0)
        cn_text_char(&text, '\n');
    cn_text_str_add(&text, cn_text_str(&tui->data->info));
    paint_text(tui, layout, cn_text_str(&text), &cn_tui_pane(tui)->top);
    cn_text_done(&text);
}

void cn_tui_paint_help(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    size_t key_width = canvas->columns >= 64 ? 29 : 16;

    cn_tui_fill(canvas, 1, 0, canvas->columns, CN_TUI_HEADING);
    (void)cn_tui_draw(canvas, 1, 1, canvas->columns, CN_TUI_HEADING,
                      "Keys; any other key closes this help");
    if (cn_tui_help_count <= layout->list_height)
        tui->help_top = 0;
    else
        tui->help_top = minimum(tui->help_top, cn_tui_help_count - layout->list_height);
    for (size_t i = 0; i < layout->list_height && tui->help_top + i < cn_tui_help_count;
         i++) {
        const struct cn_tui_help_line *line = &cn_tui_help[tui->help_top + i];
        size_t row = layout->list_top + i;

        (void)cn_tui_draw(canvas, row, line->key ? key_width : 1, canvas->columns,
                          line->key ? CN_TUI_PLAIN : CN_TUI_STRONG, line->meaning);
        if (line->key)
            (void)cn_tui_draw(canvas, row, 3, key_width - 1, CN_TUI_WARM, line->key);
    }
}

/* A step that runs or has failed */

void cn_tui_paint_progress(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    struct cn_tui_progress progress =
        cn_tui_data_progress(tui->data, cn_tui_step_of(tui));
    size_t row =
        layout->list_top + (layout->list_height > 8 ? layout->list_height / 3 : 0);
    size_t width = minimum(canvas->columns - 12, 48);
    size_t filled = (size_t)(progress.share * (double)width);
    double elapsed_s = (double)progress.elapsed_ns / 1e9;
    struct cn_text text = {0};

    cn_tui_fill(canvas, 1, 0, canvas->columns, CN_TUI_HEADING);
    cn_text_printf(&text, "%s%s", progress.what, canvas->has_utf8 ? "…" : "...");
    (void)cn_tui_draw(canvas, row, 4, canvas->columns, CN_TUI_STRONG, cn_text_str(&text));
    for (size_t i = 0; i < width && progress.share > 0; i++)
        (void)cn_tui_draw(canvas, row + 1, 4 + i, canvas->columns,
                          i < filled ? CN_TUI_WARM : CN_TUI_DIM,
                          canvas->has_utf8 ? (i < filled ? "█" : "░")
                          : i < filled     ? "#"
                                           : "-");
    cn_text_clear(&text);
    if (progress.share > 0)
        cn_text_printf(&text, "%.0f %%, ", progress.share * 100);
    cn_text_printf(&text, "%.0f s", elapsed_s);
    if (progress.share > 0.02)
        cn_text_printf(&text, ", about %.0f s left",
                       elapsed_s / progress.share - elapsed_s);
    (void)cn_tui_draw(canvas, row + 2, 4, canvas->columns, CN_TUI_DIM,
                      cn_text_str(&text));
    cn_text_done(&text);
}

/* Wrapped at blanks. */
static void paint_wrapped(struct cn_tui_canvas *canvas, size_t row, size_t last,
                          const char *text)
{
    size_t width = canvas->columns - 8;
    struct cn_text line = {0};

    while (*text && row < last) {
        size_t len = strlen(text), end;

        if (len > width) {
            for (end = width; end > 0 && text[end] != ' '; end--)
                continue;
            len = end > 0 ? end : width;
        }
        cn_text_clear(&line);
        cn_text_add(&line, text, len);
        (void)cn_tui_draw(canvas, row++, 4, canvas->columns - 2, CN_TUI_ALERT,
                          cn_text_str(&line));
        text += len + strspn(text + len, " ");
    }
    cn_text_done(&line);
}

void cn_tui_paint_failure(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_text text = {0};

    cn_tui_fill(&tui->canvas, 1, 0, tui->canvas.columns, CN_TUI_HEADING);
    cn_utf8_add_printable(&text,
                          cn_tui_data_failure(tui->data, cn_tui_step_of(tui))->text);
    paint_wrapped(&tui->canvas, layout->list_top + 1,
                  layout->list_top + layout->list_height, cn_text_str(&text));
    cn_text_done(&text);
}

/* A menu over the view */

void cn_tui_paint_menu(struct cn_tui *tui)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    struct cn_tui_menu *menu = &tui->menu;
    struct cn_tui_source *source = cn_tui_pane(tui)->tree.source;
    size_t width = strlen(menu->title) + 4, height, left, top;

    for (size_t i = 0; i < menu->count; i++) {
        size_t line = cn_utf8_width(cn_text_str(&menu->lines[i])) + 8;

        width = line > width ? line : width;
    }
    width = minimum(width, canvas->columns - 4);
    height = minimum(menu->count, canvas->rows - 5);
    left = (canvas->columns - width) / 2;
    top = (canvas->rows - height - 1) / 2;
    if (menu->cursor < menu->top)
        menu->top = menu->cursor;
    if (menu->cursor >= menu->top + height)
        menu->top = menu->cursor + 1 - height;
    cn_tui_fill(canvas, top, left, left + width, CN_TUI_BAR_ON);
    (void)cn_tui_draw(canvas, top, left + 2, left + width, CN_TUI_BAR_ON, menu->title);
    for (size_t i = 0; i < height; i++) {
        size_t at = menu->top + i;
        enum cn_tui_style style = at == menu->cursor ? CN_TUI_CURSOR : CN_TUI_BAR;
        bool is_on = menu->kind == CN_TUI_MENU_COLUMNS &&
                     source->columns[menu->values[at]].is_shown;

        cn_tui_fill(canvas, top + 1 + i, left, left + width, style);
        if (menu->kind == CN_TUI_MENU_COLUMNS)
            (void)cn_tui_draw(canvas, top + 1 + i, left + 2, left + width, style,
                              is_on ? "[x]" : "[ ]");
        (void)cn_tui_draw(canvas, top + 1 + i,
                          left + (menu->kind == CN_TUI_MENU_COLUMNS ? 6 : 2),
                          left + width - 1, style, cn_text_str(&menu->lines[at]));
    }
}
