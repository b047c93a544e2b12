/* A screen in memory: what the terminal viewer draws on. terminal.c copies it to the
 * terminal; tests read its lines.
 *
 * Only printable characters get into cells, whatever is drawn: names come from files.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TUI_CANVAS_H
#define CN_CLI_TUI_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_text;

enum cn_tui_style {
    CN_TUI_PLAIN,
    CN_TUI_DIM,        /* guides, units, what matters less */
    CN_TUI_STRONG,     /* titles */
    CN_TUI_BAR,        /* the line at the top and the one at the bottom */
    CN_TUI_BAR_ON,     /* the current view */
    CN_TUI_BAR_KEY,    /* names of keys */
    CN_TUI_HEADING,    /* of columns */
    CN_TUI_HEADING_ON, /* of the column that sorts */
    CN_TUI_CURSOR,
    CN_TUI_HOT,   /* 10 % and more */
    CN_TUI_WARM,  /* 1 % and more */
    CN_TUI_MATCH, /* of the search */
    CN_TUI_ALERT, /* failures */
    CN_TUI_FLAME, /* of the colours `fg` and `bg` */
    CN_TUI_STYLE_COUNT,
};

/* Colours of the flame view: 0 is the background, then those of boxes. */
enum {
    CN_TUI_FLAME_COLORS = 7,
    CN_TUI_FLAME_CURSOR = CN_TUI_FLAME_COLORS, /* of the selected box */
    CN_TUI_FLAME_TEXT,                         /* of labels */
    CN_TUI_FLAME_ALL,
};

struct cn_tui_cell {
    uint32_t character; /* 0: the right half of a wide one */
    uint8_t style;      /* enum cn_tui_style */
    uint8_t fg, bg;     /* of CN_TUI_FLAME */
};

struct cn_tui_canvas {
    struct cn_tui_cell *cells; /* [row][column] */
    size_t columns, rows;
    bool has_utf8, has_color; /* of the terminal */
};

/* Make it blank, of this size. */
void cn_tui_canvas_resize(struct cn_tui_canvas *canvas, size_t columns, size_t rows);
void cn_tui_canvas_done(struct cn_tui_canvas *canvas);

/* Draw text from a column on, cut at `end` with an ellipsis. Returns the column after it. */
size_t cn_tui_draw(struct cn_tui_canvas *canvas, size_t row, size_t column, size_t end,
                   enum cn_tui_style style, const char *text);

/* The same for the name of a function: shortened so that the method stays visible. Returns true if
 * it is whole. */
bool cn_tui_draw_name(struct cn_tui_canvas *canvas, size_t row, size_t column, size_t end,
                      enum cn_tui_style style, const char *name);

/* Draw text that ends before `end`; nothing if it does not fit. */
void cn_tui_draw_right(struct cn_tui_canvas *canvas, size_t row, size_t column,
                       size_t end, enum cn_tui_style style, const char *text);

/* Change the style of cells that are drawn. */
void cn_tui_paint_style(struct cn_tui_canvas *canvas, size_t row, size_t column,
                        size_t end, enum cn_tui_style style);

void cn_tui_fill(struct cn_tui_canvas *canvas, size_t row, size_t column, size_t end,
                 enum cn_tui_style style);

/* One cell of the flame view; outside the canvas: nothing. */
void cn_tui_draw_flame(struct cn_tui_canvas *canvas, size_t row, size_t column,
                       uint32_t character, unsigned fg, unsigned bg);

/* Append the characters of a row, without blanks at the end. */
void cn_tui_canvas_line(const struct cn_tui_canvas *canvas, size_t row,
                        struct cn_text *text);

#endif
