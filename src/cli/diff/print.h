/* Tables of cairn diff.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_DIFF_PRINT_H
#define CN_CLI_DIFF_PRINT_H

#include "analyze/compare/explain.h"
#include "analyze/compare/rows.h"
#include "cli/diff/sides.h"
#include "cli/shell/args.h"

/* What the values are, for titles. */
struct cn_diff_style {
    const struct cn_comparison *c;
    const char *cost;  /* "self", "total"; "" where lines differ in that */
    const char *ideal; /* A is what B should be: "loss" instead of "difference" */
    double gross;      /* what shares are of */
};

/* The lines of an explanation, then how much of the change they explain. */
void cn_diff_print_changes(const struct cn_diff_style *style,
                           const struct cn_explanation *e, const struct cn_args *args);

/* All rows, up to `depth_max` levels. */
void cn_diff_print_rows(const struct cn_diff_style *style, struct cn_compare_rows *rows,
                        size_t depth_max, const struct cn_args *args);

/* cairn diff --facets: attributes that go with one of two queries of stores. */

/* Find and print them. */
CN_CHECK bool cn_diff_facets(const struct cn_sides *sides, const struct cn_args *args,
                             struct cn_error *err);

#endif
