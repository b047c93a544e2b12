/* A walk over all contexts of a database, parents first, without loading them.
 *
 * Work is linear in the size of the tree: on a damaged file whose child lists overlap or
 * form a cycle, the walk fails as soon as it has seen more than the file contains.
 * Threads: one thread at a time.
 */
#ifndef CN_MODEL_CONTEXTS_WALK_H
#define CN_MODEL_CONTEXTS_WALK_H

#include "model/contexts/database.h"

struct cn_walk_frame {
    struct cn_context context;
    struct cn_context_cursor children;
};

struct cn_walk {
    struct cn_database *db;
    struct cn_walk_frame *stack; /* the path to the current context */
    size_t depth, capacity;      /* contexts on the path */
    uint64_t seen, forgotten;    /* sizes of the lists so far, and at the last forget */
    struct cn_context_cursor entries;
    bool is_leaving;
};

enum cn_walk_event { CN_WALK_ENTER, CN_WALK_LEAVE };

CN_CHECK bool cn_walk_begin(struct cn_walk *walk, struct cn_database *db,
                            struct cn_error *err);

/* The next event: each context is entered once and, after its descendants, left once.
 * `*out` is valid until the next call. */
CN_CHECK enum cn_step cn_walk_next(struct cn_walk *walk, enum cn_walk_event *event,
                                   const struct cn_context **out, struct cn_error *err);

/* The current path: 0 is the entry point, depth - 1 the current context. */
static inline const struct cn_context *cn_walk_path(const struct cn_walk *walk, size_t i)
{
    return &walk->stack[i].context;
}

void cn_walk_done(struct cn_walk *walk);

#endif
