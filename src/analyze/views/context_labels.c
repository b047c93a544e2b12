#include "analyze/views/context_labels.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/labels/context.h"

/* Labels that were found before, by what they are made of: spares putting the same text
 * together again. */
struct labels_builder {
    struct cn_context_labels *labels;
    struct cn_database *db;
    struct cn_map functions, inlined, lines, loops;
    struct cn_text text;
};

/* Where the label of a context is remembered; NULL: nowhere. */
static struct cn_map *map_of(struct labels_builder *b, const struct cn_context *context,
                             uint64_t *key)
{
    if (context->kind == CN_CONTEXT_FUNCTION && context->has_function) {
        *key = context->function;
        return context->relation == CN_INLINED_CALL ? &b->inlined : &b->functions;
    }
    if ((context->kind != CN_CONTEXT_LINE && context->kind != CN_CONTEXT_LOOP) ||
        context->has_function || !context->has_source)
        return NULL;
    *key = (uint64_t)context->file << 32 | context->line;
    return context->kind == CN_CONTEXT_LINE ? &b->lines : &b->loops;
}

static bool add_node(struct labels_builder *b, const struct cn_context *context,
                     uint32_t *out, struct cn_error *err)
{
    uint64_t key = 0;
    struct cn_map *map = map_of(b, context, &key);
    uint32_t *known = map ? cn_map_at(map, key, CN_NONE) : NULL;

    if (known && *known != CN_NONE) {
        *out = *known;
        return true;
    }
    cn_text_clear(&b->text);
    if (!cn_label_context(b->db, context, &b->text, err))
        return false;
    *out = cn_names_add(&b->labels->names, cn_text_str(&b->text));
    if (known)
        *known = *out;
    return true;
}

bool cn_context_labels_build(struct cn_context_labels *out, struct cn_database *db,
                             const struct cn_context_index *index,
                             const struct cn_progress *progress, struct cn_error *err)
{
    enum { REPORT_EVERY = 1 << 16 };
    struct cn_context_labels labels = {
        .of_node = cn_alloc(index->count, sizeof(*labels.of_node)),
    };
    struct labels_builder b = {.labels = &labels, .db = db};
    bool ok = true;

    for (size_t i = 0; ok && i < index->count; i++) {
        struct cn_context context;

        ok = cn_context_at(db, index->nodes[i].at, &context, err) &&
             add_node(&b, &context, &labels.of_node[i], err) &&
             (i % REPORT_EVERY != 0 || cn_progress_report(progress, "reading labels", i,
                                                          index->count, "contexts", err));
    }
    cn_map_done(&b.functions);
    cn_map_done(&b.inlined);
    cn_map_done(&b.lines);
    cn_map_done(&b.loops);
    cn_text_done(&b.text);
    if (!ok) {
        cn_context_labels_done(&labels);
        return false;
    }
    cn_names_finish(&labels.names);
    *out = labels;
    return true;
}

void cn_context_labels_done(struct cn_context_labels *labels)
{
    cn_names_done(&labels->names);
    free(labels->of_node);
    *labels = (struct cn_context_labels){0};
}
