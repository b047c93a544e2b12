/* Output of commands: results on stdout, in colour and through the pager where wanted;
 * messages on stderr.
 *
 * main() owns the session; a command reaches it through its arguments.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_SHELL_CLI_H
#define CN_CLI_SHELL_CLI_H

#include <stddef.h>

#include "base/error.h"
#include "cli/print/html.h"
#include "cli/print/table.h"
#include "cli/shell/args.h"
#include "cli/shell/pager.h"

struct cn_bar;
struct cn_facts;

struct cn_cli_session {
    bool has_color;     /* decided before a pager replaces the terminal */
    size_t columns;     /* of the terminal, before a pager; 0: stdout is none */
    size_t fit;         /* columns of rows, see cn_cli_fit(); 0: any */
    bool without_pager; /* whatever the options */
    struct cn_pager pager;
    struct cn_html html; /* of --format=html */
    struct cn_bar *bar;  /* the progress bar in use; NULL: none */
    bool is_mute;        /* another process prints the messages */
    bool is_uftrace;     /* prints what uftrace prints */
};

/* Print one line on stderr, "cairn COMMAND: ..."; `fmt` has no newline. Control characters
 * appear as \xHH: names from files may be part of it. cn_cli_say() is silent with -q,
 * cn_cli_detail() without -v; cn_cli_warn() always prints. */
CN_PRINTF(2, 3) void cn_cli_say(const struct cn_args *args, const char *fmt, ...);
CN_PRINTF(2, 3) void cn_cli_detail(const struct cn_args *args, const char *fmt, ...);
CN_PRINTF(2, 3) void cn_cli_warn(const struct cn_args *args, const char *fmt, ...);

/* The same for each line of a text. */
void cn_cli_say_lines(const struct cn_args *args, const char *lines);
void cn_cli_warn_lines(const struct cn_args *args, const char *lines);

/* Append messages to a file from now on. */
CN_CHECK bool cn_cli_log_to(const char *path, struct cn_error *err);

/* Print why the command failed. */
void cn_cli_fail(const struct cn_command *command, const struct cn_error *err);

/* Start the pager if stdout is a terminal and the user wants one. Call it after the long
 * work and before the first printf(); a second call does nothing. */
void cn_cli_page(const struct cn_args *args);

/* Print a text on stdout, through the pager where one is wanted. */
void cn_cli_print(const struct cn_args *args, const struct cn_text *text);

/* Finish, print and release facts. */
void cn_cli_print_facts(const struct cn_args *args, struct cn_facts *facts);

/* Append the help of a command, the list of all for &cn_program, or where to start for NULL,
 * formatted for stdout. */
void cn_cli_add_help(const struct cn_args *args, const struct cn_command *command,
                     struct cn_text *text);

/* Names in the tables that follow are shortened so that rows fit: to --width, else to the terminal.
 * For commands with CN_OPTION_WIDTH. */
CN_CHECK bool cn_cli_fit(const struct cn_args *args, struct cn_error *err);

/* Append a name to a line that begins at `line`, shortened as cn_cli_fit() says. */
void cn_cli_add_name(const struct cn_args *args, struct cn_text *text, size_t line,
                     const char *name);

/* A table on stdout as --format and --color say; starts the pager. A command without
 * CN_OPTION_FORMAT in its table prints text. */
struct cn_table *cn_cli_table(const struct cn_args *args, const struct cn_column *columns,
                              size_t column_count);

enum cn_table_format cn_cli_format(const struct cn_args *args); /* --format */
bool cn_cli_is_for_people(const struct cn_args *args);          /* text or Markdown */

/* In text: how many of `count` rows come after the first `most`, which are shown. */
void cn_cli_say_left_out(const struct cn_args *args, uint64_t count, uint64_t most);
bool cn_cli_has_color(const struct cn_args *args);

#endif
