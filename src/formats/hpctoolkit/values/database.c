#include "formats/hpctoolkit/values/database.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/hpctoolkit/entries.h"

static struct cn_hpc_database *self_of(struct cn_database *db)
{
    return (struct cn_hpc_database *)db;
}

bool cn_hpc_database_children(struct cn_database *db, const struct cn_context *parent,
                              struct cn_context_cursor *out, struct cn_error *err)
{
    const struct cn_hpc_tree *tree = &self_of(db)->tree;
    struct cn_hpc_span section = tree->section, list = tree->roots;

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
                           tree->section_name, section.off,
                           section.off + section.bytes.len);
    }
    *out = (struct cn_context_cursor){
        .at = list.off,
        .end = list.off + list.bytes.len,
        .size = list.bytes.len,
        .is_entry_list = !parent && tree->are_entries,
    };
    return true;
}

/* The name of the function of a root; NULL: it has none. */
static const char *root_function(struct cn_database *db, const struct cn_context *root)
{
    struct cn_function function;
    struct cn_error ignored;

    return root->kind == CN_CONTEXT_FUNCTION && root->has_function &&
                   db->ops->function(db, root->function, &function, &ignored)
               ? function.name
               : NULL;
}

/* Functions after the last that is listed only represent entry points. */
static void complete_root(struct cn_database *db, bool is_entry,
                          struct cn_context *context)
{
    if (is_entry) {
        cn_hpc_entry_make(context, root_function(db, context));
    } else if (context->has_function && context->function >= db->function_count) {
        context->has_function = false;
        context->function = CN_NONE;
    }
}

static enum cn_step next_record(struct cn_database *db, struct cn_context_cursor *cursor,
                                struct cn_context *out, struct cn_error *err)
{
    const struct cn_hpc_tree *tree = &self_of(db)->tree;
    bool is_entry = cursor->is_entry_list;
    struct cn_bytes rest;
    uint64_t len;

    if (cursor->at == cursor->end)
        return CN_END;
    if (cursor->at < cursor->end &&
        cn_hpc_span_slice(tree->section, cursor->at, cursor->end - cursor->at, &rest)) {
        if (tree->decode(db, is_entry && !tree->are_functions, rest, out, &len, err)) {
            complete_root(db, is_entry && tree->are_functions, out);
            out->at = is_entry ? cursor->at | CN_HPC_AT_ENTRY : cursor->at;
            cursor->at += len;
            return CN_ITEM;
        }
    } else {
        (void)cn_fail(err, CN_ERR_FORMAT, "not inside section %s", tree->section_name);
    }
    return cn_fail_in(err, "meta.db: %s at 0x%" PRIx64,
                      is_entry ? "entry point" : "context", cursor->at);
}

enum cn_step cn_hpc_database_child_next(struct cn_database *db,
                                        struct cn_context_cursor *cursor,
                                        struct cn_context *out, struct cn_error *err)
{
    uint32_t idle = self_of(db)->tree.idle;
    enum cn_step step = next_record(db, cursor, out, err);

    /* The root that only says "not running" is no entry point. */
    while (idle != 0 && step == CN_ITEM && cursor->is_entry_list && out->id == idle &&
           out->children_len == 0)
        step = next_record(db, cursor, out, err);
    return step;
}

bool cn_hpc_database_context_at(struct cn_database *db, uint64_t at,
                                struct cn_context *out, struct cn_error *err)
{
    struct cn_hpc_span section = self_of(db)->tree.section;
    struct cn_context_cursor cursor = {
        .at = at & ~CN_HPC_AT_ENTRY,
        .end = section.off + section.bytes.len,
        .is_entry_list = (at & CN_HPC_AT_ENTRY) != 0,
    };
    enum cn_step step = next_record(db, &cursor, out, err);

    if (step == CN_END)
        return cn_fail(err, CN_ERR_FORMAT, "meta.db: no context at 0x%" PRIx64, at);
    return step == CN_ITEM;
}

void cn_hpc_database_name_roots(struct cn_database *db)
{
    struct cn_hpc_tree *tree = &self_of(db)->tree;
    struct cn_context_cursor cursor;
    struct cn_context root;
    struct cn_error ignored;
    bool are_entries = false;
    uint16_t entry;

    if (!cn_hpc_database_children(db, NULL, &cursor, &ignored))
        return;
    while (cn_hpc_database_child_next(db, &cursor, &root, &ignored) == CN_ITEM) {
        const char *name = root_function(db, &root);

        if (name && cn_hpc_entry_find(name, &entry))
            are_entries = true;
        if (name && tree->idle == 0 && strcmp(name, CN_HPC_IDLE) == 0)
            tree->idle = root.id;
    }
    tree->are_entries = tree->are_functions = are_entries;
}

bool cn_hpc_database_profile(struct cn_database *db, uint32_t index,
                             struct cn_profile *out, struct cn_error *err)
{
    return cn_hpc_values_profile(&self_of(db)->values, index, out, err);
}

bool cn_hpc_database_values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                                  struct cn_error *err)
{
    return cn_hpc_values_begin(&self_of(db)->values, cursor, err);
}

enum cn_step cn_hpc_database_values_next(struct cn_value_cursor *cursor,
                                         struct cn_value_batch *out, struct cn_error *err)
{
    return cn_hpc_values_next(&self_of(cursor->db)->values, cursor, out, err);
}

bool cn_hpc_database_timeline(struct cn_database *db, uint32_t profile,
                              struct cn_timeline *out, struct cn_error *err)
{
    return cn_hpc_values_timeline(&self_of(db)->values, profile, out, err);
}

bool cn_hpc_database_samples(struct cn_database *db, const struct cn_timeline *timeline,
                             uint64_t first, size_t count, struct cn_sample *out,
                             struct cn_error *err)
{
    return cn_hpc_values_samples(&self_of(db)->values, timeline, first, count, out, err);
}

void cn_hpc_database_forget(struct cn_database *db)
{
    cn_hpc_maps_forget(&self_of(db)->maps);
}

void cn_hpc_database_close(struct cn_database *db)
{
    cn_hpc_maps_close(&self_of(db)->maps);
    cn_arena_done(&db->arena);
    free(db);
}

void cn_hpc_database_take_maps(struct cn_database *db, const struct cn_hpc_maps *maps,
                               const struct cn_hpc_damage *damage)
{
    self_of(db)->maps = *maps;
    if (damage->trace.kind != CN_ERR_NONE) {
        db->has_timelines = true;
        self_of(db)->values.trace_damage = damage->trace;
    }
}
