/* The terminal viewer: its state, changed by keys and drawn on a canvas. It knows nothing of
 * terminals: terminal.c brings the keys and shows the canvas.
 *
 *     if (!cn_tui_init(&tui, data, err)) ...
 *     do {
 *         is_busy = cn_tui_tick(&tui);
 *         cn_tui_paint(&tui);
 *         cn_tui_event(&tui, &event);
 *     } while (!tui.is_over);
 *     cn_tui_done(&tui);
 *
 * The data is borrowed.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TUI_TUI_H
#define CN_CLI_TUI_TUI_H

#include <stdbool.h>

#include "base/error.h"
#include "base/files/file.h"
#include "base/text.h"
#include "cli/tui/canvas.h"
#include "cli/tui/data.h"
#include "cli/tui/flame.h"
#include "cli/tui/tree.h"

struct cn_resolver;
struct cn_tui;

/* The text of a source file, for showing the lines around a location.
 *
 * A zeroed one is empty. */

struct cn_tui_source_text {
    char *path;          /* as asked for; NULL: none */
    struct cn_text real; /* where it was found; empty: nowhere */
    struct cn_file file;
    size_t *line_offs; /* of all lines, and the end */
    size_t line_count;
};

enum { CN_TUI_SOURCE_LEN_MAX = 8 << 20 };

/* Find `path` inside `folder` (a database with copies of sources; or NULL), else on this
 * machine. Does nothing if that is the file it already has. */
void cn_tui_source_text_use(struct cn_tui_source_text *text, const char *folder,
                            const char *path);
void cn_tui_source_text_done(struct cn_tui_source_text *text);

/* Append line `number`, from 1, with blanks for tabs, safe to print. */
void cn_tui_source_line_add(const struct cn_tui_source_text *text, size_t number,
                            struct cn_text *out);

enum cn_tui_view {
    CN_TUI_GRAPH,
    CN_TUI_REPORT,
    CN_TUI_TREE,
    CN_TUI_CALLERS,
    CN_TUI_FLAT,
    CN_TUI_FLAMES,
    CN_TUI_INFO,
    CN_TUI_VIEW_COUNT,
    CN_TUI_FUNCTION = CN_TUI_VIEW_COUNT, /* the graph of one function */
    CN_TUI_PANE_COUNT,
};

/* The name that a user sees, also the value of --view. */
extern const char *const cn_tui_view_names[CN_TUI_VIEW_COUNT];

/* Keys that are not characters. */
enum {
    CN_TUI_KEY_UP = 0x200000,
    CN_TUI_KEY_DOWN,
    CN_TUI_KEY_LEFT,
    CN_TUI_KEY_RIGHT,
    CN_TUI_KEY_PAGE_UP,
    CN_TUI_KEY_PAGE_DOWN,
    CN_TUI_KEY_HOME,
    CN_TUI_KEY_END,
    CN_TUI_KEY_ENTER,
    CN_TUI_KEY_ESCAPE,
    CN_TUI_KEY_BACKSPACE,
    CN_TUI_KEY_TAB,
    CN_TUI_KEY_BACK_TAB,
    CN_TUI_KEY_CLICK,
    CN_TUI_KEY_DOUBLE_CLICK,
    CN_TUI_KEY_WHEEL_UP,
    CN_TUI_KEY_WHEEL_DOWN,
};

struct cn_tui_event {
    uint32_t key;       /* a character, or one of the above */
    size_t column, row; /* of the mouse */
};

/* What is shown of one view. */
struct cn_tui_pane {
    bool is_built;
    struct cn_tui_tree tree;
    struct cn_tui_flame flame;
    size_t top; /* first line of a text */
};

enum cn_tui_menu_kind {
    CN_TUI_MENU_NONE,
    CN_TUI_MENU_SORT,
    CN_TUI_MENU_METRIC,
    CN_TUI_MENU_COLUMNS,
    CN_TUI_MENU_SESSIONS,
    CN_TUI_MENU_FILTERS,
};

/* A list to choose from, on top of the view. */
struct cn_tui_menu {
    enum cn_tui_menu_kind kind;
    const char *title;
    struct cn_text *lines;
    int *values; /* what a line stands for */
    size_t count, capacity;
    size_t cursor, top;
    bool is_changed; /* columns were switched with Space: Enter ends */
};

struct cn_tui {
    struct cn_tui_data *data;
    struct cn_tui_canvas canvas;
    enum cn_tui_view view;
    struct cn_tui_pane panes[CN_TUI_PANE_COUNT];
    bool is_over;
    bool has_failed; /* nothing can be shown: `failure` says why */
    struct cn_error failure;
    bool has_help;
    size_t help_top;
    struct cn_tui_menu menu;
    bool is_prompting; /* for what to search */
    bool is_prompt_backward;
    struct cn_text prompt;
    struct cn_text search; /* empty: none */
    struct cn_text message;
    struct cn_text wanted;  /* the row to go to once the view is there; empty: none */
    bool has_graph_columns; /* those to show when the graph was read again */
    bool graph_columns[CN_TUI_GRAPH_COLUMN_COUNT];
    bool is_name_cut; /* the row at the cursor has no room for its name */
    bool has_source;  /* the text of the source is shown */
    bool is_dense;    /* two levels of the flame view a line */
    bool is_density_chosen;
    struct cn_tui_source_text source_text;
    struct cn_resolver *resolver; /* NULL until it is needed */

    /* The graph of a function; its name is NULL: none was asked for. */
    char *function;
    uint32_t function_session; /* a row of the graph; of its session */
    bool is_function_shown;
    struct cn_call_subgraph sub;
    bool has_sub;
    struct cn_tui_source *function_source;

    /* To be opened in an editor, by terminal.c. */
    struct cn_text edit_path;
    uint32_t edit_line;
};

/* Fails if the first view is not one that the data has. */
CN_CHECK bool cn_tui_init(struct cn_tui *tui, struct cn_tui_data *data,
                          struct cn_error *err);
void cn_tui_done(struct cn_tui *tui);

/* Look at the jobs; true while the view waits for one: then call it again soon. */
bool cn_tui_tick(struct cn_tui *tui);

void cn_tui_event(struct cn_tui *tui, const struct cn_tui_event *event);

/* Draw everything on the canvas, whose size is set before. */
void cn_tui_paint(struct cn_tui *tui);

/* True if the data has this view. */
bool cn_tui_has_view(const struct cn_tui *tui, enum cn_tui_view view);

/* What is on the screen: a view, or the graph of a function. */
struct cn_tui_pane *cn_tui_pane(struct cn_tui *tui);
enum cn_tui_step cn_tui_step_of(const struct cn_tui *tui);

void cn_tui_show(struct cn_tui *tui, enum cn_tui_view view);
void cn_tui_say(struct cn_tui *tui, const char *text); /* until the next key */

/* A view, or the graph of a function, is built again when it is shown. */
void cn_tui_forget(struct cn_tui *tui, enum cn_tui_view view);
void cn_tui_forget_function(struct cn_tui *tui);

/* The row at the cursor, and its source; false if there is none. */
bool cn_tui_current(struct cn_tui *tui, struct cn_tui_source **source,
                    struct cn_row *row);

/* Where its code is; looks into debug information if `resolves`. */
bool cn_tui_locate(struct cn_tui *tui, bool resolves, struct cn_location *out);

enum { CN_TUI_COLUMNS_MIN = 40, CN_TUI_ROWS_MIN = 8 };

/* Where things are on the screen. */
struct cn_tui_field {
    size_t column;      /* of the source */
    size_t begin, end;  /* of the value */
    size_t percent_end; /* 0: no percentage */
};
enum { CN_TUI_FIELDS_MAX = 16 };
struct cn_tui_layout {
    bool is_small; /* too small to show anything */
    struct cn_tui_field fields[CN_TUI_FIELDS_MAX];
    size_t field_count;
    size_t name_begin;
    size_t list_top, list_height;     /* rows of the view */
    size_t source_top, source_height; /* of the source text; height 0: not shown */
    size_t detail_row, status_row;
};
struct cn_tui_layout cn_tui_lay_out(struct cn_tui *tui);

/* The columns of tab `view` in the top line; 0 and 0 if it is not there. */
void cn_tui_tab(const struct cn_tui *tui, enum cn_tui_view view, size_t *begin,
                size_t *end);

/* The lines of the help screen: key and meaning; ends with NULLs. A NULL key is a title. */
struct cn_tui_help_line {
    const char *key, *meaning;
};
extern const struct cn_tui_help_line cn_tui_help[];
extern const size_t cn_tui_help_count;

/* The terminal of the viewer: shows the canvas and brings keys, with ncurses.
 * Threads: one thread at a time; one terminal in the process.
 */

struct cn_tui_terminal_options {
    bool has_color, has_mouse;
};

/* Run until the user quits or a signal ends it. The terminal is as before when it returns,
 * and also when the process is killed by a signal that can be caught. `signal_number`
 * receives the signal that ended it, or 0. Fails if the terminal cannot be used. */
CN_CHECK bool cn_tui_terminal_run(struct cn_tui *tui,
                                  const struct cn_tui_terminal_options *options,
                                  int *signal_number, struct cn_error *err);

/* Menus over a view: columns, the order of rows, metrics, sessions. Part of tui.h. */

/* Open one, unless the view has nothing to choose from. */
void cn_tui_menu_columns(struct cn_tui *tui, enum cn_tui_menu_kind kind);
void cn_tui_menu_metrics(struct cn_tui *tui);
void cn_tui_menu_sessions(struct cn_tui *tui);

void cn_tui_menu_filters(struct cn_tui *tui);

void cn_tui_menu_key(struct cn_tui *tui, uint32_t key);
void cn_tui_menu_close(struct cn_tui_menu *menu);

/* For menus: a line, to which its text is appended. */
struct cn_text *cn_tui_menu_add(struct cn_tui_menu *menu, int value);

/* Filters of functions: in tree, callers, flat and flame, and in force until they are removed. */
void cn_tui_toggle_my_code(struct cn_tui *tui);
void cn_tui_filter_row(struct cn_tui *tui, enum cn_lens_action action);
void cn_tui_filter_remove(struct cn_tui *tui, int rule); /* a rule, or one of these */
enum { CN_TUI_ALL_FILTERS = -1, CN_TUI_MY_CODE = -2 };

/* Append what is in force, after a separator; nothing if there is none. */
void cn_tui_filters_add(const struct cn_tui *tui, struct cn_text *text);

/* Sort the rows of the view; by the same order again: the other way round. */
void cn_tui_sort_by(struct cn_tui *tui, int order);
void cn_tui_sort_next(struct cn_tui *tui);

/* Parts of cn_tui_paint(). Internal to the folder. */

void cn_tui_paint_flame(struct cn_tui *tui, const struct cn_tui_layout *layout);
void cn_tui_paint_info(struct cn_tui *tui, const struct cn_tui_layout *layout);
void cn_tui_paint_help(struct cn_tui *tui, const struct cn_tui_layout *layout);
void cn_tui_paint_menu(struct cn_tui *tui);

/* Instead of a view: the step that makes it still runs, or has failed. */
void cn_tui_paint_progress(struct cn_tui *tui, const struct cn_tui_layout *layout);
void cn_tui_paint_failure(struct cn_tui *tui, const struct cn_tui_layout *layout);

#endif
