/* Check the context tree: every node of every block, parents first. Blocks that overlap or
 * form a cycle are found by their sizes, which cannot add up to more than the section. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/proto/context_reader.h"
#include "formats/hpctoolkit/proto/verify_parts.h"

enum { RELATION_LAST = CN_INLINED_CALL - CN_CALL, KIND_LAST = CN_CONTEXT_INSTRUCTION };

/* A block that is still to be checked. */
struct pending {
    uint64_t off, len;
};

struct tree {
    struct cn_hpc_proto_check *p;
    struct cn_hpc_span section;
    struct pending *pending;
    size_t pending_count, pending_capacity;
    uint64_t seen_len;
    struct cn_hpc_extents blocks;
};

static void check_callee(struct tree *t, struct cn_bytes callee, uint64_t off)
{
    struct cn_hpc_proto_callee record;
    struct cn_hpc_proto_source caller;
    struct cn_bytes rest;

    if (callee.len == 0)
        return;
    if (!cn_hpc_proto_callee_decode(callee, &record)) {
        cn_findings_error(&t->p->c.f, "callee-size", off,
                          "callee specification of %zu bytes, at least %d needed",
                          callee.len, cn_hpc_proto_callee_size);
        return;
    }
    if (record.type > RELATION_LAST)
        cn_findings_warn(&t->p->c.f, "callee-type", off, "call type %u of 0 to %d",
                         record.type, RELATION_LAST);
    if (record.flags & ~CN_HPC_PROTO_HAS_CALLER)
        cn_findings_warn(&t->p->c.f, "reserved-bits", off,
                         "reserved bits of callee flags 0x%x are set", record.flags);
    if (!(record.flags & CN_HPC_PROTO_HAS_CALLER))
        return;
    if (!cn_bytes_from(callee, cn_hpc_proto_callee_size, &rest) ||
        !cn_hpc_proto_source_decode(rest, &caller))
        cn_findings_error(&t->p->c.f, "callee-size", off,
                          "callee specification of %zu bytes has no caller location",
                          callee.len);
    else
        cn_hpc_check_pointer(&t->p->c.f, "pointer", &t->p->meta.files, caller.file_off,
                             off, "file");
}

/* Check the flags that each kind of node needs. */
static void check_kind(struct tree *t, const struct cn_hpc_proto_lexical *head,
                       uint64_t off)
{
    static const uint16_t needed[KIND_LAST + 1] = {
        [CN_CONTEXT_LOOP] = CN_HPC_PROTO_HAS_SOURCE,
        [CN_CONTEXT_LINE] = CN_HPC_PROTO_HAS_SOURCE,
        [CN_CONTEXT_INSTRUCTION] = CN_HPC_PROTO_HAS_POINT,
    };

    if (head->kind > KIND_LAST)
        cn_findings_warn(&t->p->c.f, "lexical-type", off, "lexical type %u of 0 to %d",
                         head->kind, KIND_LAST);
    else if ((head->flags & needed[head->kind]) != needed[head->kind])
        cn_findings_error(&t->p->c.f, "lexical-flags", off,
                          "lexical type %u needs flags 0x%x, has 0x%x", head->kind,
                          needed[head->kind], head->flags);
    if ((head->flags & CN_HPC_PROTO_IS_CALL_SOURCE) &&
        !(head->flags & CN_HPC_PROTO_HAS_SOURCE))
        cn_findings_error(&t->p->c.f, "lexical-flags", off,
                          "flags 0x%x: the line of calls, but no line", head->flags);
    if (head->flags > (CN_HPC_PROTO_IS_CALL_SOURCE << 1) - 1)
        cn_findings_warn(&t->p->c.f, "reserved-bits", off,
                         "reserved bits of lexical flags 0x%x are set", head->flags);
}

static void check_location(struct tree *t, struct cn_bytes lexical, uint64_t off)
{
    struct cn_hpc_proto_meta *meta = &t->p->meta;
    struct cn_hpc_proto_location location;
    struct cn_error damage;

    if (!cn_hpc_proto_location_decode(lexical, &location, &damage)) {
        cn_findings_error(&t->p->c.f, "lexical-size", off, "%s", damage.text);
        return;
    }
    check_kind(t, &location.head, off);
    if (location.head.flags & CN_HPC_PROTO_HAS_FUNCTION)
        cn_hpc_check_pointer(&t->p->c.f, "pointer", &meta->functions,
                             location.function.function_off, off, "function");
    if (location.head.flags & CN_HPC_PROTO_HAS_SOURCE)
        cn_hpc_check_pointer(&t->p->c.f, "pointer", &meta->files,
                             location.source.file_off, off, "file");
    if (location.head.flags & CN_HPC_PROTO_HAS_POINT)
        cn_hpc_check_pointer(&t->p->c.f, "pointer", &meta->modules,
                             location.point.module_off, off, "module");
}

static void check_id(struct tree *t, uint32_t id, uint64_t off)
{
    if (id == 0)
        cn_findings_error(&t->p->c.f, "context-id", off, "context id 0 is reserved");
    else if (id >= t->p->contexts.limit)
        cn_findings_error(&t->p->c.f, "context-id", off,
                          "context id %" PRIu32
                          " is out of proportion, expected below %" PRIu64,
                          id, t->p->contexts.limit);
    else if (!cn_hpc_set_add(&t->p->contexts, id))
        cn_findings_error(&t->p->c.f, "context-unique", off,
                          "context id %" PRIu32 " is used twice", id);
    else if (id > t->p->c.context_last)
        t->p->c.context_last = id;
}

static void add_block(struct tree *t, uint64_t off, uint64_t len)
{
    if (len == 0)
        return;
    CN_PUSH(t->pending, t->pending_count, t->pending_capacity,
            (struct pending){off, len});
}

static void check_block(struct tree *t, struct pending block)
{
    struct cn_hpc_proto_node node;
    struct cn_error damage;
    struct cn_bytes rest, ignored;

    if (!cn_hpc_span_slice(t->section, block.off, block.len, &rest)) {
        cn_findings_error(&t->p->c.f, "block-bounds", block.off,
                          "contexts of %" PRIu64
                          " bytes do not fit their section, 0x%" PRIx64 " to 0x%" PRIx64,
                          block.len, t->section.off,
                          t->section.off + t->section.bytes.len);
        return;
    }
    cn_hpc_extents_add(&t->blocks, block.off, block.off + block.len);
    t->seen_len += block.len;
    if (t->seen_len > t->section.bytes.len)
        return;
    while (rest.len > 0) {
        uint64_t off = block.off + block.len - rest.len;

        if (!cn_hpc_proto_node_open(rest, &node, &damage)) {
            cn_findings_error(&t->p->c.f, "node-size", off, "%s", damage.text);
            return;
        }
        check_id(t, node.head.context, off);
        check_callee(t, node.callee, off);
        check_location(t, node.lexical, off);
        add_block(t, node.head.children_off, node.head.children_len);
        if (!cn_bytes_take(&rest, (size_t)node.len, &ignored))
            return;
    }
}

void cn_hpc_proto_check_contexts(struct cn_hpc_proto_check *p)
{
    struct tree t = {.p = p, .section = p->meta.sections[CN_HPC_PROTO_CONTEXTS]};
    struct cn_hpc_proto_contexts_header head;
    uint64_t node_max = t.section.bytes.len / cn_hpc_proto_context_size + 1;

    if (!cn_hpc_proto_contexts_header_decode(t.section.bytes, &head)) {
        cn_findings_error(&p->c.f, "section-header", t.section.off,
                          "section of contexts of %zu bytes is too short for its "
                          "header",
                          t.section.bytes.len);
        return;
    }
    cn_hpc_set_init(&p->contexts, node_max * CN_HPC_ID_SPREAD_MAX);
    p->c.contexts = &p->contexts;
    add_block(&t, t.section.off + cn_hpc_proto_contexts_header_size, head.roots_len);
    while (t.pending_count > 0) {
        struct pending block = t.pending[--t.pending_count];

        check_block(&t, block);
    }
    cn_hpc_extents_check(&p->c.f, &t.blocks, "a block of contexts", "blocks-overlap",
                         true);
    free(t.pending);
}
