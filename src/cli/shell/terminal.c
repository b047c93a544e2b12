#include "cli/shell/terminal.h"

#include <sys/ioctl.h>

size_t cn_terminal_columns(int fd)
{
    enum { DEFAULT = 80, LEAST = 40 };
    struct winsize size;

    if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT;
    return size.ws_col < LEAST ? LEAST : size.ws_col;
}
