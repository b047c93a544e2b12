#include "formats/hpctoolkit/proto/meta.h"

#include <inttypes.h>

#include "formats/hpctoolkit/scopes.h"

static const char *const section_names[CN_HPC_META_SECTION_COUNT] = {
    [CN_HPC_GENERAL] = "General Properties",
    [CN_HPC_ID_NAMES] = "Hierarchical Identifiers",
    [CN_HPC_METRICS] = "Performance Metrics",
    [CN_HPC_CONTEXTS] = "Context Tree",
    [CN_HPC_STRINGS] = "Context Attribute Strings",
    [CN_HPC_MODULES] = "Application Binaries",
    [CN_HPC_FILES] = "Source Files",
    [CN_HPC_FUNCTIONS] = "Functions",
};

/* Strings, scopes and statistics follow what has them. */
static const struct cn_hpc_shape general = {
    .parts = {{CN_HPC_TEXT, .what = "title"},
              {CN_HPC_ARRAY, "kinds", .shape = CN_HPC_KINDS_SHAPE}}};
static const struct cn_hpc_shape general_of_writer = {
    .parts = {{CN_HPC_TEXT, .what = "title"}, {CN_HPC_TEXT, .what = "description"}}};
static const struct cn_hpc_shape kinds = {
    .name = "table of kinds",
    .layout = &cn_hpc_proto_kinds_header_layout,
    .parts = {{CN_HPC_ARRAY, "kind names", CN_HPC_KIND_SHAPE, .count = "kind_count"}},
};
static const struct cn_hpc_shape kind = {.name = "kind",
                                         .parts = {{CN_HPC_TEXT, .what = "kind name"}}};
static const struct cn_hpc_shape metrics = {
    .layout = &cn_hpc_proto_metrics_header_layout,
    .parts = {{CN_HPC_ARRAY, "metrics", CN_HPC_METRIC_SHAPE, .count = "metric_count"}},
};
static const struct cn_hpc_shape metric = {
    .name = "metric",
    .layout = &cn_hpc_proto_metric_layout,
    .parts = {{CN_HPC_TEXT, .what = "metric name"},
              {CN_HPC_ARRAY, "scopes", CN_HPC_INSTANCE_SHAPE, .count = "scope_count"}},
};
static const struct cn_hpc_shape scope = {
    .name = "scope",
    .layout = &cn_hpc_proto_scope_layout,
    .parts = {{CN_HPC_TEXT, .what = "scope name"},
              {CN_HPC_ARRAY, "statistics", CN_HPC_STATISTIC_SHAPE,
               .count = "statistic_count"}},
};
static const struct cn_hpc_shape statistic = {
    .name = "statistic",
    .layout = &cn_hpc_proto_statistic_layout,
    .parts = {{CN_HPC_TEXT, .what = "formula"}},
};

static const struct cn_hpc_shape modules = {
    .layout = &cn_hpc_proto_table_layout,
    .parts = {{CN_HPC_ARRAY, "modules", CN_HPC_MODULE_SHAPE, .count = "count",
               .len = "record_len"}},
};
static const struct cn_hpc_shape module = {
    .name = "module",
    .layout = &cn_hpc_proto_module_layout,
    .parts = {{CN_HPC_TEXT, "module path", .at = "path_off", .is_shared = true}},
};
static const struct cn_hpc_shape files = {
    .layout = &cn_hpc_proto_table_layout,
    .parts = {{CN_HPC_ARRAY, "files", CN_HPC_FILE_SHAPE, .count = "count",
               .len = "record_len"}},
};
static const struct cn_hpc_shape source_file = {
    .name = "file",
    .layout = &cn_hpc_proto_source_file_layout,
    .parts = {{CN_HPC_TEXT, "file path", .at = "path_off", .is_shared = true}},
};
static const struct cn_hpc_shape functions = {
    .layout = &cn_hpc_proto_table_layout,
    .parts = {{CN_HPC_ARRAY, "functions", CN_HPC_FUNCTION_SHAPE, .count = "count",
               .len = "record_len"}},
};
static const struct cn_hpc_shape function = {
    .name = "function",
    .layout = &cn_hpc_proto_function_layout,
    .parts = {{CN_HPC_TEXT, "function name", .at = "name_off", .is_shared = true,
               .is_optional = true},
              {CN_HPC_POINTER, "module", CN_HPC_MODULE_SHAPE, "module_off",
               .is_optional = true},
              {CN_HPC_POINTER, "file", CN_HPC_FILE_SHAPE, "file_off",
               .is_optional = true}},
};
static const struct cn_hpc_shape contexts = {.layout =
                                                 &cn_hpc_proto_contexts_header_layout};

static const struct cn_hpc_shape *const shapes[CN_HPC_SHAPE_COUNT] = {
    [CN_HPC_GENERAL] = &general,           [CN_HPC_KINDS_SHAPE] = &kinds,
    [CN_HPC_KIND_SHAPE] = &kind,           [CN_HPC_METRICS] = &metrics,
    [CN_HPC_METRIC_SHAPE] = &metric,       [CN_HPC_INSTANCE_SHAPE] = &scope,
    [CN_HPC_STATISTIC_SHAPE] = &statistic, [CN_HPC_MODULES] = &modules,
    [CN_HPC_MODULE_SHAPE] = &module,       [CN_HPC_FILES] = &files,
    [CN_HPC_FILE_SHAPE] = &source_file,    [CN_HPC_FUNCTIONS] = &functions,
    [CN_HPC_FUNCTION_SHAPE] = &function,   [CN_HPC_CONTEXTS] = &contexts,
};
static const struct cn_hpc_shape *const shapes_of_writer[CN_HPC_SHAPE_COUNT] = {
    [CN_HPC_GENERAL] = &general_of_writer, [CN_HPC_ID_NAMES] = &kinds,
    [CN_HPC_KIND_SHAPE] = &kind,           [CN_HPC_METRICS] = &metrics,
    [CN_HPC_METRIC_SHAPE] = &metric,       [CN_HPC_INSTANCE_SHAPE] = &scope,
    [CN_HPC_STATISTIC_SHAPE] = &statistic, [CN_HPC_MODULES] = &modules,
    [CN_HPC_MODULE_SHAPE] = &module,       [CN_HPC_FILES] = &files,
    [CN_HPC_FILE_SHAPE] = &source_file,    [CN_HPC_FUNCTIONS] = &functions,
    [CN_HPC_FUNCTION_SHAPE] = &function,   [CN_HPC_CONTEXTS] = &contexts,
};

/* How a context was called, if it was. False if the specification is too short. */
static bool decode_callee(struct cn_bytes callee, struct cn_hpc_node *out)
{
    struct cn_hpc_proto_callee record;
    struct cn_hpc_proto_source caller = {0};
    struct cn_bytes rest;

    out->relation = CN_LEXICAL;
    out->propagation = CN_HPC_LEXICAL_MASK;
    if (callee.len == 0)
        return true;
    if (!cn_hpc_proto_callee_decode(callee, &record))
        return false;
    /* Types of later versions must not wrap around to "not called". */
    out->relation =
        record.type < UINT8_MAX ? (uint8_t)(record.type + CN_CALL) : UINT8_MAX;
    out->propagation = 0;
    out->has_caller = record.flags & CN_HPC_PROTO_HAS_CALLER;
    if (out->has_caller && !(cn_bytes_from(callee, cn_hpc_proto_callee_size, &rest) &&
                             cn_hpc_proto_source_decode(rest, &caller)))
        return false;
    out->caller_file_off = caller.file_off;
    return true;
}

/* Where a context is. False if the specification is too short. */
static bool decode_location(struct cn_bytes rest, struct cn_hpc_node *out)
{
    struct cn_hpc_proto_function_pointer pointer = {0};
    struct cn_hpc_proto_lexical head;
    struct cn_hpc_proto_source source = {0};
    struct cn_hpc_proto_point point = {0};

    if (!cn_hpc_proto_lexical_take_first(&rest, &head))
        return false;
    out->kind = head.kind;
    out->flags = head.flags & ~(unsigned)CN_HPC_PROTO_IS_CALL_SOURCE;
    out->has_function = head.flags & CN_HPC_PROTO_HAS_FUNCTION;
    out->has_source = head.flags & CN_HPC_PROTO_HAS_SOURCE;
    out->has_point = head.flags & CN_HPC_PROTO_HAS_POINT;
    if (out->has_function && !cn_hpc_proto_function_pointer_take_first(&rest, &pointer))
        return false;
    if (out->has_source && !cn_hpc_proto_source_take_first(&rest, &source))
        return false;
    if (out->has_point && !cn_hpc_proto_point_take_first(&rest, &point))
        return false;
    out->function_off = pointer.function_off;
    out->file_off = source.file_off;
    out->line = source.line;
    out->module_off = point.module_off;
    out->offset = point.offset;
    return true;
}

static enum cn_hpc_node_state decode_node(struct cn_bytes rest, struct cn_hpc_node *out,
                                          struct cn_error *err)
{
    struct cn_hpc_proto_context record;
    struct cn_bytes callee, lexical;
    size_t len = rest.len;

    if (!cn_hpc_proto_context_take_first(&rest, &record))
        return cn_fail(err, CN_ERR_FORMAT, "cut off after %zu bytes of its list", len);
    if (!cn_bytes_take(&rest, record.callee_len, &callee) ||
        !cn_bytes_take(&rest, record.lexical_len, &lexical))
        return cn_fail(err, CN_ERR_FORMAT,
                       "specifications of %u and %u bytes do not fit its list of %zu",
                       record.callee_len, record.lexical_len, len);
    *out = (struct cn_hpc_node){
        .len = len - rest.len,
        .children_off = record.children_off,
        .children_len = record.children_len,
        .id = record.context,
        .callee_len = record.callee_len,
    };
    if (decode_callee(callee, out) && decode_location(lexical, out))
        return CN_HPC_NODE_GOOD;
    (void)cn_fail(err, CN_ERR_FORMAT,
                  "specifications of %u and %u bytes are too short for flags 0x%x",
                  record.callee_len, record.lexical_len, out->flags);
    return CN_HPC_NODE_SHORT;
}

static const struct cn_hpc_meta_encoding encoding = {
    .section_names = section_names,
    .shapes = shapes,
    .node = decode_node,
    .layouts = {.context = &cn_hpc_proto_context_layout,
                .callee = &cn_hpc_proto_callee_layout,
                .lexical = &cn_hpc_proto_lexical_layout,
                .function = &cn_hpc_proto_function_pointer_layout,
                .source = &cn_hpc_proto_source_layout,
                .point = &cn_hpc_proto_point_layout},
    .node_min = cn_hpc_proto_context_size,
    .node_rule = "lexical-size",
    .copies = CN_HPC_PROTO_COPIES,
    .is_proto = true,
};

static const struct cn_hpc_meta_encoding encoding_of_writer = {
    .section_names = section_names,
    .shapes = shapes_of_writer,
    .node = decode_node,
    .layouts = {.context = &cn_hpc_proto_context_layout,
                .callee = &cn_hpc_proto_callee_layout,
                .lexical = &cn_hpc_proto_lexical_layout,
                .function = &cn_hpc_proto_function_pointer_layout,
                .source = &cn_hpc_proto_source_layout,
                .point = &cn_hpc_proto_point_layout},
    .node_min = cn_hpc_proto_context_size,
    .node_rule = "lexical-size",
    .copies = CN_HPC_PROTO_COPIES,
    .is_proto = true,
};

bool cn_hpc_proto_meta_is(struct cn_bytes file)
{
    struct cn_bytes magic;

    return cn_bytes_slice(file, 0, CN_HPC_PROTO_MAGIC_LEN, &magic) &&
           memcmp(magic.ptr, CN_HPC_PROTO_MAGIC, CN_HPC_PROTO_MAGIC_LEN) == 0;
}

static uint64_t header_len(const struct cn_hpc_proto_header *head)
{
    return cn_hpc_proto_header_size +
           (uint64_t)head->section_count * cn_hpc_proto_section_size;
}

static bool check_header(struct cn_bytes file, struct cn_hpc_proto_header *head,
                         struct cn_error *err)
{
    if (file.len == 0)
        return cn_fail(err, CN_ERR_FORMAT, "file is empty");
    if (!cn_hpc_proto_meta_is(file))
        return cn_fail(err, CN_ERR_FORMAT,
                       "not a prototype's meta.db: does not start with %s",
                       CN_HPC_PROTO_MAGIC);
    if (!cn_hpc_proto_header_decode(file, head))
        return cn_fail(err, CN_ERR_FORMAT, "header is cut off after %zu bytes", file.len);
    if (head->major != CN_HPC_PROTO_MAJOR)
        return cn_fail(err, CN_ERR_VERSION, "version %u.%u, can read %d.x", head->major,
                       head->minor, CN_HPC_PROTO_MAJOR);
    if (head->section_count != CN_HPC_PROTO_SECTIONS &&
        head->section_count != CN_HPC_PROTO_SECTIONS_OF_WRITER)
        return cn_fail(err, CN_ERR_FORMAT, "%u sections, can read %d or %d",
                       head->section_count, CN_HPC_PROTO_SECTIONS,
                       CN_HPC_PROTO_SECTIONS_OF_WRITER);
    return file.len >= header_len(head) ||
           cn_fail(err, CN_ERR_FORMAT,
                   "file is incomplete: %zu bytes, at least %" PRIu64 " needed", file.len,
                   header_len(head));
}

static bool ends_with_footer(struct cn_bytes file, const struct cn_hpc_proto_header *head)
{
    struct cn_bytes footer;

    return file.len >= header_len(head) + CN_HPC_PROTO_FOOTER_LEN &&
           cn_bytes_slice(file, file.len - CN_HPC_PROTO_FOOTER_LEN,
                          CN_HPC_PROTO_FOOTER_LEN, &footer) &&
           (memcmp(footer.ptr, CN_HPC_PROTO_FOOTER, CN_HPC_PROTO_FOOTER_LEN) == 0 ||
            memcmp(footer.ptr, CN_HPC_PROTO_SWAPPED_FOOTER, CN_HPC_PROTO_FOOTER_LEN) ==
                0);
}

/* The header of each section; that of kinds is empty if there is none. The writer that stops
 * after the metrics leaves offsets that point into the header of the file. */
static void read_headers(struct cn_hpc_meta *meta, const struct cn_hpc_proto_header *head,
                         struct cn_hpc_proto_section out[CN_HPC_META_SECTION_COUNT])
{
    uint64_t at = cn_hpc_proto_header_size;
    struct cn_bytes bytes;

    meta->is_unfinished = true;
    for (size_t i = 0; i < CN_HPC_META_SECTION_COUNT; i++) {
        out[i] = (struct cn_hpc_proto_section){0};
        if (i == CN_HPC_ID_NAMES && head->section_count == CN_HPC_PROTO_SECTIONS)
            continue;
        if (cn_bytes_slice(meta->file, at, cn_hpc_proto_section_size, &bytes))
            (void)cn_hpc_proto_section_decode(bytes, &out[i]);
        at += cn_hpc_proto_section_size;
        if (i >= CN_HPC_CONTEXTS && out[i].off >= header_len(head))
            meta->is_unfinished = false;
    }
}

bool cn_hpc_proto_meta(struct cn_bytes file, struct cn_hpc_meta *out, bool *has_footer,
                       struct cn_error *err)
{
    struct cn_hpc_proto_section heads[CN_HPC_META_SECTION_COUNT];
    struct cn_hpc_meta meta = {.file = file};
    struct cn_hpc_proto_header head;

    if (!check_header(file, &head, err))
        return false;
    meta.encoding =
        head.section_count == CN_HPC_PROTO_SECTIONS ? &encoding : &encoding_of_writer;
    *has_footer = ends_with_footer(file, &head);
    if (*has_footer)
        meta.file.len -= CN_HPC_PROTO_FOOTER_LEN;
    read_headers(&meta, &head, heads);
    for (size_t i = 0;
         i < (meta.is_unfinished ? CN_HPC_CONTEXTS : CN_HPC_META_SECTION_COUNT); i++) {
        meta.sections[i].off = heads[i].len == 0 ? 0 : heads[i].off;
        if (!cn_bytes_slice(meta.file, meta.sections[i].off, heads[i].len,
                            &meta.sections[i].bytes))
            return cn_fail(err, CN_ERR_FORMAT,
                           "section %s of %" PRIu64 " bytes at 0x%" PRIx64
                           " does not fit the file of %zu",
                           section_names[i], heads[i].len, heads[i].off, meta.file.len);
    }
    if (!cn_hpc_spans_check(meta.sections, section_names, CN_HPC_META_SECTION_COUNT, err))
        return false;
    *out = meta;
    return true;
}
