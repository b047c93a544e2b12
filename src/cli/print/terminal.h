/* Width and colours of a terminal.
 * Threads: any thread.
 */
#ifndef CN_CLI_PRINT_TERMINAL_H
#define CN_CLI_PRINT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* Columns of the terminal `fd`, at least 40; 80 if `fd` is not a terminal. */
size_t cn_terminal_columns(int fd);

enum cn_color {
    CN_COLOR_NONE,
    CN_COLOR_BOLD,
    CN_COLOR_DIM,
    CN_COLOR_RED,
    CN_COLOR_GREEN,
    CN_COLOR_YELLOW,
    CN_COLOR_BLUE,
};

/* Whether to use colour. `choice` is the value of --color ("auto", "always", "never"); NULL
 * means "auto": on a terminal that is not dumb, unless NO_COLOR is set and not empty. */
bool cn_color_decide(const char *choice, bool is_terminal);

const char *cn_color_start(enum cn_color color); /* "" for none */
const char *cn_color_stop(enum cn_color color);

#endif
