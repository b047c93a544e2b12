/* The top-down view below what call paths are for: the program, its run-time's own work. */
#include "analyze/views/cost_tree.h"
#include "analyze/views/view.h"

static uint8_t work_at(const struct cn_cost_tree *tree, const struct cn_cost_frame *frame,
                       uint8_t above)
{
    if (!frame->is_call)
        return above;
    return cn_code_work_below(
        above,
        cn_codes_find(tree->codes, frame->subject.function, frame->subject.module)->work);
}

static bool map_context(void *arg, struct cn_cost_tree *tree, struct cn_error *err)
{
    struct cn_cost_frame *frame = &tree->path[tree->depth - 1];
    const struct cn_cost_frame *above =
        tree->depth > 1 ? &tree->path[tree->depth - 2] : NULL;
    uint32_t from = above ? above->row : CN_NONE, parent = from;

    (void)arg;
    (void)err;
    frame->work = above ? above->work : CN_WORK_UNKNOWN;
    if (frame->subject.kind == CN_ROW_ENTRY)
        return true;
    frame->work = work_at(tree, frame, frame->work);
    if (from == CN_NONE || frame->work != above->work) {
        struct cn_row_subject work = cn_row_subject_of_kind(CN_ROW_WORK);

        work.group = frame->work;
        parent = cn_cost_tree_row(tree, CN_NONE, &work);
    }
    frame->row = cn_cost_tree_row(tree, parent, &frame->subject);
    cn_cost_tree_count_from(tree, from, frame->row);
    return true;
}

bool cn_view_works_new(struct cn_view **out, struct cn_costs *costs,
                       const struct cn_codes *codes, const struct cn_progress *progress,
                       struct cn_error *err)
{
    static const struct cn_codes none = {0};
    struct cn_cost_tree tree = {.codes = codes ? codes : &none};
    bool ok =
        cn_cost_tree_build(&tree, costs->db, NULL, map_context, NULL, progress, err);

    return cn_cost_tree_view_take(out, &tree, costs, ok, progress, err);
}
