/* Colour on a terminal: whether to use it, and what to print for it.
 * Threads: any thread.
 */
#ifndef CN_CLI_PRINT_COLOR_H
#define CN_CLI_PRINT_COLOR_H

#include <stdbool.h>

enum cn_color {
    CN_COLOR_NONE,
    CN_COLOR_BOLD,
    CN_COLOR_DIM,
    CN_COLOR_RED,
    CN_COLOR_GREEN,
    CN_COLOR_YELLOW,
    CN_COLOR_BLUE,
};

/* `choice` is the value of --color ("auto", "always", "never") or NULL for auto: a
 * terminal (`is_terminal`) that is not dumb, unless NO_COLOR is set and not empty. */
bool cn_color_decide(const char *choice, bool is_terminal);

const char *cn_color_start(enum cn_color color); /* "" for none */
const char *cn_color_stop(enum cn_color color);

#endif
