/* cairn live --sample: the hottest contexts of a program while it runs.
 *
 * A process of its own prints the table from the file as far as it is written, so that
 * sampling does not wait for it, and so that it shows what cairn top shows of the file.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/outdir.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cli/record/sample.h"
#include "cli/shell/cli.h"

enum {
    ROWS = 15,
    OTHER_ROWS = 4, /* title, head, space */
    EVERY_NS = 1000000000,
    SLOWER = 2, /* printing takes at most half of the time */
    FIRST_NS = 500000000,
};

struct live {
    const struct cn_args *args;
    const char *path;
    bool is_terminal;
    pid_t printer;
    uint64_t sample_count, printed_count;
    uint64_t start_ns, printing_ns, next_ns;
};

static struct winsize size_of_terminal(void)
{
    struct winsize size = {0};

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < ROWS)
        size.ws_row = ROWS + OTHER_ROWS;
    if (size.ws_col == 0)
        size.ws_col = 80;
    size.ws_row = (unsigned short)(size.ws_row - OTHER_ROWS);
    return size;
}

/* The bytes of `line` that fit `columns`. */
static size_t cut_at(const char *line, unsigned columns)
{
    size_t len = 0;

    for (; line[len] && columns > 0; columns--)
        do
            len++;
        while (((unsigned char)line[len] & 0xc0) == 0x80);
    return len;
}

static _Noreturn void print_table(const struct live *live)
{
    struct cn_error err = {0};
    char *text = NULL, *line, *rest;
    size_t len = 0;
    struct winsize size = size_of_terminal();
    FILE *memory = open_memstream(&text, &len);

    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    live->args->session->has_color = false; /* lines are cut */
    live->args->session->is_mute = true;
    /* Print it all at once, when it is complete. */
    (void)fflush(stdout);
    stdout = memory ? memory : stdout;
    bool ok = cn_top_show(live->args, live->path, size.ws_row, &err);
    (void)fflush(stdout);
    if (ok && memory && text) {
        struct cn_text screen = {0};

        cn_text_printf(&screen, "\033[H\033[2J%s: %llu sample%s in %.0f s\n",
                       cn_args_operand(live->args, 0),
                       (unsigned long long)live->sample_count,
                       cn_plural(live->sample_count, "", "s"),
                       (double)(cn_clock_ns() - live->start_ns) / 1e9);
        rest = text;
        for (unsigned i = 0; i <= size.ws_row && (line = strsep(&rest, "\n")) && *line;
             i++) {
            cn_text_add(&screen, line, cut_at(line, size.ws_col));
            cn_text_char(&screen, '\n');
        }
        (void)!write(STDOUT_FILENO, cn_text_str(&screen), screen.len);
    }
    _exit(0);
}

static void see(void *arg, const struct cn_sample_seen *sample)
{
    struct live *live = arg;

    (void)sample;
    live->sample_count++;
}

static void refresh(void *arg)
{
    struct live *live = arg;
    uint64_t now_ns = cn_clock_ns();

    if (live->printer > 0) {
        if (waitpid(live->printer, NULL, WNOHANG) != live->printer)
            return;
        live->printer = 0;
        live->next_ns =
            live->printing_ns + EVERY_NS + SLOWER * (now_ns - live->printing_ns);
    }
    if (!live->is_terminal || now_ns < live->next_ns ||
        live->sample_count == live->printed_count)
        return;
    live->printing_ns = now_ns;
    live->printed_count = live->sample_count;
    live->printer = fork();
    if (live->printer == 0)
        print_table(live);
}

static void on_message(void *arg, const char *text)
{
    const struct live *live = arg;

    cn_cli_say(live->args, "%s", text);
}

/* Sample into `path`, then print the table a last time. */
static bool sample(const struct cn_args *args, const char *path, int *wait_status,
                   struct cn_error *err)
{
    struct live live = {
        .args = args,
        .path = path,
        .is_terminal = isatty(STDOUT_FILENO),
        .start_ns = cn_clock_ns(),
        .next_ns = cn_clock_ns() + FIRST_NS,
    };
    struct cn_sample_options options = {
        .path = path,
        .say = on_message,
        .see = see,
        .refresh = refresh,
        .arg = &live,
    };

    args->session->without_pager = true;
    bool ok =
        cn_sample_program(args, &options, cn_args_has(args, "data"), wait_status, err);
    if (live.printer > 0) {
        (void)kill(live.printer, SIGKILL);
        while (waitpid(live.printer, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (ok && live.is_terminal)
        (void)printf("\033[H\033[2J");
    return ok && cn_top_show(args, path, ROWS, err);
}

bool cn_live_sample(const struct cn_args *args, struct cn_error *err)
{
    const char *kept = cn_args_value(args, "data");
    char *dir = NULL;
    struct cn_text path = {0};
    int wait_status = 0;
    bool ok = true;

    if (kept)
        cn_text_str_add(&path, kept);
    else
        ok = (dir = cn_temporary_make("live", err)) != NULL;
    if (dir)
        cn_text_printf(&path, "%s/samples", dir);
    ok = ok && sample(args, cn_text_str(&path), &wait_status, err);
    if (dir) {
        (void)unlink(cn_text_str(&path));
        (void)rmdir(dir);
    }
    cn_text_done(&path);
    free(dir);
    if (ok)
        cn_end_like(wait_status);
    return ok;
}
