/* The whole context tree, parents first, without loading it.
 *
 * Work is linear in the size of the tree: a damaged file whose child lists overlap or form
 * a cycle fails as soon as more has been seen than the file can hold.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_CONTEXTS_WALK_H
#define CN_MODEL_CONTEXTS_WALK_H

#include "model/contexts/database.h"

/* How much of the context tree was seen. Whoever lists children adds each list's size. */
struct cn_walk_weight {
    uint64_t seen, forgotten;
};

/* Count one list of `db`; fails when more was seen than the tree can hold, which means that
 * lists overlap or form a cycle. Now and then gives pages back. */
CN_CHECK bool cn_walk_weigh(struct cn_walk_weight *weight, struct cn_database *db,
                            const struct cn_context_cursor *list, struct cn_error *err);

struct cn_walk_frame {
    struct cn_context context;
    struct cn_context_cursor children;
};

struct cn_walk {
    struct cn_database *db;
    struct cn_walk_frame *stack; /* the path to the current context */
    size_t depth, capacity;      /* contexts on the path */
    struct cn_walk_weight weight;
    struct cn_context_cursor entries;
    bool is_leaving;
};

enum cn_walk_event { CN_WALK_ENTER, CN_WALK_LEAVE };

CN_CHECK bool cn_walk_begin(struct cn_walk *walk, struct cn_database *db,
                            struct cn_error *err);

/* The next event; each context is entered once and, after its descendants, left once.
 * `*out` is borrowed until the next call. */
CN_CHECK enum cn_step cn_walk_next(struct cn_walk *walk, enum cn_walk_event *event,
                                   const struct cn_context **out, struct cn_error *err);

/* The path at this moment: 0 is the entry point, depth - 1 the current context. */
static inline const struct cn_context *cn_walk_path(const struct cn_walk *walk, size_t i)
{
    return &walk->stack[i].context;
}

void cn_walk_done(struct cn_walk *walk);

#endif
