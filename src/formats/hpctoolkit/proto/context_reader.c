#include "formats/hpctoolkit/proto/context_reader.h"

#include "formats/hpctoolkit/proto/database.h"
#include "formats/hpctoolkit/scopes.h"

bool cn_hpc_proto_node_open(struct cn_bytes rest, struct cn_hpc_proto_node *out,
                            struct cn_error *err)
{
    struct cn_hpc_proto_node node;
    struct cn_bytes head;
    size_t len = rest.len;

    if (!cn_bytes_take(&rest, cn_hpc_proto_context_size, &head) ||
        !cn_hpc_proto_context_decode(head, &node.head))
        return cn_fail(err, CN_ERR_FORMAT, "cut off after %zu bytes of its block", len);
    if (!cn_bytes_take(&rest, node.head.callee_len, &node.callee) ||
        !cn_bytes_take(&rest, node.head.lexical_len, &node.lexical))
        return cn_fail(err, CN_ERR_FORMAT,
                       "specifications of %u and %u bytes do not fit its block of %zu",
                       node.head.callee_len, node.head.lexical_len, len);
    node.len = len - rest.len;
    *out = node;
    return true;
}

static bool too_short(struct cn_bytes lexical, unsigned flags, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT,
                   "lexical specification of %zu bytes is too short for flags 0x%x",
                   lexical.len, flags);
}

bool cn_hpc_proto_location_decode(struct cn_bytes lexical,
                                  struct cn_hpc_proto_location *out, struct cn_error *err)
{
    struct cn_hpc_proto_location location = {0};
    struct cn_bytes rest = lexical, part;

    if (!cn_bytes_take(&rest, cn_hpc_proto_lexical_size, &part) ||
        !cn_hpc_proto_lexical_decode(part, &location.head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "lexical specification of %zu bytes, at least %d needed",
                       lexical.len, cn_hpc_proto_lexical_size);
    if ((location.head.flags & CN_HPC_PROTO_HAS_FUNCTION) &&
        (!cn_bytes_take(&rest, cn_hpc_proto_function_pointer_size, &part) ||
         !cn_hpc_proto_function_pointer_decode(part, &location.function)))
        return too_short(lexical, location.head.flags, err);
    if ((location.head.flags & CN_HPC_PROTO_HAS_SOURCE) &&
        (!cn_bytes_take(&rest, cn_hpc_proto_source_size, &part) ||
         !cn_hpc_proto_source_decode(part, &location.source)))
        return too_short(lexical, location.head.flags, err);
    if ((location.head.flags & CN_HPC_PROTO_HAS_POINT) &&
        (!cn_bytes_take(&rest, cn_hpc_proto_point_size, &part) ||
         !cn_hpc_proto_point_decode(part, &location.point)))
        return too_short(lexical, location.head.flags, err);
    *out = location;
    return true;
}

/* No callee specification: it was not called. */
static bool find_relation(struct cn_bytes callee, uint8_t *out, struct cn_error *err)
{
    struct cn_hpc_proto_callee record;

    *out = CN_LEXICAL;
    if (callee.len == 0)
        return true;
    if (!cn_hpc_proto_callee_decode(callee, &record))
        return cn_fail(err, CN_ERR_FORMAT,
                       "callee specification of %zu bytes, at least %d needed",
                       callee.len, cn_hpc_proto_callee_size);
    /* Types of later versions must not wrap around to "not called". */
    *out = record.type < UINT8_MAX ? (uint8_t)(record.type + CN_CALL) : UINT8_MAX;
    return true;
}

static bool find_elements(const struct cn_hpc_proto_meta *meta,
                          const struct cn_hpc_proto_location *location,
                          struct cn_context *out, struct cn_error *err)
{
    if (out->has_function &&
        !cn_hpc_table_find(&meta->functions, location->function.function_off, "function",
                           &out->function, err))
        return false;
    if (out->has_source && !cn_hpc_table_find(&meta->files, location->source.file_off,
                                              "file", &out->file, err))
        return false;
    if (out->has_point && !cn_hpc_table_find(&meta->modules, location->point.module_off,
                                             "module", &out->module, err))
        return false;
    return true;
}

/* Decode the context at the start of `rest`, what is left of its block. */
static bool decode_context(struct cn_database *db, bool is_entry, struct cn_bytes rest,
                           struct cn_context *out, uint64_t *len, struct cn_error *err)
{
    const struct cn_hpc_proto_meta *meta = &cn_hpc_proto_of(db)->meta;
    struct cn_hpc_proto_node node;
    struct cn_hpc_proto_location location;
    struct cn_context context;

    (void)is_entry;
    if (!cn_hpc_proto_node_open(rest, &node, err) ||
        !cn_hpc_proto_location_decode(node.lexical, &location, err))
        return false;
    if (node.head.context == 0)
        return cn_fail(err, CN_ERR_FORMAT, "context id 0 is reserved");
    context = (struct cn_context){
        .id = node.head.context,
        .kind = cn_hpc_known_kind(location.head.kind),
        .has_function = location.head.flags & CN_HPC_PROTO_HAS_FUNCTION,
        .has_source = location.head.flags & CN_HPC_PROTO_HAS_SOURCE,
        .has_point = location.head.flags & CN_HPC_PROTO_HAS_POINT,
        .function = CN_NONE,
        .file = CN_NONE,
        .line = location.source.line,
        .module = CN_NONE,
        .offset = location.point.offset,
        .children_at = node.head.children_off,
        .children_len = node.head.children_len,
    };
    if (!find_relation(node.callee, &context.relation, err) ||
        !find_elements(meta, &location, &context, err))
        return false;
    context.propagation = context.relation == CN_LEXICAL ? CN_HPC_LEXICAL_MASK : 0;
    *out = context;
    *len = node.len;
    return true;
}

void cn_hpc_proto_tree_init(struct cn_hpc_proto *proto)
{
    const struct cn_hpc_proto_meta *meta = &proto->meta;

    proto->database.tree = (struct cn_hpc_tree){
        .section_name = cn_hpc_proto_section_names[CN_HPC_PROTO_CONTEXTS],
        .section = meta->sections[CN_HPC_PROTO_CONTEXTS],
        .roots = meta->roots,
        .decode = decode_context,
    };
    proto->database.base.context_weight = proto->database.tree.section.bytes.len;
}
