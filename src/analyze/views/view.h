/* A view: a tree of rows, top-down, bottom-up or flat.
 *
 * Every view lists the children of a row on demand, with the values of the columns, so that
 * one printer (or one browser table) serves all of them. A row is named by a number that
 * belongs to its view.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_VIEW_H
#define CN_ANALYZE_VIEWS_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/lens/code.h"
#include "analyze/views/costs.h"
#include "base/text.h"

/* What a row stands for. */
enum cn_row_kind {
    CN_ROW_ENTRY,
    CN_ROW_WORK,
    CN_ROW_LANGUAGE,
    CN_ROW_MODULE,
    CN_ROW_FILE,
    CN_ROW_FUNCTION,
    CN_ROW_LOOP,
    CN_ROW_LINE,
    CN_ROW_INSTRUCTION,
    CN_ROW_OTHER,
};

const char *cn_row_kind_name(enum cn_row_kind kind); /* "function" */
enum cn_row_kind cn_row_kind_of(const struct cn_context *context);

struct cn_row {
    uint64_t id; /* the view's own; ascending in the order of first occurrence */
    enum cn_row_kind kind;
    uint32_t context;     /* context id; CN_NONE when it stands for many */
    uint64_t example;     /* one of its contexts, for cn_context_at() */
    const double *values; /* one a column, NAN where there is none */
};

/* Where code is: paths as the database has them, NULL and 0 where unknown. */
struct cn_location {
    const char *module, *file;
    uint32_t line;
};

/* The children of one row. Grows as needed; released with cn_row_list_done(). */
struct cn_row_list {
    struct cn_row *rows;
    double *values; /* [row][column] */
    size_t count, capacity;
    size_t column_count;
    uint64_t weight; /* of the list as the view's weight_limit counts */
};

struct cn_view {
    const struct cn_view_ops *ops;
    struct cn_costs *costs;
    /* The limit of the weight of all lists of rows: more means that lists of a damaged file
     * overlap or form a cycle. */
    uint64_t weight_limit;
    /* The ids of rows are below this; UINT64_MAX: the database checks them. */
    uint64_t row_limit;
    bool self_includes_below; /* the self cost of a row includes that of the rows below */
    bool hides_empty;         /* rows without a value are not listed */
    const struct cn_codes *codes; /* of the functions; NULL: unknown. Set by the owner */
};

/* Counts lists against their view's limit: a walk that adds each list it gets ends,
 * whatever the file says. */
CN_CHECK bool cn_view_weigh(const struct cn_view *view, const struct cn_row_list *list,
                            uint64_t *seen, struct cn_error *err);

/* A row that is found again among its last so many ancestors is below itself: walks
 * stop there, and look no further back, so that deep trees cost no more. Longer
 * cycles run into the limit above. */
enum { CN_VIEW_LOOK_BACK = 256 };

bool cn_view_fail_cycle(const struct cn_row *row, struct cn_error *err);

struct cn_view_ops {
    /* The rows below `parent`, or the top rows when it is NULL, in no particular order. */
    bool (*children)(struct cn_view *view, const struct cn_row *parent,
                     struct cn_row_list *out, struct cn_error *err);
    /* Append the row's label. */
    bool (*label)(struct cn_view *view, const struct cn_row *row, struct cn_text *text,
                  struct cn_error *err);
    /* Where the row's code is. */
    bool (*location)(struct cn_view *view, const struct cn_row *row,
                     struct cn_location *out, struct cn_error *err);
    /* True if there are no rows below it. */
    bool (*is_leaf)(struct cn_view *view, const struct cn_row *row);
    void (*free)(struct cn_view *view);
    uint64_t (*size)(const struct cn_view *view);
};

/* The calling contexts themselves, top-down; read from the database as rows are asked for. */
struct cn_view *cn_view_top_down_new(struct cn_costs *costs);

/* The next ones read all contexts when they are made. A failure leaves a view of what could
 * be read: it is shown, and freed, either way.
 *
 * Functions at the top, below each its callers, their callers and so on up to
 * `depth_max` levels. A row counts each moment once, however often the function is on the
 * stack: recursion does not multiply total costs. */
CN_CHECK bool cn_view_bottom_up_new(struct cn_view **out, struct cn_costs *costs,
                                    size_t depth_max, const struct cn_progress *progress,
                                    struct cn_error *err);

/* The same rows, to any depth, for databases of any size: the callers of a row are found
 * when its children are asked for. Ids of rows are given as rows are listed. Only for columns
 * that are sums over threads. */
CN_CHECK bool cn_view_callers_new(struct cn_view **out, struct cn_costs *costs,
                                  const struct cn_progress *progress,
                                  struct cn_error *err);

/* The row of the function that a context belongs to, in such a view. CN_ERR_NOT_FOUND when
 * it belongs to none. `values` has room for all columns, and is borrowed by the row. */
CN_CHECK bool cn_view_function_of(struct cn_view *callers,
                                  const struct cn_context *context, double *values,
                                  struct cn_row *out, struct cn_error *err);

/* Of such a view with percentiles: the calls of a function, a top row, by duration. Fills `out`,
 * which has room for costs->latency_count buckets, and returns how many have calls. */
size_t cn_view_function_latencies(const struct cn_view *callers,
                                  const struct cn_row *function,
                                  struct cn_bucket_calls *out);

/* The functions that a function calls, wherever it is called itself, in such a view, with
 * what they cost when called by it; their ids are those of top rows. Release with
 * cn_row_list_done(). */
void cn_view_callees(struct cn_view *callers, const struct cn_row *function,
                     struct cn_row_list *out);

/* Call paths from a function, wherever it is called, in such a view: calls along the same path are
 * one row. A row counts each moment once, and at least what the rows next to it on longer paths
 * count together. */
struct cn_path_tree {
    struct cn_row_list rows; /* the first is the function; ids are those of top rows */
    uint32_t
        *nearer; /* by row: the next one on the path to the function, a smaller number;
                       * CN_NONE for the first */
};

/* What the function calls, what that calls and so on. */

void cn_view_callee_tree(struct cn_view *callers, const struct cn_row *function,
                         struct cn_path_tree *out);

/* What calls the function, what calls that and so on, with the cost of the function. Of recursive
 * calls, the outermost one has the callers: what the others are called by is below it. */
void cn_view_caller_tree(struct cn_view *callers, const struct cn_row *function,
                         struct cn_path_tree *out);
void cn_path_tree_done(struct cn_path_tree *tree); /* a zeroed one is fine */

/* Module > file > function > loop > line, whatever the calling context. Counts recursion
 * once, as above. */
CN_CHECK bool cn_view_flat_new(struct cn_view **out, struct cn_costs *costs,
                               const struct cn_progress *progress, struct cn_error *err);

/* The same with functions by their language: language > function > loop > line. `codes` outlive the
 * view; NULL: no language is known. */
CN_CHECK bool cn_view_languages_new(struct cn_view **out, struct cn_costs *costs,
                                    const struct cn_codes *codes,
                                    const struct cn_progress *progress,
                                    struct cn_error *err);

/* The calling contexts top-down, below what their paths are for: each begins with the function that says
 * it, and counts there alone, so that the rows at the top add up to the whole. Entries are not shown.
 * Only for columns that are sums over threads. */
CN_CHECK bool cn_view_works_new(struct cn_view **out, struct cn_costs *costs,
                                const struct cn_codes *codes,
                                const struct cn_progress *progress, struct cn_error *err);

/* The rows of a view without numbers: which there are, and what counts for each. Costs a pass over all contexts once, for any number of views with other columns.
 * Immutable after it was made; outlives its views. */
struct cn_view_shape {
    bool (*make)(const struct cn_view_shape *shape, struct cn_view **out,
                 struct cn_costs *costs, const struct cn_progress *progress,
                 struct cn_error *err);
    void (*free)(struct cn_view_shape *shape);
};

/* `index` is of the same database and outlives the shape. On failure nothing is left to
 * release. */
CN_CHECK bool cn_view_shape_callers_new(struct cn_view_shape **out,
                                        struct cn_database *db,
                                        const struct cn_context_index *index,
                                        const struct cn_progress *progress,
                                        struct cn_error *err);

/* The same of such a shape: the number of the row. */
CN_CHECK bool cn_view_shape_function(const struct cn_view_shape *callers,
                                     uint32_t context, uint32_t *row,
                                     struct cn_error *err);

CN_CHECK bool cn_view_shape_flat_new(struct cn_view_shape **out, struct cn_database *db,
                                     const struct cn_context_index *index,
                                     const struct cn_progress *progress,
                                     struct cn_error *err);

CN_CHECK bool cn_view_shape_languages_new(struct cn_view_shape **out,
                                          struct cn_database *db,
                                          const struct cn_codes *codes,
                                          const struct cn_context_index *index,
                                          const struct cn_progress *progress,
                                          struct cn_error *err);

/* The calling contexts, top-down, without recursion: a call of a function that is above it
 * in the tree counts for that row, and what it calls in turn goes below that. Every row
 * holds the rows below it: what a folded call takes counts for the row it is folded into, no
 * longer for those that called it. Only for columns that are sums over threads. */
CN_CHECK bool cn_view_shape_collapsed_new(struct cn_view_shape **out,
                                          struct cn_database *db,
                                          const struct cn_context_index *index,
                                          const struct cn_progress *progress,
                                          struct cn_error *err);
void cn_view_shape_free(struct cn_view_shape *shape); /* NULL is fine */

/* A view of a shape: as if it had been made by itself. */
CN_CHECK bool cn_view_of_shape_new(struct cn_view **out,
                                   const struct cn_view_shape *shape,
                                   struct cn_costs *costs,
                                   const struct cn_progress *progress,
                                   struct cn_error *err);

void cn_view_free(struct cn_view *view); /* NULL is fine */

/* Memory in bytes. */
uint64_t cn_view_size(const struct cn_view *view);

/* The code of a context that is a function; NULL of others, and without codes. */
const struct cn_code_class *cn_context_code(const struct cn_codes *codes,
                                            const struct cn_context *context);

/* Whose code a row of a function or a module is, and its language; NULL for other rows, and where
 * it is unknown. */
const struct cn_code_class *cn_view_code(const struct cn_view *view,
                                         const struct cn_row *row);

/* True if the row or a row below it has a value, or if no column includes the rows below:
 * others are not shown. */
bool cn_view_row_has_value(const struct cn_view *view, const struct cn_row *row);

/* For views: add a row and return where its values go, valid until the next addition. */
double *cn_row_list_add(struct cn_row_list *list, struct cn_row row);
void cn_row_list_begin(struct cn_row_list *list, size_t column_count);
void cn_row_list_done(struct cn_row_list *list);

/* Put rows in the order of cn_view_children(). */
void cn_row_list_sort(struct cn_row_list *list, size_t column, bool is_reversed);

/* Children in the order to be shown: by column `column`, largest first (or, when reversed,
 * last), rows without a value at the end; ties by id. */
CN_CHECK bool cn_view_children(struct cn_view *view, const struct cn_row *parent,
                               size_t sort_column, bool is_reversed,
                               struct cn_row_list *out, struct cn_error *err);

/* The same without rows of loops, lines and instructions: the rows below them take their
 * places. */
CN_CHECK bool cn_view_functions(struct cn_view *view, const struct cn_row *parent,
                                size_t sort_column, bool is_reversed,
                                struct cn_row_list *out, struct cn_error *err);

/* For views: the location of a place given by its parts, CN_NONE where one is unknown. A
 * function's own module, file and line fill in what is not given. */
CN_CHECK bool cn_location_find(struct cn_database *db, uint32_t function, uint32_t module,
                               uint32_t file, uint32_t line, struct cn_location *out,
                               struct cn_error *err);

/* The hottest path: from the top row with the largest value in `column` down, as long as a
 * child holds at least `share` (0.5: half) of its parent. Appends the rows to `path`. */
CN_CHECK bool cn_view_hot_path(struct cn_view *view, size_t column, double share,
                               struct cn_row_list *path, struct cn_error *err);

#endif
