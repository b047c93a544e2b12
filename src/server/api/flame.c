/* The flame graph of a view, from the top or from one row down, without rows that are
 * too small to be seen. That of the bottom-up view consists of self costs: totals of
 * functions that call each other would count the same time several times. Those of one function, by
 * its callers, and what one function calls, are its totals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "server/api/api.h"
#include "server/api/flame_json.h"
#include "server/api/parameters.h"
#include "server/api/request.h"
#include "server/api/rows_json.h"
#include "server/served/flame.h"
#include "server/served/served.h"

enum { DEPTH_MAX = 2000 };

/* The rows of one level; those from `next` on are to be drawn. */
struct flame_level {
    struct cn_row_list list;
    size_t next;
};

struct flame_painter {
    struct cn_view *view;
    struct cn_flame flame;
    size_t column, self_column; /* the latter is the column count if there is none */
    size_t wait_columns[CN_WAIT_KINDS]; /* if the flame graph has_waits */
    double smallest;
    uint64_t depth_limit;
    struct flame_level *levels;
    size_t depth, capacity;
    uint64_t weight;
    bool is_skipping;  /* lines and loops */
    bool has_contexts; /* ids of nodes are contexts, not rows of the view */
};

static bool push_level(struct flame_painter *p, const struct cn_row *parent,
                       struct cn_error *err)
{
    struct flame_level *level;

    CN_GROW(p->levels, p->depth, p->capacity);
    level = &p->levels[p->depth++];
    *level = (struct flame_level){0};
    return (p->is_skipping ? cn_view_functions : cn_view_children)(
               p->view, parent, p->column, false, &level->list, err) &&
           cn_view_weigh(p->view, &level->list, &p->weight, err);
}

static bool add_node(struct flame_painter *p, const struct cn_row *row, bool *has_room,
                     struct cn_error *err)
{
    struct cn_text label = {0};
    struct cn_location location = {0};
    bool ok = p->view->ops->label(p->view, row, &label, err) &&
              p->view->ops->location(p->view, row, &location, err);
    struct cn_flame_node node = {
        .depth = (uint32_t)p->depth - 1,
        .total = row->values[p->column],
        .code = cn_view_code(p->view, row),
        .self = p->self_column < p->view->costs->column_count
                    ? row->values[p->self_column]
                    : NAN,
        .id = p->has_contexts ? row->example : row->id,
    };

    for (unsigned i = 0; p->flame.has_waits && i < CN_WAIT_KINDS; i++)
        node.waits[i] = row->values[p->wait_columns[i]];
    *has_room =
        ok && cn_flame_add(&p->flame, &node, cn_text_str(&label), location.module);
    cn_text_done(&label);
    return ok;
}

static bool paint(struct flame_painter *p, const struct cn_row *top, struct cn_error *err)
{
    bool ok = push_level(p, top, err), has_room = true;

    while (ok && has_room && p->depth > 0) {
        struct flame_level *level = &p->levels[p->depth - 1];
        const struct cn_row *row = &level->list.rows[level->next];

        if (level->next == level->list.count || !(row->values[p->column] > p->smallest)) {
            cn_row_list_done(&level->list);
            p->depth--;
            continue;
        }
        level->next++;
        ok = add_node(p, row, &has_room, err) &&
             (!has_room || p->depth >= p->depth_limit || push_level(p, row, err));
    }
    while (p->depth > 0)
        cn_row_list_done(&p->levels[--p->depth].list);
    free(p->levels);
    return ok;
}

/* All time is drawn with the waiting in it. */
static void find_waits(struct flame_painter *p)
{
    const struct cn_costs *costs = p->view->costs;

    p->flame.has_waits = costs->counts_waits &&
                         strcmp(costs->columns[p->column].metric, CN_TIME_NAME) == 0;
    for (unsigned i = 0; i < CN_WAIT_KINDS; i++) {
        p->wait_columns[i] = cn_cost_column_find(costs, cn_wait_names[i], CN_SELF);
        p->flame.has_waits =
            p->flame.has_waits && p->wait_columns[i] < costs->column_count;
    }
}

/* What is said of a flame graph before its nodes. */
static void add_head(struct cn_json *json, const struct cn_served_view *view,
                     size_t column)
{
    const struct cn_cost_column *of = &view->costs.columns[column];

    if (view->is_estimate)
        cn_json_add_bool(json, "isPartial", true);
    cn_json_add_str(json, "column", of->metric);
    cn_json_add_base(json, view->costs.db, of->metric);
    cn_json_add_str(json, "side", of->side == CN_SELF ? "self" : "total");
}

/* A row of a tree of callees or callers, and where it is drawn. */
struct drawn_call {
    uint32_t nearer, row;
    double total;
};

/* The rows that can be seen, by the nearer row, largest first; free the list. `first` receives where
 * those of each one begin, and has room for one more. */
static struct drawn_call *order_calls(const struct flame_painter *p,
                                      const struct cn_path_tree *tree, size_t *first)
{
    size_t row_count = tree->rows.count, count = 0, at = 0;
    struct drawn_call *list = cn_alloc(row_count, sizeof(*list));

    for (uint32_t i = 1; i < row_count; i++) {
        double total = tree->rows.rows[i].values[p->column];

        if (total > p->smallest)
            list[count++] = (struct drawn_call){tree->nearer[i], i, total};
    }
    CN_SORT(list, count, CN_UP(struct drawn_call, nearer),
            CN_DOWN(struct drawn_call, total), CN_UP(struct drawn_call, row));
    for (size_t i = 0; i <= row_count; i++) {
        while (at < count && list[at].nearer < i)
            at++;
        first[i] = at;
    }
    return list;
}

/* Paint what is next to the first row, each followed by what is next to it in turn. */
static bool paint_calls(struct flame_painter *p, const struct cn_path_tree *tree,
                        const struct drawn_call *list, const size_t *first,
                        struct cn_error *err)
{
    size_t *next = cn_alloc((size_t)p->depth_limit + 1, sizeof(*next));
    uint32_t *path = cn_alloc((size_t)p->depth_limit + 1, sizeof(*path));
    bool ok = true, has_room = true;

    next[0] = first[0];
    p->depth = 1;
    while (ok && has_room && p->depth > 0) {
        uint32_t nearer = path[p->depth - 1];
        const struct drawn_call *at = &list[next[p->depth - 1]];

        if (next[p->depth - 1] == first[nearer + 1]) {
            p->depth--;
            continue;
        }
        next[p->depth - 1]++;
        ok = add_node(p, &tree->rows.rows[at->row], &has_room, err);
        if (ok && has_room && p->depth < p->depth_limit) {
            path[p->depth] = at->row;
            next[p->depth++] = first[at->row];
        }
    }
    free(next);
    free(path);
    return ok;
}

/* Answer with a tree of call paths; the ids of nodes are contexts. Takes the tree. */
static bool answer_calls(struct flame_painter *p, const struct cn_served_view *view,
                         struct cn_path_tree *tree, double share,
                         struct cn_request *request, struct cn_error *err)
{
    double total = tree->rows.count > 0 ? tree->rows.rows[0].values[p->column] : NAN;

    total = isnan(total) ? 0 : total;
    p->smallest = total * share;
    p->flame.has_codes = p->view->codes != NULL;
    find_waits(p);
    size_t *first = cn_alloc(tree->rows.count + 1, sizeof(*first));
    struct drawn_call *list = order_calls(p, tree, first);
    bool ok = tree->rows.count == 0 || paint_calls(p, tree, list, first, err);
    add_head(&request->json, view, p->column);
    cn_json_flame(&request->json, &p->flame, total);
    cn_flame_done(&p->flame);
    free(list);
    free(first);
    cn_path_tree_done(tree);
    return ok;
}

/* True if the callers of a function are asked for with its total cost: those of all functions, and
 * of a call inside of itself, would not add up. */
static bool wants_totals(const struct cn_request *request)
{
    const char *side = cn_request_value(request, "side");
    const char *view = cn_request_value(request, "view");

    return view && strcmp(view, "bottom-up") == 0 && side && strcmp(side, "total") == 0 &&
           cn_request_value(request, "row");
}

static bool answer(struct cn_served *served, struct cn_served_view *view,
                   struct cn_request *request, struct cn_error *err)
{
    const struct cn_costs *costs = &view->costs;
    struct flame_painter p = {.view = view->view,
                              .is_skipping = cn_request_flag(request, "skip"),
                              .has_contexts = wants_totals(request)};
    const char *kind = cn_request_value(request, "view");
    bool is_by_self = kind && strcmp(kind, "bottom-up") == 0 && !p.has_contexts;
    struct cn_row_list tops = {0};
    struct cn_row top;
    double share, total = 0;
    bool has_top, ok;

    (void)served;
    if (!cn_request_f64(request, "min", 0, 1, 0.0005, &share, err) ||
        !cn_request_u64(request, "depth", 1, DEPTH_MAX, 200, &p.depth_limit, err) ||
        !cn_request_row(request, p.view, &top, &has_top, err) ||
        !cn_request_column(request, costs, &p.column, err))
        return false;
    p.self_column = cn_cost_column_find(costs, costs->columns[p.column].metric, CN_SELF);
    if (p.has_contexts && has_top) {
        struct cn_path_tree tree = {0};

        cn_view_caller_tree(p.view, &top, &tree);
        return answer_calls(&p, view, &tree, share, request, err);
    }
    if (is_by_self && p.self_column < costs->column_count) {
        p.column = p.self_column;
        p.self_column = costs->column_count;
    }
    ok = cn_view_children(p.view, has_top ? &top : NULL, p.column, false, &tops, err);
    for (size_t i = 0; ok && i < tops.count; i++)
        if (!isnan(tops.rows[i].values[p.column]))
            total += tops.rows[i].values[p.column];
    cn_row_list_done(&tops);
    if (!ok)
        return false;
    p.smallest = total * share;
    p.flame.has_codes = p.view->codes != NULL;
    find_waits(&p);
    ok = paint(&p, has_top ? &top : NULL, err);
    add_head(&request->json, view, p.column);
    cn_json_flame(&request->json, &p.flame, total);
    cn_flame_done(&p.flame);
    return ok;
}

/* What a function calls, in all its contexts; the ids of nodes are contexts. */
static bool answer_callees(struct cn_served *served, struct cn_served_view *view,
                           struct cn_request *request, struct cn_error *err)
{
    struct flame_painter p = {.view = view->view, .has_contexts = true};
    struct cn_path_tree tree = {0};
    double values[CN_COST_COLUMN_MAX], share;
    struct cn_row function;
    struct cn_context context;
    uint64_t row;

    if (!cn_request_context(request, served->db, &row, &context, err) ||
        !cn_request_f64(request, "min", 0, 1, 0.0005, &share, err) ||
        !cn_request_u64(request, "depth", 1, DEPTH_MAX, 200, &p.depth_limit, err) ||
        !cn_request_column(request, &view->costs, &p.column, err) ||
        !cn_view_function_of(view->view, &context, values, &function, err))
        return false;
    p.self_column =
        cn_cost_column_find(&view->costs, view->costs.columns[p.column].metric, CN_SELF);
    cn_view_callee_tree(view->view, &function, &tree);
    return answer_calls(&p, view, &tree, share, request, err);
}

bool cn_api_flame(struct cn_served *served, struct cn_request *request,
                  struct cn_error *err)
{
    struct cn_view_question question;
    const char *view = cn_request_value(request, "view");

    if (view && strcmp(view, "callees") == 0) {
        if (!cn_request_view_as(request, CN_VIEW_BOTTOM_UP, &question, err))
            return false;
        question.takes_estimate = true;
        return cn_api_with_view(served, &question, request, answer_callees, err);
    }
    if (!cn_request_view(request, &question, err))
        return false;
    question.takes_estimate = question.kind != CN_VIEW_BOTTOM_UP; /* see cn_api_rows() */
    return cn_api_with_ranged_view(served, &question, request, answer, err);
}
