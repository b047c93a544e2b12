#include "formats/hpctoolkit/v4/read/context_reader.h"

#include "formats/hpctoolkit/scopes.h"
#include "formats/hpctoolkit/v4/read/database.h"

static bool decode_entry(const struct cn_hpc_meta *meta, struct cn_bytes bytes,
                         struct cn_context *out, struct cn_error *err)
{
    struct cn_hpc_entry record;
    const char *name;

    if (!cn_hpc_entry_decode(bytes, &record))
        return cn_fail(err, CN_ERR_FORMAT, "cut off after %zu bytes", bytes.len);
    if (record.context == 0)
        return cn_fail(err, CN_ERR_FORMAT, "context id 0 is reserved");
    if (!cn_hpc_span_string(meta->sections.list[CN_HPC_STRINGS], record.name_off, "name",
                            &name, err))
        return false;
    *out = (struct cn_context){
        .id = record.context,
        .kind = CN_CONTEXT_ENTRY,
        .entry = record.entry,
        .entry_name = name,
        .function = CN_NONE,
        .file = CN_NONE,
        .module = CN_NONE,
        .children_at = record.children_off,
        .children_len = record.children_len,
    };
    return true;
}

bool cn_hpc_context_record(const struct cn_hpc_meta *meta, struct cn_bytes rest,
                           struct cn_hpc_context *out, struct cn_bytes *flex,
                           struct cn_error *err)
{
    struct cn_hpc_context record = {0};
    struct cn_hpc_draft_context draft;
    size_t len = rest.len;
    struct cn_bytes bytes;

    if (!cn_bytes_take(&rest,
                       meta->is_draft ? cn_hpc_draft_context_size : cn_hpc_context_size,
                       &bytes))
        return cn_fail(err, CN_ERR_FORMAT, "cut off after %zu bytes of its list", len);
    if (meta->is_draft && cn_hpc_draft_context_decode(bytes, &draft))
        record = (struct cn_hpc_context){
            .children_len = draft.children_len,
            .children_off = draft.children_off,
            .context = draft.context,
            .flags = draft.flags,
            .relation = draft.relation,
            .kind = draft.kind,
            .flex_count = draft.flex_count,
            .propagation = draft.relation == CN_LEXICAL ? CN_HPC_LEXICAL_MASK : 0,
        };
    else
        (void)cn_hpc_context_decode(bytes, &record);
    if (!cn_bytes_take(&rest, (size_t)record.flex_count * CN_HPC_FLEX_WORD, flex))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%u flex words do not fit the %zu bytes left of its list",
                       record.flex_count, rest.len);
    *out = record;
    return true;
}

static bool too_few_words(const struct cn_hpc_context *record, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "%u flex words are too few for flags 0x%x",
                   record->flex_count, record->flags);
}

static bool decode_flex(const struct cn_hpc_meta *meta, struct cn_bytes flex,
                        const struct cn_hpc_context *record, struct cn_context *out,
                        struct cn_error *err)
{
    struct cn_hpc_flex_function function;
    struct cn_hpc_flex_source source;
    struct cn_hpc_flex_point point;
    struct cn_bytes part;

    if (out->has_function) {
        if (!cn_bytes_take(&flex, cn_hpc_flex_function_size, &part) ||
            !cn_hpc_flex_function_decode(part, &function))
            return too_few_words(record, err);
        if (!cn_hpc_table_find(&meta->functions, function.function_off, "function",
                               &out->function, err))
            return false;
    }
    if (out->has_source) {
        if (!cn_bytes_take(&flex, cn_hpc_flex_source_size, &part) ||
            !cn_hpc_flex_source_decode(part, &source))
            return too_few_words(record, err);
        if (!cn_hpc_table_find(&meta->files, source.file_off, "file", &out->file, err))
            return false;
        out->line = source.line;
    }
    if (out->has_point) {
        if (!cn_bytes_take(&flex, cn_hpc_flex_point_size, &part) ||
            !cn_hpc_flex_point_decode(part, &point))
            return too_few_words(record, err);
        if (!cn_hpc_table_find(&meta->modules, point.module_off, "module", &out->module,
                               err))
            return false;
        out->offset = point.offset;
    }
    return true;
}

static bool decode_context(struct cn_database *db, bool is_entry, struct cn_bytes rest,
                           struct cn_context *out, uint64_t *len, struct cn_error *err)
{
    const struct cn_hpc_meta *meta = &cn_hpc_v4_of(db)->meta;
    struct cn_hpc_context record;
    struct cn_context context;
    struct cn_bytes flex;

    if (is_entry) {
        *len = meta->entries.stride;
        return decode_entry(meta, rest, out, err);
    }
    if (!cn_hpc_context_record(meta, rest, &record, &flex, err))
        return false;
    if (record.context == 0)
        return cn_fail(err, CN_ERR_FORMAT, "context id 0 is reserved");
    context = (struct cn_context){
        .id = record.context,
        .relation = record.relation,
        .kind = cn_hpc_known_kind(record.kind),
        .propagation = record.propagation,
        .has_function = record.flags & CN_HPC_HAS_FUNCTION,
        .has_source = record.flags & CN_HPC_HAS_SOURCE,
        .has_point = record.flags & CN_HPC_HAS_POINT,
        .function = CN_NONE,
        .file = CN_NONE,
        .module = CN_NONE,
        .children_at = record.children_off,
        .children_len = record.children_len,
    };
    if (!decode_flex(meta, flex, &record, &context, err))
        return false;
    *out = context;
    *len = (meta->is_draft ? cn_hpc_draft_context_size : cn_hpc_context_size) + flex.len;
    return true;
}

void cn_hpc_v4_tree_init(struct cn_hpc_v4 *v4)
{
    const struct cn_hpc_meta *meta = &v4->meta;

    v4->database.tree = (struct cn_hpc_tree){
        .section_name = cn_hpc_meta_kind.section[CN_HPC_CONTEXTS],
        .section = meta->sections.list[CN_HPC_CONTEXTS],
        .roots = meta->is_draft ? meta->roots : meta->entries.span,
        .are_entries = !meta->is_draft,
        .decode = decode_context,
    };
    v4->database.base.context_weight = v4->database.tree.section.bytes.len;
}
