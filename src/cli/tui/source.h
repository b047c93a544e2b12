/* What the terminal viewer shows as rows: a call graph, a report, or a view of a database.
 *
 * Rows are those of analyze/views/view.h, listed on demand; numbers come from the analysis
 * that the source wraps. The creator of a source owns it, and what it wraps outlives it.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TUI_SOURCE_H
#define CN_CLI_TUI_SOURCE_H

#include "analyze/views/view.h"

struct cn_call_graph;
struct cn_call_report;
struct cn_call_subgraph;
struct cn_recording;
struct cn_report_layout;

enum cn_tui_unit {
    CN_TUI_SECONDS,
    CN_TUI_MOMENT, /* a point in time, in seconds */
    CN_TUI_COUNT,
    CN_TUI_NUMBER,
    CN_TUI_PERCENT,
    CN_TUI_ADDRESS,
};

struct cn_tui_column {
    char title[32];
    enum cn_tui_unit unit;
    double max;        /* the largest value, or about as large: sets unit and width */
    double whole;      /* of which a share is shown in percent; NAN: none */
    double resolution; /* values up to it are "less than" it; 0: all are exact */
    bool is_shown;
    bool is_hidden; /* never shown, and not offered */
};

enum { CN_TUI_COLUMN_MAX = CN_COST_COLUMN_MAX, CN_TUI_BY_NAME = -1, CN_TUI_BY_CALL = -2 };

struct cn_tui_source {
    const struct cn_tui_source_ops *ops;
    struct cn_tui_column *columns; /* one a value of rows */
    size_t column_count;
    const char *name_title;
    int order;        /* a column, CN_TUI_BY_NAME, or CN_TUI_BY_CALL: as listed */
    bool is_reversed; /* smallest first */
    bool is_listed;   /* it has an order of its own: that of first calls */
    bool is_endless;  /* rows may be below themselves: nothing walks all of them */
};

struct cn_tui_source_ops {
    /* As of struct cn_view_ops. */
    bool (*children)(struct cn_tui_source *source, const struct cn_row *parent,
                     struct cn_row_list *out, struct cn_error *err);
    bool (*label)(struct cn_tui_source *source, const struct cn_row *row,
                  struct cn_text *text, struct cn_error *err);
    bool (*location)(struct cn_tui_source *source, const struct cn_row *row,
                     struct cn_location *out, struct cn_error *err);
    bool (*is_leaf)(struct cn_tui_source *source, const struct cn_row *row);
    /* The row's function in the recording; CN_NONE: none. NULL: not of a recording. */
    uint32_t (*function)(struct cn_tui_source *source, const struct cn_row *row);
    /* The exact value of a CN_TUI_ADDRESS, which a double cannot hold; NULL: none. */
    uint64_t (*address)(struct cn_tui_source *source, const struct cn_row *row);
    void (*free)(struct cn_tui_source *source);
    /* Whose code the row is; NULL: unknown. The op is NULL: never known. */
    const struct cn_code_class *(*code)(struct cn_tui_source *source,
                                        const struct cn_row *row);
};

void cn_tui_source_free(struct cn_tui_source *source); /* NULL is fine */

/* The sessions of a recording with their calls; of a function (`sub`), the calls that lead to
 * it and those below it. */
enum cn_tui_graph_column {
    CN_TUI_GRAPH_TOTAL,
    CN_TUI_GRAPH_SELF,
    CN_TUI_GRAPH_CALLS,
    CN_TUI_GRAPH_TOTAL_AVG,
    CN_TUI_GRAPH_TOTAL_MAX, /* these four: without values unless they were counted */
    CN_TUI_GRAPH_TOTAL_MIN,
    CN_TUI_GRAPH_SELF_MAX,
    CN_TUI_GRAPH_SELF_MIN,
    CN_TUI_GRAPH_SELF_AVG,
    CN_TUI_GRAPH_ADDRESS,
    CN_TUI_GRAPH_COLUMN_COUNT,
};
struct cn_tui_source *cn_tui_graph_new(const struct cn_call_graph *graph);
struct cn_tui_source *cn_tui_subgraph_new(const struct cn_call_graph *graph,
                                          const struct cn_call_subgraph *sub);

/* Functions with the columns of cairn report; `layout` chooses and sorts them. */
struct cn_tui_source *cn_tui_report_new(const struct cn_recording *rec,
                                        const struct cn_call_report *report,
                                        const struct cn_report_layout *layout);

/* A view of a database. The source owns the view. */
struct cn_tui_source *cn_tui_view_new(struct cn_view *view, bool is_endless);

/* For sources: room for `count` columns. */
void cn_tui_columns_init(struct cn_tui_source *source, size_t count);

/* Children in the order to be shown. On failure, the rows before it. */
CN_CHECK bool cn_tui_children(struct cn_tui_source *source, const struct cn_row *parent,
                              struct cn_row_list *out, struct cn_error *err);

/* Append a row's name, safe to print. One that cannot be read appears as "?". */
void cn_tui_label_add(struct cn_tui_source *source, const struct cn_row *row,
                      struct cn_text *text);

/* The columns of the terminal that the values of a column need, without the percentage. */
size_t cn_tui_column_width(const struct cn_tui_column *column);

/* Append the value of a row, without padding; nothing if there is none. The unit is the same
 * for all values of a column: it is part of the heading. */
void cn_tui_cell_add(struct cn_tui_source *source, const struct cn_row *row,
                     size_t column, struct cn_text *text);
void cn_tui_heading_add(const struct cn_tui_column *column, struct cn_text *text);

/* The share of a value in percent; NAN: unknown. */
double cn_tui_percent(const struct cn_tui_column *column, double value);

#endif
