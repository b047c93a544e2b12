/* Opens data for commands: with a progress bar, and with warnings on stderr.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_SHELL_OPEN_H
#define CN_CLI_SHELL_OPEN_H

#include "cli/shell/args.h"
#include "open/open.h"

/* As cn_open() and cn_opened_load(); prints no warnings. A recording that is not complete yet is
 * waited for. */
CN_CHECK bool cn_cli_open(struct cn_opened *out, const struct cn_args *args,
                          const char *path, unsigned wants,
                          const struct cn_open_options *options, struct cn_error *err);
CN_CHECK bool cn_cli_load(struct cn_opened *opened, const struct cn_args *args,
                          unsigned wants, struct cn_error *err);

/* The kinds of data that it is, of enum cn_data_kind: recordings of ranks are shown as a database. */
unsigned cn_cli_kinds_of(const struct cn_opened *opened);

/* Fails if an option was given that is for other data; see cn_kinds_check(). */
CN_CHECK bool cn_cli_check_kinds(const struct cn_args *args,
                                 const struct cn_opened *opened, struct cn_error *err);

/* Warn of records that were lost, if there are any. */
void cn_cli_warn_lost(const struct cn_args *args, uint64_t count);

/* Print the warnings of what is open. */
void cn_cli_warn_opened(const struct cn_args *args, const struct cn_opened *opened);

/* Fails if it is damaged, after what could be read was shown: exit status 3. */
CN_CHECK bool cn_cli_check_opened(const struct cn_opened *opened, struct cn_error *err);

#endif
