/* Visits the rows of a view in the order to be shown, parents first.
 *
 *     cn_view_visit_init(&visit, view);
 *     visit.depth_max = 5; ...
 *     cn_view_visit(&visit, row, arg, err)
 *
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_VISIT_H
#define CN_ANALYZE_VIEWS_VISIT_H

#include "analyze/views/view.h"

struct cn_view_visit;

/* Called for each row; the row is the last of the path. */
typedef bool (*cn_view_visit_fn)(void *arg, const struct cn_view_visit *visit,
                                 const struct cn_row *row, struct cn_error *err);

/* One level of the path to the current row. */
struct cn_view_level {
    struct cn_row_list list;
    size_t next;
};

struct cn_view_visit {
    struct cn_view *view;
    size_t sort_column;
    bool is_reversed;
    size_t depth_max; /* levels */
    double
        min_percent; /* rows below this share of the whole, and those below, are skipped */
    size_t percent_column; /* that it counts in; SIZE_MAX: none */
    /* Change the order of siblings; NULL: by value. */
    bool (*arrange)(void *arg, struct cn_row_list *list, struct cn_error *err);

    struct cn_view_level *levels; /* private, like the rest */
    size_t depth, capacity;
    uint64_t seen; /* weight of the lists read so far; see cn_view_weigh() */
    bool is_full;  /* the limit of cn_view_weigh() is reached */
};

/* By the first column, the largest first; all rows that have values. */
void cn_view_visit_init(struct cn_view_visit *visit, struct cn_view *view);

/* Visit the rows within the limits. Continues after damage and reports the first failure. */
CN_CHECK bool cn_view_visit(struct cn_view_visit *visit, cn_view_visit_fn row, void *arg,
                            struct cn_error *err);

/* The row of a level of the current path: 0 is a top row, visit->depth - 1 the current one. */
static inline const struct cn_row *cn_view_visit_path(const struct cn_view_visit *visit,
                                                      size_t level)
{
    const struct cn_view_level *at = &visit->levels[level];

    return &at->list.rows[at->next - 1];
}

#endif
