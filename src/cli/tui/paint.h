/* Parts of cn_tui_paint(). Internal to the folder.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_TUI_PAINT_H
#define CN_CLI_TUI_PAINT_H

#include "cli/tui/tui.h"

void cn_tui_paint_flame(struct cn_tui *tui, const struct cn_tui_layout *layout);
void cn_tui_paint_info(struct cn_tui *tui, const struct cn_tui_layout *layout);
void cn_tui_paint_help(struct cn_tui *tui, const struct cn_tui_layout *layout);
void cn_tui_paint_menu(struct cn_tui *tui);

/* Instead of a view: the step that makes it still runs, or has failed. */
void cn_tui_paint_progress(struct cn_tui *tui, const struct cn_tui_layout *layout);
void cn_tui_paint_failure(struct cn_tui *tui, const struct cn_tui_layout *layout);

#endif
