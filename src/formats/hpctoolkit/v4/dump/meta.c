
#include "formats/hpctoolkit/v4/dump/meta.h"
#include "formats/hpctoolkit/v4/read/context_reader.h"
#include "formats/hpctoolkit/v4/read/database.h"
#include "model/contexts/walk.h"

/* Open and emit an array that a record points to. */
static bool dump_array(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                       struct cn_hpc_span section, struct cn_hpc_array array,
                       const char *field, struct cn_error *err)
{
    struct cn_hpc_table table;

    array.least = layout->size;
    return cn_hpc_table_open(section, &array, &table, err) &&
           cn_hpc_dump_table(dump, layout, &table, section, field, err);
}

static bool dump_general(struct cn_hpc_dump *dump, struct cn_hpc_span section,
                         struct cn_error *err)
{
    struct cn_hpc_general_header head;
    const char *title;

    if (!cn_hpc_general_header_decode(section.bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT, "section General is too short");
    return cn_hpc_span_string(section, head.title_off, "title", &title, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_general_header_layout, section.off, 0, title,
                            err);
}

static bool dump_id_names(struct cn_hpc_dump *dump, struct cn_hpc_span section,
                          struct cn_error *err)
{
    struct cn_hpc_id_names_header head;

    if (!cn_hpc_id_names_header_decode(section.bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT, "section IdNames is too short");
    return cn_hpc_dump_item(dump, &cn_hpc_id_names_header_layout, section.off, 0, NULL,
                            err) &&
           dump_array(dump, &cn_hpc_name_pointer_layout, section,
                      (struct cn_hpc_array){.what = "names of kinds",
                                            .off = head.names_off,
                                            .count = head.kind_count,
                                            .stride = cn_hpc_name_pointer_size},
                      "name_off", err);
}

static bool dump_metric(struct cn_hpc_dump *dump, struct cn_hpc_span section,
                        const struct cn_hpc_metrics_header *head, struct cn_bytes bytes,
                        struct cn_error *err)
{
    struct cn_hpc_metric metric = {0};

    (void)cn_hpc_metric_decode(bytes, &metric);
    return dump_array(dump, &cn_hpc_scope_instance_layout, section,
                      (struct cn_hpc_array){.what = "scope instances",
                                            .off = metric.instances_off,
                                            .count = metric.instance_count,
                                            .stride = head->instance_len},
                      NULL, err) &&
           dump_array(dump, &cn_hpc_statistic_layout, section,
                      (struct cn_hpc_array){.what = "statistics",
                                            .off = metric.statistics_off,
                                            .count = metric.statistic_count,
                                            .stride = head->statistic_len},
                      "formula_off", err);
}

static bool dump_draft_metric(struct cn_hpc_dump *dump, struct cn_hpc_span section,
                              const struct cn_hpc_metrics_header *head,
                              struct cn_bytes bytes, struct cn_error *err)
{
    struct cn_hpc_draft_metric metric = {0};
    struct cn_hpc_draft_scope scope = {0};
    struct cn_hpc_array array = {
        .what = "scopes", .stride = head->instance_len, .least = cn_hpc_draft_scope_size};
    struct cn_hpc_table scopes;

    (void)cn_hpc_draft_metric_decode(bytes, &metric);
    array.off = metric.scopes_off;
    array.count = metric.scope_count;
    if (!cn_hpc_table_open(section, &array, &scopes, err) ||
        !cn_hpc_dump_table(dump, &cn_hpc_draft_scope_layout, &scopes, section, "name_off",
                           err))
        return false;
    for (uint32_t i = 0; i < scopes.count; i++) {
        (void)cn_hpc_draft_scope_decode(cn_hpc_table_at(&scopes, i), &scope);
        if (!dump_array(dump, &cn_hpc_draft_statistic_layout, section,
                        (struct cn_hpc_array){.what = "statistics",
                                              .off = scope.statistics_off,
                                              .count = scope.statistic_count,
                                              .stride = head->statistic_len},
                        "formula_off", err))
            return false;
    }
    return true;
}

static bool dump_metrics(struct cn_hpc_dump *dump, struct cn_hpc_span section,
                         bool is_draft, struct cn_error *err)
{
    const struct cn_record_layout *layout =
        is_draft ? &cn_hpc_draft_metric_layout : &cn_hpc_metric_layout;
    struct cn_hpc_metrics_header head = {0};
    struct cn_hpc_table metrics;

    (void)cn_hpc_metrics_header_decode(section.bytes, &head);
    if (!cn_hpc_dump_item(dump, &cn_hpc_metrics_header_layout, section.off, 0, NULL,
                          err) ||
        (!is_draft && !dump_array(dump, &cn_hpc_scope_layout, section,
                                  (struct cn_hpc_array){.what = "scopes",
                                                        .off = head.scopes_off,
                                                        .count = head.scope_count,
                                                        .stride = head.scope_len},
                                  "name_off", err)) ||
        !cn_hpc_table_open(section,
                           &(struct cn_hpc_array){.what = "metrics",
                                                  .off = head.metrics_off,
                                                  .count = head.metric_count,
                                                  .stride = head.metric_len,
                                                  .least = layout->size},
                           &metrics, err) ||
        !cn_hpc_dump_table(dump, layout, &metrics, section, "name_off", err))
        return false;
    for (uint32_t i = 0; i < metrics.count; i++) {
        struct cn_bytes bytes = cn_hpc_table_at(&metrics, i);

        if (is_draft ? !dump_draft_metric(dump, section, &head, bytes, err)
                     : !dump_metric(dump, section, &head, bytes, err))
            return false;
    }
    return true;
}

/* Modules, files or functions, after the header of their section. */
static bool dump_listed(struct cn_hpc_dump *dump, const struct cn_hpc_sections *sections,
                        size_t i, const struct cn_record_layout *layout,
                        const char *field, struct cn_error *err)
{
    struct cn_hpc_span section = sections->list[i];
    struct cn_hpc_table table;

    return cn_hpc_meta_table(section, sections->kind->section[i], layout->size, &table,
                             err) &&
           cn_hpc_dump_item(dump, &cn_hpc_table_header_layout, section.off, 0, NULL,
                            err) &&
           cn_hpc_dump_table(dump, layout, &table, sections->list[CN_HPC_STRINGS], field,
                             err);
}

/* The words after a context, as its flags say; they start at `off`. */
static bool dump_flex(struct cn_hpc_dump *dump, const struct cn_context *context,
                      uint64_t off, struct cn_error *err)
{
    const struct {
        bool is_there;
        const struct cn_record_layout *layout;
    } parts[] = {
        {context->has_function, &cn_hpc_flex_function_layout},
        {context->has_source, &cn_hpc_flex_source_layout},
        {context->has_point, &cn_hpc_flex_point_layout},
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        if (!parts[i].is_there)
            continue;
        if (!cn_hpc_dump_item(dump, parts[i].layout, off, 0, NULL, err))
            return false;
        off += parts[i].layout->size;
    }
    return true;
}

static bool dump_context(struct cn_hpc_dump *dump, const struct cn_hpc_meta *meta,
                         const struct cn_context *context, uint64_t index,
                         struct cn_error *err)
{
    const struct cn_record_layout *layout =
        meta->is_draft ? &cn_hpc_draft_context_layout : &cn_hpc_context_layout;
    const char *name = NULL;
    struct cn_function function;

    if (context->at & CN_HPC_AT_ENTRY)
        return true;
    if (context->function != CN_NONE) {
        if (!cn_hpc_meta_function(meta, context->function, &function, err))
            return false;
        name = function.name;
    }
    return cn_hpc_dump_item(dump, layout, context->at, index, name, err) &&
           dump_flex(dump, context, context->at + layout->size, err);
}

/* A database that has nothing but a tree. */
static const struct cn_database_ops tree_ops = {.children = cn_hpc_database_children,
                                                .child_next = cn_hpc_database_child_next};

static bool dump_tree(struct cn_hpc_dump *dump, struct cn_hpc_v4 *tree,
                      struct cn_error *err)
{
    const struct cn_context *context;
    enum cn_walk_event event;
    struct cn_walk walk;
    enum cn_step step = CN_FAIL;
    uint64_t index = 0;

    if (cn_walk_begin(&walk, &tree->database.base, err))
        while ((step = cn_walk_next(&walk, &event, &context, err)) == CN_ITEM)
            if (event == CN_WALK_ENTER &&
                !dump_context(dump, &tree->meta, context, index++, err)) {
                step = CN_FAIL;
                break;
            }
    cn_walk_done(&walk);
    return step == CN_END;
}

static bool dump_contexts(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_v4 tree = {.database.base.ops = &tree_ops};
    struct cn_hpc_span section;
    const struct cn_record_layout *layout;

    if (!cn_hpc_meta_open(dump->bytes, &tree.meta, err))
        return false;
    section = tree.meta.sections.list[CN_HPC_CONTEXTS];
    layout = tree.meta.is_draft ? &cn_hpc_draft_contexts_header_layout
                                : &cn_hpc_contexts_header_layout;
    tree.database.base.function_count = tree.meta.functions.count;
    cn_hpc_v4_tree_init(&tree);
    return cn_hpc_dump_item(dump, layout, section.off, 0, NULL, err) &&
           cn_hpc_dump_table(dump, &cn_hpc_entry_layout, &tree.meta.entries,
                             tree.meta.sections.list[CN_HPC_STRINGS], "name_off", err) &&
           dump_tree(dump, &tree, err);
}

bool cn_hpc_v4_dump_meta(struct cn_hpc_dump *dump, const struct cn_hpc_sections *sections,
                         struct cn_error *err)
{
    const struct cn_hpc_span *list = sections->list;
    bool is_draft;

    return dump_general(dump, list[CN_HPC_GENERAL], err) &&
           dump_id_names(dump, list[CN_HPC_ID_NAMES], err) &&
           cn_hpc_meta_is_draft(sections, &is_draft, err) &&
           dump_metrics(dump, list[CN_HPC_METRICS], is_draft, err) &&
           dump_listed(dump, sections, CN_HPC_MODULES, &cn_hpc_module_layout, "path_off",
                       err) &&
           dump_listed(dump, sections, CN_HPC_FILES, &cn_hpc_source_file_layout,
                       "path_off", err) &&
           dump_listed(dump, sections, CN_HPC_FUNCTIONS, &cn_hpc_function_layout,
                       "name_off", err) &&
           dump_contexts(dump, err);
}
