/* All contexts of a database with their parents, for views that jump between contexts.
 *
 * Nodes are numbered in walking order, parents before children. 20 bytes a context; the
 * contexts themselves stay in the database.
 * Threads: immutable after it was built.
 */
#ifndef CN_ANALYZE_VIEWS_CONTEXT_INDEX_H
#define CN_ANALYZE_VIEWS_CONTEXT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/contexts/database.h"

struct cn_context_node {
    uint64_t at;     /* for cn_context_at() */
    uint32_t id;     /* context id */
    uint32_t parent; /* node; CN_NONE for the top of the tree */
};

struct cn_context_index {
    struct cn_context_node *nodes;
    size_t count, capacity;
    uint32_t *node_of_id;
    size_t id_limit; /* of node_of_id */
};

enum {
    /* Writers number contexts that they then leave out, so ids are sparse; but an id out of
     * all proportion to the number of contexts would cost memory for nothing. */
    CN_CONTEXT_ID_SPREAD = 64,
    CN_CONTEXT_ID_SLACK = 1 << 16,
};

/* After a failure the index has the contexts before the damage: it can be used, and must be
 * released in any case. */
CN_CHECK bool cn_context_index_build(struct cn_context_index *index,
                                     struct cn_database *db, struct cn_error *err);

/* The node of a context id, or CN_NONE when no record describes it. */
static inline uint32_t cn_context_index_find(const struct cn_context_index *index,
                                             uint32_t id)
{
    return id < index->id_limit ? index->node_of_id[id] : CN_NONE;
}

void cn_context_index_done(struct cn_context_index *index);

#endif
