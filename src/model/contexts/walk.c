#include "model/contexts/walk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

/* After this much of the tree, pages of mapped files are dropped. */
enum { FORGET_EVERY = 16 * 1024 * 1024 };

/* List the entry points, or the children of a context. Fails if more was listed than the
 * tree contains: then lists overlap or form a cycle. */
static bool list(struct cn_walk *walk, const struct cn_context *parent,
                 struct cn_context_cursor *out, struct cn_error *err)
{
    uint64_t limit = walk->db->context_weight;

    if (!cn_context_children(walk->db, parent, out, err))
        return false;
    if (out->size > limit || walk->seen > limit - out->size)
        return cn_fail(err, CN_ERR_FORMAT,
                       "lists of contexts overlap or form a cycle at 0x%" PRIx64
                       ": %" PRIu64 " bytes seen of %" PRIu64,
                       out->at, walk->seen + out->size, limit);
    walk->seen += out->size;
    if (walk->seen - walk->forgotten > FORGET_EVERY) {
        cn_database_forget(walk->db);
        walk->forgotten = walk->seen;
    }
    return true;
}

bool cn_walk_begin(struct cn_walk *walk, struct cn_database *db, struct cn_error *err)
{
    *walk = (struct cn_walk){.db = db};
    return list(walk, NULL, &walk->entries, err);
}

enum cn_step cn_walk_next(struct cn_walk *walk, enum cn_walk_event *event,
                          const struct cn_context **out, struct cn_error *err)
{
    struct cn_walk_frame *top = walk->depth > 0 ? &walk->stack[walk->depth - 1] : NULL;
    struct cn_context_cursor *siblings = &walk->entries;
    struct cn_context next;

    if (walk->is_leaving) {
        walk->is_leaving = false;
        walk->depth--;
    } else if (top && !list(walk, &top->context, &top->children, err)) {
        return CN_FAIL;
    }
    if (walk->depth > 0)
        siblings = &walk->stack[walk->depth - 1].children;
    enum cn_step step = cn_context_next(walk->db, siblings, &next, err);
    if (step == CN_ITEM) {
        CN_GROW(walk->stack, walk->depth, walk->capacity);
        walk->stack[walk->depth++].context = next;
    } else if (step == CN_FAIL || walk->depth == 0) {
        return step;
    }
    walk->is_leaving = step == CN_END;
    *event = walk->is_leaving ? CN_WALK_LEAVE : CN_WALK_ENTER;
    *out = &walk->stack[walk->depth - 1].context;
    return CN_ITEM;
}

void cn_walk_done(struct cn_walk *walk)
{
    free(walk->stack);
    *walk = (struct cn_walk){0};
}
