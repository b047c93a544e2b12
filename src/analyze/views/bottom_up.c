/* The bottom-up view: functions, and below each the callers that led to it. */
#include "analyze/views/cost_tree.h"
#include "analyze/views/view.h"

static bool map_context(void *arg, struct cn_cost_tree *tree, struct cn_error *err)
{
    size_t levels = *(const size_t *)arg;
    uint32_t row = CN_NONE;

    (void)err;
    if (!tree->path[tree->depth - 1].is_call)
        return true;
    for (size_t i = tree->depth; i > 0 && levels > 0; levels--) {
        row = cn_cost_tree_row(tree, row, &tree->path[i - 1].subject);
        cn_cost_tree_count(tree, row);
        i = tree->path[i - 1].caller;
    }
    return true;
}

bool cn_view_bottom_up_new(struct cn_view **out, struct cn_costs *costs, size_t depth_max,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_cost_tree tree = {0};
    bool ok = cn_cost_tree_build(&tree, costs->db, NULL, map_context, &depth_max,
                                 progress, err);

    ok = cn_cost_tree_view_take(out, &tree, costs, ok, progress, err);
    (*out)->self_includes_below = true;
    return ok;
}
