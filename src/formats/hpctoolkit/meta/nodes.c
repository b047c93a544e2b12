/* Walk the context tree with a stack of lists. The bytes of a node are marked: a node with
 * marked bytes is part of another list, and its descendants have been visited. */
#include "formats/hpctoolkit/meta/meta.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/check.h"
#include "formats/hpctoolkit/scopes.h"

bool cn_hpc_node_context(const struct cn_hpc_meta *meta, const struct cn_hpc_node *node,
                         struct cn_context *out, struct cn_error *err)
{
    struct cn_context context = {
        .id = node->id,
        .relation = node->relation,
        .kind = cn_hpc_known_kind(node->kind),
        .propagation = node->propagation,
        .has_function = node->has_function,
        .has_source = node->has_source,
        .has_point = node->has_point,
        .function = CN_NONE,
        .file = CN_NONE,
        .line = node->line,
        .module = CN_NONE,
        .offset = node->offset,
        .children_at = node->children_off,
        .children_len = node->children_len,
    };

    if (node->id == 0)
        return cn_fail(err, CN_ERR_FORMAT, "context id 0 is reserved");
    if ((node->has_function && !cn_hpc_table_find(&meta->functions, node->function_off,
                                                  "function", &context.function, err)) ||
        (node->has_source &&
         !cn_hpc_table_find(&meta->files, node->file_off, "file", &context.file, err)) ||
        (node->has_point && !cn_hpc_table_find(&meta->modules, node->module_off, "module",
                                               &context.module, err)))
        return false;
    *out = context;
    return true;
}

uint64_t cn_hpc_roots_off(const struct cn_hpc_item *head)
{
    return cn_record_field(head->layout, "roots_off") ? cn_hpc_item_get(head, "roots_off")
                                                      : head->off + head->layout->size;
}

struct list {
    uint64_t at, end;
    uint64_t index; /* of its next node */
};

struct node_tree {
    struct cn_hpc_walk *walk;
    cn_hpc_node_visit_fn visit;
    struct cn_hpc_span section;
    unsigned granule;       /* nodes begin at multiples of this */
    struct cn_hpc_set seen; /* granules of the section */
    struct list *lists;
    size_t depth, capacity;
    uint64_t count; /* nodes and entry points so far */
};

/* Mark the bytes of a record. False if some belong to another record. */
static bool mark(struct node_tree *t, uint64_t off, uint64_t len)
{
    return cn_hpc_set_add_range(&t->seen, (off - t->section.off) / t->granule,
                                len / t->granule);
}

/* Children are visited before the next of their parent's siblings, or after the last. */
static void push(struct node_tree *t, struct list list)
{
    bool is_next = !t->walk->meta->encoding->is_proto || t->depth == 0;

    CN_PUSH(t->lists, t->depth, t->capacity, list);
    if (!is_next) {
        t->lists[t->depth - 1] = t->lists[t->depth - 2];
        t->lists[t->depth - 2] = list;
    }
}

static bool push_children(struct node_tree *t, uint64_t off, uint64_t len,
                          uint64_t of_off)
{
    bool is_proto = t->walk->meta->encoding->is_proto;
    struct cn_bytes bytes;

    if (len == 0)
        return off == 0 || is_proto ||
               cn_hpc_walk_report(t->walk, CN_HPC_WARNING, "leaf-pointer", of_off,
                                  "no children, but a pointer to them: 0x%" PRIx64, off);
    if (!cn_hpc_span_slice(t->section, off, len, &bytes))
        return cn_hpc_walk_report(t->walk, CN_HPC_DAMAGE, "children-bounds", of_off,
                                  "children of %" PRIu64 " bytes at 0x%" PRIx64
                                  " do not fit section %s, 0x%" PRIx64 " to 0x%" PRIx64,
                                  len, off,
                                  t->walk->meta->encoding->section_names[CN_HPC_CONTEXTS],
                                  t->section.off, t->section.off + t->section.bytes.len);
    if (off % t->granule != 0)
        return cn_hpc_walk_report(t->walk, CN_HPC_DAMAGE, "alignment", off,
                                  "children at 0x%" PRIx64 " is not %u-byte aligned", off,
                                  t->granule);
    push(t, (struct list){off, off + len, 0});
    return true;
}

/* Visit the node at the start of a list. Where it cannot be followed, the list ends. */
static bool visit_node(struct node_tree *t, struct list *list)
{
    bool is_counted = !t->walk->meta->encoding->is_proto;
    struct cn_error err;
    struct cn_hpc_node node;
    struct cn_bytes rest;
    uint64_t off = list->at, index = is_counted ? t->count : list->index;

    (void)cn_hpc_span_slice(t->section, off, list->end - off, &rest);
    enum cn_hpc_node_state state = t->walk->meta->encoding->node(rest, &node, &err);
    if (state == CN_HPC_NODE_BAD) {
        list->at = list->end;
        return cn_hpc_walk_report(t->walk, CN_HPC_DAMAGE, "context-bounds", off,
                                  "context at 0x%" PRIx64 ": %s", off, err.text);
    }
    if (!mark(t, off, node.len)) {
        list->at = list->end;
        return cn_hpc_walk_report(t->walk, CN_HPC_DAMAGE, "contexts-overlap", off,
                                  "context %" PRIu32 " at 0x%" PRIx64
                                  " is part of another list: a cycle or an overlap",
                                  node.id, off);
    }
    list->at += node.len;
    list->index++;
    t->count++;
    if (state == CN_HPC_NODE_SHORT &&
        !cn_hpc_walk_report(t->walk, CN_HPC_DAMAGE, t->walk->meta->encoding->node_rule,
                            off, "%s", err.text))
        return false;
    /* Growing the stack invalidates `list`. */
    return t->visit(t->walk->arg, &node, off, index) &&
           push_children(t, node.children_off, node.children_len, off);
}

static bool visit_lists(struct node_tree *t)
{
    while (t->depth > 0) {
        struct list *list = &t->lists[t->depth - 1];

        if (list->at == list->end)
            t->depth--;
        else if (!visit_node(t, list))
            return false;
    }
    return true;
}

/* Contexts below records of entry points, or without. */
static bool visit_roots(struct node_tree *t)
{
    const struct cn_hpc_table *entries = &t->walk->tables[CN_HPC_ENTRY_SHAPE];
    const struct cn_hpc_item *head = &t->walk->head;
    struct cn_hpc_item entry = {
        .layout = cn_hpc_meta_layout(t->walk->meta->encoding, CN_HPC_ENTRY_SHAPE)};

    if (!entry.layout)
        return push_children(t, cn_hpc_roots_off(head),
                             cn_hpc_item_get(head, "roots_len"), head->off) &&
               visit_lists(t);
    if (entries->span.off % t->granule == 0 && entries->count > 0)
        (void)mark(t, entries->span.off, entries->span.bytes.len);
    for (uint32_t i = 0; i < entries->count; i++) {
        entry.bytes = cn_hpc_table_at(entries, i);
        t->count++;
        if (!push_children(t, cn_hpc_item_get(&entry, "children_off"),
                           cn_hpc_item_get(&entry, "children_len"),
                           cn_hpc_table_off(entries, i)) ||
            !visit_lists(t))
            return false;
    }
    return true;
}

bool cn_hpc_walk_nodes(struct cn_hpc_walk *walk, cn_hpc_node_visit_fn visit,
                       struct cn_error *err)
{
    struct node_tree t = {
        .walk = walk,
        .visit = visit,
        .section = walk->meta->sections[CN_HPC_CONTEXTS],
        .granule = walk->meta->encoding->is_proto ? 1 : 8,
    };

    walk->err = err;
    if (walk->is_lost)
        return true;
    cn_hpc_set_init(&t.seen, t.section.bytes.len / t.granule + 1);
    bool ok = visit_roots(&t);
    cn_hpc_set_done(&t.seen);
    free(t.lists);
    return ok;
}
