/* The top-down view: rows are contexts, their ids are offsets in the database. */
#include <stdlib.h>

#include "analyze/views/view.h"
#include "base/alloc.h"
#include "model/labels/context.h"

static bool list_children(struct cn_view *view, const struct cn_row *parent,
                          struct cn_row_list *out, struct cn_error *err)
{
    struct cn_database *db = view->costs->db;
    struct cn_context context;
    struct cn_context_cursor cursor;
    enum cn_step step;

    if (parent && !cn_context_at(db, parent->id, &context, err))
        return false;
    if (!cn_context_children(db, parent ? &context : NULL, &cursor, err))
        return false;
    out->weight = cursor.size;
    while ((step = cn_context_next(db, &cursor, &context, err)) == CN_ITEM) {
        struct cn_row row = {
            .id = context.at,
            .kind = cn_row_kind_of(&context),
            .context = context.id,
            .example = context.at,
        };

        if (!cn_costs_of_context(view->costs, context.id, cn_row_list_add(out, row), err))
            return false;
    }
    return step == CN_END;
}

static bool label(struct cn_view *view, const struct cn_row *row, struct cn_text *text,
                  struct cn_error *err)
{
    struct cn_context context;

    return cn_context_at(view->costs->db, row->id, &context, err) &&
           cn_label_context(view->costs->db, &context, text, err);
}

static bool locate(struct cn_view *view, const struct cn_row *row,
                   struct cn_location *out, struct cn_error *err)
{
    struct cn_context c;

    return cn_context_at(view->costs->db, row->id, &c, err) &&
           cn_location_find(view->costs->db, c.has_function ? c.function : CN_NONE,
                            c.has_point ? c.module : CN_NONE,
                            c.has_source ? c.file : CN_NONE, c.line, out, err);
}

static bool is_leaf(struct cn_view *view, const struct cn_row *row)
{
    struct cn_database *db = view->costs->db;
    struct cn_context context;
    struct cn_context_cursor cursor;
    struct cn_error err;

    return !cn_context_at(db, row->id, &context, &err) ||
           !cn_context_children(db, &context, &cursor, &err) ||
           cn_context_next(db, &cursor, &context, &err) != CN_ITEM;
}

static void free_view(struct cn_view *view)
{
    free(view);
}

static uint64_t size_of(const struct cn_view *view)
{
    return sizeof(*view);
}

struct cn_view *cn_view_top_down_new(struct cn_costs *costs)
{
    static const struct cn_view_ops ops = {list_children, label,     locate,
                                           is_leaf,       free_view, size_of};
    struct cn_view *view = cn_alloc(1, sizeof(*view));

    *view = (struct cn_view){
        .ops = &ops,
        .costs = costs,
        .weight_limit = costs->db->context_weight,
        .row_limit = UINT64_MAX,
    };
    return view;
}
