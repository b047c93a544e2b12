#include "analyze/views/context_index.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/walk.h"

static void add_node(struct cn_context_index *index, const struct cn_walk *walk,
                     uint32_t *path, const struct cn_context *context)
{
    uint32_t node = (uint32_t)index->count;

    CN_PUSH(index->nodes, index->count, index->capacity,
            (struct cn_context_node){
                .at = context->at,
                .id = context->id,
                .parent = walk->depth > 1 ? path[walk->depth - 2] : CN_NONE,
            });
    path[walk->depth - 1] = node;
}

static bool collect(struct cn_context_index *index, struct cn_walk *walk,
                    struct cn_error *err)
{
    uint32_t *path = NULL; /* the nodes of the contexts on the walk's path */
    size_t path_capacity = 0;
    const struct cn_context *context;
    enum cn_walk_event event;
    enum cn_step step;

    while ((step = cn_walk_next(walk, &event, &context, err)) == CN_ITEM) {
        if (event != CN_WALK_ENTER)
            continue;
        CN_GROW(path, walk->depth, path_capacity);
        add_node(index, walk, path, context);
    }
    free(path);
    return step == CN_END;
}

/* The first of the contexts with the same id has the values. */
static bool number_ids(struct cn_context_index *index, struct cn_error *err)
{
    size_t limit = index->count * CN_CONTEXT_ID_SPREAD + CN_CONTEXT_ID_SLACK;
    uint32_t max = 0;
    bool ok = true;

    for (size_t i = 0; i < index->count; i++)
        if (index->nodes[i].id > max)
            max = index->nodes[i].id;
    if (max >= limit)
        return cn_fail(err, CN_ERR_LIMIT,
                       "context id %" PRIu32 " is out of proportion to %zu contexts", max,
                       index->count);
    index->id_limit = (size_t)max + 1;
    index->node_of_id = cn_alloc(index->id_limit, sizeof(*index->node_of_id));
    memset(index->node_of_id, 0xff, index->id_limit * sizeof(*index->node_of_id));
    for (size_t i = 0; i < index->count; i++) {
        uint32_t *node = &index->node_of_id[index->nodes[i].id];

        if (*node == CN_NONE)
            *node = (uint32_t)i;
        else if (ok)
            ok = cn_fail(err, CN_ERR_FORMAT, "context id %" PRIu32 " occurs twice",
                         index->nodes[i].id);
    }
    return ok;
}

bool cn_context_index_build(struct cn_context_index *index, struct cn_database *db,
                            struct cn_error *err)
{
    struct cn_walk walk;
    struct cn_error ids_err;

    *index = (struct cn_context_index){0};
    bool ok = cn_walk_begin(&walk, db, err) && collect(index, &walk, err);
    cn_walk_done(&walk);
    if (index->count > 0) {
        index->nodes = cn_realloc(index->nodes, index->count, sizeof(*index->nodes));
        index->capacity = index->count;
    }
    if (!number_ids(index, ok ? err : &ids_err))
        return cn_contexts_fail_in(db, ok ? err : &ids_err);
    return ok;
}

void cn_context_index_done(struct cn_context_index *index)
{
    free(index->nodes);
    free(index->node_of_id);
    *index = (struct cn_context_index){0};
}
