/* The Context section: children before their parents, the entry points last.
 *
 * The records of siblings are contiguous, and a record says where its children are. So
 * the tree is walked once; a record is complete when its context is left, and goes to the
 * siblings collected so far. When their parent is left, they are written. What is kept is
 * one list of siblings for each level of the current path.
 */
#include "formats/hpctoolkit/v4/write/meta_writer.h"

#include <inttypes.h>

#include "base/run/progress.h"
#include "formats/hpctoolkit/levels.h"
#include "model/contexts/walk.h"

enum { CONTEXT_LEN_MAX = cn_hpc_context_size + CN_HPC_FLEX_MAX * CN_HPC_FLEX_WORD };

struct tree_writer {
    struct cn_out *out;
    struct cn_hpc_writing *w;
    struct cn_hpc_meta_layout *layout;
    struct cn_hpc_levels levels; /* entry points at 0 */
    uint64_t context_count;      /* written */
    uint64_t entry_count;
    uint32_t largest_id;
    uint64_t no_file_count, no_module_count; /* dropped references */
};

static uint8_t *put_word(uint8_t *at, uint64_t word)
{
    cn_u64_put(at, word);
    return at + CN_HPC_FLEX_WORD;
}

static bool check_index(uint32_t index, uint32_t count, const char *what,
                        struct cn_error *err)
{
    if (index < count)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "refers to %s %" PRIu32 ", but there are %" PRIu32,
                   what, index, count);
}

/* What the record will say. A place without a file or module says nothing that a reader
 * could show: it is left out. */
static bool find_flags(struct tree_writer *t, const struct cn_context *context,
                       uint8_t *flags, struct cn_error *err)
{
    const struct cn_database *db = t->w->db;
    bool has_source = context->has_source && context->file != CN_NONE;
    bool has_point = context->has_point && context->module != CN_NONE;
    bool has_function = context->has_function && context->function != CN_NONE;

    if ((has_function &&
         !check_index(context->function, db->function_count, "function", err)) ||
        (has_source && !check_index(context->file, db->file_count, "file", err)) ||
        (has_point && !check_index(context->module, db->module_count, "module", err)))
        return false;
    t->no_file_count += context->has_source && !has_source;
    t->no_module_count += context->has_point && !has_point;
    *flags = (uint8_t)((has_function ? CN_HPC_HAS_FUNCTION : 0) |
                       (has_source ? CN_HPC_HAS_SOURCE : 0) |
                       (has_point ? CN_HPC_HAS_POINT : 0));
    return true;
}

static uint8_t *put_flex(uint8_t *at, const struct cn_hpc_meta_layout *layout,
                         const struct cn_context *context, uint8_t flags)
{
    if (flags & CN_HPC_HAS_FUNCTION)
        at = put_word(at, layout->functions_off +
                              (uint64_t)context->function * cn_hpc_function_size);
    if (flags & CN_HPC_HAS_SOURCE) {
        at = put_word(at, layout->files_off +
                              (uint64_t)context->file * cn_hpc_source_file_size);
        at = put_word(at, context->line);
    }
    if (flags & CN_HPC_HAS_POINT) {
        at = put_word(at, layout->modules_off +
                              (uint64_t)context->module * cn_hpc_module_size);
        at = put_word(at, context->offset);
    }
    return at;
}

static bool add_context(struct tree_writer *t, struct cn_hpc_level *siblings,
                        const struct cn_context *context,
                        const struct cn_hpc_section *children, struct cn_error *err)
{
    struct cn_hpc_context record = {
        .children_len = children->len,
        .children_off = children->off,
        .context = context->id,
        .relation = context->relation,
        .kind = context->kind,
        .propagation = context->propagation,
    };
    uint8_t bytes[CONTEXT_LEN_MAX];
    size_t len;

    if (context->kind == CN_CONTEXT_ENTRY)
        return cn_fail(err, CN_ERR_FORMAT, "an entry point below the top of the tree");
    if (!find_flags(t, context, &record.flags, err))
        return false;
    len =
        (size_t)(put_flex(bytes + cn_hpc_context_size, t->layout, context, record.flags) -
                 bytes);
    record.flex_count = (uint8_t)((len - cn_hpc_context_size) / CN_HPC_FLEX_WORD);
    cn_hpc_context_encode(&record, bytes);
    memcpy(cn_hpc_level_append(siblings, len), bytes, len);
    return true;
}

static void add_entry(struct tree_writer *t, struct cn_hpc_level *siblings,
                      const struct cn_context *entry,
                      const struct cn_hpc_section *children)
{
    struct cn_hpc_entry record = {
        .children_len = children->len,
        .children_off = children->off,
        .context = entry->id,
        .entry = entry->entry,
        .name_off = cn_hpc_strings_add(&t->layout->strings,
                                       entry->entry_name ? entry->entry_name : ""),
    };

    t->entry_count++;
    cn_hpc_entry_encode(&record, cn_hpc_level_append(siblings, cn_hpc_entry_size));
}

static bool leave(struct tree_writer *t, size_t depth, const struct cn_context *context,
                  struct cn_error *err)
{
    struct cn_hpc_section children;
    struct cn_hpc_level *siblings;

    cn_hpc_levels_make(&t->levels, depth + 1);
    if (context->id == 0)
        return cn_fail(err, CN_ERR_FORMAT, "context id 0 belongs to the global context");
    if (!cn_hpc_level_write(&t->levels.list[depth], t->out, &children.len, &children.off,
                            err))
        return false;
    siblings = &t->levels.list[depth - 1];
    if (depth == 1)
        add_entry(t, siblings, context, &children);
    else if (!add_context(t, siblings, context, &children, err))
        return cn_fail_in(err, "context %" PRIu32, context->id);
    if (context->id > t->largest_id)
        t->largest_id = context->id;
    if (context->id < t->w->db->context_limit)
        t->w->listed[context->id / 8] |= (uint8_t)(1U << context->id % 8);
    t->context_count++;
    return true;
}

static bool walk_tree(struct tree_writer *t, struct cn_walk *walk, struct cn_error *err)
{
    enum { REPORT_EVERY = 1 << 15 };
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step;

    while ((step = cn_walk_next(walk, &event, &context, err)) == CN_ITEM) {
        if (event != CN_WALK_LEAVE)
            continue;
        if (!leave(t, walk->depth, context, err))
            return false;
        if (t->context_count % REPORT_EVERY == 0 &&
            !cn_progress_report(t->w->options->progress, "writing meta.db",
                                t->context_count, t->w->db->context_limit, "contexts",
                                err))
            return false;
    }
    return step == CN_END;
}

/* cct.db has a record for every id below the largest, used or not. */
static bool check_ids(struct tree_writer *t, struct cn_error *err)
{
    uint64_t known = t->context_count;
    uint64_t count = (uint64_t)t->largest_id + 1;

    if (count < t->w->db->context_limit)
        count = t->w->db->context_limit;
    for (uint32_t i = 0; i < t->w->db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(t->w->db, i, &profile, err))
            return false;
        known += profile.context_count;
    }
    if (count > UINT32_MAX || count / CN_HPC_ID_SPREAD_MAX > known)
        return cn_fail(err, CN_ERR_LIMIT,
                       "context ids up to %" PRIu64 " for %" PRIu64 " contexts",
                       count - 1, known);
    t->w->context_count = (uint32_t)count;
    return true;
}

static bool write_tree(struct tree_writer *t, uint64_t header_off, struct cn_error *err)
{
    struct cn_hpc_contexts_header header = {.entry_len = cn_hpc_entry_size};
    uint8_t bytes[cn_hpc_contexts_header_size];
    struct cn_hpc_section entries;
    struct cn_walk walk = {0};
    bool ok = cn_walk_begin(&walk, t->w->db, err) && walk_tree(t, &walk, err);

    cn_walk_done(&walk);
    if (!ok || !check_ids(t, err) ||
        !cn_hpc_level_write(&t->levels.list[0], t->out, &entries.len, &entries.off, err))
        return false;
    if (t->entry_count > UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%" PRIu64 " entry points, can write %d",
                       t->entry_count, UINT16_MAX);
    /* An empty table lies inside its section, too. */
    header.entries_off = t->entry_count > 0 ? entries.off : header_off;
    header.entry_count = (uint16_t)t->entry_count;
    cn_hpc_contexts_header_encode(&header, bytes);
    return cn_out_write_at(t->out, header_off, bytes, sizeof(bytes), err);
}

bool cn_hpc_contexts_write(struct cn_out *out, struct cn_hpc_writing *w,
                           struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    struct tree_writer t = {.out = out, .w = w, .layout = layout};
    uint64_t header_off;
    bool ok;

    cn_hpc_levels_make(&t.levels, 1);
    ok = cn_out_reserve(out, cn_align_up(cn_hpc_contexts_header_size, 8), &header_off,
                        err) &&
         write_tree(&t, header_off, err);
    cn_hpc_levels_done(&t.levels);
    if (ok) {
        cn_write_lose(w->options, "source lines of contexts that name no file",
                      t.no_file_count);
        cn_write_lose(w->options, "addresses of contexts that name no module",
                      t.no_module_count);
    }
    return ok;
}
