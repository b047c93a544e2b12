/* The flat view: module > file > function > loop > line, or language > function > loop > line. */
#include "analyze/views/cost_tree.h"
#include "analyze/views/view.h"

/* The row of a called function, below its language. */
static uint32_t find_in_language(struct cn_cost_tree *tree,
                                 const struct cn_row_subject *subject)
{
    struct cn_row_subject language = cn_row_subject_of_kind(CN_ROW_LANGUAGE);

    language.group = cn_cost_tree_language(tree, subject);
    return cn_cost_tree_row(tree, cn_cost_tree_row(tree, CN_NONE, &language), subject);
}

/* The row of a called function, below its module and its file. */
static bool find_row(struct cn_cost_tree *tree, const struct cn_row_subject *subject,
                     uint32_t *out, struct cn_error *err)
{
    struct cn_row_subject module = cn_row_subject_of_kind(CN_ROW_MODULE);
    struct cn_row_subject file = cn_row_subject_of_kind(CN_ROW_FILE);
    uint32_t row;

    if (!cn_row_subject_locate(tree->db, subject, &module.module, &file.file, err))
        return false;
    row = cn_cost_tree_row(tree, CN_NONE, &module);
    row = cn_cost_tree_row(tree, row, &file);
    *out = cn_cost_tree_row(tree, row, subject);
    return true;
}

/* A called function counts for its module, its file and itself. */
static bool map_call(struct cn_cost_tree *tree, struct cn_cost_frame *frame,
                     struct cn_error *err)
{
    uint32_t *known =
        frame->subject.kind == CN_ROW_FUNCTION && frame->subject.function != CN_NONE
            ? &tree->row_of_function[frame->subject.function]
            : NULL;

    frame->row = known ? *known : CN_NONE;
    if (frame->row == CN_NONE && !find_row(tree, &frame->subject, &frame->row, err))
        return false;
    if (known)
        *known = frame->row;
    uint32_t file_row = tree->groups[frame->row].parent;
    cn_cost_tree_count(tree, tree->groups[file_row].parent);
    cn_cost_tree_count(tree, file_row);
    cn_cost_tree_count(tree, frame->row);
    return true;
}

/* A called function counts for its language and itself. */
static bool map_call_by_language(struct cn_cost_tree *tree, struct cn_cost_frame *frame,
                                 struct cn_error *err)
{
    (void)err;
    frame->row = find_in_language(tree, &frame->subject);
    cn_cost_tree_count(tree, tree->groups[frame->row].parent);
    cn_cost_tree_count(tree, frame->row);
    return true;
}

typedef bool (*call_map)(struct cn_cost_tree *tree, struct cn_cost_frame *frame,
                         struct cn_error *err);

static bool map_by(struct cn_cost_tree *tree, call_map map, struct cn_error *err)
{
    struct cn_cost_frame *frame = &tree->path[tree->depth - 1];
    uint32_t above = tree->depth > 1 ? tree->path[tree->depth - 2].row : CN_NONE;

    if (frame->subject.kind == CN_ROW_ENTRY)
        return true;
    if (frame->is_call || above == CN_NONE)
        return map(tree, frame, err);
    frame->row = cn_cost_tree_row(tree, above, &frame->subject);
    cn_cost_tree_count(tree, frame->row);
    return true;
}

static bool map_context(void *arg, struct cn_cost_tree *tree, struct cn_error *err)
{
    (void)arg;
    return map_by(tree, map_call, err);
}

static bool map_language(void *arg, struct cn_cost_tree *tree, struct cn_error *err)
{
    (void)arg;
    return map_by(tree, map_call_by_language, err);
}

bool cn_view_languages_new(struct cn_view **out, struct cn_costs *costs,
                           const struct cn_codes *codes,
                           const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_cost_tree tree = {.codes = codes};
    bool ok =
        cn_cost_tree_build(&tree, costs->db, NULL, map_language, NULL, progress, err);

    return cn_cost_tree_view_take(out, &tree, costs, ok, progress, err);
}

bool cn_view_shape_languages_new(struct cn_view_shape **out, struct cn_database *db,
                                 const struct cn_codes *codes,
                                 const struct cn_context_index *index,
                                 const struct cn_progress *progress, struct cn_error *err)
{
    return cn_cost_tree_shape_new(out, db, codes, index, map_language, progress, err);
}

bool cn_view_flat_new(struct cn_view **out, struct cn_costs *costs,
                      const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_cost_tree tree = {0};
    bool ok =
        cn_cost_tree_build(&tree, costs->db, NULL, map_context, NULL, progress, err);

    return cn_cost_tree_view_take(out, &tree, costs, ok, progress, err);
}

bool cn_view_shape_flat_new(struct cn_view_shape **out, struct cn_database *db,
                            const struct cn_context_index *index,
                            const struct cn_progress *progress, struct cn_error *err)
{
    return cn_cost_tree_shape_new(out, db, NULL, index, map_context, progress, err);
}
