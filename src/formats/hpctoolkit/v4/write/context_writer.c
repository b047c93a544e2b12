/* The Context section: children before their parents, the entry points last. */
#include "formats/hpctoolkit/v4/write/writing.h"

#include <inttypes.h>

#include "formats/hpctoolkit/tree_writer.h"
#include "formats/hpctoolkit/values/cct_blocks.h"

enum { CONTEXT_LEN_MAX = cn_hpc_context_size + CN_HPC_FLEX_MAX * CN_HPC_FLEX_WORD };

struct context_writer {
    struct cn_hpc_writing *w;
    struct cn_hpc_meta_layout *layout;
    uint64_t entry_count;
};

static uint8_t *put_word(uint8_t *at, uint64_t word)
{
    cn_u64_put(at, word);
    return at + CN_HPC_FLEX_WORD;
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

static bool add_context(struct cn_hpc_tree_writer *t, struct cn_hpc_level *siblings,
                        const struct cn_context *context, struct cn_hpc_children children,
                        struct cn_error *err)
{
    const struct context_writer *c = t->arg;
    struct cn_hpc_context record = {
        .children_len = children.len,
        .children_off = children.off,
        .context = context->id,
        .relation = context->relation,
        .kind = context->kind,
        .propagation = context->propagation,
    };
    uint8_t bytes[CONTEXT_LEN_MAX];
    struct cn_hpc_says says;
    size_t len;

    if (context->kind == CN_CONTEXT_ENTRY)
        return cn_fail(err, CN_ERR_FORMAT, "an entry point below the top of the tree");
    if (!cn_hpc_tree_says(t, context, &says, err))
        return false;
    record.flags = (uint8_t)((says.has_function ? CN_HPC_HAS_FUNCTION : 0) |
                             (says.has_source ? CN_HPC_HAS_SOURCE : 0) |
                             (says.has_point ? CN_HPC_HAS_POINT : 0));
    len =
        (size_t)(put_flex(bytes + cn_hpc_context_size, c->layout, context, record.flags) -
                 bytes);
    record.flex_count = (uint8_t)((len - cn_hpc_context_size) / CN_HPC_FLEX_WORD);
    cn_hpc_context_encode(&record, bytes);
    memcpy(cn_hpc_level_append(siblings, len), bytes, len);
    return true;
}

static void add_entry(struct context_writer *c, struct cn_hpc_level *siblings,
                      const struct cn_context *entry, struct cn_hpc_children children)
{
    struct cn_hpc_entry record = {
        .children_len = children.len,
        .children_off = children.off,
        .context = entry->id,
        .entry = entry->entry,
        .name_off = cn_hpc_strings_add(&c->layout->strings,
                                       entry->entry_name ? entry->entry_name : ""),
    };

    c->entry_count++;
    cn_hpc_entry_encode(&record, cn_hpc_level_append(siblings, cn_hpc_entry_size));
}

static bool add(struct cn_hpc_tree_writer *t, size_t depth,
                const struct cn_context *context, struct cn_hpc_children children,
                struct cn_error *err)
{
    struct context_writer *c = t->arg;
    struct cn_hpc_level *siblings = &t->levels[depth - 1];

    if (depth == 1)
        add_entry(c, siblings, context, children);
    else if (!add_context(t, siblings, context, children, err))
        return false;
    if (context->id < t->db->context_limit)
        c->w->listed[context->id / 8] |= (uint8_t)(1U << context->id % 8);
    return true;
}

static bool write_tree(struct cn_hpc_tree_writer *t, uint64_t header_off,
                       struct cn_error *err)
{
    struct context_writer *c = t->arg;
    struct cn_hpc_contexts_header header = {.entries_off = header_off,
                                            .entry_len = cn_hpc_entry_size};
    uint8_t bytes[cn_hpc_contexts_header_size];

    if (!cn_hpc_tree_write(t, err) ||
        !cn_hpc_cct_count(t->db, t->context_count, t->largest_id, &c->w->context_count,
                          err))
        return false;
    if (c->entry_count > UINT16_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%" PRIu64 " entry points, can write %d",
                       c->entry_count, UINT16_MAX);
    /* An empty table lies inside its section as well. */
    if (c->entry_count > 0) {
        header.entries_off = t->out->end_off;
        if (!cn_out_write(t->out, t->levels[0].bytes, t->levels[0].len, err))
            return false;
    }
    header.entry_count = (uint16_t)c->entry_count;
    cn_hpc_contexts_header_encode(&header, bytes);
    return cn_out_write_at(t->out, header_off, bytes, sizeof(bytes), err);
}

bool cn_hpc_contexts_write(struct cn_out *out, struct cn_hpc_writing *w,
                           struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    struct context_writer c = {.w = w, .layout = layout};
    struct cn_hpc_tree_writer t = {
        .db = w->db, .out = out, .progress = w->options->progress, .arg = &c, .add = add};
    uint64_t header_off;
    bool ok = cn_out_reserve(out, cn_align_up(cn_hpc_contexts_header_size, 8),
                             &header_off, err) &&
              write_tree(&t, header_off, err);

    cn_hpc_tree_writer_done(&t);
    if (ok) {
        cn_write_lose(w->options, "source lines of contexts that name no file",
                      t.no_file_count);
        cn_write_lose(w->options, "addresses of contexts that name no module",
                      t.no_module_count);
    }
    return ok;
}
