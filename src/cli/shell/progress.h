/* Progress bar on stderr, and interruption of long work by the user.
 *
 *     struct cn_bar bar;
 *
 *     cn_bar_begin(&bar, args);
 *     ok = work(&bar.progress, err);
 *     cn_bar_end(&bar);
 *
 * The bar appears on a terminal, after a second, unless -q is given. With -v, one line per
 * finished step remains. Between begin and end, SIGINT and SIGTERM make the work fail with
 * CN_ERR_INTERRUPTED, so that it can clean up; a second signal kills.
 * Threads: one bar at a time in the process; reported from one thread at a time.
 */
#ifndef CN_CLI_SHELL_PROGRESS_H
#define CN_CLI_SHELL_PROGRESS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/run/progress.h"
#include "base/text.h"

struct cn_args;

struct cn_bar {
    struct cn_progress progress; /* for the work */
    const struct cn_args *args;
    bool has_begun;
    bool is_drawn; /* stderr is a terminal and -q was not given */
    bool is_visible;
    char what[64]; /* the current step; "" before the first */
    char unit[16];
    uint64_t done, total;
    uint64_t begin_ns, drawn_ns;
    struct sigaction old_int, old_term;
};

void cn_bar_begin(struct cn_bar *bar, const struct cn_args *args);

/* The same, but signals end the program as usual until the first report: files that work only reads
 * may be long, and there is nothing to clean up. */
void cn_bar_begin_late(struct cn_bar *bar, const struct cn_args *args);
void cn_bar_end(struct cn_bar *bar);

/* Remove the bar from the terminal to make room for a line; the next report draws it again.
 * cn_cli_say() and the like do so themselves. */
void cn_bar_hide(struct cn_bar *bar);

/* The signal that interrupted the work; 0: none. */
int cn_bar_signal(void);

/* Append the bar, at most `columns` wide: step, bar, percent, amount, rate, time left. */
void cn_bar_print(struct cn_text *text, const struct cn_bar *bar, uint64_t elapsed_ns,
                  size_t columns);

/* Append the line of a finished step: amount, seconds and rate. */
void cn_bar_print_finished(struct cn_text *text, const struct cn_bar *bar,
                           uint64_t elapsed_ns);

#endif
