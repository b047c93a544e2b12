/* A tree of groups of contexts, from which the flat and the bottom-up view are made.
 *
 * A row is one group: it has a subject (function, loop, line, ...) and a parent row. Building
 * goes over all contexts once, parents first; for each, `map` says for which rows it counts.
 * A row's total cost counts a context only while no other context of the same row is on
 * the path above it: recursion is counted once. The tree itself has no numbers: any number
 * of views, each with columns of its own, can be made on it.
 * Threads: one thread builds it; a finished tree is immutable and shareable.
 */
#ifndef CN_ANALYZE_VIEWS_COST_TREE_H
#define CN_ANALYZE_VIEWS_COST_TREE_H

#include "analyze/views/context_index.h"
#include "analyze/views/costs.h"
#include "analyze/views/view.h"
#include "base/map.h"

/* What a row stands for; fields that do not apply are CN_NONE or 0. */
struct cn_row_subject {
    enum cn_row_kind kind;
    uint32_t function;
    uint32_t file, line;
    uint32_t module;
    uint64_t offset;
    uint32_t group; /* enum cn_code_language or, of CN_ROW_WORK, enum cn_code_work */
};

struct cn_cost_group {
    uint32_t parent; /* CN_NONE at the top */
    uint32_t first_child, next_sibling;
    uint32_t node; /* the first of its contexts, in the index */
    uint8_t kind;  /* enum cn_row_kind */
    bool is_known; /* of a function, which one it is; of others, their file */
};

/* A context that counts for a row which is not below the one that it was called from. */
struct cn_cost_fold {
    uint32_t from, to;
    size_t target; /* its total cost goes there */
};

/* A context on the path from the top of the tree to the one being mapped. */
struct cn_cost_frame {
    uint32_t node;
    struct cn_row_subject subject;
    bool is_call;  /* a function that was called, not a loop or line inside one */
    size_t caller; /* the nearest call above: its position in the path + 1, or 0 */
    uint32_t row;  /* for `map` to use: the row under which its lexical children go */
    uint8_t work;  /* for `map` to use */
    size_t rows_at;
};

struct cn_cost_tree {
    struct cn_database *db;
    const struct cn_codes *codes;         /* for `map` to use, and of rows of languages */
    const struct cn_context_index *index; /* its own, or one that outlives the tree */
    struct cn_context_index *own_index;
    uint32_t *row_of_function; /* for `map` to use: CN_NONE until it sets it */
    uint32_t
        *same_function; /* by function: the first one of the same name and location */
    struct cn_names function_keys;
    uint32_t *function_of_key;
    size_t key_capacity;
    struct cn_cost_group *groups;
    size_t group_count, group_capacity;
    struct cn_row_subject
        *subjects; /* by row; NULL: cn_cost_tree_subject() reads them again */
    size_t subject_capacity;
    uint32_t *active; /* by row: how many of its contexts are on the path */
    size_t count_capacity;
    uint32_t first_top; /* the newest row without a parent */
    struct cn_map rows; /* by hash of (parent, subject) */
    struct cn_cost_frame *path;
    size_t depth, path_capacity;
    uint32_t *active_rows; /* of the contexts on the path */
    size_t active_count, active_capacity;
    uint32_t *start; /* what each node counts for: see struct cn_cost_targets */
    struct cn_cost_target *targets;
    size_t target_count, target_capacity;
    struct cn_cost_fold *folds;
    size_t fold_count, fold_capacity;
};

/* Called for each context with tree->path[tree->depth - 1] describing it: finds or makes
 * rows with cn_cost_tree_row() and counts the context for them with cn_cost_tree_count(). */
typedef bool (*cn_cost_map)(void *arg, struct cn_cost_tree *tree, struct cn_error *err);

/* Build the tree, which is zeroed but for its codes; `index` is NULL or one of the same database, which spares making one. After
 * a failure the tree has what could be read; release it in any case. */
CN_CHECK bool cn_cost_tree_build(struct cn_cost_tree *tree, struct cn_database *db,
                                 const struct cn_context_index *index, cn_cost_map map,
                                 void *arg, const struct cn_progress *progress,
                                 struct cn_error *err);

/* The language of a subject that is code, by the codes of the tree. */
uint32_t cn_cost_tree_language(const struct cn_cost_tree *tree,
                               const struct cn_row_subject *subject);
void cn_cost_tree_done(struct cn_cost_tree *tree);

/* Memory in bytes. */
uint64_t cn_cost_tree_size(const struct cn_cost_tree *tree);

/* For `map`: the row of a subject under a parent row (CN_NONE: at the top), made when new. */
uint32_t cn_cost_tree_row(struct cn_cost_tree *tree, uint32_t parent,
                          const struct cn_row_subject *subject);

/* For `map`: the context at the end of the path counts for this row. */
void cn_cost_tree_count(struct cn_cost_tree *tree, uint32_t row);

/* For `map`, instead: the context counts for this row, and `from` is the row of its parent
 * (CN_NONE: it has none), so that rows contain what the rows below them contain. Where `row` is not
 * right below `from`, what the context holds counts for the rows above `row`, and no longer for
 * `from` and those above. Only for columns that are sums over threads. */
void cn_cost_tree_count_from(struct cn_cost_tree *tree, uint32_t from, uint32_t row);

/* Of cost_folds.c: give what was folded to the rows it counts for; rows beyond the groups
 * are those of the folds. */
void cn_cost_tree_unfold(const struct cn_cost_tree *tree, const struct cn_costs *costs,
                         struct cn_cost_rows *rows);

/* What a row stands for. */
CN_CHECK bool cn_cost_tree_subject(const struct cn_cost_tree *tree, uint64_t row,
                                   struct cn_row_subject *out, struct cn_error *err);

/* The module and the file of the function of a subject, or of the subject itself. */
CN_CHECK bool cn_row_subject_locate(struct cn_database *db,
                                    const struct cn_row_subject *subject,
                                    uint32_t *module, uint32_t *file,
                                    struct cn_error *err);

/* A subject with nothing in it but its kind. */
struct cn_row_subject cn_row_subject_of_kind(enum cn_row_kind kind);

/* A view from known costs of contexts. The tree outlives it. */
struct cn_view *cn_cost_tree_view_known(const struct cn_cost_tree *tree,
                                        struct cn_costs *costs,
                                        const struct cn_context_costs *known);

/* A view with the numbers of `costs`, filled in one pass, that takes the tree over, and gives
 * back what only more views would need. `is_built` is what building it said. On failure the
 * view holds what could be read. */
CN_CHECK bool cn_cost_tree_view_take(struct cn_view **out, struct cn_cost_tree *tree,
                                     struct cn_costs *costs, bool is_built,
                                     const struct cn_progress *progress,
                                     struct cn_error *err);

/* A shape of such a tree, whose views are filled in one pass; see view.h. The subject
 * of each row that `map` makes is that of the context at the end of the path, or the module, file or
 * language of that context: it is not stored. `codes` may be NULL, and outlive the shape. */
CN_CHECK bool cn_cost_tree_shape_new(struct cn_view_shape **out, struct cn_database *db,
                                     const struct cn_codes *codes,
                                     const struct cn_context_index *index,
                                     cn_cost_map map, const struct cn_progress *progress,
                                     struct cn_error *err);

/* The rows of such a view; parents have smaller numbers than their children. */
const struct cn_cost_group *cn_cost_tree_view_groups(const struct cn_view *view,
                                                     size_t *count);

/* What a row of such a view has in one column. */
double cn_cost_tree_view_value(const struct cn_view *view, uint32_t row, size_t column);

/* With percentiles, the calls of one row by duration: as cn_cost_rows_latencies(). */
size_t cn_cost_tree_view_latencies(const struct cn_view *view, uint32_t row,
                                   struct cn_bucket_calls *out);

/* One row of such a view; its values go into `values`, which it borrows. */
struct cn_row cn_cost_tree_view_row(const struct cn_view *view, uint32_t row,
                                    double *values);

#endif
