#include "analyze/views/visit.h"

#include <stdlib.h>

#include "base/alloc.h"

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

void cn_view_visit_init(struct cn_view_visit *visit, struct cn_view *view)
{
    *visit = (struct cn_view_visit){
        .view = view,
        .depth_max = SIZE_MAX,
        .percent_column = find_percent_column(view->costs),
    };
}

/* True if a row is its own ancestor, as in a damaged file. */
static bool is_below_itself(const struct cn_view_visit *visit, const struct cn_row *row)
{
    size_t above = visit->depth - 1;

    for (size_t i = 0; i < above && i < CN_VIEW_LOOK_BACK; i++)
        if (cn_view_visit_path(visit, above - 1 - i)->id == row->id)
            return true;
    return false;
}

/* Descend one level. The level is added even if listing it failed half-way. */
static bool push_level(struct cn_view_visit *visit, const struct cn_row *parent,
                       void *arg, struct cn_error *err)
{
    struct cn_view_level level = {0};
    struct cn_error later;
    bool ok = cn_view_children(visit->view, parent, visit->sort_column,
                               visit->is_reversed, &level.list, err);

    if (ok && visit->arrange)
        ok = visit->arrange(arg, &level.list, err);
    CN_PUSH(visit->levels, visit->depth, visit->capacity, level);
    if (!cn_view_weigh(visit->view, &level.list, &visit->seen, ok ? err : &later)) {
        visit->is_full = true;
        ok = false;
    }
    return ok;
}

static bool is_large_enough(const struct cn_view_visit *visit, const struct cn_row *row)
{
    const struct cn_costs *costs = visit->view->costs;
    size_t column = visit->percent_column;

    if (!cn_view_row_has_value(visit->view, row))
        return false;
    if (column == SIZE_MAX || !(visit->min_percent > 0))
        return true;
    return cn_cost_percent(&costs->columns[column], row->values[column]) >=
           visit->min_percent;
}

bool cn_view_visit(struct cn_view_visit *visit, cn_view_visit_fn row_fn, void *arg,
                   struct cn_error *err)
{
    struct cn_error later;
    bool ok;

    visit->seen = 0;
    visit->is_full = false;
    ok = push_level(visit, NULL, arg, err);
    while (visit->depth > 0) {
        struct cn_view_level *level = &visit->levels[visit->depth - 1];

        if (level->next == level->list.count) {
            cn_row_list_done(&visit->levels[--visit->depth].list);
            continue;
        }
        const struct cn_row *row = &level->list.rows[level->next++];
        if (!is_large_enough(visit, row))
            continue;
        if (is_below_itself(visit, row)) {
            ok = cn_view_fail_cycle(row, ok ? err : &later) && ok;
            continue;
        }
        ok = row_fn(arg, visit, row, ok ? err : &later) && ok;
        if (!visit->is_full && visit->depth < visit->depth_max)
            ok = push_level(visit, row, arg, ok ? err : &later) && ok;
    }
    free(visit->levels);
    visit->levels = NULL;
    visit->capacity = 0;
    return ok;
}
