/* The visible rows of a source: which are open, where the cursor is, what part of them the
 * screen shows.
 *
 * A tree borrows its source. A failure to list rows is in `failure`; the rows before it are
 * shown.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TUI_TREE_H
#define CN_CLI_TUI_TREE_H

#include "cli/tui/source.h"

struct cn_tui_item {
    struct cn_row row; /* owns its values */
    uint32_t depth;
    uint64_t guides; /* bit i: the row i levels up has later siblings */
    bool is_open, is_leaf;
};

struct cn_tui_tree {
    struct cn_tui_source *source;
    struct cn_tui_item *items;
    size_t count, capacity;
    size_t cursor, top; /* `top` is the first row on the screen */
    bool is_full;       /* there are CN_TUI_ROWS_MAX rows: nothing more is opened */
    bool has_failed;
    struct cn_error failure; /* the first one */
};

enum { CN_TUI_ROWS_MAX = 200000 };

/* The top rows, and as many levels as fit into `height` rows. */
void cn_tui_tree_init(struct cn_tui_tree *tree, struct cn_tui_source *source,
                      size_t height);
void cn_tui_tree_done(struct cn_tui_tree *tree);

/* The row at the cursor, or NULL if there are none. */
const struct cn_tui_item *cn_tui_tree_current(const struct cn_tui_tree *tree);

/* List the rows again in the order of the source. Open rows stay open, and the cursor stays
 * at its row. */
void cn_tui_tree_sort(struct cn_tui_tree *tree);

void cn_tui_tree_open(struct cn_tui_tree *tree, size_t at);
void cn_tui_tree_close(struct cn_tui_tree *tree, size_t at);

/* With everything below. */
void cn_tui_tree_open_all(struct cn_tui_tree *tree, size_t at);

/* Open or close the children of a row, but not the row: "expand one level". */
void cn_tui_tree_open_children(struct cn_tui_tree *tree, size_t at);
void cn_tui_tree_close_children(struct cn_tui_tree *tree, size_t at);

/* From the cursor down: open the child with the largest value in the first column, as long
 * as it has at least half of its parent. */
void cn_tui_tree_hot_path(struct cn_tui_tree *tree);

/* Go to the child with the largest value, opening the row. */
void cn_tui_tree_hottest(struct cn_tui_tree *tree);

void cn_tui_tree_move(struct cn_tui_tree *tree, int64_t by);
void cn_tui_tree_sibling(struct cn_tui_tree *tree, int direction);
void cn_tui_tree_parent(struct cn_tui_tree *tree);

/* Make `height` rows show the cursor. */
void cn_tui_tree_show(struct cn_tui_tree *tree, size_t height);

/* Go to the next or previous row whose name contains `what`, also below closed rows; after
 * the last row, from the first one on. Upper and lower case are the same unless `what`
 * contains a capital. */
enum cn_tui_found { CN_TUI_NOT_FOUND, CN_TUI_FOUND, CN_TUI_WRAPPED, CN_TUI_GAVE_UP };
enum cn_tui_found cn_tui_tree_search(struct cn_tui_tree *tree, const char *what,
                                     bool is_backward);

/* How many rows a search can find; not all if there are too many rows to look at. */
size_t cn_tui_tree_count(struct cn_tui_tree *tree, const char *what, bool *is_all);

/* True if a name contains `what`, by the same rule. */
bool cn_tui_matches(const char *name, const char *what);

#endif
