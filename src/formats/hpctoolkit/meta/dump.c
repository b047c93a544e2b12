#include "formats/hpctoolkit/meta/verify.h"

#include "formats/hpctoolkit/meta/meta.h"

struct meta_dump {
    struct cn_hpc_walk walk;
    struct cn_hpc_dump *dump;
    struct cn_error *err;
};

static bool on_record(void *arg, const struct cn_hpc_item *item)
{
    struct meta_dump *d = arg;
    const char *text = NULL;

    if (!item->layout)
        return true;
    for (size_t i = 0; i < CN_HPC_PART_MAX && !text; i++)
        text = item->parts[i].text;
    if (d->walk.meta->encoding->is_proto && item->shape >= CN_HPC_MODULES &&
        item->shape <= CN_HPC_FUNCTIONS)
        text = d->walk.meta->encoding->section_names[item->shape];
    return cn_hpc_dump_item(d->dump, item->layout, item->off, item->index, text, d->err);
}

/* The name of the function of a node; NULL: it has none. */
static const char *function_name(const struct cn_hpc_walk *walk,
                                 const struct cn_hpc_node *node)
{
    const struct cn_hpc_table *functions = &walk->tables[CN_HPC_FUNCTION_SHAPE];
    struct cn_hpc_item function = {
        .layout = cn_hpc_meta_layout(walk->meta->encoding, CN_HPC_FUNCTION_SHAPE)};
    const char *name = "";
    struct cn_error ignored;
    uint32_t index;

    if (!node->has_function ||
        !cn_hpc_table_find(functions, node->function_off, "function", &index, &ignored))
        return NULL;
    function.bytes = cn_hpc_table_at(functions, index);
    uint64_t name_off = cn_hpc_item_get(&function, "name_off");
    return name_off == 0 || cn_hpc_span_string(walk->meta->sections[CN_HPC_STRINGS],
                                               name_off, "name", &name, &ignored)
               ? name
               : NULL;
}

static bool on_node(void *arg, const struct cn_hpc_node *node, uint64_t off,
                    uint64_t index)
{
    struct meta_dump *d = arg;
    const struct cn_hpc_meta_encoding *encoding = d->walk.meta->encoding;
    const struct cn_hpc_node_layouts *l = &encoding->layouts;
    uint64_t callee_off = off + l->context->size;
    uint64_t caller_off = callee_off + (l->callee ? l->callee->size : 0);
    uint64_t lexical_off = callee_off + node->callee_len;
    uint64_t function_off = lexical_off + (l->lexical ? l->lexical->size : 0);
    uint64_t source_off = function_off + (node->has_function ? l->function->size : 0);
    uint64_t point_off = source_off + (node->has_source ? l->source->size : 0);
    const struct {
        const struct cn_record_layout *layout; /* NULL: the node has none */
        uint64_t off;
        const char *text;
    } parts[] = {
        {node->callee_len > 0 ? l->callee : NULL, callee_off, NULL},
        {node->has_caller ? l->source : NULL, caller_off, "caller"},
        {l->lexical, lexical_off, NULL},
        {node->has_function ? l->function : NULL, function_off, NULL},
        {node->has_source ? l->source : NULL, source_off, NULL},
        {node->has_point ? l->point : NULL, point_off, NULL},
    };

    if (!cn_hpc_dump_item(d->dump, l->context, off, index,
                          encoding->is_proto ? NULL : function_name(&d->walk, node),
                          d->err))
        return false;
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (parts[i].layout && !cn_hpc_dump_item(d->dump, parts[i].layout, parts[i].off,
                                                 0, parts[i].text, d->err))
            return false;
    return true;
}

bool cn_hpc_meta_dump(struct cn_hpc_dump *dump, const struct cn_hpc_meta *meta,
                      struct cn_error *err)
{
    static const enum cn_hpc_meta_section order[] = {
        CN_HPC_GENERAL, CN_HPC_ID_NAMES,  CN_HPC_METRICS, CN_HPC_MODULES,
        CN_HPC_FILES,   CN_HPC_FUNCTIONS, CN_HPC_CONTEXTS};
    struct meta_dump d = {.walk = {.meta = meta, .record = on_record, .is_lenient = true},
                          .dump = dump,
                          .err = err};

    d.walk.arg = &d;
    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
        if (meta->is_unfinished && order[i] >= CN_HPC_CONTEXTS)
            return true;
        if (!cn_hpc_walk_section(&d.walk, order[i], err))
            return false;
    }
    return cn_hpc_walk_nodes(&d.walk, on_node, err);
}
