/* The flat view: module > file > function > loop > line. */
#include "analyze/cost_tree.h"
#include "analyze/view.h"

/* The module and file of a called function. */
static bool locate(struct cn_database *db, const struct cn_place *place, uint32_t *module,
                   uint32_t *file, struct cn_error *err)
{
    struct cn_function function;

    *module = place->module;
    *file = place->file;
    if (place->function == CN_NONE)
        return true;
    if (!cn_database_function(db, place->function, &function, err))
        return false;
    *module = function.module;
    *file = function.file;
    return true;
}

/* A called function counts for its module, its file and itself. */
static bool map_call(struct cn_cost_tree *tree, struct cn_cost_frame *frame,
                     struct cn_error *err)
{
    struct cn_place module = cn_place_of_kind(CN_ROW_MODULE);
    struct cn_place file = cn_place_of_kind(CN_ROW_FILE);
    uint32_t row;

    if (!locate(tree->costs->db, &frame->place, &module.module, &file.file, err))
        return false;
    row = cn_cost_tree_row(tree, CN_NONE, &module);
    cn_cost_tree_count(tree, row);
    row = cn_cost_tree_row(tree, row, &file);
    cn_cost_tree_count(tree, row);
    frame->row = cn_cost_tree_row(tree, row, &frame->place);
    cn_cost_tree_count(tree, frame->row);
    return true;
}

static bool map_context(void *arg, struct cn_cost_tree *tree, struct cn_error *err)
{
    struct cn_cost_frame *frame = &tree->path[tree->depth - 1];
    uint32_t above = tree->depth > 1 ? tree->path[tree->depth - 2].row : CN_NONE;

    (void)arg;
    if (frame->place.kind == CN_ROW_ENTRY)
        return true;
    if (frame->is_call || above == CN_NONE)
        return map_call(tree, frame, err);
    frame->row = cn_cost_tree_row(tree, above, &frame->place);
    cn_cost_tree_count(tree, frame->row);
    return true;
}

bool cn_view_flat_new(struct cn_view **out, struct cn_costs *costs,
                      const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_cost_tree tree;
    bool ok = cn_cost_tree_build(&tree, costs, map_context, NULL, progress, err);

    *out = cn_cost_tree_view_new(&tree);
    return ok;
}
