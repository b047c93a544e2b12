#include "cli/tui/canvas.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/alloc.h"
#include "base/character.h"
#include "base/text.h"
#include "model/labels/short_name.h"

enum { ELLIPSIS = 0x2026 };

void cn_tui_canvas_resize(struct cn_tui_canvas *canvas, size_t columns, size_t rows)
{
    free(canvas->cells);
    canvas->cells = cn_alloc(columns * rows, sizeof(*canvas->cells));
    canvas->columns = columns;
    canvas->rows = rows;
    for (size_t i = 0; i < columns * rows; i++)
        canvas->cells[i].character = ' ';
}

void cn_tui_canvas_done(struct cn_tui_canvas *canvas)
{
    free(canvas->cells);
    *canvas = (struct cn_tui_canvas){0};
}

/* What may be shown of a character, and its width: control characters and what is unknown
 * to the terminal appear as '?'. Combining marks are left out. */
static uint32_t shown(const struct cn_tui_canvas *canvas, uint32_t c, size_t *width)
{
    int columns = 1;

    *width = 1;
    if (c >= 0x20 && c < 0x7f)
        return c;
    if (!canvas->has_utf8)
        return c == ELLIPSIS ? '.' : '?';
    if (c >= 0xa0)
        columns = wcwidth((wchar_t)c);
    if (c < 0xa0 || columns < 0)
        return '?';
    *width = (size_t)columns;
    return c;
}

static struct cn_tui_cell *cell_at(struct cn_tui_canvas *canvas, size_t row,
                                   size_t column)
{
    return &canvas->cells[row * canvas->columns + column];
}

/* Replace a cell. A wide character that is cut through is removed. */
static void put(struct cn_tui_canvas *canvas, size_t row, size_t column,
                struct cn_tui_cell cell)
{
    struct cn_tui_cell *at = cell_at(canvas, row, column);

    if (at->character == 0 && column > 0)
        at[-1].character = ' ';
    if (column + 1 < canvas->columns && at[1].character == 0)
        at[1].character = ' ';
    *at = cell;
}

/* The columns that text needs. */
static size_t width_of(const struct cn_tui_canvas *canvas, const char *text)
{
    size_t len = strlen(text), sum = 0;

    while (len > 0) {
        uint32_t c = '?';
        size_t n = cn_character_decode(text, len, &c), width;

        (void)shown(canvas, c, &width);
        sum += width;
        text += n ? n : 1;
        len -= n ? n : 1;
    }
    return sum;
}

size_t cn_tui_draw(struct cn_tui_canvas *canvas, size_t row, size_t column, size_t end,
                   enum cn_tui_style style, const char *text)
{
    size_t len = strlen(text), room;

    if (end > canvas->columns)
        end = canvas->columns;
    if (row >= canvas->rows || column >= end)
        return column;
    room = end - column;
    bool is_cut = len > room && width_of(canvas, text) > room;
    while (len > 0 && column < end) {
        uint32_t c = '?';
        size_t n = cn_character_decode(text, len, &c), width;

        c = shown(canvas, c, &width);
        text += n ? n : 1;
        len -= n ? n : 1;
        if (width == 0)
            continue;
        if (is_cut && column + width > end - 1) {
            put(canvas, row, column,
                (struct cn_tui_cell){.character = canvas->has_utf8 ? ELLIPSIS : '.',
                                     .style = (uint8_t)style});
            return column + 1;
        }
        put(canvas, row, column,
            (struct cn_tui_cell){.character = c, .style = (uint8_t)style});
        if (width == 2) {
            put(canvas, row, column + 1, (struct cn_tui_cell){.character = ' '});
            *cell_at(canvas, row, column) =
                (struct cn_tui_cell){.character = c, .style = (uint8_t)style};
            *cell_at(canvas, row, column + 1) =
                (struct cn_tui_cell){.style = (uint8_t)style};
        }
        column += width;
    }
    return column;
}

bool cn_tui_draw_name(struct cn_tui_canvas *canvas, size_t row, size_t column, size_t end,
                      enum cn_tui_style style, const char *name)
{
    struct cn_text text = {0};
    bool is_whole;

    if (end > canvas->columns)
        end = canvas->columns;
    if (column < end)
        cn_name_shorten(&text, name, end - column);
    is_whole = strcmp(cn_text_str(&text), name) == 0;
    (void)cn_tui_draw(canvas, row, column, end, style, cn_text_str(&text));
    cn_text_done(&text);
    return is_whole;
}

void cn_tui_draw_right(struct cn_tui_canvas *canvas, size_t row, size_t column,
                       size_t end, enum cn_tui_style style, const char *text)
{
    size_t width = width_of(canvas, text);

    if (end <= canvas->columns && width <= end && end - width >= column)
        (void)cn_tui_draw(canvas, row, end - width, end, style, text);
}

void cn_tui_paint_style(struct cn_tui_canvas *canvas, size_t row, size_t column,
                        size_t end, enum cn_tui_style style)
{
    for (size_t i = column; row < canvas->rows && i < end && i < canvas->columns; i++)
        cell_at(canvas, row, i)->style = (uint8_t)style;
}

void cn_tui_fill(struct cn_tui_canvas *canvas, size_t row, size_t column, size_t end,
                 enum cn_tui_style style)
{
    for (size_t i = column; row < canvas->rows && i < end && i < canvas->columns; i++)
        put(canvas, row, i,
            (struct cn_tui_cell){.character = ' ', .style = (uint8_t)style});
}

void cn_tui_draw_flame(struct cn_tui_canvas *canvas, size_t row, size_t column,
                       uint32_t character, unsigned fg, unsigned bg)
{
    if (row < canvas->rows && column < canvas->columns)
        *cell_at(canvas, row, column) =
            (struct cn_tui_cell){character, CN_TUI_FLAME, (uint8_t)fg, (uint8_t)bg};
}

void cn_tui_canvas_line(const struct cn_tui_canvas *canvas, size_t row,
                        struct cn_text *text)
{
    size_t end = text->len;

    for (size_t i = 0; i < canvas->columns; i++) {
        uint32_t c = canvas->cells[row * canvas->columns + i].character;

        if (c == 0)
            continue;
        cn_text_advance(text,
                        cn_character_encode(c, cn_text_room(text, CN_CHARACTER_LEN_MAX)));
        if (c != ' ')
            end = text->len;
    }
    if (text->chars) {
        text->len = end;
        text->chars[end] = '\0';
    }
}
