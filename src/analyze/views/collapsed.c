/* The top-down view without recursion. */
#include "analyze/views/cost_tree.h"
#include "analyze/views/view.h"

/* Recursion over more rows than these is not noticed: deep trees cost no more. */
enum { LOOK_BACK = 1024 };

/* The row of the function that is called, if it is above; else CN_NONE. */
static uint32_t find_above(const struct cn_cost_tree *tree,
                           const struct cn_cost_frame *frame, uint32_t row)
{
    bool may_recurse = frame->is_call && frame->subject.kind == CN_ROW_FUNCTION &&
                       frame->subject.function != CN_NONE;

    for (size_t i = 0; may_recurse && i < LOOK_BACK && row != CN_NONE; i++) {
        const struct cn_row_subject *subject = &tree->subjects[row];

        if (subject->kind == CN_ROW_FUNCTION &&
            subject->function == frame->subject.function)
            return row;
        row = tree->groups[row].parent;
    }
    return CN_NONE;
}

static bool map_context(void *arg, struct cn_cost_tree *tree, struct cn_error *err)
{
    struct cn_cost_frame *frame = &tree->path[tree->depth - 1];
    uint32_t above = tree->depth > 1 ? tree->path[tree->depth - 2].row : CN_NONE;

    (void)arg;
    (void)err;
    if (frame->subject.kind == CN_ROW_ENTRY) /* each is a row of its own */
        frame->subject.offset = tree->index->nodes[frame->node].at;
    frame->row = find_above(tree, frame, above);
    if (frame->row == CN_NONE)
        frame->row = cn_cost_tree_row(tree, above, &frame->subject);
    cn_cost_tree_count_from(tree, above, frame->row);
    return true;
}

bool cn_view_shape_collapsed_new(struct cn_view_shape **out, struct cn_database *db,
                                 const struct cn_context_index *index,
                                 const struct cn_progress *progress, struct cn_error *err)
{
    return cn_cost_tree_shape_new(out, db, NULL, index, map_context, progress, err);
}
