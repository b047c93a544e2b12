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

struct cn_command;

struct cn_uftrace_line {
    const struct cn_command *command; /* to run; set even after a failure */
    const char **words;               /* for cn_args_parse() */
    size_t word_count;
    struct cn_arena memory; /* of the words */
};

/* True for a path of the program with a name of uftrace: cairn-uftrace, uftrace. */
bool cn_uftrace_is_name(const char *program);

/* Translate the words after the program's name. On failure, release the line as well. */
CN_CHECK bool cn_uftrace_translate(struct cn_uftrace_line *line, size_t word_count,
                                   const char *const *words, struct cn_error *err);
void cn_uftrace_done(struct cn_uftrace_line *line);

extern const struct cn_command cn_cmd_uftrace;

#endif
