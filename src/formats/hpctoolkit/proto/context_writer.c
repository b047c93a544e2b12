/* The section of contexts: the size of the roots and the roots first, then the blocks of
 * children. Room for the roots is left by measuring them beforehand. */
#include <inttypes.h>

#include "formats/hpctoolkit/proto/meta_writer.h"
#include "formats/hpctoolkit/scopes.h"
#include "formats/hpctoolkit/tree_writer.h"
#include "model/contexts/walk.h"

static bool is_called(const struct cn_context *context)
{
    return context->kind != CN_CONTEXT_ENTRY && context->relation != CN_LEXICAL;
}

static uint64_t file_off(const struct cn_hpc_proto_writing *w, uint32_t file)
{
    return w->files_off + (uint64_t)file * cn_hpc_proto_source_file_size;
}

/* The line from which the context at `depth` of the path is called: the nearest line above
 * it in the calling function. */
static const struct cn_context *find_caller(const struct cn_walk *walk, size_t depth)
{
    for (size_t i = depth - 1; i > 0; i--) {
        const struct cn_context *above = cn_walk_path(walk, i - 1);

        if (above->kind == CN_CONTEXT_LINE && above->has_source && above->file != CN_NONE)
            return above;
        if (above->kind == CN_CONTEXT_ENTRY || is_called(above))
            return NULL;
    }
    return NULL;
}

static uint8_t *put_callee(uint8_t *at, const struct cn_hpc_tree_writer *t, size_t depth,
                           const struct cn_context *context)
{
    const struct cn_context *caller = find_caller(t->walk, depth);
    struct cn_hpc_proto_callee record = {
        .type = (uint8_t)(context->relation - CN_CALL),
        .flags = caller ? CN_HPC_PROTO_HAS_CALLER : 0,
    };

    cn_hpc_proto_callee_encode(&record, at);
    at += cn_hpc_proto_callee_size;
    if (caller) {
        struct cn_hpc_proto_source source = {file_off(t->arg, caller->file),
                                             caller->line};

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

static uint8_t *put_location(uint8_t *at, const struct cn_hpc_proto_writing *w,
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

static void add_node(struct cn_hpc_level *siblings, const struct cn_context *context,
                     struct cn_hpc_children children, uint8_t *bytes,
                     const uint8_t *callee_end, const uint8_t *end)
{
    const uint8_t *callee = bytes + cn_hpc_proto_context_size;
    struct cn_hpc_proto_context record = {
        .context = context->id,
        .children_off = children.off,
        .children_len = children.len,
        .callee_len = (uint8_t)(callee_end - callee),
        .lexical_len = (uint8_t)(end - callee_end),
    };
    size_t len = (size_t)(end - bytes);

    cn_hpc_proto_context_encode(&record, bytes);
    memcpy(cn_hpc_level_append(siblings, len), bytes, len);
}

static bool add_context(struct cn_hpc_tree_writer *t, size_t depth,
                        const struct cn_context *context, struct cn_hpc_children children,
                        bool has_calls, struct cn_error *err)
{
    struct cn_hpc_proto_writing *w = t->arg;
    uint16_t usual = context->relation == CN_LEXICAL ? CN_HPC_LEXICAL_MASK : 0;
    uint8_t bytes[CN_HPC_PROTO_NODE_MAX];
    uint8_t *callee_end = bytes + cn_hpc_proto_context_size;
    struct cn_hpc_proto_lexical head = {.kind = context->kind};
    struct cn_hpc_says says;

    if (context->kind == CN_CONTEXT_ENTRY)
        return cn_fail(err, CN_ERR_FORMAT, "an entry point below the top of the tree");
    if (!cn_hpc_tree_says(t, context, &says, err))
        return false;
    has_calls = has_calls && says.has_source && context->kind == CN_CONTEXT_LINE;
    head.flags = (uint16_t)((says.has_function ? CN_HPC_PROTO_HAS_FUNCTION : 0) |
                            (says.has_source ? CN_HPC_PROTO_HAS_SOURCE : 0) |
                            (says.has_point ? CN_HPC_PROTO_HAS_POINT : 0) |
                            (has_calls ? CN_HPC_PROTO_IS_CALL_SOURCE : 0));
    w->masked_count += context->propagation != usual;
    if (is_called(context))
        callee_end = put_callee(callee_end, t, depth, context);
    add_node(&t->levels[depth - 1], context, children, bytes, callee_end,
             put_location(callee_end, w, context, &head));
    return true;
}

/* Add a root whose function represents the entry point. */
static void add_entry(struct cn_hpc_tree_writer *t, const struct cn_context *entry,
                      struct cn_hpc_children children)
{
    static const struct cn_hpc_proto_lexical head = {CN_CONTEXT_FUNCTION,
                                                     CN_HPC_PROTO_HAS_FUNCTION};
    struct cn_hpc_proto_writing *w = t->arg;
    uint32_t number = cn_names_add(&w->entry_functions, cn_hpc_proto_root_name(entry));
    uint8_t bytes[CN_HPC_PROTO_NODE_MAX];
    uint8_t *lexical = bytes + cn_hpc_proto_context_size;

    cn_hpc_proto_lexical_encode(&head, lexical);
    add_node(&t->levels[0], entry, children, bytes, lexical,
             put_function(lexical + cn_hpc_proto_lexical_size, w,
                          (uint64_t)t->db->function_count + number));
}

static bool add(struct cn_hpc_tree_writer *t, size_t depth,
                const struct cn_context *context, struct cn_hpc_children children,
                struct cn_error *err)
{
    bool has_calls = t->levels[depth].has_calls;

    t->levels[depth].has_calls = false;
    t->levels[depth - 1].has_calls |= is_called(context) || has_calls;
    if (depth > 1 || context->kind != CN_CONTEXT_ENTRY)
        return add_context(t, depth, context, children, has_calls, err);
    add_entry(t, context, children);
    return true;
}

static size_t root_len(const struct cn_context *root)
{
    size_t len = cn_hpc_proto_context_size + cn_hpc_proto_lexical_size;

    if (root->kind == CN_CONTEXT_ENTRY)
        return len + cn_hpc_proto_function_pointer_size;
    if (is_called(root))
        len += cn_hpc_proto_callee_size; /* without a caller */
    if (root->has_function && root->function != CN_NONE)
        len += cn_hpc_proto_function_pointer_size;
    if (root->has_source && root->file != CN_NONE)
        len += cn_hpc_proto_source_size;
    if (root->has_point && root->module != CN_NONE)
        len += cn_hpc_proto_point_size;
    return len;
}

/* The roots are first in the file, but complete last: leave room for them. */
static bool reserve_roots(struct cn_hpc_proto_writing *w, uint64_t *off,
                          struct cn_error *err)
{
    struct cn_hpc_proto_contexts_header head = {0};
    struct cn_context_cursor cursor;
    struct cn_context root;
    enum cn_step step;

    if (!cn_context_children(w->db, NULL, &cursor, err))
        return false;
    while ((step = cn_context_next(w->db, &cursor, &root, err)) == CN_ITEM)
        head.roots_len += root_len(&root);
    return step == CN_END &&
           CN_OUT_RECORD(&w->out, cn_hpc_proto_contexts_header, &head, err) &&
           cn_out_reserve(&w->out, head.roots_len, off, err);
}

bool cn_hpc_proto_contexts_write(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    struct cn_hpc_tree_writer t = {.db = w->db,
                                   .out = &w->out,
                                   .progress = w->options->progress,
                                   .arg = w,
                                   .add = add};
    uint64_t roots_off;
    bool ok =
        reserve_roots(w, &roots_off, err) && cn_hpc_tree_write(&t, err) &&
        (t.level_count == 0 ||
         cn_out_write_at(&w->out, roots_off, t.levels[0].bytes, t.levels[0].len, err));

    w->context_count = t.context_count;
    w->largest_id = t.largest_id;
    w->no_file_count = t.no_file_count;
    w->no_module_count = t.no_module_count;
    cn_hpc_tree_writer_done(&t);
    return ok;
}
