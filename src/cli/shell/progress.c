#include "cli/shell/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes/utf8.h"
#include "base/run/clock.h"
#include "cli/print/terminal.h"
#include "cli/shell/args.h"
#include "cli/shell/cli.h"

static const uint64_t SECOND_NS = UINT64_C(1000000000);
static const uint64_t REDRAW_NS = UINT64_C(100000000);

enum { GAUGE_MIN = 8, GAUGE_MAX = 24 };

static volatile sig_atomic_t stop_signal;

static void on_stop(int signal_number)
{
    stop_signal = signal_number;
}

int cn_bar_signal(void)
{
    return stop_signal;
}

/* Three digits and a prefix: 950, 1.23 k, 45.6 M. */
static void add_amount(struct cn_text *text, double amount)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;

    while (amount >= 999.5 && i + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
        amount /= 1000;
        i++;
    }
    if (i == 0)
        cn_text_printf(text, "%.0f", amount);
    else
        cn_text_printf(text, "%.*f %s",
                       amount < 9.995   ? 2
                       : amount < 99.95 ? 1
                                        : 0,
                       amount, prefixes[i]);
}

static void add_rate(struct cn_text *text, const struct cn_bar *bar, uint64_t elapsed_ns)
{
    double seconds = (double)elapsed_ns / (double)SECOND_NS;

    add_amount(text, seconds > 0 ? (double)bar->done / seconds : 0);
    cn_text_str_add(text, "/s");
}

static void add_time_left(struct cn_text *text, const struct cn_bar *bar,
                          uint64_t elapsed_ns)
{
    double per_unit = (double)elapsed_ns / (double)bar->done;
    double left_s = per_unit * (double)(bar->total - bar->done) / (double)SECOND_NS;

    if (left_s > 359999) /* 99 hours: not worth showing */
        return;
    uint64_t seconds = (uint64_t)left_s;
    if (seconds >= 3600)
        cn_text_printf(text, "  %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left",
                       seconds / 3600, seconds / 60 % 60, seconds % 60);
    else
        cn_text_printf(text, "  %" PRIu64 ":%02" PRIu64 " left", seconds / 60,
                       seconds % 60);
}

/* Append percent, amount, rate and time left. */
static void add_figures(struct cn_text *text, const struct cn_bar *bar, bool is_measured,
                        uint64_t elapsed_ns)
{
    if (is_measured)
        cn_text_printf(text, " %3.0f%%", 100 * (double)bar->done / (double)bar->total);
    cn_text_str_add(text, "  ");
    add_amount(text, (double)bar->done);
    if (is_measured) {
        cn_text_str_add(text, " of ");
        add_amount(text, (double)bar->total);
    }
    cn_text_printf(text, " %s  ", bar->unit);
    add_rate(text, bar, elapsed_ns);
    if (is_measured && bar->done > 0)
        add_time_left(text, bar, elapsed_ns);
}

void cn_bar_print(struct cn_text *text, const struct cn_bar *bar, uint64_t elapsed_ns,
                  size_t columns)
{
    bool is_measured = bar->total > 0 && bar->done <= bar->total;
    struct cn_text line = {0}, figures = {0};

    add_figures(&figures, bar, is_measured, elapsed_ns);
    cn_utf8_add_printable(&line, bar->what);
    size_t used = line.len + figures.len + strlen("  []");
    if (is_measured && used + GAUGE_MIN <= columns) {
        size_t width = columns - used < GAUGE_MAX ? columns - used : GAUGE_MAX;
        size_t filled = (size_t)((double)bar->done / (double)bar->total * (double)width);

        cn_text_str_add(&line, "  [");
        cn_text_fill(&line, '#', filled);
        cn_text_fill(&line, '-', width - filled);
        cn_text_char(&line, ']');
    }
    cn_text_add(&line, cn_text_str(&figures), figures.len);
    /* The text is ASCII: a byte is a column. */
    cn_text_add(text, cn_text_str(&line), line.len < columns ? line.len : columns);
    cn_text_done(&line);
    cn_text_done(&figures);
}

void cn_bar_print_finished(struct cn_text *text, const struct cn_bar *bar,
                           uint64_t elapsed_ns)
{
    cn_text_printf(text, "%s: %" PRIu64 " %s in %.2f s, ", bar->what, bar->done,
                   bar->unit, (double)elapsed_ns / (double)SECOND_NS);
    add_rate(text, bar, elapsed_ns);
}

void cn_bar_hide(struct cn_bar *bar)
{
    if (bar->is_visible)
        (void)fputs("\r\x1b[K", stderr);
    bar->is_visible = false;
}

static void draw(struct cn_bar *bar, uint64_t at_ns)
{
    struct cn_text line = {0};

    cn_text_char(&line, '\r');
    cn_bar_print(&line, bar, at_ns - bar->begin_ns,
                 cn_terminal_columns(STDERR_FILENO) - 1);
    cn_text_str_add(&line, "\x1b[K");
    (void)fputs(cn_text_str(&line), stderr);
    cn_text_done(&line);
    bar->is_visible = true;
    bar->drawn_ns = at_ns;
}

static void finish_step(struct cn_bar *bar, uint64_t at_ns)
{
    struct cn_text line = {0};

    cn_bar_hide(bar);
    if (bar->what[0] == '\0' || bar->done < bar->total)
        return;
    cn_bar_print_finished(&line, bar, at_ns - bar->begin_ns);
    cn_cli_detail(bar->args, "%s", cn_text_str(&line));
    cn_text_done(&line);
}

static void catch_signal(int signal_number, struct sigaction *old)
{
    struct sigaction action = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND};

    (void)sigaction(signal_number, NULL, old);
    if (old->sa_handler != SIG_IGN)
        (void)sigaction(signal_number, &action, NULL);
}

static void catch_signals(struct cn_bar *bar)
{
    bar->has_begun = true;
    if (bar->args->session)
        bar->args->session->bar = bar;
    catch_signal(SIGINT, &bar->old_int);
    catch_signal(SIGTERM, &bar->old_term);
}

static bool report(void *arg, const char *what, uint64_t done, uint64_t total,
                   const char *unit)
{
    struct cn_bar *bar = arg;
    uint64_t at_ns = cn_clock_ns();

    if (!bar->has_begun)
        catch_signals(bar);
    if (strncmp(bar->what, what, sizeof(bar->what) - 1) != 0) {
        finish_step(bar, at_ns);
        (void)snprintf(bar->what, sizeof(bar->what), "%s", what);
        (void)snprintf(bar->unit, sizeof(bar->unit), "%s", unit);
        bar->begin_ns = at_ns;
        bar->drawn_ns = 0;
    }
    bar->done = done;
    bar->total = total;
    if (bar->is_drawn && at_ns - bar->begin_ns > SECOND_NS &&
        at_ns - bar->drawn_ns >= REDRAW_NS)
        draw(bar, at_ns);
    return stop_signal == 0;
}

static bool is_stopped(void *arg)
{
    (void)arg;
    return stop_signal != 0;
}

/* Signals that are ignored (nohup, a pager that has the keyboard) stay ignored. */

void cn_bar_begin_late(struct cn_bar *bar, const struct cn_args *args)
{
    *bar = (struct cn_bar){
        .progress = {.report = report, .arg = bar, .is_stopped = is_stopped},
        .args = args,
        .is_drawn = isatty(STDERR_FILENO) && !cn_args_has(args, "quiet") &&
                    !(args->session && args->session->is_mute),
    };
}

void cn_bar_begin(struct cn_bar *bar, const struct cn_args *args)
{
    cn_bar_begin_late(bar, args);
    catch_signals(bar);
}

void cn_bar_end(struct cn_bar *bar)
{
    if (!bar->has_begun)
        return;
    finish_step(bar, cn_clock_ns());
    if (bar->args->session)
        bar->args->session->bar = NULL;
    (void)sigaction(SIGINT, &bar->old_int, NULL);
    (void)sigaction(SIGTERM, &bar->old_term, NULL);
}
