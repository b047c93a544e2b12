/* The command line of uftrace, for `cairn uftrace`, and for the program under the names
 * cairn-uftrace and uftrace.
 *
 * Every option of uftrace is accepted with every command. Those that the chosen command
 * has are passed on in the order given; those of the other commands have no effect.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_SHELL_UFTRACE_H
#define CN_CLI_SHELL_UFTRACE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/shell/args.h"

struct cn_uftrace_line {
    struct cn_args args;    /* args.command is set even after a failure */
    struct cn_arena memory; /* of arguments that were not on the command line */
};

/* True for a path of the program with a name of uftrace: cairn-uftrace, uftrace. */
bool cn_uftrace_is_name(const char *program);

/* Parse the arguments after the program's name. On failure, release the line as well. */
CN_CHECK bool cn_uftrace_parse(struct cn_uftrace_line *line, size_t argument_count,
                               const char *const *arguments, struct cn_error *err);
void cn_uftrace_done(struct cn_uftrace_line *line);

extern const struct cn_command cn_cmd_uftrace;

#endif
