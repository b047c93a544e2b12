#include "cli/print/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

size_t cn_terminal_columns(int fd)
{
    enum { DEFAULT = 80, LEAST = 40 };
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT;
    return size.ws_col < LEAST ? LEAST : size.ws_col;
}

bool cn_color_decide(const char *choice, bool is_terminal)
{
    static const char *const always[] = {"always", "yes", "true", "1", "on"};
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    for (size_t i = 0; choice && i < sizeof(always) / sizeof(*always); i++)
        if (strcmp(choice, always[i]) == 0)
            return true;
    if (choice && strcmp(choice, "auto") != 0)
        return false;
    if (no_color && *no_color)
        return false;
    return is_terminal && term && strcmp(term, "dumb") != 0;
}

const char *cn_color_start(enum cn_color color)
{
    switch (color) {
    case CN_COLOR_NONE:
        return "";
    case CN_COLOR_BOLD:
        return "\x1b[1m";
    case CN_COLOR_DIM:
        return "\x1b[2m";
    case CN_COLOR_RED:
        return "\x1b[31m";
    case CN_COLOR_GREEN:
        return "\x1b[32m";
    case CN_COLOR_YELLOW:
        return "\x1b[33m";
    case CN_COLOR_BLUE:
        return "\x1b[34m";
    }
    return "";
}

const char *cn_color_stop(enum cn_color color)
{
    return color == CN_COLOR_NONE ? "" : "\x1b[0m";
}
