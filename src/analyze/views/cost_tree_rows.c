/* Views with numbers on a tree of groups of contexts. */
#include <assert.h>
#include <stdlib.h>

#include "analyze/views/cost_tree.h"
#include "analyze/views/costs_internal.h"
#include "base/alloc.h"
#include "model/labels/context.h"

struct cost_view {
    struct cn_view view;
    const struct cn_cost_tree *tree;
    struct cn_cost_tree own; /* when it belongs to the view */
    struct cn_cost_rows rows;
};

const struct cn_cost_group *cn_cost_tree_view_groups(const struct cn_view *view,
                                                     size_t *count)
{
    const struct cn_cost_tree *tree = ((const struct cost_view *)view)->tree;

    *count = tree->group_count;
    return tree->groups;
}

double cn_cost_tree_view_value(const struct cn_view *view, uint32_t row, size_t column)
{
    const struct cn_cost_rows *rows = &((const struct cost_view *)view)->rows;
    const struct cn_costs *costs = view->costs;

    return cn_cost_column_value(costs, column, rows->inputs + row * costs->input_count,
                                rows->tallies ? rows->tallies + row * costs->column_count
                                              : NULL);
}

size_t cn_cost_tree_view_latencies(const struct cn_view *view, uint32_t row,
                                   struct cn_bucket_calls *out)
{
    const struct cost_view *self = (const struct cost_view *)view;

    return cn_cost_rows_latencies(view->costs, &self->rows, row, out);
}

struct cn_row cn_cost_tree_view_row(const struct cn_view *view, uint32_t row,
                                    double *values)
{
    const struct cost_view *self = (const struct cost_view *)view;
    const struct cn_cost_tree *tree = self->tree;

    if (values)
        cn_cost_rows_values(view->costs, &self->rows, row, values);
    return (struct cn_row){
        .id = row,
        .kind = tree->groups[row].kind,
        .context = CN_NONE,
        .example = tree->index->nodes[tree->groups[row].node].at,
        .values = values,
    };
}

static bool list_children(struct cn_view *view, const struct cn_row *parent,
                          struct cn_row_list *out, struct cn_error *err)
{
    struct cost_view *self = (struct cost_view *)view;
    const struct cn_cost_tree *tree = self->tree;
    uint32_t row = parent ? tree->groups[parent->id].first_child : tree->first_top;

    (void)err;
    for (; row != CN_NONE; row = tree->groups[row].next_sibling) {
        struct cn_row item = cn_cost_tree_view_row(view, row, NULL);

        cn_cost_rows_values(view->costs, &self->rows, row, cn_row_list_add(out, item));
    }
    out->weight = out->count;
    return true;
}

static bool label_row(struct cn_view *view, const struct cn_row *row,
                      struct cn_text *text, struct cn_error *err)
{
    const struct cn_cost_tree *tree = ((struct cost_view *)view)->tree;
    struct cn_database *db = tree->db;
    struct cn_row_subject subject;
    struct cn_context context;

    if (!cn_cost_tree_subject(tree, row->id, &subject, err))
        return false;
    context = (struct cn_context){
        .kind = CN_CONTEXT_LINE,
        .has_function = subject.function != CN_NONE,
        .has_source = subject.file != CN_NONE ||
                      (subject.kind == CN_ROW_LINE && subject.module == CN_NONE),
        .has_point = subject.module != CN_NONE,
        .function = subject.function,
        .file = subject.file,
        .line = subject.line,
        .module = subject.module,
        .offset = subject.offset,
    };
    switch (subject.kind) {
    case CN_ROW_LANGUAGE:
        cn_text_str_add(text, cn_code_language_name(subject.group));
        return true;
    case CN_ROW_WORK:
        cn_text_str_add(text, cn_code_work_name(subject.group));
        return true;
    case CN_ROW_MODULE:
        return cn_label_module(db, subject.module, text, err);
    case CN_ROW_FILE:
        return cn_label_file(db, subject.file, text, err);
    case CN_ROW_FUNCTION:
        return cn_label_function(db, subject.function, text, err);
    case CN_ROW_LOOP:
        context.kind = CN_CONTEXT_LOOP;
        break;
    case CN_ROW_INSTRUCTION:
        context.kind = CN_CONTEXT_INSTRUCTION;
        break;
    case CN_ROW_ENTRY:
        if (!cn_context_at(db, tree->index->nodes[tree->groups[row->id].node].at,
                           &context, err))
            return false;
        break;
    case CN_ROW_LINE:
    case CN_ROW_OTHER:
        break;
    }
    return cn_label_context(db, &context, text, err);
}

static bool locate(struct cn_view *view, const struct cn_row *row,
                   struct cn_location *out, struct cn_error *err)
{
    const struct cn_cost_tree *tree = ((struct cost_view *)view)->tree;
    struct cn_row_subject subject;

    return cn_cost_tree_subject(tree, row->id, &subject, err) &&
           cn_location_find(tree->db, subject.function, subject.module, subject.file,
                            subject.line, out, err);
}

static bool is_leaf(struct cn_view *view, const struct cn_row *row)
{
    const struct cn_cost_tree *tree = ((struct cost_view *)view)->tree;

    return tree->groups[row->id].first_child == CN_NONE;
}

static void free_view(struct cn_view *view)
{
    struct cost_view *self = (struct cost_view *)view;

    cn_cost_rows_done(&self->rows);
    cn_cost_tree_done(&self->own);
    free(self);
}

static uint64_t size_of(const struct cn_view *view)
{
    const struct cost_view *self = (const struct cost_view *)view;
    uint64_t tally_len = self->rows.tallies ? sizeof(*self->rows.tallies) : 0;

    return sizeof(*self) + cn_cost_tree_size(&self->own) +
           self->rows.row_count * (view->costs->input_count * sizeof(double) +
                                   view->costs->column_count * tally_len);
}

static struct cost_view *new_view(const struct cn_cost_tree *tree, struct cn_costs *costs)
{
    static const struct cn_view_ops ops = {list_children, label_row, locate,
                                           is_leaf,       free_view, size_of};
    struct cost_view *self = cn_alloc(1, sizeof(*self));

    self->view = (struct cn_view){
        .ops = &ops,
        .costs = costs,
        .weight_limit = tree->group_count,
        .row_limit = tree->group_count,
    };
    self->tree = tree;
    return self;
}

static bool fill(struct cost_view *self, const struct cn_progress *progress,
                 struct cn_error *err)
{
    const struct cn_cost_tree *tree = self->tree;
    struct cn_cost_targets targets = {tree->start, tree->targets};
    bool ok =
        cn_costs_fill(self->view.costs, tree->index, &targets,
                      tree->group_count + tree->fold_count, progress, &self->rows, err);

    assert(tree->fold_count == 0 || !cn_costs_need_tallies(self->view.costs));
    if (tree->fold_count > 0)
        cn_cost_tree_unfold(tree, self->view.costs, &self->rows);
    return ok;
}

struct cn_view *cn_cost_tree_view_known(const struct cn_cost_tree *tree,
                                        struct cn_costs *costs,
                                        const struct cn_context_costs *known)
{
    struct cost_view *self = new_view(tree, costs);
    struct cn_cost_targets targets = {tree->start, tree->targets};

    assert(tree->fold_count == 0);
    cn_costs_fill_known(costs, tree->index, &targets, tree->group_count, known,
                        &self->rows);
    return &self->view;
}

bool cn_cost_tree_view_take(struct cn_view **out, struct cn_cost_tree *tree,
                            struct cn_costs *costs, bool is_built,
                            const struct cn_progress *progress, struct cn_error *err)
{
    struct cost_view *self = new_view(tree, costs);
    struct cn_error later;

    self->own = *tree;
    self->tree = &self->own;
    *tree = (struct cn_cost_tree){0};
    bool ok = fill(self, progress, is_built ? err : &later) && is_built;
    free(self->own.start);
    free(self->own.targets);
    self->own.start = NULL;
    self->own.targets = NULL;
    self->own.target_count = 0;
    free(self->own.folds);
    self->own.folds = NULL;
    if (self->own.own_index) {
        free(self->own.own_index->node_of_id);
        self->own.own_index->node_of_id = NULL;
        self->own.own_index->id_limit = 0;
    }
    *out = &self->view;
    return ok;
}

struct tree_shape {
    struct cn_view_shape shape;
    struct cn_cost_tree tree;
};

static bool make_view(const struct cn_view_shape *shape, struct cn_view **out,
                      struct cn_costs *costs, const struct cn_progress *progress,
                      struct cn_error *err)
{
    struct cost_view *self = new_view(&((const struct tree_shape *)shape)->tree, costs);

    *out = &self->view;
    return fill(self, progress, err);
}

static void free_shape(struct cn_view_shape *shape)
{
    cn_cost_tree_done(&((struct tree_shape *)shape)->tree);
    free(shape);
}

bool cn_cost_tree_shape_new(struct cn_view_shape **out, struct cn_database *db,
                            const struct cn_codes *codes,
                            const struct cn_context_index *index, cn_cost_map map,
                            const struct cn_progress *progress, struct cn_error *err)
{
    struct tree_shape *self = cn_alloc(1, sizeof(*self));

    self->shape = (struct cn_view_shape){make_view, free_shape};
    self->tree.codes = codes;
    if (!cn_cost_tree_build(&self->tree, db, index, map, NULL, progress, err)) {
        free_shape(&self->shape);
        return false;
    }
    free(self->tree.subjects);
    self->tree.subjects = NULL;
    *out = &self->shape;
    return true;
}
