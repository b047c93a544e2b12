#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/proto/context_reader.h"
#include "formats/hpctoolkit/proto/dump.h"
#include "formats/hpctoolkit/values/dump.h"

/* Structures followed by strings. */
struct reading {
    struct cn_hpc_dump *dump;
    struct cn_hpc_span rest;
};

static bool skip(struct reading *r, const struct cn_record_layout *layout,
                 struct cn_bytes *out, uint64_t *off, struct cn_error *err)
{
    *off = r->rest.off;
    return cn_hpc_span_take(&r->rest, layout->size, layout->name, out, err);
}

static bool dump_kinds(struct reading *r, struct cn_error *err)
{
    struct cn_hpc_proto_kinds_header head;
    struct cn_bytes bytes;
    const char *name;
    uint64_t off;

    if (!skip(r, &cn_hpc_proto_kinds_header_layout, &bytes, &off, err) ||
        !cn_hpc_proto_kinds_header_decode(bytes, &head) ||
        !cn_hpc_dump_item(r->dump, &cn_hpc_proto_kinds_header_layout, off, 0, NULL, err))
        return false;
    for (uint32_t i = 0; i < head.kind_count; i++)
        if (!cn_hpc_span_take_string(&r->rest, "name of an identifier kind", &name, err))
            return false;
    return true;
}

static bool dump_general(struct cn_hpc_dump *dump, const struct cn_hpc_proto_meta *meta,
                         struct cn_error *err)
{
    struct reading r = {dump, meta->sections[CN_HPC_PROTO_GENERAL]};
    const char *text;

    if (!cn_hpc_span_take_string(&r.rest, "title", &text, err))
        return false;
    if (meta->section_count == CN_HPC_PROTO_SECTIONS_OF_WRITER)
        r.rest = meta->sections[CN_HPC_PROTO_KINDS];
    return dump_kinds(&r, err);
}

static bool dump_statistic(struct reading *r, uint32_t i, struct cn_error *err)
{
    struct cn_bytes bytes;
    const char *formula;
    uint64_t off;

    return skip(r, &cn_hpc_proto_statistic_layout, &bytes, &off, err) &&
           cn_hpc_span_take_string(&r->rest, "formula", &formula, err) &&
           cn_hpc_dump_item(r->dump, &cn_hpc_proto_statistic_layout, off, i, formula,
                            err);
}

static bool dump_scope(struct reading *r, uint32_t i, struct cn_error *err)
{
    struct cn_hpc_proto_scope scope;
    struct cn_bytes bytes;
    const char *name;
    uint64_t off;

    if (!skip(r, &cn_hpc_proto_scope_layout, &bytes, &off, err) ||
        !cn_hpc_proto_scope_decode(bytes, &scope) ||
        !cn_hpc_span_take_string(&r->rest, "name of a scope", &name, err) ||
        !cn_hpc_dump_item(r->dump, &cn_hpc_proto_scope_layout, off, i, name, err))
        return false;
    for (uint32_t k = 0; k < scope.statistic_count; k++)
        if (!dump_statistic(r, k, err))
            return false;
    return true;
}

static bool dump_metric(struct reading *r, uint32_t i, struct cn_error *err)
{
    struct cn_hpc_proto_metric metric;
    struct cn_bytes bytes;
    const char *name;
    uint64_t off;

    if (!skip(r, &cn_hpc_proto_metric_layout, &bytes, &off, err) ||
        !cn_hpc_proto_metric_decode(bytes, &metric) ||
        !cn_hpc_span_take_string(&r->rest, "name of a metric", &name, err) ||
        !cn_hpc_dump_item(r->dump, &cn_hpc_proto_metric_layout, off, i, name, err))
        return false;
    for (uint32_t k = 0; k < metric.scope_count; k++)
        if (!dump_scope(r, k, err))
            return false;
    return true;
}

static bool dump_metrics(struct cn_hpc_dump *dump, const struct cn_hpc_proto_meta *meta,
                         struct cn_error *err)
{
    struct reading r = {dump, meta->sections[CN_HPC_PROTO_METRICS]};
    struct cn_hpc_proto_metrics_header head;
    struct cn_bytes bytes;
    uint64_t off;

    if (!skip(&r, &cn_hpc_proto_metrics_header_layout, &bytes, &off, err) ||
        !cn_hpc_proto_metrics_header_decode(bytes, &head) ||
        !cn_hpc_dump_item(dump, &cn_hpc_proto_metrics_header_layout, off, 0, NULL, err))
        return false;
    for (uint32_t i = 0; i < head.metric_count; i++)
        if (!dump_metric(&r, i, err))
            return false;
    return true;
}

static bool dump_table(struct cn_hpc_dump *dump, const struct cn_hpc_proto_meta *meta,
                       enum cn_hpc_proto_section_id section,
                       const struct cn_record_layout *layout, const char *field,
                       struct cn_error *err)
{
    struct cn_hpc_table table;

    return cn_hpc_proto_table_open(meta->sections[section], layout->name,
                                   (uint32_t)layout->size, &table, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_proto_table_layout, meta->sections[section].off,
                            0, cn_hpc_proto_section_names[section], err) &&
           cn_hpc_dump_table(dump, layout, &table, meta->sections[CN_HPC_PROTO_STRINGS],
                             field, err);
}

static bool dump_callee(struct cn_hpc_dump *dump, struct cn_bytes callee, uint64_t off,
                        struct cn_error *err)
{
    struct cn_hpc_proto_callee record;

    if (callee.len == 0)
        return true;
    if (!cn_hpc_proto_callee_decode(callee, &record))
        return cn_fail(err, CN_ERR_FORMAT,
                       "callee specification of %zu bytes at 0x%" PRIx64, callee.len,
                       off);
    return cn_hpc_dump_item(dump, &cn_hpc_proto_callee_layout, off, 0, NULL, err) &&
           (!(record.flags & CN_HPC_PROTO_HAS_CALLER) ||
            cn_hpc_dump_item(dump, &cn_hpc_proto_source_layout,
                             off + cn_hpc_proto_callee_size, 0, "caller", err));
}

static bool dump_location(struct cn_hpc_dump *dump, struct cn_bytes lexical, uint64_t off,
                          struct cn_error *err)
{
    struct cn_hpc_proto_location location;

    if (!cn_hpc_proto_location_decode(lexical, &location, err) ||
        !cn_hpc_dump_item(dump, &cn_hpc_proto_lexical_layout, off, 0, NULL, err))
        return false;
    off += cn_hpc_proto_lexical_size;
    if (location.head.flags & CN_HPC_PROTO_HAS_FUNCTION) {
        if (!cn_hpc_dump_item(dump, &cn_hpc_proto_function_pointer_layout, off, 0, NULL,
                              err))
            return false;
        off += cn_hpc_proto_function_pointer_size;
    }
    if (location.head.flags & CN_HPC_PROTO_HAS_SOURCE) {
        if (!cn_hpc_dump_item(dump, &cn_hpc_proto_source_layout, off, 0, NULL, err))
            return false;
        off += cn_hpc_proto_source_size;
    }
    return !(location.head.flags & CN_HPC_PROTO_HAS_POINT) ||
           cn_hpc_dump_item(dump, &cn_hpc_proto_point_layout, off, 0, NULL, err);
}

struct block {
    uint64_t off, len;
};

struct blocks {
    struct block *list;
    size_t count, capacity;
};

static void add_block(struct blocks *blocks, uint64_t off, uint64_t len)
{
    if (len == 0)
        return;
    CN_PUSH(blocks->list, blocks->count, blocks->capacity, (struct block){off, len});
}

/* All nodes of a block; those with children leave another. */
static bool dump_block(struct cn_hpc_dump *dump, struct cn_hpc_span section,
                       struct block block, struct blocks *more, struct cn_error *err)
{
    struct cn_hpc_proto_node node;
    struct cn_bytes rest, ignored;
    uint64_t off, index = 0;

    if (!cn_hpc_span_slice(section, block.off, block.len, &rest))
        return cn_fail(err, CN_ERR_FORMAT,
                       "contexts of %" PRIu64 " bytes at 0x%" PRIx64
                       " do not fit their section",
                       block.len, block.off);
    while (rest.len > 0) {
        off = block.off + block.len - rest.len;
        if (!cn_hpc_proto_node_open(rest, &node, err) ||
            !cn_hpc_dump_item(dump, &cn_hpc_proto_context_layout, off, index++, NULL,
                              err) ||
            !dump_callee(dump, node.callee, off + cn_hpc_proto_context_size, err) ||
            !dump_location(dump, node.lexical,
                           off + cn_hpc_proto_context_size + node.callee.len, err) ||
            !cn_bytes_take(&rest, (size_t)node.len, &ignored))
            return cn_fail_in(err, "context at 0x%" PRIx64, off);
        add_block(more, node.head.children_off, node.head.children_len);
    }
    return true;
}

static bool dump_contexts(struct cn_hpc_dump *dump, const struct cn_hpc_proto_meta *meta,
                          struct cn_error *err)
{
    struct cn_hpc_span section = meta->sections[CN_HPC_PROTO_CONTEXTS];
    struct cn_hpc_proto_contexts_header head;
    struct blocks blocks = {0};
    bool ok = true;

    if (!cn_hpc_proto_contexts_header_decode(section.bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT, "section of contexts is too short: %zu bytes",
                       section.bytes.len);
    if (!cn_hpc_dump_item(dump, &cn_hpc_proto_contexts_header_layout, section.off, 0,
                          NULL, err))
        return false;
    add_block(&blocks, section.off + cn_hpc_proto_contexts_header_size, head.roots_len);
    while (ok && blocks.count > 0) {
        struct block block = blocks.list[--blocks.count];

        ok = dump_block(dump, section, block, &blocks, err);
    }
    free(blocks.list);
    return ok;
}

static bool dump_header(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_proto_header head;

    if (!cn_hpc_proto_meta_is(dump->bytes) ||
        !cn_hpc_proto_header_decode(dump->bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT, "not a prototype's meta.db");
    return cn_hpc_dump_item(dump, &cn_hpc_proto_header_layout, 0, 0, NULL, err) &&
           cn_hpc_dump_records(dump, &cn_hpc_proto_section_layout,
                               cn_hpc_proto_header_size, head.section_count, err);
}

bool cn_hpc_proto_dump_meta(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_proto_meta meta;

    if (!dump_header(dump, err) || !cn_hpc_proto_frame_open(dump->bytes, &meta, err) ||
        !dump_general(dump, &meta, err) || !dump_metrics(dump, &meta, err))
        return false;
    if (meta.is_unfinished)
        return true;
    return dump_table(dump, &meta, CN_HPC_PROTO_MODULES, &cn_hpc_proto_module_layout,
                      "path_off", err) &&
           dump_table(dump, &meta, CN_HPC_PROTO_FILES, &cn_hpc_proto_source_file_layout,
                      "path_off", err) &&
           dump_table(dump, &meta, CN_HPC_PROTO_FUNCTIONS, &cn_hpc_proto_function_layout,
                      "name_off", err) &&
           dump_contexts(dump, &meta, err);
}
