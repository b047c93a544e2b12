/* Menus over a view: columns, the order of rows, metrics, sessions. Part of tui.h.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TUI_MENU_H
#define CN_CLI_TUI_MENU_H

#include "cli/tui/tui.h"

/* Open one, unless the view has nothing to choose from. */
void cn_tui_menu_columns(struct cn_tui *tui, enum cn_tui_menu_kind kind);
void cn_tui_menu_metrics(struct cn_tui *tui);
void cn_tui_menu_sessions(struct cn_tui *tui);

void cn_tui_menu_key(struct cn_tui *tui, uint32_t key);
void cn_tui_menu_close(struct cn_tui_menu *menu);

/* Sort the rows of the view; by the same order again: the other way round. */
void cn_tui_sort_by(struct cn_tui *tui, int order);
void cn_tui_sort_next(struct cn_tui *tui);

#endif
