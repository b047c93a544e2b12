/* The rows of a comparison as a tree: call paths top-down, functions, or functions with their
 * callers.
 *
 * Usually, a row is there only if something changed in it or below it: rows of a comparison of
 * something with itself are none. Flame graphs also have the others.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_COMPARE_ROWS_H
#define CN_ANALYZE_COMPARE_ROWS_H

#include "analyze/compare/comparison.h"
#include "analyze/compare/evidence.h"

struct cn_compare_row {
    uint32_t node;                              /* one of its nodes: for its label */
    uint32_t parent, first_child, next_sibling; /* CN_NONE: none */
    double value[CN_SIDES];
    double calls[CN_SIDES]; /* of its nodes; NAN: unknown, as of callers */
    double gross; /* sum of the sizes of changes of self costs in it and below */
    struct cn_evidence evidence;
};

struct cn_compare_rows {
    struct cn_compare_row *list; /* parents before children */
    size_t count, capacity;
    uint32_t first_top;
    uint32_t *of_node; /* row that a node counts for; CN_NONE: none */
    bool is_of_callers;
    bool adds_up;       /* rows contain the rows below them */
    bool has_unchanged; /* rows in which nothing changed, as well */
    bool *is_outer;     /* of totals of functions: the nodes to count; else NULL */
};

enum cn_compare_view { CN_COMPARE_TREE, CN_COMPARE_FLAT, CN_COMPARE_CALLERS };

/* `is_total`: of the first two views, totals and not self costs; recursion counts once.
 * Callers have self costs, and rows up to `depth` levels. */
void cn_compare_rows_make(struct cn_compare_rows *out, const struct cn_comparison *c,
                          enum cn_compare_view view, bool is_total, size_t depth,
                          bool has_unchanged);
void cn_compare_rows_done(struct cn_compare_rows *rows);

/* The rows below `parent` (CN_NONE: the top rows), the largest change first: returns the first
 * one, linked by next_sibling. */
uint32_t cn_compare_rows_sort(struct cn_compare_rows *rows, uint32_t parent);

#endif
