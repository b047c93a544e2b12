#include "formats/hpctoolkit/xml/read/tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/format.h"

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* Ids up to a multiple of the number of rows count as small. */
static void ids_init(struct cn_hpc_xml_ids *ids, size_t row_count)
{
    ids->small_count = 4 * row_count + 1024;
    ids->small = cn_alloc(ids->small_count, sizeof(*ids->small));
    for (size_t i = 0; i < ids->small_count; i++)
        ids->small[i] = CN_HPC_XML_MISSING;
}

static void ids_add(struct cn_hpc_xml_ids *ids, int64_t id, uint32_t index)
{
    if (id >= 0 && (uint64_t)id < ids->small_count)
        ids->small[id] = index;
    else
        *cn_map_at(&ids->others, (uint64_t)id, 0) = index;
}

static void ids_done(struct cn_hpc_xml_ids *ids)
{
    free(ids->small);
    cn_map_done(&ids->others);
    *ids = (struct cn_hpc_xml_ids){0};
}

static void add_modules(struct cn_hpc_xml_tree *tree, const struct cn_hpc_xml_rows *rows)
{
    ids_init(&tree->module_ids, rows->count);
    tree->modules = cn_alloc(rows->count, sizeof(*tree->modules));
    for (size_t i = 0; i < rows->count; i++) {
        const struct cn_hpc_xml_row *row = &rows->list[i];
        bool is_known = strcmp(row->name, CN_HPC_XML_UNKNOWN_MODULE) != 0 &&
                        strcmp(row->name, CN_HPC_XML_NO_MODULE) != 0 &&
                        strcmp(row->name, "unknown module") != 0;

        ids_add(&tree->module_ids, row->id,
                is_known ? (uint32_t)tree->module_count : CN_NONE);
        if (is_known)
            tree->modules[tree->module_count++] = row->name;
    }
}

static void add_files(struct cn_hpc_xml_tree *tree, const struct cn_hpc_xml_rows *rows)
{
    ids_init(&tree->file_ids, rows->count);
    tree->files = cn_alloc(rows->count, sizeof(*tree->files));
    for (size_t i = 0; i < rows->count; i++) {
        const struct cn_hpc_xml_row *row = &rows->list[i];
        bool is_known = !begins_with(row->name, CN_HPC_XML_UNKNOWN_FILE);
        bool is_copied = begins_with(row->name, CN_HPC_XML_COPIED);

        ids_add(&tree->file_ids, row->id,
                is_known ? (uint32_t)tree->file_count : CN_NONE);
        if (is_known)
            tree->files[tree->file_count++] = (struct cn_source_file){
                .path = row->name + (is_copied ? strlen("./") : 0),
                .is_copied = is_copied,
            };
    }
}

static void add_procedures(struct cn_hpc_xml_tree *tree,
                           const struct cn_hpc_xml_rows *rows)
{
    ids_init(&tree->procedure_ids, rows->count);
    tree->procedures = cn_alloc(rows->count, sizeof(*tree->procedures));
    for (size_t i = 0; i < rows->count; i++) {
        const struct cn_hpc_xml_row *row = &rows->list[i];

        ids_add(&tree->procedure_ids, row->id, (uint32_t)i);
        tree->procedures[i] = (struct cn_hpc_xml_procedure){
            .name = row->name,
            .address = row->address,
            .is_fake = row->flags == CN_HPC_XML_IS_FAKE,
            .first_function = CN_NONE,
        };
    }
    tree->procedure_count = rows->count;
}

void cn_hpc_xml_tree_init(struct cn_hpc_xml_tree *tree,
                          const struct cn_hpc_xml_head *head)
{
    *tree = (struct cn_hpc_xml_tree){.root = CN_HPC_XML_NO_NODE};
    add_modules(tree, &head->modules);
    add_files(tree, &head->files);
    add_procedures(tree, &head->procedures);
}

/* Sort functions by procedure; those of one procedure keep their order. */
static void sort_functions(struct cn_hpc_xml_tree *tree)
{
    uint32_t *starts = cn_alloc(tree->procedure_count + 1, sizeof(*starts));
    uint32_t *numbers = cn_alloc(tree->function_count, sizeof(*numbers)); /* new ones */
    struct cn_function *sorted = cn_alloc(tree->function_count, sizeof(*sorted));

    for (size_t i = 0; i < tree->function_count; i++)
        starts[tree->function_procedures[i] + 1]++;
    for (size_t i = 0; i < tree->procedure_count; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < tree->function_count; i++) {
        numbers[i] = starts[tree->function_procedures[i]]++;
        sorted[numbers[i]] = tree->functions[i];
    }
    for (size_t i = 0; i < tree->node_count; i++) {
        struct cn_hpc_xml_node *node = &tree->nodes[i];

        if (node->kind == CN_CONTEXT_FUNCTION && node->function != CN_NONE)
            node->function = numbers[node->function];
    }
    free(starts);
    free(numbers);
    free(tree->functions);
    tree->functions = sorted;
    tree->function_capacity = tree->function_count;
}

static void release_ids(struct cn_hpc_xml_tree *tree)
{
    ids_done(&tree->module_ids);
    ids_done(&tree->file_ids);
    ids_done(&tree->procedure_ids);
    free(tree->next_variants);
    tree->next_variants = NULL;
    free(tree->function_procedures);
    tree->function_procedures = NULL;
}

void cn_hpc_xml_tree_finish(struct cn_hpc_xml_tree *tree)
{
    for (size_t i = 0; i < tree->node_count; i++)
        tree->context_count += !(tree->nodes[i].flags & CN_HPC_XML_IS_GONE);
    sort_functions(tree);
    release_ids(tree);
    tree->nodes = cn_realloc(tree->nodes, tree->node_count, sizeof(*tree->nodes));
    tree->node_capacity = tree->node_count;
}

void cn_hpc_xml_tree_done(struct cn_hpc_xml_tree *tree)
{
    release_ids(tree);
    free(tree->nodes);
    free(tree->modules);
    free(tree->files);
    free(tree->functions);
    free(tree->procedures);
    *tree = (struct cn_hpc_xml_tree){.root = CN_HPC_XML_NO_NODE};
}

uint32_t cn_hpc_xml_tree_add(struct cn_hpc_xml_tree *tree, struct cn_hpc_xml_node node)
{
    node.next = CN_HPC_XML_NO_NODE;
    node.child = CN_HPC_XML_NO_NODE;
    CN_GROW(tree->nodes, tree->node_count, tree->node_capacity);
    tree->nodes[tree->node_count] = node;
    return (uint32_t)tree->node_count++;
}

uint32_t cn_hpc_xml_tree_function(struct cn_hpc_xml_tree *tree, uint32_t procedure,
                                  const struct cn_function *location)
{
    struct cn_hpc_xml_procedure *of = &tree->procedures[procedure];
    uint32_t added = (uint32_t)tree->function_count;
    size_t capacity = tree->function_capacity;

    for (uint32_t i = of->first_function; i != CN_NONE; i = tree->next_variants[i]) {
        const struct cn_function *known = &tree->functions[i];

        if (known->module == location->module && known->offset == location->offset &&
            known->file == location->file && known->line == location->line)
            return i;
    }
    CN_GROW(tree->functions, tree->function_count, tree->function_capacity);
    if (tree->function_capacity != capacity) {
        tree->next_variants = cn_realloc(tree->next_variants, tree->function_capacity,
                                         sizeof(*tree->next_variants));
        tree->function_procedures =
            cn_realloc(tree->function_procedures, tree->function_capacity,
                       sizeof(*tree->function_procedures));
    }
    tree->function_procedures[added] = procedure;
    tree->functions[added] = *location;
    tree->functions[added].name = of->name;
    tree->next_variants[added] = CN_NONE;
    /* The list is searched linearly: its length has a limit. */
    if (of->variant_count < CN_HPC_XML_VARIANT_MAX) {
        tree->next_variants[added] = of->first_function;
        of->first_function = added;
        of->variant_count++;
    }
    tree->function_count++;
    return added;
}

uint32_t cn_hpc_xml_tree_number(struct cn_hpc_xml_tree *tree, uint32_t first)
{
    for (size_t i = 0; i < tree->node_count; i++) {
        struct cn_hpc_xml_node *node = &tree->nodes[i];

        if (node->id == 0 && !(node->flags & CN_HPC_XML_IS_GONE) && first != UINT32_MAX)
            node->id = first++;
    }
    return first;
}

bool cn_hpc_xml_tree_context(const struct cn_hpc_xml_tree *tree, uint64_t at,
                             struct cn_context *out, struct cn_error *err)
{
    struct cn_context context = {
        .function = CN_NONE, .file = CN_NONE, .module = CN_NONE, .at = at};

    if (at >= tree->node_count || tree->nodes[at].flags & CN_HPC_XML_IS_GONE)
        return cn_fail(err, CN_ERR_FORMAT, "no context at %" PRIu64, at);
    const struct cn_hpc_xml_node *node = &tree->nodes[at];
    context.id = node->id;
    context.kind = node->kind;
    context.relation = node->relation;
    context.propagation = node->kind != CN_CONTEXT_ENTRY && node->relation == CN_LEXICAL;
    context.children_at = node->child;
    if (node->kind == CN_CONTEXT_ENTRY) {
        context.entry = node->entry;
        context.entry_name = node->function == CN_NONE
                                 ? cn_entry_name(node->entry)
                                 : tree->procedures[node->function].name;
    } else if (node->kind == CN_CONTEXT_FUNCTION) {
        context.function = node->function;
        context.has_function = node->function != CN_NONE;
    } else {
        context.file = node->function;
        context.has_source = node->function != CN_NONE;
        context.line = node->line;
        context.has_point = node->flags & CN_HPC_XML_HAS_POINT;
        context.module = context.has_point ? node->module : CN_NONE;
        context.offset = node->offset;
    }
    *out = context;
    return true;
}
