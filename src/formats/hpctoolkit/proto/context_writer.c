/* The section of contexts: the size of the roots and the roots first, then the
 * blocks of children.
 *
 * Siblings are contiguous, and a node says where its children are. So the tree is
 * walked once; a node is complete when its context is left, and goes to the siblings
 * collected so far. When their parent is left, they are written. What is kept is one
 * list of siblings for each level of the current path. Room for the roots is left by
 * measuring them beforehand.
 */
#include <inttypes.h>

#include "base/run/progress.h"
#include "formats/hpctoolkit/levels.h"
#include "formats/hpctoolkit/proto/meta_writer.h"
#include "model/contexts/walk.h"

/* The mask of a context that belongs lexically to its parent. */
enum { LEXICAL_PROPAGATION = 1 };

struct tree_writer {
    struct cn_hpc_proto_writing *w;
    const struct cn_walk *walk;
    struct cn_hpc_levels levels; /* the roots at 0 */
    uint64_t roots_off;
};

static bool is_called(const struct cn_context *context)
{
    return context->kind != CN_CONTEXT_ENTRY && context->relation != CN_LEXICAL;
}

static uint64_t file_off(const struct cn_hpc_proto_writing *w, uint32_t file)
{
    return w->files_off + (uint64_t)file * cn_hpc_proto_source_file_size;
}

/* The line from which the context at `depth` of the path is called: that of the
 * nearest line above it in the calling function. */
static const struct cn_context *find_caller(const struct tree_writer *t, size_t depth)
{
    for (size_t i = depth - 1; i > 0; i--) {
        const struct cn_context *above = cn_walk_path(t->walk, i - 1);

        if (above->kind == CN_CONTEXT_LINE && above->has_source && above->file != CN_NONE)
            return above;
        if (above->kind == CN_CONTEXT_ENTRY || is_called(above))
            return NULL;
    }
    return NULL;
}

static uint8_t *put_callee(uint8_t *at, const struct tree_writer *t, size_t depth,
                           const struct cn_context *context)
{
    const struct cn_context *caller = find_caller(t, depth);
    struct cn_hpc_proto_callee record = {
        .type = (uint8_t)(context->relation - CN_CALL),
        .flags = caller ? CN_HPC_PROTO_HAS_CALLER : 0,
    };

    cn_hpc_proto_callee_encode(&record, at);
    at += cn_hpc_proto_callee_size;
    if (caller) {
        struct cn_hpc_proto_source source = {file_off(t->w, caller->file), caller->line};

        cn_hpc_proto_source_encode(&source, at);
        at += cn_hpc_proto_source_size;
    }
    return at;
}

static uint8_t *put_function(uint8_t *at, const struct cn_hpc_proto_writing *w,
                             uint64_t function)
{
    struct cn_hpc_proto_function_pointer pointer = {
        w->functions_off + function * cn_hpc_proto_function_size};

    cn_hpc_proto_function_pointer_encode(&pointer, at);
    return at + cn_hpc_proto_function_pointer_size;
}

static uint8_t *put_place(uint8_t *at, const struct cn_hpc_proto_writing *w,
                          const struct cn_context *context,
                          const struct cn_hpc_proto_lexical *head)
{
    cn_hpc_proto_lexical_encode(head, at);
    at += cn_hpc_proto_lexical_size;
    if (head->flags & CN_HPC_PROTO_HAS_FUNCTION)
        at = put_function(at, w, context->function);
    if (head->flags & CN_HPC_PROTO_HAS_SOURCE) {
        struct cn_hpc_proto_source source = {file_off(w, context->file), context->line};

        cn_hpc_proto_source_encode(&source, at);
        at += cn_hpc_proto_source_size;
    }
    if (head->flags & CN_HPC_PROTO_HAS_POINT) {
        struct cn_hpc_proto_point point = {w->modules_off + (uint64_t)context->module *
                                                                cn_hpc_proto_module_size,
                                           context->offset};

        cn_hpc_proto_point_encode(&point, at);
        at += cn_hpc_proto_point_size;
    }
    return at;
}

static bool check_index(uint32_t index, uint32_t count, const char *what,
                        struct cn_error *err)
{
    if (index < count)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "refers to %s %" PRIu32 ", but there are %" PRIu32,
                   what, index, count);
}

/* What the node will say. A place without a file or module says nothing that a
 * reader could show: it is left out. */
static bool find_head(struct tree_writer *t, const struct cn_context *context,
                      bool has_calls, struct cn_hpc_proto_lexical *out,
                      struct cn_error *err)
{
    const struct cn_database *db = t->w->db;
    bool has_source = context->has_source && context->file != CN_NONE;
    bool has_point = context->has_point && context->module != CN_NONE;
    bool has_function = context->has_function && context->function != CN_NONE;
    bool is_source_of_calls = has_source && has_calls && context->kind == CN_CONTEXT_LINE;

    if ((has_function &&
         !check_index(context->function, db->function_count, "function", err)) ||
        (has_source && !check_index(context->file, db->file_count, "file", err)) ||
        (has_point && !check_index(context->module, db->module_count, "module", err)))
        return false;
    t->w->no_file_count += context->has_source && !has_source;
    t->w->no_module_count += context->has_point && !has_point;
    out->kind = context->kind;
    out->flags = (uint16_t)((has_function ? CN_HPC_PROTO_HAS_FUNCTION : 0) |
                            (has_source ? CN_HPC_PROTO_HAS_SOURCE : 0) |
                            (has_point ? CN_HPC_PROTO_HAS_POINT : 0) |
                            (is_source_of_calls ? CN_HPC_PROTO_IS_CALL_SOURCE : 0));
    return true;
}

static void add_node(struct cn_hpc_level *siblings, const struct cn_context *context,
                     const struct cn_hpc_proto_section *children, uint8_t *bytes,
                     const uint8_t *callee_end, const uint8_t *end)
{
    const uint8_t *callee = bytes + cn_hpc_proto_context_size;
    struct cn_hpc_proto_context record = {
        .context = context->id,
        .children_off = children->off,
        .children_len = children->len,
        .callee_len = (uint8_t)(callee_end - callee),
        .lexical_len = (uint8_t)(end - callee_end),
    };
    size_t len = (size_t)(end - bytes);

    cn_hpc_proto_context_encode(&record, bytes);
    memcpy(cn_hpc_level_append(siblings, len), bytes, len);
}

static bool add_context(struct tree_writer *t, size_t depth,
                        const struct cn_context *context,
                        const struct cn_hpc_proto_section *children, bool has_calls,
                        struct cn_error *err)
{
    uint16_t usual = context->relation == CN_LEXICAL ? LEXICAL_PROPAGATION : 0;
    uint8_t bytes[CN_HPC_PROTO_NODE_MAX];
    uint8_t *callee_end = bytes + cn_hpc_proto_context_size;
    struct cn_hpc_proto_lexical head;

    if (context->kind == CN_CONTEXT_ENTRY)
        return cn_fail(err, CN_ERR_FORMAT, "an entry point below the top of the tree");
    if (!find_head(t, context, has_calls, &head, err))
        return false;
    t->w->masked_count += context->propagation != usual;
    if (is_called(context))
        callee_end = put_callee(callee_end, t, depth, context);
    add_node(&t->levels.list[depth - 1], context, children, bytes, callee_end,
             put_place(callee_end, t->w, context, &head));
    return true;
}

/* A root whose function stands for the entry point. */
static void add_entry(struct tree_writer *t, const struct cn_context *entry,
                      const struct cn_hpc_proto_section *children)
{
    static const struct cn_hpc_proto_lexical head = {CN_CONTEXT_FUNCTION,
                                                     CN_HPC_PROTO_HAS_FUNCTION};
    uint32_t number = cn_names_add(&t->w->entry_functions, cn_hpc_proto_root_name(entry));
    uint8_t bytes[CN_HPC_PROTO_NODE_MAX];
    uint8_t *lexical = bytes + cn_hpc_proto_context_size;

    cn_hpc_proto_lexical_encode(&head, lexical);
    add_node(&t->levels.list[0], entry, children, bytes, lexical,
             put_function(lexical + cn_hpc_proto_lexical_size, t->w,
                          (uint64_t)t->w->db->function_count + number));
}

static bool leave(struct tree_writer *t, size_t depth, const struct cn_context *context,
                  struct cn_error *err)
{
    struct cn_hpc_proto_section children;
    bool has_calls;

    cn_hpc_levels_make(&t->levels, depth + 1);
    if (context->id == 0)
        return cn_fail(err, CN_ERR_FORMAT, "context id 0 belongs to the global context");
    if (!cn_hpc_level_write(&t->levels.list[depth], &t->w->out, &children.len,
                            &children.off, err))
        return false;
    has_calls = t->levels.list[depth].has_calls;
    t->levels.list[depth].has_calls = false;
    t->levels.list[depth - 1].has_calls |= is_called(context) || has_calls;
    if (depth == 1 && context->kind == CN_CONTEXT_ENTRY)
        add_entry(t, context, &children);
    else if (!add_context(t, depth, context, &children, has_calls, err))
        return cn_fail_in(err, "context %" PRIu32, context->id);
    if (context->id > t->w->largest_id)
        t->w->largest_id = context->id;
    t->w->context_count++;
    return true;
}

static bool walk_tree(struct tree_writer *t, struct cn_walk *walk, struct cn_error *err)
{
    enum { REPORT_EVERY = 1 << 15 };
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step;

    while ((step = cn_walk_next(walk, &event, &context, err)) == CN_ITEM) {
        if (event != CN_WALK_LEAVE)
            continue;
        if (!leave(t, walk->depth, context, err))
            return false;
        if (t->w->context_count % REPORT_EVERY == 0 &&
            !cn_progress_report(t->w->options->progress, "writing meta.db",
                                t->w->context_count, t->w->db->context_limit, "contexts",
                                err))
            return false;
    }
    return step == CN_END;
}

static size_t root_len(const struct cn_context *root)
{
    size_t len = cn_hpc_proto_context_size + cn_hpc_proto_lexical_size;

    if (root->kind == CN_CONTEXT_ENTRY)
        return len + cn_hpc_proto_function_pointer_size;
    if (is_called(root))
        len += cn_hpc_proto_callee_size; /* nobody is above it who could call */
    if (root->has_function && root->function != CN_NONE)
        len += cn_hpc_proto_function_pointer_size;
    if (root->has_source && root->file != CN_NONE)
        len += cn_hpc_proto_source_size;
    if (root->has_point && root->module != CN_NONE)
        len += cn_hpc_proto_point_size;
    return len;
}

/* The roots stand first, but are complete last: leave room for them. */
static bool reserve_roots(struct tree_writer *t, struct cn_error *err)
{
    struct cn_hpc_proto_contexts_header head = {0};
    uint8_t bytes[cn_hpc_proto_contexts_header_size];
    struct cn_context_cursor cursor;
    struct cn_context root;
    enum cn_step step;

    if (!cn_context_children(t->w->db, NULL, &cursor, err))
        return false;
    while ((step = cn_context_next(t->w->db, &cursor, &root, err)) == CN_ITEM)
        head.roots_len += root_len(&root);
    cn_hpc_proto_contexts_header_encode(&head, bytes);
    return step == CN_END && cn_out_write(&t->w->out, bytes, sizeof(bytes), err) &&
           cn_out_reserve(&t->w->out, head.roots_len, &t->roots_off, err);
}

static bool write_tree(struct tree_writer *t, struct cn_error *err)
{
    struct cn_walk walk = {0};
    bool ok;

    if (!reserve_roots(t, err))
        return false;
    t->walk = &walk;
    ok = cn_walk_begin(&walk, t->w->db, err) && walk_tree(t, &walk, err);
    cn_walk_done(&walk);
    return ok && cn_out_write_at(&t->w->out, t->roots_off, t->levels.list[0].bytes,
                                 t->levels.list[0].len, err);
}

bool cn_hpc_proto_contexts_write(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    struct tree_writer t = {.w = w};
    bool ok;

    cn_hpc_levels_make(&t.levels, 1);
    ok = write_tree(&t, err);
    cn_hpc_levels_done(&t.levels);
    return ok;
}
