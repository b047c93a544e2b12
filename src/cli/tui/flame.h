/* The flame view: rows of a source as boxes, callees below their callers, as wide as their
 * share of the time. Only boxes that are at least a column wide exist, so that the work
 * depends on the screen, not on the data.
 *
 * A flame borrows its source.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TUI_FLAME_H
#define CN_CLI_TUI_FLAME_H

#include "base/arena.h"
#include "cli/tui/source.h"

struct cn_tui_box {
    struct cn_row row;
    size_t begin, end; /* columns */
    double from, to;   /* the same, not rounded */
    size_t parent;     /* in the level above */
    uint8_t color;     /* 1 to CN_TUI_FLAME_COLORS - 1 */
    const char *label; /* printable */
};

struct cn_tui_level {
    struct cn_tui_box *boxes; /* from left to right */
    size_t count, capacity;
};

enum { CN_TUI_LEVEL_MAX = 512 };

struct cn_tui_flame {
    struct cn_tui_source *source;
    size_t column, width; /* of values; of the screen */
    struct cn_tui_level *levels;
    size_t level_count;
    struct cn_arena arena;    /* of rows and labels */
    struct cn_tui_box *zooms; /* from the outermost one */
    size_t zoom_count, zoom_capacity;
    struct cn_arena zoom_arena;
    size_t level, box; /* the selected one */
    size_t top;        /* the first level on the screen */
};

void cn_tui_flame_init(struct cn_tui_flame *flame, struct cn_tui_source *source,
                       size_t column, size_t width);
void cn_tui_flame_done(struct cn_tui_flame *flame);

/* The same for another width or order of the source. */
void cn_tui_flame_layout(struct cn_tui_flame *flame, size_t width);

/* The selected box, or NULL. */
const struct cn_tui_box *cn_tui_flame_current(const struct cn_tui_flame *flame);

/* Make the selected box as wide as the screen; back. */
void cn_tui_flame_zoom(struct cn_tui_flame *flame);
bool cn_tui_flame_unzoom(struct cn_tui_flame *flame);

/* Select the caller (-1) or the widest callee (1); the box to the left or to the right; the
 * box at a column of a level. */
void cn_tui_flame_vertical(struct cn_tui_flame *flame, int by);
void cn_tui_flame_horizontal(struct cn_tui_flame *flame, int by);
bool cn_tui_flame_select(struct cn_tui_flame *flame, size_t level, size_t column);

/* Select the next box whose label contains `what`. */
bool cn_tui_flame_search(struct cn_tui_flame *flame, const char *what, bool is_backward);

/* How many of the boxes match. */
size_t cn_tui_flame_count(const struct cn_tui_flame *flame, const char *what);

#endif
