/* What the files of a database with a lens share: its tree and where its values come from.
 * Threads: as database.h.
 */
#ifndef CN_ANALYZE_LENS_INTERNAL_H
#define CN_ANALYZE_LENS_INTERNAL_H

#include "analyze/lens/code.h"
#include "analyze/lens/database.h"
#include "analyze/lens/lens.h"
#include "base/tree.h"
#include "model/contexts/database_overlay.h"

/* Of target_of_id: a context that is removed. CN_NONE: no record describes it. */
#define CN_LENS_REMOVED (CN_NONE - 1)

struct cn_lens_node {
    uint64_t at; /* of the first of its contexts, which has this `id` */
    uint32_t id;
    uint32_t function;    /* that stands for a library; CN_NONE: that of the context */
    uint32_t child_count; /* that are listed */
    bool is_loop;
    bool is_call;   /* or an entry: nothing contains it without a call */
    bool is_hidden; /* the entry of what has no shown caller */
    bool is_listed;
};

/* What happens to values, by their ids. */
struct cn_lens_ids {
    uint8_t parts[UINT16_MAX + 1];    /* enum cn_lens_part; 0: left out */
    uint8_t combines[UINT16_MAX + 1]; /* enum cn_combine */
    uint16_t slots[UINT16_MAX + 1];   /* index in the list */
    uint16_t *list;                   /* those that are not left out, ascending */
    size_t count;
};

struct cn_lens_database {
    struct cn_database_overlay overlay; /* first: operations receive a pointer to it */
    struct cn_database_ops ops;

    struct cn_tree tree; /* 0 is the global context */
    struct cn_lens_node *nodes;
    uint32_t *start; /* by node: its sources */
    struct cn_lens_source *sources;
    struct cn_lens_transfer *transfers; /* by dfs_begin of their nodes */
    size_t transfer_count;
    struct cn_map transfer_of;     /* by context: 1 + the first of them */
    uint32_t *transfer_next;       /* 1 + the next one of the same context */
    uint32_t *dfs_begin, *dfs_end; /* by node; NULL without transfers */

    uint32_t *node_of_id;   /* of contexts of the lens, or CN_NONE */
    uint32_t *target_of_id; /* of contexts of the whole: a node, or as above */
    uint8_t *parts_of_id;   /* what counts there */
    size_t id_limit;

    struct cn_lens_ids ids[2]; /* of threads, of summaries */

    /* The sums over threads of nodes with many sources. */
    struct cn_map heavy_of; /* by node: index into the next */
    size_t *heavy_start;
    struct cn_value *heavy_values;
    size_t heavy_count, heavy_capacity, heavy_value_count, heavy_value_capacity;

    struct cn_function *functions; /* that stand for libraries */
    size_t function_count, function_capacity;
    struct cn_codes codes;
    uint64_t match_counts[CN_LENS_RULE_MAX];
};

static inline struct cn_lens_database *cn_lens_self(const struct cn_database *db)
{
    return (struct cn_lens_database *)(uintptr_t)db;
}

/* The node that contains `node` without a call, and what of a cost that moved to `node` counts
 * there; 0: none does. `*has_loop` is false at first. */
static inline uint32_t cn_lens_around(const struct cn_lens_database *self, uint32_t node,
                                      bool *has_loop, unsigned *parts)
{
    if (self->nodes[node].is_call)
        return 0;
    *has_loop |= self->nodes[node].is_loop;
    node = self->tree.links[node].parent;
    *parts = CN_LENS_SELF;
    if (!*has_loop || !self->nodes[node].is_loop)
        *parts |= CN_LENS_OWN_LOOP;
    return node;
}

/* Build the tree of a database whose overlay and codes are set. */
CN_CHECK bool cn_lens_build(struct cn_lens_database *self, const struct cn_lens *lens,
                            const struct cn_progress *progress, struct cn_error *err);

/* Operations on values. */
CN_CHECK bool cn_lens_values_init(struct cn_lens_database *self, struct cn_error *err);
void cn_lens_values_done(struct cn_lens_database *self);
CN_CHECK bool cn_lens_values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                                   struct cn_error *err);
CN_CHECK enum cn_step cn_lens_values_next(struct cn_value_cursor *cursor,
                                          struct cn_value_batch *out,
                                          struct cn_error *err);

#endif
