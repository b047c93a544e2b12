/* Walk the context tree with a stack of lists. Each 8-byte word of the section that belongs
 * to a context is marked: a record with marked words is part of another list, and its
 * descendants have been checked. */

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/v4/read/context_reader.h"
#include "formats/hpctoolkit/v4/verify/parts.h"

struct list {
    uint64_t at, end;
};

struct walk {
    struct cn_hpc_meta meta; /* for cn_hpc_context_record() */
    struct cn_hpc_span section;
    struct cn_hpc_set seen; /* words of the section */
    struct list *stack;
    size_t depth, capacity;
};

static void check_id(struct cn_hpc_v4_check *v, uint32_t id, uint64_t off)
{
    if (id == 0) {
        cn_findings_error(&v->c.f, "context-id-zero", off,
                          "context id 0 is reserved for the global context");
        return;
    }
    if (id > v->c.context_last)
        v->c.context_last = id;
    if (id >= v->contexts.limit)
        cn_findings_error(
            &v->c.f, "context-id-spread", off,
            "context id %" PRIu32
            " is out of proportion to the size of the section, limit %" PRIu64,
            id, v->contexts.limit);
    else if (!cn_hpc_set_add(&v->contexts, id))
        cn_findings_error(&v->c.f, "context-id-unique", off,
                          "context id %" PRIu32 " is used twice", id);
}

/* Mark the words of a record. False if some belong to another record. */
static bool mark(struct walk *w, uint64_t off, uint64_t len)
{
    uint64_t first = (off - w->section.off) / 8;
    bool is_new = true;

    for (uint64_t i = 0; i < len / 8; i++)
        is_new &= cn_hpc_set_add(&w->seen, first + i);
    return is_new;
}

static void push_children(struct cn_hpc_v4_check *v, struct walk *w,
                          uint64_t children_off, uint64_t children_len, uint64_t off)
{
    struct cn_bytes bytes;

    if (children_len == 0) {
        if (children_off != 0)
            cn_findings_warn(&v->c.f, "leaf-pointer", off,
                             "no children, but a pointer to them: 0x%" PRIx64,
                             children_off);
        return;
    }
    if (!cn_hpc_span_slice(w->section, children_off, children_len, &bytes)) {
        cn_findings_error(&v->c.f, "children-bounds", off,
                          "children of %" PRIu64 " bytes at 0x%" PRIx64
                          " do not fit section Context, 0x%" PRIx64 " to 0x%" PRIx64,
                          children_len, children_off, w->section.off,
                          w->section.off + w->section.bytes.len);
        return;
    }
    cn_hpc_check_aligned(&v->c, children_off, 8, "children");
    if (children_off % 8 != 0)
        return;
    CN_PUSH(w->stack, w->depth, w->capacity,
            (struct list){children_off, children_off + children_len});
}

static void check_flex(struct cn_hpc_v4_check *v, const struct walk *w,
                       const struct cn_hpc_context *record, struct cn_bytes flex,
                       uint64_t off)
{
    struct cn_hpc_flex_function function;
    struct cn_hpc_flex_source source;
    struct cn_hpc_flex_point point;
    struct cn_bytes part;
    bool fits = true;

    if (record->flags & CN_HPC_HAS_FUNCTION) {
        fits = cn_bytes_take(&flex, cn_hpc_flex_function_size, &part) &&
               cn_hpc_flex_function_decode(part, &function);
        if (fits)
            cn_hpc_check_pointer(&v->c.f, "pointer-element", &w->meta.functions,
                                 function.function_off, off, "function");
    }
    if (fits && record->flags & CN_HPC_HAS_SOURCE) {
        fits = cn_bytes_take(&flex, cn_hpc_flex_source_size, &part) &&
               cn_hpc_flex_source_decode(part, &source);
        if (fits)
            cn_hpc_check_pointer(&v->c.f, "pointer-element", &w->meta.files,
                                 source.file_off, off, "file");
    }
    if (fits && record->flags & CN_HPC_HAS_POINT) {
        fits = cn_bytes_take(&flex, cn_hpc_flex_point_size, &part) &&
               cn_hpc_flex_point_decode(part, &point);
        if (fits)
            cn_hpc_check_pointer(&v->c.f, "pointer-element", &w->meta.modules,
                                 point.module_off, off, "module");
    }
    if (!fits)
        cn_findings_error(&v->c.f, "flex-words", off,
                          "%u flex words are too few for flags 0x%x", record->flex_count,
                          record->flags);
    else if (flex.len > 0)
        cn_findings_warn(&v->c.f, "flex-words", off,
                         "%u flex words are more than flags 0x%x need",
                         record->flex_count, record->flags);
}

static void check_record(struct cn_hpc_v4_check *v, const struct cn_hpc_context *record,
                         uint64_t off)
{
    const unsigned known = CN_HPC_HAS_FUNCTION | CN_HPC_HAS_SOURCE | CN_HPC_HAS_POINT;
    bool is_lexical = record->relation == CN_LEXICAL;

    check_id(v, record->context, off);
    if (record->flags & ~known)
        cn_findings_warn(&v->c.f, "reserved-bits", off,
                         "context %" PRIu32 ": reserved bits of flags 0x%x are set",
                         record->context, record->flags);
    if (record->relation > CN_INLINED_CALL)
        cn_findings_warn(&v->c.f, "unknown-value", off, "relation %u is unknown",
                         record->relation);
    if (record->kind > CN_CONTEXT_INSTRUCTION)
        cn_findings_warn(&v->c.f, "unknown-value", off, "lexical type %u is unknown",
                         record->kind);
    if ((record->kind == CN_CONTEXT_LOOP || record->kind == CN_CONTEXT_LINE) &&
        !(record->flags & CN_HPC_HAS_SOURCE))
        cn_findings_warn(&v->c.f, "context-source", off,
                         "context %" PRIu32 ": a %s without source location",
                         record->context,
                         record->kind == CN_CONTEXT_LOOP ? "loop" : "line");
    if (record->kind == CN_CONTEXT_INSTRUCTION && !(record->flags & CN_HPC_HAS_POINT))
        cn_findings_warn(&v->c.f, "context-point", off,
                         "context %" PRIu32 ": an instruction without module and offset",
                         record->context);
    if (is_lexical != (record->propagation & 1))
        cn_findings_warn(&v->c.f, "propagation-mask", off,
                         "context %" PRIu32
                         ": propagation 0x%x, but bit 0 means relation lexical, not %u",
                         record->context, record->propagation, record->relation);
}

/* Check the context at list->at. False if the rest of the list cannot be read. */
static bool check_context(struct cn_hpc_v4_check *v, struct walk *w, struct list *list)
{
    uint64_t off = list->at;
    struct cn_hpc_context record;
    struct cn_bytes rest, flex;
    struct cn_error err = {0};
    uint64_t len;

    if (!cn_hpc_span_slice(w->section, off, list->end - off, &rest))
        return false;
    if (!cn_hpc_context_record(&w->meta, rest, &record, &flex, &err)) {
        cn_findings_error(&v->c.f, "context-bounds", off, "context at 0x%" PRIx64 ": %s",
                          off, err.text);
        return false;
    }
    len = (v->is_draft ? cn_hpc_draft_context_size : cn_hpc_context_size) + flex.len;
    if (!mark(w, off, len)) {
        cn_findings_error(&v->c.f, "contexts-overlap", off,
                          "context %" PRIu32 " at 0x%" PRIx64
                          " is part of another list: a cycle or an overlap",
                          record.context, off);
        return false;
    }
    list->at += len;
    check_record(v, &record, off);
    check_flex(v, w, &record, flex, off);
    /* Growing the stack invalidates `list`. */
    push_children(v, w, record.children_off, record.children_len, off);
    return true;
}

static void walk_lists(struct cn_hpc_v4_check *v, struct walk *w)
{
    while (w->depth > 0) {
        size_t top = w->depth - 1;

        if (w->stack[top].at == w->stack[top].end)
            w->depth--;
        else if (!check_context(v, w, &w->stack[top]))
            w->stack[top].at = w->stack[top].end;
    }
}

static void check_entries(struct cn_hpc_v4_check *v, struct walk *w)
{
    struct cn_hpc_contexts_header head;
    struct cn_hpc_table table;
    struct cn_hpc_entry record;

    if (!cn_hpc_contexts_header_decode(w->section.bytes, &head)) {
        (void)cn_hpc_v4_check_too_short(v, &v->meta, CN_HPC_CONTEXTS);
        return;
    }
    if (!cn_hpc_v4_check_table(v, w->section,
                               &(struct cn_hpc_array){"entry points", head.entries_off,
                                                      head.entry_count, head.entry_len,
                                                      cn_hpc_entry_size},
                               &table))
        return;
    if (table.span.off % 8 == 0 && table.count > 0)
        (void)mark(w, table.span.off, table.span.bytes.len);
    for (uint32_t i = 0; i < table.count; i++) {
        uint64_t off = cn_hpc_table_off(&table, i);

        if (!cn_hpc_entry_decode(cn_hpc_table_at(&table, i), &record))
            continue;
        check_id(v, record.context, off);
        if (record.entry > CN_ENTRY_APPLICATION_THREAD)
            cn_findings_warn(&v->c.f, "unknown-value", off, "entry point %u is unknown",
                             record.entry);
        (void)cn_hpc_v4_check_string(v, v->meta.sections.list[CN_HPC_STRINGS],
                                     record.name_off, "entry point name");
        push_children(v, w, record.children_off, record.children_len, off);
        walk_lists(v, w);
    }
}

static void check_roots(struct cn_hpc_v4_check *v, struct walk *w)
{
    struct cn_hpc_draft_contexts_header head;

    if (!cn_hpc_draft_contexts_header_decode(w->section.bytes, &head)) {
        (void)cn_hpc_v4_check_too_short(v, &v->meta, CN_HPC_CONTEXTS);
        return;
    }
    push_children(v, w, head.roots_off, head.roots_len, w->section.off);
    walk_lists(v, w);
}

void cn_hpc_v4_check_contexts(struct cn_hpc_v4_check *v,
                              const struct cn_hpc_table *modules,
                              const struct cn_hpc_table *files,
                              const struct cn_hpc_table *functions)
{
    struct walk w = {
        .meta = {.sections = v->meta.sections,
                 .modules = *modules,
                 .files = *files,
                 .functions = *functions,
                 .is_draft = v->is_draft},
        .section = v->meta.sections.list[CN_HPC_CONTEXTS],
    };
    uint64_t errors = v->c.f.error_count;
    uint64_t id_limit = (w.section.bytes.len / cn_hpc_draft_context_size + 1) *
                        (uint64_t)CN_HPC_ID_SPREAD_MAX;

    cn_hpc_set_init(&v->contexts, id_limit < UINT32_MAX ? id_limit : UINT32_MAX);
    cn_hpc_set_init(&w.seen, w.section.bytes.len / 8 + 1);
    if (v->is_draft)
        check_roots(v, &w);
    else
        check_entries(v, &w);
    if (v->c.f.error_count == errors)
        v->c.contexts = &v->contexts;
    if (v->c.context_last == 0)
        cn_findings_warn(&v->c.f, "no-contexts", w.section.off,
                         "no context is listed: hpcviewer shows no row, Hatchet fails");
    cn_hpc_set_done(&w.seen);
    free(w.stack);
}
