/* The flame view: boxes of one line, or of half a line. */

#include <string.h>

#include "cli/tui/tui.h"

static unsigned color_of(const struct cn_tui_flame *flame, size_t level, size_t box)
{
    return level == flame->level && box == flame->box
               ? CN_TUI_FLAME_CURSOR
               : flame->levels[level].boxes[box].color;
}

/* The colours of a level, one a column; 0 where there is no box. */
static void color_level(const struct cn_tui_flame *flame, size_t level, uint8_t *colors)
{
    memset(colors, 0, flame->width);
    for (size_t i = 0; level < flame->level_count && i < flame->levels[level].count; i++)
        memset(colors + flame->levels[level].boxes[i].begin,
               (int)color_of(flame, level, i),
               flame->levels[level].boxes[i].end - flame->levels[level].boxes[i].begin);
}

static void paint_dense(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    const struct cn_tui_flame *flame = &cn_tui_pane(tui)->flame;
    uint8_t upper[1024], lower[1024];

    for (size_t i = 0; i < layout->list_height; i++) {
        color_level(flame, flame->top + 2 * i, upper);
        color_level(flame, flame->top + 2 * i + 1, lower);
        for (size_t x = 0; x < flame->width; x++)
            if (upper[x] || lower[x])
                cn_tui_draw_flame(
                    &tui->canvas, layout->list_top + i, x, upper[x] ? 0x2580 : 0x2584,
                    upper[x] ? upper[x] : lower[x], upper[x] ? lower[x] : 0);
    }
}

static void paint_box(struct cn_tui *tui, size_t row, const struct cn_tui_box *box,
                      unsigned color)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    bool is_current = color == CN_TUI_FLAME_CURSOR;
    bool is_match =
        tui->search.len > 0 && cn_tui_matches(box->label, cn_text_str(&tui->search));
    enum cn_tui_style style = is_current ? CN_TUI_CURSOR
                              : is_match ? CN_TUI_MATCH
                                         : CN_TUI_PLAIN;

    cn_tui_fill(canvas, row, box->begin, box->end, style);
    if (!canvas->has_color) {
        (void)cn_tui_draw(canvas, row, box->begin, box->end, style,
                          canvas->has_utf8 ? "▏" : "|");
        (void)cn_tui_draw_name(canvas, row, box->begin + 1, box->end, style, box->label);
        return;
    }
    if (box->end - box->begin > 2)
        (void)cn_tui_draw_name(canvas, row, box->begin + 1, box->end, style, box->label);
    if (is_match && !is_current)
        return;
    for (size_t x = box->begin; x < box->end; x++) {
        uint32_t c = canvas->cells[row * canvas->columns + x].character;

        cn_tui_draw_flame(canvas, row, x, c, CN_TUI_FLAME_TEXT, color);
    }
}

void cn_tui_paint_flame(struct cn_tui *tui, const struct cn_tui_layout *layout)
{
    struct cn_tui_canvas *canvas = &tui->canvas;
    struct cn_tui_flame *flame = &cn_tui_pane(tui)->flame;
    size_t width = canvas->columns < 1024 ? canvas->columns : 1024, per_line;
    struct cn_text trail = {0};

    if (flame->width != width)
        cn_tui_flame_layout(flame, width);
    if (!tui->is_density_chosen)
        tui->is_dense = flame->level_count > layout->list_height;
    if (!canvas->has_utf8 || !canvas->has_color)
        tui->is_dense = false; /* there are no half blocks, or no colours to tell apart */
    per_line = tui->is_dense ? 2 : 1;
    if (flame->level < flame->top)
        flame->top = flame->level;
    if (flame->level >= flame->top + per_line * layout->list_height)
        flame->top = flame->level + 1 - per_line * layout->list_height;
    cn_tui_fill(canvas, 1, 0, canvas->columns, CN_TUI_HEADING);
    cn_text_str_add(&trail, "all");
    cn_tui_filters_add(tui, &trail);
    for (size_t i = 0; i < flame->zoom_count; i++)
        cn_text_printf(&trail, "%s%s", canvas->has_utf8 ? " › " : " > ",
                       flame->zooms[i].label);
    (void)cn_tui_draw(canvas, 1, 1, canvas->columns - 1, CN_TUI_HEADING,
                      cn_text_str(&trail));
    cn_text_done(&trail);
    if (tui->is_dense) {
        paint_dense(tui, layout);
        return;
    }
    for (size_t i = 0; i < layout->list_height && flame->top + i < flame->level_count;
         i++)
        for (size_t b = 0; b < flame->levels[flame->top + i].count; b++)
            paint_box(tui, layout->list_top + i, &flame->levels[flame->top + i].boxes[b],
                      color_of(flame, flame->top + i, b));
}
