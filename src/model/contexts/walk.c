#include "model/contexts/walk.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"

/* After this much of the tree, pages that were read are given back. */
enum { FORGET_EVERY = 16 * 1024 * 1024 };

bool cn_walk_weigh(struct cn_walk_weight *weight, struct cn_database *db,
                   const struct cn_context_cursor *list, struct cn_error *err)
{
    uint64_t limit = db->context_weight;

    if (list->size > limit || weight->seen > limit - list->size)
        return cn_fail(err, CN_ERR_FORMAT,
                       "lists of contexts overlap or form a cycle at 0x%" PRIx64
                       ": %" PRIu64 " bytes seen of %" PRIu64,
                       list->at, weight->seen + list->size, limit);
    weight->seen += list->size;
    if (weight->seen - weight->forgotten > FORGET_EVERY) {
        cn_database_forget(db);
        weight->forgotten = weight->seen;
    }
    return true;
}

bool cn_walk_begin(struct cn_walk *walk, struct cn_database *db, struct cn_error *err)
{
    *walk = (struct cn_walk){.db = db};
    return cn_context_children(db, NULL, &walk->entries, err) &&
           cn_walk_weigh(&walk->weight, db, &walk->entries, err);
}

static bool descend(struct cn_walk *walk, struct cn_walk_frame *top, struct cn_error *err)
{
    return cn_context_children(walk->db, &top->context, &top->children, err) &&
           cn_walk_weigh(&walk->weight, walk->db, &top->children, err);
}

enum cn_step cn_walk_next(struct cn_walk *walk, enum cn_walk_event *event,
                          const struct cn_context **out, struct cn_error *err)
{
    struct cn_context_cursor *siblings = &walk->entries;
    struct cn_context next;
    enum cn_step step = CN_END;

    if (walk->is_leaving) {
        walk->is_leaving = false;
        walk->depth--;
    } else if (walk->depth > 0 && !descend(walk, &walk->stack[walk->depth - 1], err)) {
        return CN_FAIL;
    }
    if (walk->depth > 0)
        siblings = &walk->stack[walk->depth - 1].children;
    step = cn_context_next(walk->db, siblings, &next, err);
    if (step == CN_ITEM) {
        walk->stack =
            cn_grow(walk->stack, walk->depth, &walk->capacity, sizeof(*walk->stack));
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
