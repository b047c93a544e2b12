#include "cli/tui/flame.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "cli/tui/canvas.h"
#include "cli/tui/tree.h"

/* A copy in an arena, with its values. */
static struct cn_row copy_row(struct cn_arena *arena, const struct cn_tui_source *source,
                              const struct cn_row *row)
{
    double *values = cn_arena_alloc(arena, source->column_count, sizeof(*values));
    struct cn_row copy = *row;

    memcpy(values, row->values, source->column_count * sizeof(*values));
    copy.values = values;
    return copy;
}

static double value_of(const struct cn_tui_flame *flame, const struct cn_row *row)
{
    double value = row->values[flame->column];

    return value > 0 ? value : 0;
}

static struct cn_tui_box *add_box(struct cn_tui_flame *flame, struct cn_tui_level *level,
                                  const struct cn_row *row)
{
    struct cn_text label = {0};
    struct cn_tui_box *box;

    CN_GROW(level->boxes, level->count, level->capacity);
    box = &level->boxes[level->count++];
    cn_tui_label_add(flame->source, row, &label);
    *box = (struct cn_tui_box){
        .row = copy_row(&flame->arena, flame->source, row),
        .label = cn_arena_strdup(&flame->arena, cn_text_str(&label)),
        .color = (uint8_t)(1 + XXH3_64bits(cn_text_str(&label), label.len) %
                                   (CN_TUI_FLAME_COLORS - 1)),
    };
    cn_text_done(&label);
    return box;
}

/* Place rows next to each other from `from` on, `scale` columns a unit, up to `to`. */
static void place(struct cn_tui_flame *flame, struct cn_tui_level *level,
                  const struct cn_row_list *list, double from, double to, double scale,
                  size_t parent)
{
    for (size_t i = 0; i < list->count && from < to; i++) {
        double next = fmin(from + value_of(flame, &list->rows[i]) * scale, to);
        size_t begin = (size_t)llround(from), end = (size_t)llround(next);

        if (end > begin) {
            struct cn_tui_box *box = add_box(flame, level, &list->rows[i]);

            box->begin = begin;
            box->end = end;
            box->from = from;
            box->to = next;
            box->parent = parent;
            if (level->count > 1 && box[-1].end == begin && box[-1].color == box->color)
                box->color = (uint8_t)(box->color % (CN_TUI_FLAME_COLORS - 1) + 1);
        }
        from = next;
    }
}

static void release_levels(struct cn_tui_flame *flame)
{
    for (size_t i = 0; i < flame->level_count; i++)
        free(flame->levels[i].boxes);
    free(flame->levels);
    flame->levels = NULL;
    flame->level_count = 0;
    cn_arena_done(&flame->arena);
}

/* Rows that cannot be listed are left out: the tree says why. */
static bool children(struct cn_tui_flame *flame, const struct cn_row *row,
                     struct cn_row_list *out)
{
    struct cn_error err;

    return (!row || !flame->source->ops->is_leaf(flame->source, row)) &&
           (cn_tui_children(flame->source, row, out, &err) || out->count > 0);
}

static void lay_out_first(struct cn_tui_flame *flame, struct cn_tui_level *level)
{
    double width = (double)flame->width, sum = 0;
    struct cn_row_list list = {0};

    if (flame->zoom_count > 0) {
        struct cn_tui_box *box =
            add_box(flame, level, &flame->zooms[flame->zoom_count - 1].row);

        box->end = flame->width;
        box->to = width;
        return;
    }
    if (children(flame, NULL, &list)) {
        for (size_t i = 0; i < list.count; i++)
            sum += value_of(flame, &list.rows[i]);
        if (sum > 0)
            place(flame, level, &list, 0, width, width / sum, 0);
    }
    cn_row_list_done(&list);
}

void cn_tui_flame_layout(struct cn_tui_flame *flame, size_t width)
{
    release_levels(flame);
    flame->width = width;
    flame->levels = cn_alloc(CN_TUI_LEVEL_MAX, sizeof(*flame->levels));
    lay_out_first(flame, &flame->levels[0]);
    while (flame->level_count < CN_TUI_LEVEL_MAX &&
           flame->levels[flame->level_count].count > 0) {
        struct cn_tui_level *level = &flame->levels[flame->level_count++];

        if (flame->level_count == CN_TUI_LEVEL_MAX)
            break;
        for (size_t i = 0; i < level->count; i++) {
            struct cn_tui_box *box = &level->boxes[i];
            double value = value_of(flame, &box->row);
            struct cn_row_list list = {0};

            if (value > 0 && children(flame, &box->row, &list))
                place(flame, &flame->levels[flame->level_count], &list, box->from,
                      box->to, (box->to - box->from) / value, i);
            cn_row_list_done(&list);
        }
    }
    if (flame->level >= flame->level_count ||
        flame->box >= flame->levels[flame->level].count)
        flame->level = flame->box = flame->top = 0;
}

void cn_tui_flame_init(struct cn_tui_flame *flame, struct cn_tui_source *source,
                       size_t column, size_t width)
{
    *flame = (struct cn_tui_flame){.source = source, .column = column};
    cn_tui_flame_layout(flame, width);
}

void cn_tui_flame_done(struct cn_tui_flame *flame)
{
    release_levels(flame);
    free(flame->zooms);
    cn_arena_done(&flame->zoom_arena);
    *flame = (struct cn_tui_flame){0};
}

const struct cn_tui_box *cn_tui_flame_current(const struct cn_tui_flame *flame)
{
    return flame->level < flame->level_count
               ? &flame->levels[flame->level].boxes[flame->box]
               : NULL;
}

void cn_tui_flame_zoom(struct cn_tui_flame *flame)
{
    const struct cn_tui_box *box = cn_tui_flame_current(flame);

    if (!box || (flame->zoom_count > 0 && flame->level == 0))
        return;
    CN_PUSH(flame->zooms, flame->zoom_count, flame->zoom_capacity,
            (struct cn_tui_box){
                .row = copy_row(&flame->zoom_arena, flame->source, &box->row),
                .label = cn_arena_strdup(&flame->zoom_arena, box->label),
            });
    flame->level = flame->box = flame->top = 0;
    cn_tui_flame_layout(flame, flame->width);
}

bool cn_tui_flame_unzoom(struct cn_tui_flame *flame)
{
    if (flame->zoom_count == 0)
        return false;
    flame->zoom_count--;
    flame->level = flame->box = flame->top = 0;
    cn_tui_flame_layout(flame, flame->width);
    return true;
}

void cn_tui_flame_vertical(struct cn_tui_flame *flame, int by)
{
    const struct cn_tui_box *box = cn_tui_flame_current(flame);
    size_t best = SIZE_MAX;

    if (!box)
        return;
    if (by < 0) {
        if (flame->level > 0) {
            flame->box = box->parent;
            flame->level--;
        }
        return;
    }
    if (flame->level + 1 >= flame->level_count)
        return;
    const struct cn_tui_level *below = &flame->levels[flame->level + 1];
    for (size_t i = 0; i < below->count; i++)
        if (below->boxes[i].parent == flame->box &&
            (best == SIZE_MAX || below->boxes[i].to - below->boxes[i].from >
                                     below->boxes[best].to - below->boxes[best].from))
            best = i;
    if (best != SIZE_MAX) {
        flame->level++;
        flame->box = best;
    }
}

void cn_tui_flame_horizontal(struct cn_tui_flame *flame, int by)
{
    if (flame->level_count == 0)
        return;
    if (by < 0 && flame->box > 0)
        flame->box--;
    if (by > 0 && flame->box + 1 < flame->levels[flame->level].count)
        flame->box++;
}

bool cn_tui_flame_select(struct cn_tui_flame *flame, size_t level, size_t column)
{
    for (size_t i = 0; level < flame->level_count && i < flame->levels[level].count;
         i++) {
        const struct cn_tui_box *box = &flame->levels[level].boxes[i];

        if (column < box->begin || column >= box->end)
            continue;
        flame->level = level;
        flame->box = i;
        return true;
    }
    return false;
}

bool cn_tui_flame_search(struct cn_tui_flame *flame, const char *what, bool is_backward)
{
    size_t count = 0, start = 0;

    for (size_t l = 0; l < flame->level_count; l++) {
        if (l == flame->level)
            start = count + flame->box;
        count += flame->levels[l].count;
    }
    for (size_t i = 1; i <= count; i++) {
        size_t at = is_backward ? (start + count - i) % count : (start + i) % count;
        size_t l = 0;

        while (at >= flame->levels[l].count)
            at -= flame->levels[l++].count;
        if (!cn_tui_matches(flame->levels[l].boxes[at].label, what))
            continue;
        flame->level = l;
        flame->box = at;
        return true;
    }
    return false;
}

size_t cn_tui_flame_count(const struct cn_tui_flame *flame, const char *what)
{
    size_t count = 0;

    for (size_t l = 0; l < flame->level_count; l++)
        for (size_t i = 0; i < flame->levels[l].count; i++)
            count += cn_tui_matches(flame->levels[l].boxes[i].label, what);
    return count;
}
