#include "formats/hpctoolkit/meta/database.h"

#include <inttypes.h>

#include "formats/hpctoolkit/entries.h"

/* Added to the offset of an entry point. */
#define AT_ENTRY (UINT64_C(1) << 63)

static struct cn_hpc_meta_database *self_of(struct cn_database *db)
{
    return (struct cn_hpc_meta_database *)db;
}

static bool get_module(struct cn_database *db, uint32_t index, struct cn_module *out,
                       struct cn_error *err)
{
    return cn_hpc_meta_module(&self_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool get_file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                     struct cn_error *err)
{
    return cn_hpc_meta_file(&self_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool get_function(struct cn_database *db, uint32_t index, struct cn_function *out,
                         struct cn_error *err)
{
    return cn_hpc_meta_function(&self_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    const struct cn_hpc_meta *meta = &self_of(db)->meta;
    struct cn_hpc_span section = meta->sections[CN_HPC_CONTEXTS];
    struct cn_hpc_span list = meta->entries.count > 0 ? meta->entries.span : meta->roots;

    if (parent) {
        list = (struct cn_hpc_span){.off = parent->children_at};
        /* A leaf may have a pointer as well: its children were left out. */
        if (parent->children_len > 0 &&
            !cn_hpc_span_slice(section, list.off, parent->children_len, &list.bytes))
            return cn_fail(err, CN_ERR_FORMAT,
                           "meta.db: context %" PRIu32 ": children of %" PRIu64
                           " bytes at 0x%" PRIx64 " do not fit section %s, 0x%" PRIx64
                           " to 0x%" PRIx64,
                           parent->id, parent->children_len, parent->children_at,
                           meta->encoding->section_names[CN_HPC_CONTEXTS], section.off,
                           section.off + section.bytes.len);
    }
    *out = (struct cn_context_cursor){
        .at = list.off,
        .end = list.off + list.bytes.len,
        .size = list.bytes.len,
        .is_entry_list = !parent && self_of(db)->are_entries,
    };
    return true;
}

/* Read the name of the function of a root; NULL: it has none. */
static bool root_function(struct cn_database *db, const struct cn_context *root,
                          const char **out, struct cn_error *err)
{
    struct cn_function function = {0};

    if (root->kind == CN_CONTEXT_FUNCTION && root->has_function &&
        !cn_hpc_meta_function(&self_of(db)->meta, root->function, &function, err))
        return false;
    *out = function.name;
    return true;
}

/* Decode the record of an entry point at the start of `rest`. */
static bool decode_entry(const struct cn_hpc_meta *meta, struct cn_bytes rest,
                         struct cn_context *out, uint64_t *len, struct cn_error *err)
{
    struct cn_hpc_item entry = {
        .layout = cn_hpc_meta_layout(meta->encoding, CN_HPC_ENTRY_SHAPE), .bytes = rest};
    struct cn_context context = {.kind = CN_CONTEXT_ENTRY,
                                 .function = CN_NONE,
                                 .file = CN_NONE,
                                 .module = CN_NONE};

    if (rest.len < meta->entries.stride)
        return cn_fail(err, CN_ERR_FORMAT, "cut off after %zu bytes", rest.len);
    context.id = (uint32_t)cn_hpc_item_get(&entry, "context");
    context.entry = (uint16_t)cn_hpc_item_get(&entry, "entry");
    context.children_at = cn_hpc_item_get(&entry, "children_off");
    context.children_len = cn_hpc_item_get(&entry, "children_len");
    if (context.id == 0)
        return cn_fail(err, CN_ERR_FORMAT, "context id 0 is reserved");
    if (!cn_hpc_span_string(meta->sections[CN_HPC_STRINGS],
                            cn_hpc_item_get(&entry, "name_off"), "name",
                            &context.entry_name, err))
        return false;
    *out = context;
    *len = meta->entries.stride;
    return true;
}

static bool decode_context(struct cn_database *db, bool is_entry, struct cn_bytes rest,
                           struct cn_context *out, uint64_t *len, struct cn_error *err)
{
    const struct cn_hpc_meta *meta = &self_of(db)->meta;
    struct cn_hpc_node node;
    const char *function;

    if (is_entry && !self_of(db)->are_functions)
        return decode_entry(meta, rest, out, len, err);
    if (meta->encoding->node(rest, &node, err) != CN_HPC_NODE_GOOD ||
        !cn_hpc_node_context(meta, &node, out, err))
        return false;
    if (is_entry) {
        if (!root_function(db, out, &function, err))
            return false;
        cn_hpc_entry_make(out, function);
    } else if (out->has_function && out->function >= db->function_count) {
        /* Functions after the last that is listed only represent entry points. */
        out->has_function = false;
        out->function = CN_NONE;
    }
    *len = node.len;
    return true;
}

static enum cn_step next_record(struct cn_database *db, struct cn_context_cursor *cursor,
                                struct cn_context *out, struct cn_error *err)
{
    const struct cn_hpc_meta *meta = &self_of(db)->meta;
    bool is_entry = cursor->is_entry_list;
    struct cn_bytes rest;
    uint64_t len;

    if (cursor->at == cursor->end)
        return CN_END;
    if (cursor->at < cursor->end &&
        cn_hpc_span_slice(meta->sections[CN_HPC_CONTEXTS], cursor->at,
                          cursor->end - cursor->at, &rest)) {
        if (decode_context(db, is_entry, rest, out, &len, err)) {
            out->at = is_entry ? cursor->at | AT_ENTRY : cursor->at;
            cursor->at += len;
            return CN_ITEM;
        }
    } else {
        (void)cn_fail(err, CN_ERR_FORMAT, "not inside section %s",
                      meta->encoding->section_names[CN_HPC_CONTEXTS]);
    }
    return cn_fail_in(err, "meta.db: %s at 0x%" PRIx64,
                      is_entry ? "entry point" : "context", cursor->at);
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    uint32_t idle = self_of(db)->idle;
    enum cn_step step = next_record(db, cursor, out, err);

    /* The root that only says "not running" is no entry point. */
    while (idle != 0 && step == CN_ITEM && cursor->is_entry_list && out->id == idle &&
           out->children_len == 0)
        step = next_record(db, cursor, out, err);
    return step;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    struct cn_hpc_span section = self_of(db)->meta.sections[CN_HPC_CONTEXTS];
    struct cn_context_cursor cursor = {
        .at = at & ~AT_ENTRY,
        .end = section.off + section.bytes.len,
        .is_entry_list = (at & AT_ENTRY) != 0,
    };
    enum cn_step step = next_record(db, &cursor, out, err);

    if (step == CN_END)
        return cn_fail(err, CN_ERR_FORMAT, "meta.db: no context at 0x%" PRIx64, at);
    return step == CN_ITEM;
}

const struct cn_database_ops cn_hpc_meta_database_ops = {
    .profile = cn_hpc_database_profile,
    .module = get_module,
    .file = get_file,
    .function = get_function,
    .children = children,
    .child_next = child_next,
    .context_at = context_at,
    .values_begin = cn_hpc_database_values_begin,
    .values_next = cn_hpc_database_values_next,
    .timeline = cn_hpc_database_timeline,
    .samples = cn_hpc_database_samples,
    .forget = cn_hpc_database_forget,
    .close = cn_hpc_database_close,
};

/* True if this function represents an entry point, at a root, and is in no file or module. */
static bool is_of_entry(struct cn_database *db, uint32_t number)
{
    struct cn_context_cursor cursor;
    struct cn_function function;
    struct cn_context root;
    struct cn_error ignored;
    uint16_t entry;

    if (!cn_database_function(db, number, &function, &ignored) ||
        function.module != CN_NONE || function.file != CN_NONE ||
        !cn_hpc_entry_find(function.name, &entry) ||
        !children(db, NULL, &cursor, &ignored))
        return false;
    while (child_next(db, &cursor, &root, &ignored) == CN_ITEM)
        if (root.has_function && root.function == number)
            return true;
    return false;
}

/* Find out whether functions at the top represent entry points. Damage ends the search; walking
 * the tree reports it. */
static void name_roots(struct cn_database *db)
{
    struct cn_hpc_meta_database *self = self_of(db);
    uint32_t listed_count = db->function_count;
    bool are_entries = false;
    struct cn_context_cursor cursor;
    struct cn_context root;
    struct cn_error ignored;
    uint16_t entry;

    if (!children(db, NULL, &cursor, &ignored))
        return;
    while (child_next(db, &cursor, &root, &ignored) == CN_ITEM) {
        const char *name;

        if (!root_function(db, &root, &name, &ignored))
            continue;
        if (name && cn_hpc_entry_find(name, &entry))
            are_entries = true;
        if (name && self->idle == 0 && strcmp(name, CN_HPC_IDLE) == 0)
            self->idle = root.id;
    }
    /* Writers add them at the end. */
    while (self->meta.encoding->is_proto && listed_count > 0 &&
           db->function_count - listed_count < CN_HPC_ENTRY_COUNT &&
           is_of_entry(db, listed_count - 1))
        listed_count--;
    self->are_entries = self->are_functions = are_entries;
    db->function_count = listed_count;
}

bool cn_hpc_meta_database_open(struct cn_hpc_meta_database *self, struct cn_error *err)
{
    struct cn_database *db = &self->database.base;
    struct cn_hpc_meta *meta = &self->meta;

    if ((!meta->is_unfinished && !cn_hpc_meta_open(meta, &db->arena, err)) ||
        !cn_hpc_meta_read(meta, db, err))
        return cn_fail_in(err, "meta.db");
    db->module_count = meta->modules.count;
    db->file_count = meta->files.count;
    db->function_count = meta->functions.count;
    db->context_weight = meta->sections[CN_HPC_CONTEXTS].bytes.len;
    self->are_entries = cn_hpc_meta_layout(meta->encoding, CN_HPC_ENTRY_SHAPE) != NULL;
    if (!self->are_entries)
        name_roots(db);
    return true;
}
