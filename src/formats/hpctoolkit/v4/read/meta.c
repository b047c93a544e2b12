#include "formats/hpctoolkit/v4/read/meta.h"

#include "formats/hpctoolkit/scopes.h"
#include "model/contexts/context.h"

static const struct cn_hpc_shape general = {
    .layout = &cn_hpc_general_header_layout,
    .parts = {{CN_HPC_TEXT, "title", .at = "title_off"},
              {CN_HPC_TEXT, "description", .at = "description_off"}},
};
static const struct cn_hpc_shape id_names = {
    .layout = &cn_hpc_id_names_header_layout,
    .parts = {{CN_HPC_ARRAY, "kind names", CN_HPC_KIND_SHAPE, "names_off",
               .count = "kind_count"}},
};
static const struct cn_hpc_shape kind = {
    .name = "kind",
    .layout = &cn_hpc_name_pointer_layout,
    .parts = {{CN_HPC_TEXT, "kind name", .at = "name_off"}},
};
static const struct cn_hpc_shape modules = {
    .layout = &cn_hpc_table_header_layout,
    .parts = {{CN_HPC_ARRAY, "modules", CN_HPC_MODULE_SHAPE, "array_off", "count",
               .len = "record_len"}},
};
static const struct cn_hpc_shape module = {
    .name = "module",
    .layout = &cn_hpc_module_layout,
    .parts = {{CN_HPC_TEXT, "module path", .at = "path_off", .is_shared = true}},
};
static const struct cn_hpc_shape files = {
    .layout = &cn_hpc_table_header_layout,
    .parts = {{CN_HPC_ARRAY, "files", CN_HPC_FILE_SHAPE, "array_off", "count",
               .len = "record_len"}},
};
static const struct cn_hpc_shape source_file = {
    .name = "file",
    .layout = &cn_hpc_source_file_layout,
    .parts = {{CN_HPC_TEXT, "file path", .at = "path_off", .is_shared = true}},
};
static const struct cn_hpc_shape functions = {
    .layout = &cn_hpc_table_header_layout,
    .parts = {{CN_HPC_ARRAY, "functions", CN_HPC_FUNCTION_SHAPE, "array_off", "count",
               .len = "record_len"}},
};
static const struct cn_hpc_shape function = {
    .name = "function",
    .layout = &cn_hpc_function_layout,
    .parts = {{CN_HPC_TEXT, "function name", .at = "name_off", .is_shared = true,
               .is_optional = true},
              {CN_HPC_POINTER, "module", CN_HPC_MODULE_SHAPE, "module_off",
               .is_optional = true},
              {CN_HPC_POINTER, "file", CN_HPC_FILE_SHAPE, "file_off",
               .is_optional = true}},
};

static const struct cn_hpc_shape metrics = {
    .layout = &cn_hpc_metrics_header_layout,
    .parts = {{CN_HPC_ARRAY, "scopes", CN_HPC_SCOPE_SHAPE, "scopes_off", "scope_count",
               .len = "scope_len"},
              {CN_HPC_ARRAY, "metrics", CN_HPC_METRIC_SHAPE, "metrics_off",
               "metric_count", .len = "metric_len"}},
};
static const struct cn_hpc_shape scope = {
    .name = "scope",
    .layout = &cn_hpc_scope_layout,
    .parts = {{CN_HPC_TEXT, "scope name", .at = "name_off"}},
};
static const struct cn_hpc_shape metric = {
    .name = "metric",
    .layout = &cn_hpc_metric_layout,
    .parts = {{CN_HPC_TEXT, "metric name", .at = "name_off"},
              {CN_HPC_ARRAY, "scope instances", CN_HPC_INSTANCE_SHAPE, "instances_off",
               "instance_count", .len = "instance_len"},
              {CN_HPC_ARRAY, "statistics", CN_HPC_STATISTIC_SHAPE, "statistics_off",
               "statistic_count", .len = "statistic_len"}},
};
static const struct cn_hpc_shape instance = {
    .name = "scope instance",
    .layout = &cn_hpc_scope_instance_layout,
    .parts = {{CN_HPC_POINTER, "scope", CN_HPC_SCOPE_SHAPE, .at = "scope_off"}},
};
static const struct cn_hpc_shape statistic = {
    .name = "statistic",
    .layout = &cn_hpc_statistic_layout,
    .parts = {{CN_HPC_TEXT, "formula", .at = "formula_off"},
              {CN_HPC_POINTER, "scope", CN_HPC_SCOPE_SHAPE, .at = "scope_off"}},
};
static const struct cn_hpc_shape contexts = {
    .layout = &cn_hpc_contexts_header_layout,
    .parts = {{CN_HPC_ARRAY, "entry points", CN_HPC_ENTRY_SHAPE, "entries_off",
               "entry_count", .len = "entry_len"}},
};
static const struct cn_hpc_shape entry = {
    .name = "entry point",
    .layout = &cn_hpc_entry_layout,
    .parts = {{CN_HPC_TEXT, "entry point name", .at = "name_off", .is_shared = true}},
};

static const struct cn_hpc_shape draft_metrics = {
    .layout = &cn_hpc_metrics_header_layout,
    .parts = {{CN_HPC_ARRAY, "metrics", CN_HPC_METRIC_SHAPE, "metrics_off",
               "metric_count", .len = "metric_len"}},
};
static const struct cn_hpc_shape draft_metric = {
    .name = "metric",
    .layout = &cn_hpc_draft_metric_layout,
    .parts = {{CN_HPC_TEXT, "metric name", .at = "name_off"},
              {CN_HPC_ARRAY, "scopes", CN_HPC_INSTANCE_SHAPE, "scopes_off", "scope_count",
               .len = "instance_len"}},
};
static const struct cn_hpc_shape draft_scope = {
    .name = "scope",
    .layout = &cn_hpc_draft_scope_layout,
    .parts = {{CN_HPC_TEXT, "scope name", .at = "name_off"},
              {CN_HPC_ARRAY, "statistics", CN_HPC_STATISTIC_SHAPE, "statistics_off",
               "statistic_count", .len = "statistic_len"}},
};
static const struct cn_hpc_shape draft_statistic = {
    .name = "statistic",
    .layout = &cn_hpc_draft_statistic_layout,
    .parts = {{CN_HPC_TEXT, "formula", .at = "formula_off"}},
};
static const struct cn_hpc_shape draft_contexts = {
    .layout = &cn_hpc_draft_contexts_header_layout};

static const struct cn_hpc_shape *const shapes[CN_HPC_SHAPE_COUNT] = {
    [CN_HPC_GENERAL] = &general,
    [CN_HPC_ID_NAMES] = &id_names,
    [CN_HPC_KIND_SHAPE] = &kind,
    [CN_HPC_METRICS] = &metrics,
    [CN_HPC_SCOPE_SHAPE] = &scope,
    [CN_HPC_METRIC_SHAPE] = &metric,
    [CN_HPC_INSTANCE_SHAPE] = &instance,
    [CN_HPC_STATISTIC_SHAPE] = &statistic,
    [CN_HPC_MODULES] = &modules,
    [CN_HPC_MODULE_SHAPE] = &module,
    [CN_HPC_FILES] = &files,
    [CN_HPC_FILE_SHAPE] = &source_file,
    [CN_HPC_FUNCTIONS] = &functions,
    [CN_HPC_FUNCTION_SHAPE] = &function,
    [CN_HPC_CONTEXTS] = &contexts,
    [CN_HPC_ENTRY_SHAPE] = &entry,
};
static const struct cn_hpc_shape *const draft_shapes[CN_HPC_SHAPE_COUNT] = {
    [CN_HPC_GENERAL] = &general,
    [CN_HPC_ID_NAMES] = &id_names,
    [CN_HPC_KIND_SHAPE] = &kind,
    [CN_HPC_METRICS] = &draft_metrics,
    [CN_HPC_METRIC_SHAPE] = &draft_metric,
    [CN_HPC_INSTANCE_SHAPE] = &draft_scope,
    [CN_HPC_STATISTIC_SHAPE] = &draft_statistic,
    [CN_HPC_MODULES] = &modules,
    [CN_HPC_MODULE_SHAPE] = &module,
    [CN_HPC_FILES] = &files,
    [CN_HPC_FILE_SHAPE] = &source_file,
    [CN_HPC_FUNCTIONS] = &functions,
    [CN_HPC_FUNCTION_SHAPE] = &function,
    [CN_HPC_CONTEXTS] = &draft_contexts,
};

/* The words after a context, as its flags say. False if there are too few. */
static bool decode_flex(struct cn_bytes flex, struct cn_hpc_node *out)
{
    struct cn_hpc_flex_function function_words = {0};
    struct cn_hpc_flex_source source = {0};
    struct cn_hpc_flex_point point = {0};

    if (out->has_function && !cn_hpc_flex_function_take_first(&flex, &function_words))
        return false;
    if (out->has_source && !cn_hpc_flex_source_take_first(&flex, &source))
        return false;
    if (out->has_point && !cn_hpc_flex_point_take_first(&flex, &point))
        return false;
    out->function_off = function_words.function_off;
    out->file_off = source.file_off;
    out->line = source.line;
    out->module_off = point.module_off;
    out->offset = point.offset;
    out->has_surplus = flex.len > 0;
    return true;
}

static inline enum cn_hpc_node_state decode_node(struct cn_bytes rest, bool is_draft,
                                                 struct cn_hpc_node *out,
                                                 struct cn_error *err)
{
    size_t head_len = is_draft ? cn_hpc_draft_context_size : cn_hpc_context_size;
    /* The draft has the same fields but the last. */
    struct cn_hpc_draft_context record = {0};
    struct cn_hpc_context last = {0};
    struct cn_bytes head, flex;
    size_t len = rest.len;

    if (!cn_bytes_take(&rest, head_len, &head) ||
        !cn_hpc_draft_context_decode(head, &record))
        return cn_fail(err, CN_ERR_FORMAT, "cut off after %zu bytes of its list", len);
    if (is_draft)
        last.propagation = record.relation == CN_LEXICAL ? CN_HPC_LEXICAL_MASK : 0;
    else
        (void)cn_hpc_context_decode(head, &last);
    if (!cn_bytes_take(&rest, (size_t)record.flex_count * CN_HPC_FLEX_WORD, &flex))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%u flex words do not fit the %zu bytes left of its list",
                       record.flex_count, rest.len);
    *out = (struct cn_hpc_node){
        .len = head_len + flex.len,
        .children_off = record.children_off,
        .children_len = record.children_len,
        .id = record.context,
        .relation = record.relation,
        .kind = record.kind,
        .propagation = last.propagation,
        .flags = record.flags,
        .has_function = record.flags & CN_HPC_HAS_FUNCTION,
        .has_source = record.flags & CN_HPC_HAS_SOURCE,
        .has_point = record.flags & CN_HPC_HAS_POINT,
    };
    if (decode_flex(flex, out))
        return CN_HPC_NODE_GOOD;
    (void)cn_fail(err, CN_ERR_FORMAT, "%u flex words are too few for flags 0x%x",
                  record.flex_count, record.flags);
    return CN_HPC_NODE_SHORT;
}

static enum cn_hpc_node_state decode_final(struct cn_bytes rest, struct cn_hpc_node *out,
                                           struct cn_error *err)
{
    return decode_node(rest, false, out, err);
}

static enum cn_hpc_node_state decode_draft(struct cn_bytes rest, struct cn_hpc_node *out,
                                           struct cn_error *err)
{
    return decode_node(rest, true, out, err);
}

static const struct cn_hpc_meta_encoding final_encoding = {
    .section_names = cn_hpc_meta_sections,
    .shapes = shapes,
    .node = decode_final,
    .layouts = {.context = &cn_hpc_context_layout,
                .function = &cn_hpc_flex_function_layout,
                .source = &cn_hpc_flex_source_layout,
                .point = &cn_hpc_flex_point_layout},
    .node_min = cn_hpc_draft_context_size,
    .node_rule = "flex-words",
};

static const struct cn_hpc_meta_encoding draft_encoding = {
    .section_names = cn_hpc_meta_sections,
    .shapes = draft_shapes,
    .node = decode_draft,
    .layouts = {.context = &cn_hpc_draft_context_layout,
                .function = &cn_hpc_flex_function_layout,
                .source = &cn_hpc_flex_source_layout,
                .point = &cn_hpc_flex_point_layout},
    .node_min = cn_hpc_draft_context_size,
    .node_rule = "flex-words",
};

struct cn_hpc_meta cn_hpc_v4_meta(const struct cn_hpc_sections *sections)
{
    struct cn_hpc_metrics_header head;
    struct cn_hpc_meta meta = {
        .encoding =
            cn_hpc_metrics_header_decode(sections->list[CN_HPC_METRICS].bytes, &head) &&
                    head.metric_len == CN_HPC_DRAFT_METRIC_LEN
                ? &draft_encoding
                : &final_encoding,
        .file = cn_content_bytes(sections->file),
    };

    memcpy(meta.sections, sections->list, sizeof(meta.sections));
    return meta;
}

bool cn_hpc_v4_is_draft(const struct cn_hpc_meta *meta)
{
    return meta->encoding == &draft_encoding;
}
