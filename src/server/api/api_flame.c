/* The flame graph of a view: from the top or from one row down, without what is too
 * small to be seen. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "server/api/api.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/served/flame_json.h"
#include "server/served/served.h"

enum { DEPTH_MAX = 2000 };

/* The rows of one level that are still to be drawn. */
struct level {
    struct cn_row_list list;
    size_t next;
};

struct painter {
    struct cn_served_view *entry;
    struct cn_flame flame;
    size_t column, own_column; /* the latter is the column count when there is none */
    double smallest;
    uint64_t depth_limit;
    struct level *levels;
    size_t depth, capacity;
    uint64_t weight;
};

/* The other side of the same metric. */
static size_t own_column_of(const struct cn_costs *costs, size_t column)
{
    const struct cn_cost_column *of = &costs->columns[column];

    for (size_t i = 0; i < costs->column_count; i++)
        if (costs->columns[i].side == CN_EXCLUSIVE && costs->columns[i].fraction == 0 &&
            costs->columns[i].metric == of->metric)
            return i;
    return costs->column_count;
}

static bool push_level(struct painter *p, const struct cn_row *parent,
                       struct cn_error *err)
{
    struct level *level;

    p->levels = cn_grow(p->levels, p->depth, &p->capacity, sizeof(*p->levels));
    level = &p->levels[p->depth++];
    *level = (struct level){0};
    return cn_view_children(p->entry->view, parent, p->column, false, &level->list,
                            err) &&
           cn_view_weigh(p->entry->view, &level->list, &p->weight, err);
}

static bool add_node(struct painter *p, const struct cn_row *row, bool *goes_on,
                     struct cn_error *err)
{
    struct cn_view *view = p->entry->view;
    struct cn_text label = {0};
    struct cn_location place = {0};
    double own =
        p->own_column < p->entry->costs.column_count ? row->values[p->own_column] : NAN;
    bool ok = view->ops->label(view, row, &label, err) &&
              view->ops->location(view, row, &place, err);

    *goes_on = ok && cn_flame_add(&p->flame, (uint32_t)p->depth - 1, cn_text_str(&label),
                                  place.module, row->values[p->column], own, row->id);
    cn_text_done(&label);
    return ok;
}

static bool paint(struct painter *p, const struct cn_row *top, struct cn_error *err)
{
    bool ok = push_level(p, top, err), goes_on = true;

    while (ok && goes_on && p->depth > 0) {
        struct level *level = &p->levels[p->depth - 1];
        const struct cn_row *row = &level->list.rows[level->next];

        if (level->next == level->list.count || !(row->values[p->column] > p->smallest)) {
            cn_row_list_done(&level->list);
            p->depth--;
            continue;
        }
        level->next++;
        ok = add_node(p, row, &goes_on, err) &&
             (!goes_on || p->depth >= p->depth_limit || push_level(p, row, err));
    }
    while (p->depth > 0)
        cn_row_list_done(&p->levels[--p->depth].list);
    free(p->levels);
    return ok;
}

/* The value of everything that is drawn. */
static bool total_of(struct painter *p, const struct cn_row *top, double *out,
                     struct cn_error *err)
{
    struct cn_row_list list = {0};
    bool ok = cn_view_children(p->entry->view, top, p->column, false, &list, err);

    *out = 0;
    for (size_t i = 0; ok && i < list.count; i++)
        if (!isnan(list.rows[i].values[p->column]))
            *out += list.rows[i].values[p->column];
    cn_row_list_done(&list);
    return ok;
}

static bool answer(struct cn_served *served, struct cn_served_view *entry,
                   struct cn_request *request, struct cn_error *err)
{
    struct painter p = {.entry = entry};
    struct cn_row top;
    double share, total;
    bool has_top, ok;

    (void)served;
    if (!cn_request_f64(request, "min", 0, 1, 0.0005, &share, err) ||
        !cn_request_u64(request, "depth", 1, DEPTH_MAX, 200, &p.depth_limit, err) ||
        !cn_request_row(request, p.entry->view, &top, &has_top, err) ||
        !cn_request_column(request, &p.entry->costs, &p.column, err) ||
        !total_of(&p, has_top ? &top : NULL, &total, err))
        return false;
    p.own_column = own_column_of(&p.entry->costs, p.column);
    p.smallest = total * share;
    cn_flame_begin(&p.flame);
    ok = paint(&p, has_top ? &top : NULL, err);
    cn_json_object(&request->json);
    cn_json_add_str(&request->json, "column", p.entry->costs.columns[p.column].title);
    cn_flame_end(&p.flame, &request->json, total);
    cn_json_end(&request->json);
    return ok;
}

bool cn_api_flame(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    return cn_api_with_asked_view(served, request, answer, err);
}
