#include "analyze/views/cost_tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

struct cn_row_subject cn_row_subject_of_kind(enum cn_row_kind kind)
{
    return (struct cn_row_subject){
        .kind = kind,
        .function = CN_NONE,
        .file = CN_NONE,
        .module = CN_NONE,
    };
}

static bool same_subject(const struct cn_row_subject *a, const struct cn_row_subject *b)
{
    return a->kind == b->kind && a->function == b->function && a->file == b->file &&
           a->line == b->line && a->module == b->module && a->offset == b->offset &&
           a->group == b->group;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_of(uint32_t parent, const struct cn_row_subject *subject)
{
    uint64_t hash =
        mix((uint64_t)subject->kind, (uint64_t)parent << 32 | subject->function);

    hash = mix(hash, (uint64_t)subject->file << 32 | subject->line);
    hash = mix(hash, (uint64_t)subject->group << 32 | subject->module);
    return mix(hash, subject->offset);
}

/* The row of a subject under a parent: CN_NONE if it is new. Rows with the same hash follow it. */
static uint32_t *find_row(struct cn_cost_tree *tree, uint32_t parent,
                          const struct cn_row_subject *subject)
{
    uint64_t hash = hash_of(parent, subject);
    uint32_t *row = cn_map_at(&tree->rows, hash, CN_NONE);

    while (*row != CN_NONE && (tree->groups[*row].parent != parent ||
                               !same_subject(&tree->subjects[*row], subject)))
        row = cn_map_at(&tree->rows, ++hash, CN_NONE);
    return row;
}

uint32_t cn_cost_tree_row(struct cn_cost_tree *tree, uint32_t parent,
                          const struct cn_row_subject *subject)
{
    uint32_t node = tree->path[tree->depth - 1].node;
    uint32_t *row = find_row(tree, parent, subject), *list;

    if (*row != CN_NONE)
        return *row;
    *row = (uint32_t)tree->group_count;
    CN_GROW(tree->groups, tree->group_count, tree->group_capacity);
    list = parent == CN_NONE ? &tree->first_top : &tree->groups[parent].first_child;
    tree->groups[tree->group_count] = (struct cn_cost_group){
        .parent = parent,
        .first_child = CN_NONE,
        .next_sibling = *list,
        .node = node,
        .kind = (uint8_t)subject->kind,
        .is_known = (subject->kind == CN_ROW_FUNCTION ? subject->function
                                                      : subject->file) != CN_NONE,
    };
    CN_GROW(tree->subjects, tree->group_count, tree->subject_capacity);
    tree->subjects[tree->group_count] = *subject;
    CN_GROW(tree->active, tree->group_count, tree->count_capacity);
    tree->active[tree->group_count] = 0;
    *list = (uint32_t)tree->group_count++;
    return *list;
}

static void add_target(struct cn_cost_tree *tree, uint32_t row, uint32_t sides)
{
    CN_PUSH(tree->targets, tree->target_count, tree->target_capacity,
            cn_cost_target_of(row, sides));
}

void cn_cost_tree_count(struct cn_cost_tree *tree, uint32_t row)
{
    uint32_t sides = 1U << CN_SELF;

    if (tree->active[row]++ == 0)
        sides |= 1U << CN_TOTAL;
    add_target(tree, row, sides);
    CN_PUSH(tree->active_rows, tree->active_count, tree->active_capacity, row);
}

void cn_cost_tree_count_from(struct cn_cost_tree *tree, uint32_t from, uint32_t row)
{
    if (tree->groups[row].parent == from) {
        add_target(tree, row, 1U << CN_SELF | 1U << CN_TOTAL);
        return;
    }
    add_target(tree, row, 1U << CN_SELF);
    CN_PUSH(tree->folds, tree->fold_count, tree->fold_capacity,
            (struct cn_cost_fold){from, row, tree->target_count});
    add_target(tree, 0, 1U << CN_TOTAL); /* its row is known at the end */
}

static void leave_until(struct cn_cost_tree *tree, uint32_t parent)
{
    while (tree->depth > 0 && tree->path[tree->depth - 1].node != parent) {
        const struct cn_cost_frame *frame = &tree->path[--tree->depth];

        while (tree->active_count > frame->rows_at)
            tree->active[tree->active_rows[--tree->active_count]]--;
    }
}

/* Where a context is, whatever led there. */
static struct cn_row_subject subject_of(const struct cn_context *context)
{
    struct cn_row_subject subject = cn_row_subject_of_kind(cn_row_kind_of(context));

    if (context->has_function)
        subject.function = context->function;
    else if (context->kind == CN_CONTEXT_FUNCTION && context->has_point)
        subject.module = context->module; /* an unknown function of a known module */
    if (context->kind != CN_CONTEXT_FUNCTION && context->has_source) {
        subject.file = context->file;
        subject.line = context->line;
    }
    /* Users know a loop by its line. */
    if (context->kind != CN_CONTEXT_FUNCTION && context->has_point &&
        (context->kind == CN_CONTEXT_INSTRUCTION || !context->has_source)) {
        subject.module = context->module;
        subject.offset = context->offset;
    }
    return subject;
}

/* Compilers make several functions of one (clones, instances of an inline function), and
 * writers list each; users mean the one in the source. */
static bool find_same_function(struct cn_cost_tree *tree, uint32_t *function,
                               struct cn_error *err)
{
    struct cn_database *db = tree->db;
    struct cn_function record;
    struct cn_text key = {0};
    uint32_t *same = &tree->same_function[*function];
    uint32_t number;
    size_t known;

    if (*same == CN_NONE) {
        if (!cn_database_function(db, *function, &record, err))
            return false;
        cn_text_printf(&key, "%" PRIu32 ":%" PRIu32 ":%" PRIu32 ":%s", record.module,
                       record.file, record.line, record.name);
        if (record.name[0] == '\0') /* anonymous functions are told apart by address */
            cn_text_printf(&key, "%" PRIx64, record.offset);
        known = tree->function_keys.count;
        number = cn_names_add(&tree->function_keys, cn_text_str(&key));
        CN_GROW(tree->function_of_key, number, tree->key_capacity);
        if (number == known)
            tree->function_of_key[number] = *function;
        *same = tree->function_of_key[number];
        cn_text_done(&key);
    }
    *function = *same;
    return true;
}

bool cn_row_subject_locate(struct cn_database *db, const struct cn_row_subject *subject,
                           uint32_t *module, uint32_t *file, struct cn_error *err)
{
    struct cn_function function;

    *module = subject->module;
    *file = subject->file;
    if (subject->function == CN_NONE)
        return true;
    if (!cn_database_function(db, subject->function, &function, err))
        return false;
    *module = function.module;
    *file = function.file;
    return true;
}

uint32_t cn_cost_tree_language(const struct cn_cost_tree *tree,
                               const struct cn_row_subject *subject)
{
    return tree->codes
               ? cn_codes_find(tree->codes, subject->function, subject->module)->language
               : CN_CODE_UNKNOWN;
}

bool cn_cost_tree_subject(const struct cn_cost_tree *tree, uint64_t row,
                          struct cn_row_subject *out, struct cn_error *err)
{
    const struct cn_cost_group *group = &tree->groups[row];
    struct cn_context context;
    uint32_t module, file;

    if (tree->subjects) {
        *out = tree->subjects[row];
        return true;
    }
    if (!cn_context_at(tree->db, tree->index->nodes[group->node].at, &context, err))
        return false;
    *out = subject_of(&context);
    if (context.has_function)
        out->function = tree->same_function[context.function];
    if (group->kind == CN_ROW_LANGUAGE) {
        uint32_t language = cn_cost_tree_language(tree, out);

        *out = cn_row_subject_of_kind(CN_ROW_LANGUAGE);
        out->group = language;
        return true;
    }
    if (group->kind != CN_ROW_MODULE && group->kind != CN_ROW_FILE)
        return true;
    if (!cn_row_subject_locate(tree->db, out, &module, &file, err))
        return false;
    *out = cn_row_subject_of_kind(group->kind);
    if (group->kind == CN_ROW_MODULE)
        out->module = module;
    else
        out->file = file;
    return true;
}

static bool enter(struct cn_cost_tree *tree, uint32_t node, struct cn_error *err)
{
    const struct cn_context_node *at = &tree->index->nodes[node];
    struct cn_context context;
    size_t caller = 0;

    if (!cn_context_at(tree->db, at->at, &context, err))
        return false;
    if (context.has_function && !find_same_function(tree, &context.function, err))
        return false;
    leave_until(tree, at->parent);
    const struct cn_cost_frame *above =
        tree->depth > 0 ? &tree->path[tree->depth - 1] : NULL;
    if (above)
        caller = above->is_call ? tree->depth : above->caller;
    CN_PUSH(tree->path, tree->depth, tree->path_capacity,
            (struct cn_cost_frame){
                .node = node,
                .subject = subject_of(&context),
                .is_call =
                    context.kind == CN_CONTEXT_FUNCTION ||
                    (context.kind != CN_CONTEXT_ENTRY && context.relation != CN_LEXICAL),
                .caller = caller,
                .row = CN_NONE,
                .rows_at = tree->active_count,
            });
    return true;
}

static bool map_contexts(struct cn_cost_tree *tree, cn_cost_map map, void *arg,
                         const struct cn_progress *progress, struct cn_error *err)
{
    enum { REPORT_EVERY = 1 << 16, FORGET_EVERY = 1 << 18 };
    bool ok = true;

    tree->start = cn_alloc(tree->index->count + 1, sizeof(*tree->start));
    tree->same_function =
        cn_alloc(tree->db->function_count, sizeof(*tree->same_function));
    tree->row_of_function =
        cn_alloc(tree->db->function_count, sizeof(*tree->row_of_function));
    for (uint32_t i = 0; i < tree->db->function_count; i++)
        tree->same_function[i] = tree->row_of_function[i] = CN_NONE;
    for (size_t node = 0; node < tree->index->count; node++) {
        tree->start[node] = (uint32_t)tree->target_count;
        /* What failed to be mapped counts for nothing; the rest is still shown. */
        if (ok)
            ok = enter(tree, (uint32_t)node, err) && map(arg, tree, err) &&
                 (tree->target_count <= UINT32_MAX ||
                  cn_fail(err, CN_ERR_LIMIT, "more than %" PRIu32 " rows and contexts",
                          UINT32_MAX));
        if (ok && node % REPORT_EVERY == 0)
            ok = cn_progress_report(progress, "grouping contexts", node,
                                    tree->index->count, "contexts", err);
        if (node % FORGET_EVERY == FORGET_EVERY - 1)
            cn_database_forget(tree->db);
    }
    tree->start[tree->index->count] = (uint32_t)tree->target_count;
    leave_until(tree, CN_NONE);
    return ok;
}

/* What only building needs. */
static void give_back(struct cn_cost_tree *tree)
{
    free(tree->row_of_function);
    free(tree->function_of_key);
    cn_names_done(&tree->function_keys);
    cn_map_done(&tree->rows);
    free(tree->path);
    free(tree->active);
    free(tree->active_rows);
    tree->row_of_function = tree->function_of_key = NULL;
    tree->active = tree->active_rows = NULL;
    tree->path = NULL;
    tree->key_capacity = 0;
    tree->path_capacity = tree->count_capacity = tree->active_capacity = 0;
    if (tree->target_count > 0)
        tree->targets =
            cn_realloc(tree->targets, tree->target_count, sizeof(*tree->targets));
    tree->target_capacity = tree->target_count;
    if (tree->group_count > 0)
        tree->groups = cn_realloc(tree->groups, tree->group_count, sizeof(*tree->groups));
    tree->group_capacity = tree->group_count;
    if (tree->subjects && tree->group_count > 0)
        tree->subjects =
            cn_realloc(tree->subjects, tree->group_count, sizeof(*tree->subjects));
    tree->subject_capacity = tree->group_count;
}

bool cn_cost_tree_build(struct cn_cost_tree *tree, struct cn_database *db,
                        const struct cn_context_index *index, cn_cost_map map, void *arg,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_error later;
    bool ok = true;

    *tree = (struct cn_cost_tree){
        .db = db, .codes = tree->codes, .index = index, .first_top = CN_NONE};
    if (!index) {
        tree->index = tree->own_index = cn_alloc(1, sizeof(*tree->own_index));
        ok = cn_context_index_build(tree->own_index, db, err);
    }
    ok = map_contexts(tree, map, arg, progress, ok ? err : &later) && ok;
    for (size_t i = 0; i < tree->fold_count; i++)
        tree->targets[tree->folds[i].target] =
            cn_cost_target_of((uint32_t)(tree->group_count + i), 1U << CN_TOTAL);
    cn_database_forget(db);
    give_back(tree);
    return ok;
}

void cn_cost_tree_done(struct cn_cost_tree *tree)
{
    give_back(tree);
    if (tree->own_index)
        cn_context_index_done(tree->own_index);
    free(tree->own_index);
    free(tree->same_function);
    free(tree->groups);
    free(tree->subjects);
    free(tree->start);
    free(tree->targets);
    free(tree->folds);
    *tree = (struct cn_cost_tree){0};
}

uint64_t cn_cost_tree_size(const struct cn_cost_tree *tree)
{
    uint64_t size = tree->group_count * sizeof(*tree->groups) +
                    tree->target_count * sizeof(*tree->targets);

    if (tree->subjects)
        size += tree->group_count * sizeof(*tree->subjects);
    if (tree->start)
        size += tree->index->count * sizeof(*tree->start);
    if (tree->own_index)
        size += tree->own_index->capacity * sizeof(*tree->own_index->nodes) +
                tree->own_index->id_limit * sizeof(*tree->own_index->node_of_id);
    return size;
}
