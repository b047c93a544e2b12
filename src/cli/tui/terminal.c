#include "cli/tui/tui.h"

/* The functions for wide characters. */
#define NCURSES_WIDECHAR 1

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/run/clock.h"

enum {
    BUSY_MS = 100,
    ESCAPE_MS = 25, /* after Esc: more of a sequence, or the key */
    RESTORE_LEN_MAX = 512,
    EVENTS_MAX = 64, /* between two pictures */
};
static const uint64_t double_click_ns = 400000000;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
static const int crash_signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL};
enum {
    ENDING_COUNT = sizeof(ending_signals) / sizeof(*ending_signals),
    CRASH_COUNT = sizeof(crash_signals) / sizeof(*crash_signals),
};

/* State of the only terminal: signal handlers need it. */
static struct {
    volatile sig_atomic_t is_active;
    volatile sig_atomic_t ending_signal;
    volatile sig_atomic_t is_resized;
    struct termios saved;
    char restore[RESTORE_LEN_MAX]; /* what brings the screen back */
    size_t restore_len;
    int wake[2]; /* a pipe: handlers wake the loop */
    struct sigaction old_ending[ENDING_COUNT], old_crash[CRASH_COUNT], old_resize;
    short pairs[CN_TUI_FLAME_ALL][CN_TUI_FLAME_ALL];
    short pair_count;
    uint64_t click_ns; /* the last click, to find double clicks */
    size_t click_column, click_row;
} terminal;

/* Bring the terminal back, from a signal handler too. */
static void restore_now(void)
{
    if (!terminal.is_active)
        return;
    terminal.is_active = 0;
    (void)!write(STDOUT_FILENO, terminal.restore, terminal.restore_len);
    (void)tcsetattr(STDIN_FILENO, TCSANOW, &terminal.saved);
}

/* The first signal ends the loop, so that jobs clean up; the second one kills. */
static void on_ending(int number)
{
    int saved_errno = errno;

    if (terminal.ending_signal != 0) {
        restore_now();
        (void)signal(number, SIG_DFL);
        (void)raise(number);
    }
    terminal.ending_signal = number;
    (void)!write(terminal.wake[1], "", 1);
    errno = saved_errno;
}

static void on_resize(int number)
{
    int saved_errno = errno;

    (void)number;
    terminal.is_resized = 1;
    (void)!write(terminal.wake[1], "", 1);
    errno = saved_errno;
}

/* Bring the terminal back, then do what would have been done without us. */
static void on_crash(int number)
{
    restore_now();
    for (size_t i = 0; i < CRASH_COUNT; i++)
        if (crash_signals[i] == number)
            (void)sigaction(number, &terminal.old_crash[i], NULL);
    (void)raise(number);
}

static void catch_signals(void)
{
    struct sigaction ending = {.sa_handler = on_ending};
    struct sigaction crash = {.sa_handler = on_crash};
    struct sigaction resize = {.sa_handler = on_resize, .sa_flags = SA_RESTART};

    for (size_t i = 0; i < ENDING_COUNT; i++) {
        (void)sigaction(ending_signals[i], NULL, &terminal.old_ending[i]);
        if (terminal.old_ending[i].sa_handler != SIG_IGN) /* nohup */
            (void)sigaction(ending_signals[i], &ending, NULL);
    }
    for (size_t i = 0; i < CRASH_COUNT; i++)
        (void)sigaction(crash_signals[i], &crash, &terminal.old_crash[i]);
    (void)sigaction(SIGWINCH, &resize, &terminal.old_resize);
}

static void release_signals(void)
{
    for (size_t i = 0; i < ENDING_COUNT; i++)
        (void)sigaction(ending_signals[i], &terminal.old_ending[i], NULL);
    for (size_t i = 0; i < CRASH_COUNT; i++)
        (void)sigaction(crash_signals[i], &terminal.old_crash[i], NULL);
    (void)sigaction(SIGWINCH, &terminal.old_resize, NULL);
}

static void add_restore(const char *text)
{
    size_t len = text && text != (const char *)-1 ? strlen(text) : 0;

    if (len == 0 || terminal.restore_len + len > sizeof(terminal.restore))
        return;
    memcpy(terminal.restore + terminal.restore_len, text, len);
    terminal.restore_len += len;
}

/* True if the locale of the user has UTF-8; that of the process always does. */
static bool user_has_utf8(void)
{
    locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool result = user && strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;

    if (user)
        freelocale(user);
    return result;
}

/* Pair 1 + style for each style; flame pairs are made as needed. */
static void set_up_colors(void)
{
    static const struct {
        short fg, bg, fg_256, bg_256;
    } colors[CN_TUI_STYLE_COUNT] = {
        [CN_TUI_PLAIN] = {-1, -1, -1, -1},
        [CN_TUI_DIM] = {-1, -1, 245, -1},
        [CN_TUI_STRONG] = {-1, -1, -1, -1},
        [CN_TUI_BAR] = {COLOR_WHITE, COLOR_BLUE, 252, 237},
        [CN_TUI_BAR_ON] = {COLOR_BLACK, COLOR_CYAN, 231, 24},
        [CN_TUI_BAR_KEY] = {COLOR_WHITE, COLOR_BLUE, 231, 237},
        [CN_TUI_HEADING] = {-1, -1, 245, -1},
        [CN_TUI_HEADING_ON] = {-1, -1, -1, -1},
        [CN_TUI_CURSOR] = {COLOR_BLACK, COLOR_WHITE, 231, 240},
        [CN_TUI_HOT] = {COLOR_RED, -1, 203, -1},
        [CN_TUI_WARM] = {COLOR_YELLOW, -1, 179, -1},
        [CN_TUI_MATCH] = {COLOR_BLACK, COLOR_YELLOW, 16, 179},
        [CN_TUI_ALERT] = {COLOR_RED, -1, 203, -1},
    };

    (void)start_color();
    (void)use_default_colors();
    for (short i = 0; i < CN_TUI_FLAME; i++)
        (void)init_pair((short)(i + 1), COLORS >= 256 ? colors[i].fg_256 : colors[i].fg,
                        COLORS >= 256 ? colors[i].bg_256 : colors[i].bg);
    terminal.pair_count = CN_TUI_FLAME + 1;
}

static short flame_color(unsigned index)
{
    static const short few[CN_TUI_FLAME_ALL] = {
        -1,         COLOR_RED,  COLOR_YELLOW, COLOR_MAGENTA, COLOR_GREEN,
        COLOR_CYAN, COLOR_BLUE, COLOR_WHITE,  COLOR_BLACK};
    static const short many[CN_TUI_FLAME_ALL] = {-1,  173, 179, 216, 167,
                                                 215, 180, 231, 16};

    return COLORS >= 256 ? many[index] : few[index];
}

static short flame_pair(unsigned fg, unsigned bg)
{
    short *pair = &terminal.pairs[fg][bg];

    if (*pair == 0 && terminal.pair_count < COLOR_PAIRS) {
        *pair = terminal.pair_count++;
        (void)init_pair(*pair, flame_color(fg), flame_color(bg));
    }
    return *pair;
}

static attr_t attributes(enum cn_tui_style style, bool has_color)
{
    static const struct {
        attr_t plain, colored;
    } list[CN_TUI_STYLE_COUNT] = {
        [CN_TUI_STRONG] = {A_BOLD, A_BOLD},
        [CN_TUI_BAR] = {A_REVERSE, 0},
        [CN_TUI_BAR_ON] = {A_BOLD, A_BOLD},
        [CN_TUI_BAR_KEY] = {A_REVERSE | A_BOLD, A_BOLD},
        [CN_TUI_HEADING] = {A_UNDERLINE, A_UNDERLINE},
        [CN_TUI_HEADING_ON] = {A_UNDERLINE | A_BOLD, A_UNDERLINE | A_BOLD},
        [CN_TUI_CURSOR] = {A_REVERSE, 0},
        [CN_TUI_HOT] = {A_BOLD, 0},
        [CN_TUI_MATCH] = {A_BOLD | A_UNDERLINE, 0},
        [CN_TUI_ALERT] = {A_BOLD, A_BOLD},
    };

    return has_color ? list[style].colored : list[style].plain;
}

static void show(const struct cn_tui_canvas *canvas)
{
    for (size_t row = 0; row < canvas->rows; row++) {
        for (size_t column = 0; column < canvas->columns; column++) {
            const struct cn_tui_cell *cell =
                &canvas->cells[row * canvas->columns + column];
            wchar_t chars[2] = {(wchar_t)cell->character, 0};
            enum cn_tui_style style = (enum cn_tui_style)cell->style;
            short pair = 0;
            cchar_t out;

            if (cell->character == 0)
                continue;
            if (canvas->has_color)
                pair = style == CN_TUI_FLAME ? flame_pair(cell->fg, cell->bg)
                                             : (short)(style + 1);
            (void)setcchar(&out, chars, attributes(style, canvas->has_color), pair, NULL);
            (void)mvadd_wch((int)row, (int)column, &out);
        }
    }
    (void)refresh();
}

/* The key of ncurses' code; 0: none of ours. */
static uint32_t key_of(wint_t code)
{
    switch (code) {
    case KEY_UP:
        return CN_TUI_KEY_UP;
    case KEY_DOWN:
        return CN_TUI_KEY_DOWN;
    case KEY_LEFT:
        return CN_TUI_KEY_LEFT;
    case KEY_RIGHT:
        return CN_TUI_KEY_RIGHT;
    case KEY_PPAGE:
        return CN_TUI_KEY_PAGE_UP;
    case KEY_NPAGE:
        return CN_TUI_KEY_PAGE_DOWN;
    case KEY_HOME:
    case KEY_FIND:
        return CN_TUI_KEY_HOME;
    case KEY_END:
    case KEY_SELECT:
    case KEY_LL:
        return CN_TUI_KEY_END;
    case KEY_ENTER:
        return CN_TUI_KEY_ENTER;
    case KEY_BACKSPACE:
        return CN_TUI_KEY_BACKSPACE;
    case KEY_BTAB:
        return CN_TUI_KEY_BACK_TAB;
    default:
        return 0;
    }
}

static uint32_t control_of(wint_t character)
{
    switch (character) {
    case '\r':
    case '\n':
        return CN_TUI_KEY_ENTER;
    case '\t':
        return CN_TUI_KEY_TAB;
    case 0x1b:
        return CN_TUI_KEY_ESCAPE;
    case 0x7f:
    case '\b':
        return CN_TUI_KEY_BACKSPACE;
    default:
        return (uint32_t)character;
    }
}

static bool mouse_event(struct cn_tui_event *out)
{
    uint64_t now = cn_clock_ns();
    MEVENT mouse;

    if (getmouse(&mouse) != OK || mouse.x < 0 || mouse.y < 0)
        return false;
    out->column = (size_t)mouse.x;
    out->row = (size_t)mouse.y;
    if (mouse.bstate & BUTTON4_PRESSED)
        out->key = CN_TUI_KEY_WHEEL_UP;
    else if (mouse.bstate & BUTTON5_PRESSED)
        out->key = CN_TUI_KEY_WHEEL_DOWN;
    else if (mouse.bstate & BUTTON1_DOUBLE_CLICKED)
        out->key = CN_TUI_KEY_DOUBLE_CLICK;
    else if (mouse.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) {
        bool is_double = now - terminal.click_ns < double_click_ns &&
                         terminal.click_column == out->column &&
                         terminal.click_row == out->row;

        out->key = is_double ? CN_TUI_KEY_DOUBLE_CLICK : CN_TUI_KEY_CLICK;
        terminal.click_ns = is_double ? 0 : now;
        terminal.click_column = out->column;
        terminal.click_row = out->row;
    } else {
        return false;
    }
    return true;
}

/* The next event that has arrived; false: none. */
static bool next_event(struct cn_tui_event *out)
{
    wint_t code;

    for (;;) {
        int kind = get_wch(&code);

        *out = (struct cn_tui_event){0};
        if (kind == ERR)
            return false;
        if (kind == OK)
            out->key = control_of(code);
        else if (code == KEY_MOUSE && mouse_event(out))
            return true;
        else if (code != KEY_MOUSE)
            out->key = key_of(code);
        if (out->key != 0)
            return true;
    }
}

/* Wait for input, a signal, or `timeout_ms`. False if the terminal is gone. */
static bool await(int timeout_ms)
{
    struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
                           {.fd = terminal.wake[0], .events = POLLIN}};
    char drained[64];

    if (poll(fds, 2, timeout_ms) <= 0)
        return true;
    if (fds[1].revents)
        (void)!read(terminal.wake[0], drained, sizeof(drained));
    return !(fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) ||
           (fds[0].revents & POLLIN);
}

static void fit(struct cn_tui *tui)
{
    struct winsize size;
    int rows, columns;

    if (terminal.is_resized) {
        terminal.is_resized = 0;
        if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 &&
            size.ws_col > 0)
            (void)resizeterm(size.ws_row, size.ws_col);
        (void)clearok(curscr, TRUE);
    }
    getmaxyx(stdscr, rows, columns);
    if ((size_t)rows != tui->canvas.rows || (size_t)columns != tui->canvas.columns)
        cn_tui_canvas_resize(&tui->canvas, (size_t)columns, (size_t)rows);
}

/* Leave the screen to an editor. */
static void edit(struct cn_tui *tui)
{
    extern char **environ;
    char line[16];
    char shell[] = "sh", option[] = "-c",
         script[] = "exec ${VISUAL:-${EDITOR:-vi}} \"$@\"";
    char *words[] = {shell, option, script, shell, line, tui->edit_path.chars, NULL};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old_int, old_quit;
    pid_t child;
    int status = -1;

    (void)snprintf(line, sizeof(line), "+%u", tui->edit_line > 0 ? tui->edit_line : 1);
    (void)def_prog_mode();
    (void)endwin();
    (void)sigaction(SIGINT, &ignore, &old_int);
    (void)sigaction(SIGQUIT, &ignore, &old_quit);
    if (posix_spawn(&child, "/bin/sh", NULL, NULL, words, environ) == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    (void)sigaction(SIGINT, &old_int, NULL);
    (void)sigaction(SIGQUIT, &old_quit, NULL);
    (void)reset_prog_mode();
    (void)clearok(curscr, TRUE);
    cn_text_clear(&tui->edit_path);
    if (status != 0) {
        cn_text_clear(&tui->message);
        cn_text_str_add(&tui->message, "the editor failed: set VISUAL or EDITOR");
    }
}

static void loop(struct cn_tui *tui)
{
    struct cn_tui_event event;

    while (!tui->is_over && terminal.ending_signal == 0) {
        fit(tui);
        bool is_busy = cn_tui_tick(tui);
        if (tui->is_over)
            break;
        cn_tui_paint(tui);
        show(&tui->canvas);
        if (!await(is_busy ? BUSY_MS : -1))
            break;
        for (size_t i = 0; i < EVENTS_MAX && !tui->is_over && next_event(&event); i++)
            cn_tui_event(tui, &event);
        if (tui->edit_path.len > 0)
            edit(tui);
    }
}

bool cn_tui_terminal_run(struct cn_tui *tui,
                         const struct cn_tui_terminal_options *options,
                         int *signal_number, struct cn_error *err)
{
    const char *name = getenv("TERM");
    SCREEN *screen;

    *signal_number = 0;
    if (pipe2(terminal.wake, O_CLOEXEC | O_NONBLOCK) != 0)
        return cn_fail_errno(err, "cannot make a pipe");
    if (tcgetattr(STDIN_FILENO, &terminal.saved) != 0)
        return cn_fail_errno(err, "cannot use the terminal");
    screen = newterm(NULL, stdout, stdin);
    if (!screen)
        return cn_fail(err, CN_ERR_USAGE,
                       "the terminal '%s' is unknown or has no cursor; set TERM, e.g. "
                       "TERM=xterm",
                       name ? name : "");
    if (options->has_mouse)
        add_restore("\x1b[?1006l\x1b[?1002l\x1b[?1000l");
    add_restore(tigetstr("rmkx"));
    add_restore(tigetstr("sgr0"));
    add_restore(tigetstr("rmcup"));
    add_restore(tigetstr("cnorm"));
    terminal.is_active = 1;
    (void)atexit(restore_now);
    catch_signals();
    (void)set_escdelay(ESCAPE_MS);
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)nodelay(stdscr, TRUE);
    (void)curs_set(0);
    if (options->has_mouse) {
        /* Events that arrive together, as over a slow line, are joined to clicks. */
        (void)mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON1_DOUBLE_CLICKED |
                            BUTTON4_PRESSED | BUTTON5_PRESSED,
                        NULL);
        (void)mouseinterval(0);
    }
    tui->canvas.has_utf8 = user_has_utf8();
    tui->canvas.has_color = options->has_color && has_colors();
    if (tui->canvas.has_color)
        set_up_colors();
    loop(tui);
    (void)endwin();
    restore_now();
    release_signals();
    delscreen(screen);
    (void)close(terminal.wake[0]);
    (void)close(terminal.wake[1]);
    *signal_number = terminal.ending_signal;
    return true;
}
