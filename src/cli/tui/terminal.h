/* The terminal of the viewer: shows the canvas and brings keys, with ncurses.
 * Threads: one thread at a time; one terminal in the process.
 */
#ifndef CN_CLI_TUI_TERMINAL_H
#define CN_CLI_TUI_TERMINAL_H

#include <stdbool.h>

#include "base/error.h"

struct cn_tui;

struct cn_tui_terminal_options {
    bool has_color, has_mouse;
};

/* Run until the user quits or a signal ends it. The terminal is as before when it returns,
 * and also when the process is killed by a signal that can be caught. `signal_number`
 * receives the signal that ended it, or 0. Fails if the terminal cannot be used. */
CN_CHECK bool cn_tui_terminal_run(struct cn_tui *tui,
                                  const struct cn_tui_terminal_options *options,
                                  int *signal_number, struct cn_error *err);

#endif
