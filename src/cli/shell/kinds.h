/* Options and the data they are for: enum cn_data_kind of cli/shell/command.h in words, and the
 * check of what was given.
 * Threads: any thread.
 */
#ifndef CN_CLI_SHELL_KINDS_H
#define CN_CLI_SHELL_KINDS_H

#include "base/error.h"

struct cn_args;
struct cn_command;
struct cn_format;
struct cn_option;
struct cn_text;

/* Append "recordings and stores". */
void cn_kinds_add(struct cn_text *text, unsigned scope);

/* Append what an option does, and the data of this command that it is for: "recordings and
 * stores: only these tasks". */
void cn_option_help_add(struct cn_text *text, const struct cn_command *command,
                        const struct cn_option *option);

/* The kind of data in a format: one of enum cn_data_kind. */
unsigned cn_kind_of(const struct cn_format *format);

/* Fails with CN_ERR_USAGE if an option was given that is for none of the kinds: "--structure
 * is for measurements; run.data is a recording". `subject`, a path or a program, is of the
 * first of the kinds. */
CN_CHECK bool cn_kinds_check(const struct cn_args *args, unsigned kinds,
                             const char *subject, struct cn_error *err);

/* Fails for one option, given for a subject of another kind than it is for. */
CN_CHECK bool cn_kinds_fail(const char *option, unsigned scope, const char *subject,
                            unsigned kind, struct cn_error *err);

#endif
