/* The bottom-up view of large databases: the callers of a row are found when they are
 * asked for.
 *
 * The top rows, one per function, are added up at once. For everything below it is known
 * which contexts each function has and who called each context; the children of a row are
 * the next callers of its contexts, and their numbers sums of what those contexts cost.
 */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/views/cost_tree.h"
#include "analyze/views/costs_blocks.h"
#include "analyze/views/costs_internal.h"
#include "analyze/views/view.h"
#include "base/alloc.h"
#include "base/sort.h"

/* A context of the function at the top, and the caller that the row stands for. */
struct callers_chain {
    uint32_t leaf, caller; /* nodes */
};

struct caller_row {
    uint32_t function; /* top row of the same function */
    enum cn_row_kind kind;
    struct callers_chain *chains; /* in the order of the leaves; NULL for top rows */
    size_t count, capacity;
    uint32_t covered_to; /* leaves below this are inside another one of the row */
    uint32_t hottest, hottest_leaf; /* the caller under which a leaf costs most */
    bool has_callers;
    bool is_listed;            /* its children are known */
    uint32_t first, row_count; /* they have these numbers */
    struct cn_cost_rows costs; /* of the children */
};

/* Who calls whom, whatever it costs. */
struct callers_shape {
    struct cn_view_shape shape;
    struct cn_cost_tree tops; /* functions, without callers */
    uint32_t *top_of;   /* by node: the row of its function; CN_NONE when it is no call */
    uint32_t *caller;   /* by node: the nearest call above; CN_NONE when there is none */
    uint32_t *tree_end; /* by node: one past its last descendant */
    bool *has_callers;  /* by top row */
};

struct callers_view {
    struct cn_view view;
    const struct callers_shape *shape;
    struct callers_shape *own_shape; /* when it belongs to the view */
    const struct cn_context_index *index;
    struct cn_view *tops;
    uint32_t top_count;
    struct cn_context_costs context_costs;
    struct caller_row *rows; /* top rows first */
    size_t row_count, row_capacity;
};

static uint32_t top_row(struct cn_cost_tree *tree, const struct cn_row_subject *subject)
{
    uint32_t *known = subject->kind == CN_ROW_FUNCTION && subject->function != CN_NONE
                          ? &tree->row_of_function[subject->function]
                          : NULL;

    if (!known)
        return cn_cost_tree_row(tree, CN_NONE, subject);
    if (*known == CN_NONE)
        *known = cn_cost_tree_row(tree, CN_NONE, subject);
    return *known;
}

/* While the functions are added up: note who calls whom. */
static bool note_call(void *arg, struct cn_cost_tree *tree, struct cn_error *err)
{
    struct callers_shape *self = arg;
    const struct cn_cost_frame *frame = &tree->path[tree->depth - 1];

    (void)err;
    if (!self->top_of) {
        self->top_of = cn_alloc(tree->index->count, sizeof(*self->top_of));
        self->caller = cn_alloc(tree->index->count, sizeof(*self->caller));
        memset(self->top_of, 0xff, tree->index->count * sizeof(*self->top_of));
        memset(self->caller, 0xff, tree->index->count * sizeof(*self->caller));
    }
    if (!frame->is_call)
        return true;
    self->top_of[frame->node] = top_row(tree, &frame->subject);
    if (frame->caller > 0)
        self->caller[frame->node] = tree->path[frame->caller - 1].node;
    cn_cost_tree_count(tree, self->top_of[frame->node]);
    return true;
}

/* Nodes are numbered depth first. */
static void find_tree_ends(struct callers_shape *self)
{
    const struct cn_context_index *index = self->tops.index;

    self->tree_end = cn_alloc(index->count, sizeof(*self->tree_end));
    for (size_t i = index->count; i-- > 0;) {
        uint32_t parent = index->nodes[i].parent;

        if (self->tree_end[i] == 0)
            self->tree_end[i] = (uint32_t)i + 1;
        if (parent != CN_NONE && self->tree_end[parent] < self->tree_end[i])
            self->tree_end[parent] = self->tree_end[i];
    }
}

static void add_chain(struct callers_view *self, struct caller_row *row,
                      struct callers_chain chain)
{
    CN_PUSH(row->chains, row->count, row->capacity, chain);
    if (self->shape->caller[chain.caller] != CN_NONE)
        row->has_callers = true;
}

static uint32_t new_row(struct callers_view *self, uint32_t function)
{
    CN_GROW(self->rows, self->row_count, self->row_capacity);
    self->rows[self->row_count] = (struct caller_row){
        .function = function,
        .kind = function < self->row_count ? self->rows[function].kind : CN_ROW_FUNCTION,
    };
    return (uint32_t)self->row_count++;
}

/* Add what a context costs to the inputs of a row. */
static void add_leaf(const struct callers_view *self, uint32_t leaf, bool is_outermost,
                     double *inputs)
{
    const struct cn_costs *costs = self->view.costs;
    const struct cn_context_costs *known = &self->context_costs;
    uint32_t id = self->index->nodes[leaf].id;

    /* One of the contexts with the same id has the values. */
    if (id >= known->id_limit || self->index->node_of_id[id] != leaf)
        return;
    for (size_t i = known->start[id]; i < known->start[id + 1]; i++) {
        const struct cn_cost_input *input = &costs->inputs[known->inputs[i]];

        if (input->side == CN_SELF || is_outermost)
            cn_cost_add(input, &inputs[known->inputs[i]], known->values[i]);
    }
}

/* What a context costs of the first thing that is measured; NAN: nothing. */
static double first_cost(const struct callers_view *self, uint32_t node)
{
    const struct cn_context_costs *known = &self->context_costs;
    uint32_t id = self->index->nodes[node].id;
    size_t at = id < known->id_limit ? known->start[id] : 0;

    return id < known->id_limit && at < known->start[id + 1] && known->inputs[at] == 0
               ? known->values[at]
               : NAN;
}

static bool is_hotter(const struct callers_view *self, uint32_t a, uint32_t b)
{
    double left = first_cost(self, a), right = first_cost(self, b);

    return left > right || (isnan(right) && !isnan(left));
}

/* Room for the inputs of one more child. */
static void add_child(struct callers_view *self, struct cn_cost_rows *costs)
{
    size_t width = self->view.costs->input_count;

    costs->inputs =
        cn_realloc(costs->inputs, costs->row_count + 1, width * sizeof(*costs->inputs));
    for (size_t i = 0; i < width; i++)
        costs->inputs[costs->row_count * width + i] = NAN;
    costs->row_count++;
}

/* Sort the contexts of a row by their next caller, a new row for each, and add up what
 * they cost. */
static void list_callers(struct callers_view *self, uint32_t parent)
{
    size_t width = self->view.costs->input_count;
    uint32_t first = (uint32_t)self->row_count;
    struct cn_cost_rows costs = {0};
    struct cn_map child_of = {0}; /* by function */

    for (size_t i = 0; i < self->rows[parent].count; i++) {
        struct callers_chain chain = self->rows[parent].chains[i];
        uint32_t *child;

        chain.caller = self->shape->caller[chain.caller];
        if (chain.caller == CN_NONE)
            continue;
        child = cn_map_at(&child_of, self->shape->top_of[chain.caller], CN_NONE);
        if (*child == CN_NONE) {
            *child = new_row(self, self->shape->top_of[chain.caller]);
            add_child(self, &costs);
        }
        struct caller_row *row = &self->rows[*child];
        if (row->count == 0 || is_hotter(self, chain.leaf, row->hottest_leaf)) {
            row->hottest = chain.caller;
            row->hottest_leaf = chain.leaf;
        }
        add_chain(self, row, chain);
        /* Recursion counts once: a context inside another one of the same row adds
         * nothing to totals. */
        add_leaf(self, chain.leaf, chain.leaf >= row->covered_to,
                 costs.inputs + (*child - first) * width);
        if (chain.leaf >= row->covered_to)
            row->covered_to = self->shape->tree_end[chain.leaf];
    }
    cn_map_done(&child_of);
    self->rows[parent].costs = costs;
    self->rows[parent].first = first;
    self->rows[parent].row_count = (uint32_t)self->row_count - first;
    self->rows[parent].is_listed = true;
    self->view.row_limit = self->view.weight_limit = self->row_count;
}

/* The contexts of a function, found when its callers are. */
static void list_leaves(struct callers_view *self, uint32_t top)
{
    for (size_t i = 0; i < self->index->count; i++)
        if (self->shape->top_of[i] == top)
            add_chain(self, &self->rows[top],
                      (struct callers_chain){(uint32_t)i, (uint32_t)i});
}

static bool list_children(struct cn_view *view, const struct cn_row *parent,
                          struct cn_row_list *out, struct cn_error *err)
{
    struct callers_view *self = (struct callers_view *)view;

    if (!parent)
        return self->tops->ops->children(self->tops, NULL, out, err);
    if (parent->id < self->top_count && !self->rows[parent->id].chains)
        list_leaves(self, (uint32_t)parent->id);
    if (!self->rows[parent->id].is_listed)
        list_callers(self, (uint32_t)parent->id);
    struct caller_row *row = &self->rows[parent->id];
    for (uint32_t i = 0; i < row->row_count; i++) {
        struct cn_row item = {
            .id = row->first + i,
            .kind = self->rows[row->first + i].kind,
            .context = CN_NONE,
            .example = self->index->nodes[self->rows[row->first + i].hottest].at,
        };

        cn_cost_rows_values(view->costs, &row->costs, i, cn_row_list_add(out, item));
    }
    out->weight = row->row_count;
    return true;
}

static struct cn_row function_of(struct callers_view *self, const struct cn_row *row)
{
    return (struct cn_row){
        .id = row->id < self->top_count ? row->id : self->rows[row->id].function,
        .kind = row->kind,
        .context = CN_NONE,
    };
}

static bool label_row(struct cn_view *view, const struct cn_row *row,
                      struct cn_text *text, struct cn_error *err)
{
    struct callers_view *self = (struct callers_view *)view;
    struct cn_row function = function_of(self, row);

    return self->tops->ops->label(self->tops, &function, text, err);
}

static bool locate(struct cn_view *view, const struct cn_row *row,
                   struct cn_location *out, struct cn_error *err)
{
    struct callers_view *self = (struct callers_view *)view;
    struct cn_row function = function_of(self, row);

    return self->tops->ops->location(self->tops, &function, out, err);
}

static bool is_leaf(struct cn_view *view, const struct cn_row *row)
{
    return !((struct callers_view *)view)->rows[row->id].has_callers;
}

bool cn_view_shape_function(const struct cn_view_shape *callers, uint32_t context,
                            uint32_t *row, struct cn_error *err)
{
    const struct callers_shape *shape = (const struct callers_shape *)callers;
    const struct cn_context_index *index = shape->tops.index;
    uint32_t node = cn_context_index_find(index, context);

    while (node != CN_NONE && shape->top_of[node] == CN_NONE)
        node = index->nodes[node].parent;
    if (node == CN_NONE)
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "context %" PRIu32 " belongs to no function", context);
    *row = shape->top_of[node];
    return true;
}

bool cn_view_function_of(struct cn_view *callers, const struct cn_context *context,
                         double *values, struct cn_row *out, struct cn_error *err)
{
    struct callers_view *self = (struct callers_view *)callers;
    uint32_t row;

    if (!cn_view_shape_function(&self->shape->shape, context->id, &row, err))
        return false;
    *out = cn_cost_tree_view_row(self->tops, row, values);
    return true;
}

size_t cn_view_function_latencies(const struct cn_view *callers,
                                  const struct cn_row *function,
                                  struct cn_bucket_calls *out)
{
    const struct callers_view *self = (const struct callers_view *)callers;

    return cn_cost_tree_view_latencies(self->tops, (uint32_t)function->id, out);
}

/* The functions called so far: as many as rows in `costs`. */
struct callee {
    uint32_t function; /* top row */
    uint32_t covered_to;
    uint32_t hottest;
};

struct callees {
    struct callee *list;
    size_t capacity;
    struct cn_map of_function;
    struct cn_cost_rows costs;
};

static void add_callee(struct callers_view *self, struct callees *callees, uint32_t node)
{
    size_t width = self->view.costs->input_count;
    uint32_t *number =
        cn_map_at(&callees->of_function, self->shape->top_of[node], CN_NONE);
    struct callee *callee;

    if (*number == CN_NONE) {
        *number = (uint32_t)callees->costs.row_count;
        CN_GROW(callees->list, *number, callees->capacity);
        callees->list[*number] =
            (struct callee){.function = self->shape->top_of[node], .hottest = node};
        add_child(self, &callees->costs);
    }
    callee = &callees->list[*number];
    if (is_hotter(self, node, callee->hottest))
        callee->hottest = node;
    add_leaf(self, node, node >= callee->covered_to,
             callees->costs.inputs + *number * width);
    if (node >= callee->covered_to)
        callee->covered_to = self->shape->tree_end[node];
}

/* The contexts that a function calls, ascending. Free the list. */
static uint32_t *list_calls(const struct callers_shape *shape, uint64_t function,
                            size_t *count)
{
    uint32_t *list = NULL;
    size_t capacity = 0;

    *count = 0;
    for (uint32_t i = 0; i < shape->tops.index->count; i++) {
        uint32_t end = shape->tree_end[i], node = i + 1;

        if (shape->top_of[i] != function)
            continue;
        while (node < end) {
            bool is_call = shape->caller[node] == i;

            if (is_call) {
                CN_PUSH(list, *count, capacity, node);
            }
            node = is_call ? shape->tree_end[node] : node + 1;
        }
    }
    /* What a recursive function calls was found after what its first call does. */
    CN_SORT_VALUES(list, *count);
    return list;
}

void cn_view_callees(struct cn_view *callers, const struct cn_row *function,
                     struct cn_row_list *out)
{
    struct callers_view *self = (struct callers_view *)callers;
    struct callees callees = {0};
    size_t count;
    uint32_t *calls = list_calls(self->shape, function->id, &count);

    cn_row_list_begin(out, callers->costs->column_count);
    for (size_t i = 0; i < count; i++)
        add_callee(self, &callees, calls[i]);
    free(calls);
    for (size_t i = 0; i < callees.costs.row_count; i++) {
        struct cn_row row =
            cn_cost_tree_view_row(self->tops, callees.list[i].function, NULL);

        row.example = self->index->nodes[callees.list[i].hottest].at;
        cn_cost_rows_values(callers->costs, &callees.costs, i, cn_row_list_add(out, row));
    }
    free(callees.list);
    cn_map_done(&callees.of_function);
    cn_cost_rows_done(&callees.costs);
}

/* The rows of a tree of callees or callers while it is built. */
struct path_tree_builder {
    struct callers_view *view;
    uint32_t *row_of;     /* by node, of the calls of a tree of callees */
    struct cn_map row_at; /* by the nearer row and function */
    uint32_t *nearer;     /* by row */
    uint32_t *functions;  /* top rows */
    struct hottest_call {
        uint32_t node, leaf; /* the context of the row, and the one that costs */
    } * hottest;
    double *inputs;
    size_t count, capacity;
};

static void grow_path_tree(struct path_tree_builder *b)
{
    size_t width = b->view->view.costs->input_count;

    if (b->count < b->capacity)
        return;
    b->capacity = b->capacity > 0 ? 2 * b->capacity : 64;
    b->nearer = cn_realloc(b->nearer, b->capacity, sizeof(*b->nearer));
    b->functions = cn_realloc(b->functions, b->capacity, sizeof(*b->functions));
    b->hottest = cn_realloc(b->hottest, b->capacity, sizeof(*b->hottest));
    b->inputs = cn_realloc(b->inputs, b->capacity, width * sizeof(*b->inputs));
}

/* Count what `leaf` costs for the row of a node's function that follows `nearer`. Returns the row. */
static uint32_t add_call(struct path_tree_builder *b, uint32_t nearer, uint32_t node,
                         uint32_t leaf, bool is_outermost)
{
    size_t width = b->view->view.costs->input_count;
    uint32_t function = b->view->shape->top_of[node];
    uint64_t key = (uint64_t)(nearer + 1) << 32 | function; /* CN_NONE + 1 is 0 */
    uint32_t *row = cn_map_at(&b->row_at, key, CN_NONE);

    if (*row == CN_NONE) {
        grow_path_tree(b);
        *row = (uint32_t)b->count++;
        b->nearer[*row] = nearer;
        b->functions[*row] = function;
        b->hottest[*row] = (struct hottest_call){node, leaf};
        for (size_t i = 0; i < width; i++)
            b->inputs[*row * width + i] = NAN;
    }
    if (is_outermost && is_hotter(b->view, leaf, b->hottest[*row].leaf))
        b->hottest[*row] = (struct hottest_call){node, leaf};
    add_leaf(b->view, leaf, is_outermost, b->inputs + *row * width);
    return *row;
}

static void take_path_tree(struct path_tree_builder *b, struct cn_path_tree *out)
{
    struct callers_view *self = b->view;
    struct cn_costs *columns = self->view.costs;
    struct cn_cost_rows costs = {.inputs = b->inputs, .row_count = b->count};

    cn_row_list_begin(&out->rows, columns->column_count);
    for (size_t i = 0; i < b->count; i++) {
        struct cn_row row = cn_cost_tree_view_row(self->tops, b->functions[i], NULL);

        row.example = self->index->nodes[b->hottest[i].node].at;
        cn_cost_rows_values(columns, &costs, i, cn_row_list_add(&out->rows, row));
    }
    out->nearer = b->nearer;
    free(b->row_of);
    free(b->functions);
    free(b->hottest);
    cn_map_done(&b->row_at);
    cn_cost_rows_done(&costs);
}

/* Nodes are numbered depth first, callers before what they call. */
void cn_view_callee_tree(struct cn_view *callers, const struct cn_row *function,
                         struct cn_path_tree *out)
{
    struct callers_view *self = (struct callers_view *)callers;
    const struct callers_shape *shape = self->shape;
    struct path_tree_builder b = {
        .view = self,
        .row_of = cn_alloc(self->index->count, sizeof(*b.row_of)),
    };

    for (uint32_t top = 0; top < self->index->count; top++) {
        if (shape->top_of[top] != function->id)
            continue;
        b.row_of[top] = add_call(&b, CN_NONE, top, top, true);
        for (uint32_t node = top + 1; node < shape->tree_end[top]; node++)
            if (shape->top_of[node] != CN_NONE && shape->caller[node] != CN_NONE)
                b.row_of[node] =
                    add_call(&b, b.row_of[shape->caller[node]], node, node, true);
        top = shape->tree_end[top] - 1;
    }
    take_path_tree(&b, out);
}

void cn_view_caller_tree(struct cn_view *callers, const struct cn_row *function,
                         struct cn_path_tree *out)
{
    struct callers_view *self = (struct callers_view *)callers;
    const struct callers_shape *shape = self->shape;
    struct path_tree_builder b = {.view = self};
    uint64_t wanted = self->rows[function->id].function; /* of a top row, itself */
    uint32_t top = 0, end = 0; /* the outermost call, and one past what is inside of it */

    for (uint32_t leaf = 0; leaf < self->index->count; leaf++) {
        if (shape->top_of[leaf] != wanted)
            continue;
        if (leaf >= end) {
            top = leaf;
            end = shape->tree_end[leaf];
        }
        uint32_t row = add_call(&b, CN_NONE, top, leaf, leaf == top);
        for (uint32_t node = shape->caller[top]; node != CN_NONE;
             node = shape->caller[node])
            row = add_call(&b, row, node, leaf, leaf == top);
    }
    take_path_tree(&b, out);
}

void cn_path_tree_done(struct cn_path_tree *tree)
{
    cn_row_list_done(&tree->rows);
    free(tree->nearer);
    tree->nearer = NULL;
}

static void free_shape(struct cn_view_shape *shape)
{
    struct callers_shape *self = (struct callers_shape *)shape;

    cn_cost_tree_done(&self->tops);
    free(self->top_of);
    free(self->caller);
    free(self->tree_end);
    free(self->has_callers);
    free(self);
}

static void free_view(struct cn_view *view)
{
    struct callers_view *self = (struct callers_view *)view;

    for (size_t i = 0; i < self->row_count; i++) {
        free(self->rows[i].chains);
        cn_cost_rows_done(&self->rows[i].costs);
    }
    cn_view_free(self->tops);
    cn_context_costs_done(&self->context_costs);
    free(self->rows);
    if (self->own_shape)
        free_shape(&self->own_shape->shape);
    free(self);
}

static uint64_t shape_size(const struct callers_shape *shape)
{
    return sizeof(*shape) + cn_cost_tree_size(&shape->tops) +
           shape->tops.index->count * 3 * sizeof(uint32_t);
}

static uint64_t size_of(const struct cn_view *view)
{
    const struct callers_view *self = (const struct callers_view *)view;
    uint64_t size = sizeof(*self) + self->tops->ops->size(self->tops);

    size += self->row_capacity * sizeof(*self->rows);
    size += self->own_shape ? shape_size(self->own_shape) : 0;
    size += cn_context_costs_size(&self->context_costs);
    for (size_t i = 0; i < self->row_count; i++)
        size += self->rows[i].capacity * sizeof(*self->rows[i].chains) +
                self->rows[i].costs.row_count * view->costs->input_count * sizeof(double);
    return size;
}

static struct callers_view *new_view(const struct callers_shape *shape,
                                     struct cn_costs *costs)
{
    static const struct cn_view_ops ops = {list_children, label_row, locate,
                                           is_leaf,       free_view, size_of};
    struct callers_view *self = cn_alloc(1, sizeof(*self));

    assert(!cn_costs_need_tallies(costs));
    self->shape = shape;
    self->index = shape->tops.index;
    self->top_count = (uint32_t)shape->tops.group_count;
    for (uint32_t i = 0; i < self->top_count; i++) {
        (void)new_row(self, i);
        self->rows[i].kind = shape->tops.groups[i].kind;
        self->rows[i].has_callers = shape->has_callers[i];
    }
    self->view = (struct cn_view){
        .ops = &ops,
        .costs = costs,
        .weight_limit = self->row_count,
        .row_limit = self->row_count,
        .self_includes_below = true,
    };
    return self;
}

static bool make_view(const struct cn_view_shape *shape, struct cn_view **out,
                      struct cn_costs *costs, const struct cn_progress *progress,
                      struct cn_error *err)
{
    struct callers_view *self = new_view((const struct callers_shape *)shape, costs);

    bool ok = cn_context_costs_build(&self->context_costs, costs, self->index->id_limit,
                                     progress, err);

    self->tops = cn_cost_tree_view_known(&self->shape->tops, costs, &self->context_costs);
    *out = &self->view;
    return ok;
}

/* On failure it holds what could be read. */
static bool build_shape(struct callers_shape **out, struct cn_database *db,
                        const struct cn_context_index *index,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct callers_shape *self = cn_alloc(1, sizeof(*self));

    self->shape = (struct cn_view_shape){make_view, free_shape};
    bool ok = cn_cost_tree_build(&self->tops, db, index, note_call, self, progress, err);
    find_tree_ends(self);
    self->has_callers = cn_alloc(self->tops.group_count, sizeof(*self->has_callers));
    for (size_t i = 0; self->top_of && i < self->tops.index->count; i++)
        if (self->top_of[i] != CN_NONE && self->caller[i] != CN_NONE)
            self->has_callers[self->top_of[i]] = true;
    *out = self;
    return ok;
}

bool cn_view_shape_callers_new(struct cn_view_shape **out, struct cn_database *db,
                               const struct cn_context_index *index,
                               const struct cn_progress *progress, struct cn_error *err)
{
    struct callers_shape *shape;

    if (!build_shape(&shape, db, index, progress, err)) {
        free_shape(&shape->shape);
        return false;
    }
    *out = &shape->shape;
    return true;
}

bool cn_view_callers_new(struct cn_view **out, struct cn_costs *costs,
                         const struct cn_progress *progress, struct cn_error *err)
{
    struct callers_shape *shape;
    struct cn_error later;
    bool ok = build_shape(&shape, costs->db, NULL, progress, err);

    ok = make_view(&shape->shape, out, costs, progress, ok ? err : &later) && ok;
    ((struct callers_view *)*out)->own_shape = shape;
    return ok;
}
