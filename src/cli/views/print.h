/* Rows of a view on stdout, as text, JSON or CSV.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_VIEWS_PRINT_H
#define CN_CLI_VIEWS_PRINT_H

#include "analyze/views/view.h"
#include "cli/shell/cli.h"
#include "cli/views/options.h"

/* Columns: the values of `costs`, then depth, kind, context id, location, code, language and name (in
 * text only the name, indented, and languages), and the call path if `has_path`. */
struct cn_view_table {
    struct cn_table *table;
    struct cn_column *columns;
    const struct cn_costs *costs;
    enum cn_table_format format;
    struct cn_text label;
    bool has_path, is_for_people;
};

/* The column of a table for values of a cost; `total` of the whole program. All columns of a
 * metric have the same number of decimals: six significant digits of the whole. */
struct cn_column cn_view_value_column(const struct cn_cost_column *cost, double total);

/* `codes` may be NULL: text has a column for languages if they have several. */
void cn_view_table_begin(struct cn_view_table *out, const struct cn_args *args,
                         const struct cn_costs *costs, const struct cn_codes *codes,
                         bool has_path);

struct cn_view_row_text {
    size_t depth; /* 0 at the top */
    const char *label;
    struct cn_location location;
    const struct cn_code_class *code; /* of a function; or NULL */
    const char *path;                 /* if the table has_path */
};

void cn_view_table_row(struct cn_view_table *out, const struct cn_row *row,
                       const struct cn_view_row_text *text);

void cn_view_table_end(struct cn_view_table *out);

struct cn_view_limits {
    size_t depth_max; /* levels shown */
    /* Of the whole, in the first total column with percentages, or the first column with
     * percentages if there is none. */
    double min_percent;
    const struct cn_codes *codes; /* of the functions; NULL: unknown */
};

/* Print the view within the limits and filters of `setup`. Rows before a failure are
 * printed. */
CN_CHECK bool cn_view_print(struct cn_view *view, const struct cn_view_setup *setup,
                            const struct cn_view_limits *limits,
                            const struct cn_args *args, struct cn_error *err);

#endif
