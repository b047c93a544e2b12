/* What a command uses to talk with the person who called it: results on stdout, through
 * the pager and in colour where that is wanted, talk on stderr.
 *
 * The session belongs to main(); a command reaches it through its arguments.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_SHELL_CLI_H
#define CN_CLI_SHELL_CLI_H

#include <stddef.h>

#include "base/error.h"
#include "cli/print/table.h"
#include "cli/shell/args.h"
#include "cli/shell/pager.h"

struct cn_bar;
struct cn_command;
struct cn_facts;
struct cn_text;

struct cn_cli_session {
    bool has_color; /* decided before a pager takes the terminal's place */
    struct cn_pager pager;
    struct cn_bar *bar; /* the progress bar in use; NULL when none is */
    bool is_mute;       /* another process does the talking */
};

/* Say something on stderr as "cairn COMMAND: ...", one line, without a newline. Names
 * from files may be part of it: control characters are shown as \xHH. -q silences
 * cn_cli_say(), cn_cli_detail() needs -v, cn_cli_warn() is always heard. */
CN_PRINTF(2, 3) void cn_cli_say(const struct cn_args *args, const char *fmt, ...);
CN_PRINTF(2, 3) void cn_cli_detail(const struct cn_args *args, const char *fmt, ...);
CN_PRINTF(2, 3) void cn_cli_warn(const struct cn_args *args, const char *fmt, ...);

/* Tell why the command has failed. */
void cn_cli_fail(const struct cn_command *command, const struct cn_error *err);

/* Results follow on stdout: start the pager if stdout is a terminal and nothing speaks
 * against it. Call it when the long work is done, before the first printf(); a second
 * call does nothing. */
void cn_cli_page(const struct cn_args *args);

/* Print a text on stdout, in the pager where one is wanted. */
void cn_cli_print(const struct cn_args *args, const struct cn_text *text);

/* Finish, print and release facts. */
void cn_cli_print_facts(const struct cn_args *args, struct cn_facts *facts);

/* Append the help of a command, or the overview for &cn_program, as it fits stdout. */
void cn_cli_add_help(const struct cn_args *args, const struct cn_command *command,
                     struct cn_text *text);

/* A table on stdout as --format and --color want it; starts the pager. The command has
 * CN_OPTION_FORMAT in its table, or prints text only. */
struct cn_table *cn_cli_table(const struct cn_args *args, const struct cn_column *columns,
                              size_t column_count);

enum cn_table_format cn_cli_format(const struct cn_args *args); /* --format */
bool cn_cli_has_color(const struct cn_args *args);

#endif
